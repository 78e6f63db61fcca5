"""Complexity with a lookup table: errors may be memorized at a price (Li 2006, Definitions 1.3 and 1.7)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from zoloss_cli.errors import ConfigError


class LookupComplexity(NamedTuple):
    """The shortest description of a data set: a rule, and a table of the samples it misclassifies.

    Attributes
    ----------
    value : float
        The complexity with a lookup table: `complexity` plus the cost of all `error` entries.
    complexity : int
        Complexity of the rule.
    error : int
        Number of samples in the table.
    """

    value: float
    complexity: int
    error: int


def compute_entry_cost(noise: float) -> float:
    """Return lambda = log2(1/epsilon - 1), the cost of an error if labels are wrong with probability epsilon.

    With Pr(h) = 2^-|h| and Bernoulli noise, the rule with the smallest |h| + lambda e(h) is the most probable
    one (Li 2006, section 1.3.3). A support vector counts as one bit of |h|.

    Parameters
    ----------
    noise : float
        The probability epsilon, above 0 and below 1/2.

    Returns
    -------
    float
        The cost, above 0; it grows without limit as the noise vanishes, when no error is allowed.
    """
    if not 0.0 < noise < 0.5:
        raise ConfigError(f"the probability of a wrong label must be above 0 and below 0.5 (got {noise:g})")
    return math.log2(1.0 / noise - 1.0)


def find_lookup_complexity(pairs: Iterable[tuple[int, int]], cost: float) -> LookupComplexity:
    """Return the smallest complexity + cost * error over pairs of the two (Definition 1.3).

    Principal points suffice, since for any other pair there is a principal one that is no larger in either. If
    sums are equal, the pair with the fewest errors is returned.

    Parameters
    ----------
    pairs : iterable of (int, int)
        Complexity and error of each pair, at least one.
    cost : float
        The cost of an entry of the table, lambda in the thesis; above 0.

    Returns
    -------
    LookupComplexity
        The sum and its parts.
    """
    return min((LookupComplexity(c + cost * e, c, e) for c, e in pairs), key=lambda x: (x.value, x.error))
