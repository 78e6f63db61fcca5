"""The weighted decision stump over all features; sorting is done once, by the caller."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

VANISHES = 8e-16
PREFERS_IN_RANGE = 1e-9
FEATURE_TIE = 1e-12


@exact_kernel
def best_stump(X, order, signed):
    """(feature, threshold, direction, error) of the stump with the smallest weighted error.

    `order[:, j]` sorts feature j, `signed` is y * phi with phi summing to 1. Equal values are one
    group; a group whose net weight is below 8e-16 vanishes; thresholds lie midway between the remaining
    neighbours, and x >= threshold gets the sign `direction`. A threshold of -inf makes the stump
    constant. Within 1e-9 a positive stump with a threshold in range is preferred, and within 1e-12 the
    first feature.
    """
    n, m = X.shape
    total_negative = 0.0
    for i in range(n):
        if signed[i] < 0.0:
            total_negative -= signed[i]
    best_feature, best_threshold, best_direction, best_error = 0, -np.inf, 1, np.inf
    for j in range(m):
        # e: the error of "+1 where x >= threshold" as the threshold passes the groups upwards.
        e = total_negative
        low_error, low_at = e, -np.inf  # the constant +1
        high_error, high_at = 1.0 - e, -np.inf  # the constant -1
        inside_error, inside_at = np.inf, 0.0
        previous, any_group = 0.0, False
        i = 0
        while i < n:
            value, net = X[order[i, j], j], 0.0
            while i < n and X[order[i, j], j] == value:
                net += signed[order[i, j]]
                i += 1
            if abs(net) < VANISHES:
                continue
            if any_group:
                threshold = 0.5 * (previous + value)
                if e < inside_error:
                    inside_error, inside_at = e, threshold
                if 1.0 - e < high_error:
                    high_error, high_at = 1.0 - e, threshold
            e += net
            previous, any_group = value, True
        error, threshold, direction = inside_error, inside_at, 1
        if low_error < error - PREFERS_IN_RANGE:
            error, threshold = low_error, low_at
        if high_error < error - PREFERS_IN_RANGE:
            error, threshold, direction = high_error, high_at, -1
        if error < best_error - FEATURE_TIE:
            best_feature, best_threshold = j, threshold
            best_direction, best_error = direction, error
    return best_feature, best_threshold, best_direction, best_error
