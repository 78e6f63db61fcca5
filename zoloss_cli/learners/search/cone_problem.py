"""The input of the cone search: samples as integers, weights as copies, and the axes of the features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from zoloss_cli.kernels.cone_columns import FRACTION_BITS, ROUNDING
from zoloss_cli.kernels.cone_order import MAX_SAMPLES
from zoloss_cli.learners.search.certificates import find_independent_columns

MAX_COPIES = 10_000  # of weight, in both classes
MAX_DENOMINATOR = 1000  # of a weight as a fraction of the lightest one
TIE_SEED, TIE_PAIRS = 5, 4000  # pairs whose differences are compared
COMMON_SHARE = 0.05  # of the pairs, if they share a difference with others
WEIGHT_TOLERANCE = 1e-12  # of a weight: how far normalizing may move a multiple


@dataclass(frozen=True)
class ConeProblem:
    """Samples of two classes in the form that the kernels of the cone search take.

    The lighter class is on the left. A direction that ranks it below the other is the opposite of one that
    ranks it above, and the search covers all directions, so it does not matter which class is on the left.

    Attributes
    ----------
    members : ndarray of shape (n,)
        Indices of the merged samples, those on the left first.
    n_left : int
        Number of samples on the left.
    features : list of int
        The features that are used: all others depend on them.
    vectors : list of list of int
        The samples in these features, shifted.
    copies : ndarray of int of shape (n,)
        Their weights.
    copy_weight : float
        The weight of a copy, in mean sample weights.
    vertices : list of list of int
        D independent directions in D features: the cones for all choices of signs cover all directions.
    is_left_positive : bool
        Whether the left has the class +1.
    has_ties : bool
        Whether many pairs of samples differ by the same vector, up to length.
    """

    members: np.ndarray
    n_left: int
    features: list[int]
    vectors: list[list[int]]
    copies: np.ndarray
    copy_weight: float
    vertices: list[list[int]]
    is_left_positive: bool
    has_ties: bool

    @property
    def n_features(self) -> int:
        """The number D of features used."""
        return len(self.features)

    def list_first_cones(self) -> list[list[int]]:
        """Return the cones that cover all directions, each as D column numbers of `compute_columns`."""
        D = self.n_features
        return [[k + D * sign for k, sign in enumerate(signs)] for signs in product((0, 1), repeat=D)]

    def compute_columns(self) -> tuple[np.ndarray, int, float]:
        """Return the scores of the samples at the vertices, and the vertices, in the form that kernels take.

        Returns
        -------
        scores : ndarray of shape (2 D, n + D)
            Between -1 and 1 for samples. The vertices come first, then their opposites.
        exponent : int
            The scores are those of the integers times 2 to the power of minus this.
        error : float
            The maximum error of a score.
        """
        whole = [[sum(map(int.__mul__, x, v)) for x in self.vectors] + v for v in self.vertices]
        whole += [[-value for value in column] for column in whole]
        n = len(self.vectors)
        largest = max(1, *(abs(s) for row in whole for s in row[:n]))
        exponent = (largest - 1).bit_length()
        is_exact = all(abs(s) < 1 << FRACTION_BITS for row in whole for s in row)
        scores = np.array([[s / (1 << exponent) for s in row] for row in whole])
        return scores, exponent, 0.0 if is_exact else ROUNDING


def find_copies(c: np.ndarray, most: int = MAX_COPIES) -> tuple[np.ndarray, float] | None:
    """Return weights as numbers of copies, and the weight of a copy; None if they have no common measure."""
    lightest = float(c.min())
    ratios = [Fraction(float(w) / lightest).limit_denominator(MAX_DENOMINATOR) for w in c]
    common = math.lcm(*{r.denominator for r in ratios})
    copies = [int(r * common) for r in ratios]
    if sum(copies) > most:
        return None
    copy_weight = lightest / common
    if not np.allclose(np.array(copies, float) * copy_weight, c, rtol=WEIGHT_TOLERANCE, atol=0.0):
        return None
    return np.array(copies, np.int64), copy_weight


def build_cone_problem(integers: list[list[int]], c: np.ndarray) -> ConeProblem | None:
    """Return the problem of the cone search; None if there is none to search.

    Parameters
    ----------
    integers : list of list of int
        Signed samples, all different: the sign, and the sign times each feature.
    c : ndarray of shape (n_samples,)
        Their weights.

    Returns
    -------
    ConeProblem or None
        None if the samples are of one class, in one place, or too many, or if their weights are not multiples
        of a common one.
    """
    if not integers:
        return None
    signs = np.array([row[0] for row in integers])
    found = find_copies(c)
    if found is None:
        return None
    copies, copy_weight = found
    positive, negative = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    if not len(positive) or not len(negative) or max(len(positive), len(negative)) > MAX_SAMPLES:
        return None
    is_left_positive = copies[positive].sum() <= copies[negative].sum()
    left, right = (positive, negative) if is_left_positive else (negative, positive)
    members = np.concatenate([left, right])
    rows = [[integers[i][0] * value for value in integers[i][1:]] for i in members]
    middle = [sorted(column)[len(column) // 2] for column in zip(*rows, strict=True)]
    rows = [[value - m for value, m in zip(row, middle, strict=True)] for row in rows]
    features = find_independent_columns([[1, *row] for row in rows])
    features = [j - 1 for j in features if j > 0]
    if not features:
        return None
    vectors = [[row[j] for j in features] for row in rows]
    return ConeProblem(
        members,
        len(left),
        features,
        vectors,
        copies[members],
        copy_weight,
        _choose_axes(vectors),
        bool(is_left_positive),
        _have_common_differences(vectors, len(left)),
    )


def _have_common_differences(vectors: list[list[int]], n_left: int) -> bool:
    """Return whether pairs of samples tie in the same directions, judging by some of the pairs."""
    rng = np.random.default_rng(TIE_SEED)
    lefts = rng.integers(0, n_left, TIE_PAIRS).tolist()
    rights = rng.integers(n_left, len(vectors), TIE_PAIRS).tolist()
    counts: dict[tuple[int, ...], int] = {}
    for i, j in set(zip(lefts, rights, strict=True)):
        difference = [a - b for a, b in zip(vectors[i], vectors[j], strict=True)]
        divisor = math.gcd(*difference) or 1
        if next(d for d in difference if d) < 0:  # samples in one place are merged
            divisor = -divisor
        key = tuple(d // divisor for d in difference)
        counts[key] = counts.get(key, 0) + 1
    return sum(count for count in counts.values() if count > 1) > COMMON_SHARE * sum(counts.values())


def _choose_axes(vectors: list[list[int]]) -> list[list[int]]:
    """Return the axes of the features, as long as their values are dense, up to a power of two.

    A cone of axes with signs is an orthant: the samples that conflict in it are those ordered in every feature.
    On axes, samples with few values tie, and numbers stay small.
    """
    columns = list(zip(*vectors, strict=True))
    sizes = [max(map(abs, column)) for column in columns]
    spreads = [float(np.std([v / s for v in column])) for column, s in zip(columns, sizes, strict=True)]
    # Of the sizes, logarithms: integers may be larger than any floating-point number.
    logs = [math.log2(spread) + math.log2(size) for spread, size in zip(spreads, sizes, strict=True)]
    exponents = [max(0, round(max(logs) - log)) for log in logs]
    return [[(1 << exponents[k]) if j == k else 0 for j in range(len(sizes))] for k in range(len(sizes))]
