"""The weighted decision stump over all features, and AdaBoost over stumps. Nothing is sorted in a round."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel
from zoloss_cli.kernels.boost import end_round

VANISHES = 8e-16
PREFERS_IN_RANGE = 1e-9
FEATURE_TIE = 1e-12


def group_values(X):
    """(ids, starts, values): the different values of each feature in order, and where each example's are.

    `values[starts[j]:starts[j + 1]]` are those of feature j, and `values[ids[i, j]]` is X[i, j]. Made once
    for all rounds and weights.
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
def best_stump(ids, starts, values, signed, net):
    """(feature, threshold, direction, error) of the stump with the smallest weighted error.

    `ids`, `starts` and `values` are those of `group_values`, `signed` is y * phi with phi summing to 1, and
    `net` has room for one number a value. Examples of equal value are one group; a group whose net weight
    is below 8e-16 vanishes; thresholds lie midway between the remaining neighbours, and x >= threshold gets
    the sign `direction`. A threshold of -inf makes the stump constant. Within 1e-9 a positive stump with a
    threshold in range is preferred, and within 1e-12 the first feature.
    """
    n, m = ids.shape
    net[:] = 0.0
    total_negative = 0.0
    for i in range(n):
        s = signed[i]
        if s == 0.0:
            continue
        if s < 0.0:
            total_negative -= s
        for j in range(m):
            net[ids[i, j]] += s
    best_feature, best_threshold, best_direction, best_error = 0, -np.inf, 1, np.inf
    for j in range(m):
        # e: the error of "+1 where x >= threshold" as the threshold passes the groups upwards.
        e = total_negative
        high_error, high_at = 1.0 - e, -np.inf  # the constant -1
        inside_error, inside_at = np.inf, 0.0
        previous, any_group = 0.0, False
        for g in range(starts[j], starts[j + 1]):
            if abs(net[g]) < VANISHES:
                continue
            if any_group:
                if e < inside_error:
                    inside_error, inside_at = e, 0.5 * (previous + values[g])
                if 1.0 - e < high_error:
                    high_error, high_at = 1.0 - e, 0.5 * (previous + values[g])
            e += net[g]
            previous, any_group = values[g], True
        error, threshold, direction = inside_error, inside_at, 1
        if total_negative < error - PREFERS_IN_RANGE:  # the constant +1
            error, threshold = total_negative, -np.inf
        if high_error < error - PREFERS_IN_RANGE:
            error, threshold, direction = high_error, high_at, -1
        if error < best_error - FEATURE_TIE:
            best_feature, best_threshold = j, threshold
            best_direction, best_error = direction, error
    return best_feature, best_threshold, best_direction, best_error


@exact_kernel
def boost_stumps(ids, starts, values, y, phi, rounds, perfect_odds):
    """AdaBoost over stumps: (features, thresholds, directions, alphas, errors), one of each a round.

    phi is changed. A round without error leaves the weights as they are, so all later rounds repeat it.
    """
    n = ids.shape[0]
    features, thresholds = np.empty(rounds, np.int64), np.empty(rounds)
    directions, alphas, errors = np.empty(rounds), np.empty(rounds), np.empty(rounds)
    net, signed, scores = np.empty(values.size), np.empty(n), np.empty(n)
    done = 0
    while done < rounds:
        for i in range(n):
            signed[i] = y[i] * phi[i]
        feature, threshold, direction, _ = best_stump(ids, starts, values, signed, net)
        for i in range(n):
            scores[i] = direction if values[ids[i, feature]] >= threshold else -direction
        e, alpha = end_round(scores, y, phi, perfect_odds)
        if alpha == 0.0:
            break
        repeats = rounds - done if e == 0.0 else 1
        for t in range(done, done + repeats):
            features[t], thresholds[t], directions[t], alphas[t], errors[t] = (
                feature,
                threshold,
                direction,
                alpha,
                e,
            )
        done += repeats
    return features[:done], thresholds[:done], directions[:done], alphas[:done], errors[:done]


@exact_kernel
def stump_votes(X, features, thresholds, directions, alphas):
    """The sum of alpha_t h_t(x) for each row (1, x) of X."""
    votes = np.zeros(X.shape[0])
    for i in range(X.shape[0]):
        for t in range(features.size):
            above = X[i, 1 + features[t]] >= thresholds[t]
            votes[i] += alphas[t] * (directions[t] if above else -directions[t])
    return votes
