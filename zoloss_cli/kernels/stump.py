"""The weighted decision stump over all features, and AdaBoost over stumps; no round sorts anything."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.boost import CHANCE_ERROR

MIN_NET_WEIGHT = 8e-16  # a group of samples whose signed weights sum to less is ignored
DIRECTION_TIE = 1e-9  # errors of a rising and a falling stump that differ by less are equal


def group_values(X):
    """Return (ids, starts, values): the distinct values of each feature in order, and each sample's indices.

    X is N x m, without the constant. `values[starts[j]:starts[j + 1]]` are the values of feature j, and
    `values[ids[i, j]]` is X[i, j]. This is done once for all rounds and weights.
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
    `net` has room for one number per value. Samples of equal value form a group; groups with a net weight
    below MIN_NET_WEIGHT are ignored. Thresholds lie midway between the remaining neighbours, and x >=
    threshold gets the sign `direction`. A threshold of -inf makes the stump constant. Of equal errors the
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
    misclassified samples are multiplied before all are divided by their sum, as in the author's program: with
    stumps on discrete features, rounding alone decides between equal ones.
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
            features[t], thresholds[t], directions[t], alphas[t], errors[t] = (
                feature,
                threshold,
                direction,
                alpha,
                e,
            )
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
