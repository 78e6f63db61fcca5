"""The fewest errors of all linear rules, by enumerating all hyperplanes in integers, for few features."""

from __future__ import annotations

from math import gcd

from zoloss_cli.workflows.proofs.samples import MergedPlaces, RefutedProofError

MAX_STEPS = 6_000_000  # places to the power of the features: takes seconds

Vectors = dict[tuple[int, ...], int]


def count_steps(n_places: int, n_features: int) -> int:
    """Return the number of places examined for all hyperplanes, up to a factor."""
    return int(n_places ** max(1, n_features))


def count_fewest_copies(places: MergedPlaces) -> int:
    """Return the misclassified copies of the best linear rule, without the unavoidable ones.

    Parameters
    ----------
    places : MergedPlaces
        Places in few dimensions, and their weights.

    Returns
    -------
    int
        The copies.
    """
    vectors: Vectors = {}
    for place, net in places.net.items():
        if net:
            sign = 1 if net > 0 else -1
            _add(vectors, (sign, *(sign * value for value in place)), abs(net))
    if count_steps(len(vectors), len(next(iter(places.net), ()))) > MAX_STEPS:
        raise RefutedProofError("it needs a sweep of more hyperplanes than a check can cover")
    return _minimize(vectors)


def _add(vectors: Vectors, vector: tuple[int, ...], weight: int) -> None:
    """Add a weight to a direction, represented by its shortest integer vector."""
    divisor = gcd(*vector)
    key = tuple(value // divisor for value in vector)
    vectors[key] = vectors.get(key, 0) + weight


def _minimize(vectors: Vectors) -> int:
    """Return the smallest weight of vectors a with <a, w> <= 0, over all w that are 0 on none of them.

    The w with the same signs form an open cone. If the vectors span all dimensions, such a cone has a facet,
    which lies in the hyperplane of some vector and is itself such a cone for the other vectors, projected onto
    it; multiples of the vector are right on one side. If the vectors do not span, the same holds in their span,
    which projections do not leave. So the minimum over all hyperplanes is the minimum over all w.
    """
    if not vectors:
        return 0
    if len(next(iter(vectors))) == 2:
        return _sweep(vectors)
    least = None
    for vector in vectors:
        opposite = tuple(-value for value in vector)
        if opposite in vectors and opposite < vector:  # the same hyperplane
            continue
        here = min(vectors[vector], vectors.get(opposite, 0))
        if least is None or here < least:
            found = here + _minimize(_project(vectors, vector))
            least = found if least is None else min(least, found)
    assert least is not None
    return least


def _project(vectors: Vectors, normal: tuple[int, ...]) -> Vectors:
    """Return the vectors as functions on the hyperplane of one of them, without its multiples."""
    pivot = next(k for k, value in enumerate(normal) if value)
    size, sign = abs(normal[pivot]), 1 if normal[pivot] > 0 else -1
    rest = [sign * value for k, value in enumerate(normal) if k != pivot]
    projected: Vectors = {}
    for vector, weight in vectors.items():
        factor = vector[pivot]
        others = (value for k, value in enumerate(vector) if k != pivot)
        image = tuple(size * value - factor * r for value, r in zip(others, rest, strict=True))
        if any(image):
            _add(projected, image, weight)
    return projected


def _sweep(vectors: Vectors) -> int:
    """Return the smallest weight in two dimensions, by rotating w once around."""
    upper = {vector if vector > (0, 0) else (-vector[0], -vector[1]) for vector in vectors}
    # By angle from -90 degrees: floors of y / x with this many bits differ whenever the fractions do.
    bits = 2 * max(x.bit_length() for x, _ in upper) + 1
    ordered = sorted(upper, key=lambda v: (v[0] == 0, (v[1] << bits) // v[0] if v[0] else 0))
    total = sum(vectors.values())
    lost = sum(vectors.get(vector, 0) for vector in ordered)  # where w is at right angles before all
    least = min(lost, total - lost)
    for x, y in ordered:
        lost += vectors.get((-x, -y), 0) - vectors.get((x, y), 0)
        least = min(least, lost, total - lost)
    return least
