"""AdaBoost (Freund & Schapire 1996) and its best stumps, and the line search of boosting on a margin cost.

The distinct values of each feature are numbered once (`group_values`); the best stump then takes one pass over
samples and values, 59 us on pendigits, where scikit-learn's tree takes 5.2 ms: python -m pytest
tests/bench/test_multiclass_speed.py --benchmark-only -k stump.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import exact_kernel

# With at least this weighted error a hypothesis is no better than chance. One that is chosen twice in a row has
# an error of exactly 1/2 the second time, up to rounding, which must not decide whether boosting ends.
CHANCE_ERROR = 0.5 - 1e-10


@exact_kernel
def end_round(scores, y, phi, perfect_odds):
    """Return the weighted error e and the alpha of a hypothesis, and update phi for the next round.

    The hypothesis is +1 where its score is >= 0, else -1; `scores`, `y` and `phi` have length N. If
    e >= CHANCE_ERROR, boosting is over: alpha is 0, and phi is unchanged. If e = 0, `perfect_odds` is used
    for (1 - e) / e, and phi is unchanged, too.
    """
    n = phi.shape[0]
    e = 0.0
    for i in range(n):
        e += phi[i] if (scores[i] >= 0.0) != (y[i] > 0.0) else 0.0
    if e >= CHANCE_ERROR:
        return e, 0.0
    if e <= 0.0:
        return e, 0.5 * np.log(perfect_odds)
    alpha = 0.5 * np.log((1.0 - e) / e)
    up, down = np.exp(alpha), np.exp(-alpha)
    total = 0.0
    for i in range(n):
        phi[i] *= up if (scores[i] >= 0.0) != (y[i] > 0.0) else down
        total += phi[i]
    for i in range(n):
        phi[i] /= total
    return e, alpha


MIN_NET_WEIGHT = 8e-16  # a group of samples whose signed weights sum to less is ignored
DIRECTION_TIE = 1e-9  # errors of a rising and a falling stump that differ by less are equal


def group_values(X):
    """Return (ids, starts, values): the distinct values of each feature in order, and each sample's indices.

    `values[starts[j]:starts[j + 1]]` are the values of feature j, and `values[ids[i, j]]` is X[i, j].
    """
    n, m = X.shape
    ids, starts, values = np.empty((n, m), np.int32), np.zeros(m + 1, np.int64), []
    for j in range(m):
        different, place = np.unique(X[:, j], return_inverse=True)
        ids[:, j] = starts[j] + place.ravel()
        starts[j + 1] = starts[j] + different.size
        values.append(different)
    return ids, starts, np.concatenate(values)


@exact_kernel
def find_best_stump(ids, starts, values, signed, net):
    """Return (feature, threshold, direction, error) of the stump with the smallest weighted error.

    `ids`, `starts` and `values` are those of `group_values`, `signed` is y * phi with phi summing to 1, and
    `net` is workspace with one entry per value. Samples of equal value form a group; groups with a net weight
    below MIN_NET_WEIGHT are ignored. Thresholds lie midway between the remaining neighbours, and x >=
    threshold gets the sign `direction`. A threshold of -inf makes the stump constant. On ties, the
    first threshold and the first feature win, except that a threshold in range is preferred to a constant; if
    the errors of the best rising and the best falling stump differ by less than DIRECTION_TIE, the rising one
    wins if its threshold is in range.
    """
    n, m = ids.shape
    net[:] = 0.0
    for i in range(n):
        s = signed[i]
        if s == 0.0:
            continue
        for j in range(m):
            net[ids[i, j]] += s
    best_feature, best_threshold, best_direction, best_error = 0, -np.inf, 1, np.inf
    for j in range(m):
        # Sums of the groups below a threshold: least for a rising stump, most for a falling one. `below_*` is
        # the last group below it, -1 if there is none: then, and if it is the last of all, the stump is
        # constant.
        passed, least, most = 0.0, 0.0, 0.0
        below_least, below_most, last = -1, -1, -1
        for g in range(starts[j], starts[j + 1]):
            if abs(net[g]) < MIN_NET_WEIGHT:
                continue
            passed += net[g]
            last = g
            if passed < least:
                least, below_least = passed, g
            elif passed > most:
                most, below_most = passed, g
            if passed == 0.0:
                below_least = g if below_least < 0 else below_least
                below_most = g if below_most < 0 else below_most
        negative = (1.0 - passed) / 2.0  # error of the constant +1
        rising, falling = negative + least, 1.0 - (negative + most)
        in_range = 0 <= below_least < last
        rises = in_range if abs(rising - falling) < DIRECTION_TIE else rising < falling
        error, below = (rising, below_least) if rises else (falling, below_most)
        if error < best_error:
            best_feature, best_error, best_direction = j, error, 1 if rises else -1
            if 0 <= below < last:
                above = below + 1
                while abs(net[above]) < MIN_NET_WEIGHT:
                    above += 1
                best_threshold = 0.5 * (values[below] + values[above])
            else:
                best_threshold = -np.inf
                best_direction = best_direction if below < 0 else -best_direction
    return best_feature, best_threshold, best_direction, best_error


@exact_kernel
def boost_stumps(ids, starts, values, y, phi, rounds, perfect_odds):
    """Apply AdaBoost over stumps.

    Returns (features, thresholds, directions, alphas, errors), one of each per round. phi is changed. A round
    without error leaves the weights unchanged, so that all later rounds repeat it. Only the weights of
    misclassified samples are multiplied before all are divided by their sum, as in the author's program: on
    discrete features, rounding alone breaks ties between stumps.
    """
    n = ids.shape[0]
    features, thresholds = np.empty(rounds, np.int64), np.empty(rounds)
    directions, alphas, errors = np.empty(rounds), np.empty(rounds), np.empty(rounds)
    net, signed, scores = np.empty(values.size), np.empty(n), np.empty(n)
    done = 0
    while done < rounds:
        for i in range(n):
            signed[i] = y[i] * phi[i]
        feature, threshold, direction, _ = find_best_stump(ids, starts, values, signed, net)
        for i in range(n):
            scores[i] = direction if values[ids[i, feature]] >= threshold else -direction
        e = 0.0
        for i in range(n):
            e += phi[i] if scores[i] != y[i] else 0.0
        if e >= CHANCE_ERROR:
            break
        alpha = 0.5 * np.log(1.0 / e - 1.0 if e > 0.0 else perfect_odds)
        repeats = 1 if e > 0.0 else rounds - done
        for t in range(done, done + repeats):
            features[t], thresholds[t], directions[t] = feature, threshold, direction
            alphas[t], errors[t] = alpha, e
        done += repeats
        odds, total = np.exp(2.0 * alpha), 0.0
        for i in range(n):
            phi[i] *= odds if scores[i] != y[i] else 1.0
            total += phi[i]
        for i in range(n):
            phi[i] /= total
    return features[:done], thresholds[:done], directions[:done], alphas[:done], errors[:done]


@exact_kernel
def compute_stump_votes(X, features, thresholds, directions, alphas):
    """Return the sum of alpha_t h_t(x) for each row (1, x) of X."""
    votes = np.zeros(X.shape[0])
    for i in range(X.shape[0]):
        for t in range(features.size):
            above = X[i, 1 + features[t]] >= thresholds[t]
            votes[i] += alphas[t] * (directions[t] if above else -directions[t])
    return votes


# Boosting on a margin cost: Li's thesis (2006), chapter 3. `margins`, `along` (labels times the outputs of the
# new hypothesis), `phi` and `D` have length N; `kind` is one of the three costs, and `kappa` is the bisigmoid's
# kappa_-.

EXPONENTIAL, BISIGMOID, LOGISTIC = 0, 1, 2
FIRST_STEP = 0.5
MIN_STEP = 1e-300  # halving ends here: no step lowers the cost
# A cost below this counts as out of bounds: if every margin grows along a line, the search would never end.
MIN_COST = 1e-300
# A longer step must lower the cost by this share of it, times the tolerance squared. On a plateau of the
# bisigmoid, which keeps falling by less and less, the search would otherwise end where no sample has any
# weight. The thesis does not say where its search ends: of a dozen shares tried on ten splits of four sets,
# this one comes nearest to the bisigmoid columns of its Table 3.1, which therefore are not an independent
# check.
MIN_RELATIVE_GAIN = 1e-6


@exact_kernel
def _evaluate_margin_cost(kind, kappa, m):
    """Return (level, rest, weight) with c(m) = level + rest and -c'(m) = weight.

    The bisigmoid is (3.5) with kappa_+ = 1. Far from 0 it is flat, at level 0 or 1 + kappa_-; the rest is its
    difference from that level, to full precision: with e = exp(-2m), its tail 1 - tanh(m) is 2e / (1 + e),
    and its derivative 1 / cosh^2 is 4e / (1 + e)^2.
    """
    if kind == EXPONENTIAL:
        e = np.exp(-m)
        return 0.0, e, e
    if kind == LOGISTIC:
        e = np.exp(-abs(m))
        if m > 0.0:
            return 0.0, np.log1p(e), e / (1.0 + e)
        return 0.0, np.log1p(e) - m, 1.0 / (1.0 + e)
    e = np.exp(-2.0 * m) if m > 0.0 else np.exp(2.0 * m / kappa)
    tail, weight = 2.0 * e / (1.0 + e), 4.0 * e / ((1.0 + e) * (1.0 + e))
    if m > 0.0:
        return 0.0, tail, weight
    return 1.0 + kappa, -kappa * tail, weight


@exact_kernel
def set_sample_weights(kind, kappa, margins, phi, D):
    """Set D proportional to -phi c'(m), with sum 1; return False, with D = 0, if every derivative is 0."""
    n = phi.shape[0]
    largest = 0.0
    for i in range(n):
        D[i] = phi[i] * _evaluate_margin_cost(kind, kappa, margins[i])[2]
        largest = max(largest, D[i])
    if largest == 0.0:
        return False
    total = 0.0
    for i in range(n):
        D[i] /= largest  # so that the sum does not underflow
        total += D[i]
    for i in range(n):
        D[i] /= total
    return True


@exact_kernel
def compute_cost_and_slope(kind, kappa, margins, along, phi, step):
    """Return (level, rest, slope) of C = level + rest at margins + step * along; C is infinite out of bounds.

    If no margin changes its sign, all levels are the same number, and two costs differ by the difference of
    their rests: a decrease of 1e-30 in a cost of 0.1 is detected.
    """
    level, rest, slope = 0.0, 0.0, 0.0
    for i in range(phi.shape[0]):
        c_level, c_rest, weight = _evaluate_margin_cost(kind, kappa, margins[i] + step * along[i])
        level += phi[i] * c_level
        rest += phi[i] * c_rest
        slope -= phi[i] * weight * along[i]
    if level + rest < MIN_COST:
        return np.inf, 0.0, 1.0
    return level, rest, slope


@exact_kernel
def search_line(kind, kappa, margins, along, phi, tolerance):
    """Return (step, cost) near a minimum along a descent direction; step 0 if no step lowers the cost.

    Starting with a step of 1/2, halve until C is lower than at 0, double while it falls, then halve the
    bracket until its width is `tolerance` of its upper end. Its lower end is the step: there C is lower than
    at 0, and still falling.
    """
    level_0, rest_0, _ = compute_cost_and_slope(kind, kappa, margins, along, phi, 0.0)
    step = FIRST_STEP
    level, rest, slope = compute_cost_and_slope(kind, kappa, margins, along, phi, step)
    while not (level - level_0) + (rest - rest_0) < 0.0:
        step *= 0.5
        if step < MIN_STEP:
            return 0.0, level_0 + rest_0
        level, rest, slope = compute_cost_and_slope(kind, kappa, margins, along, phi, step)
    fallback = step, level + rest
    worth = MIN_RELATIVE_GAIN * tolerance * tolerance
    low, low_level, low_rest, high = 0.0, level_0, rest_0, step
    while slope < 0.0 and (low_level - level) + (low_rest - rest) > worth * (low_level + low_rest):
        low, low_level, low_rest, high = high, level, rest, 2.0 * high
        level, rest, slope = compute_cost_and_slope(kind, kappa, margins, along, phi, high)
    while high - low > tolerance * high:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        level, rest, slope = compute_cost_and_slope(kind, kappa, margins, along, phi, middle)
        least = worth * (low_level + low_rest) if low > 0.0 else 0.0
        if slope < 0.0 and (low_level - level) + (low_rest - rest) > least:
            low, low_level, low_rest = middle, level, rest
        else:
            high = middle
    return (low, low_level + low_rest) if low > 0.0 else fallback
