"""Margin costs C = sum_i phi_i c(m_i) and the line search on them (Li's thesis 2006, chapter 3).

`margins`, `along`, `phi` and `D` have length N; `kind` is one of the three costs below, and `kappa` is the
bisigmoid's kappa_-.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

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
        D[i] /= largest  # so that the sum is of ordinary size, however small the weights
        total += D[i]
    for i in range(n):
        D[i] /= total
    return True


@exact_kernel
def compute_cost_and_slope(kind, kappa, margins, along, phi, step):
    """Return (level, rest, slope) of C = level + rest at margins + step * along; C is infinite out of bounds.

    If no margin changes its sign, all levels are the same number, and two costs differ by the difference of
    their rests: a decrease of 1e-30 in a cost of 0.1 is noticed.
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
    """Return (step, C there) near a minimum on a line along which C falls at first; step 0 if none lowers C.

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
