"""Proofs that would be right but for one condition, each written to claim as much as it can without it."""

from collections.abc import Iterator
from math import lcm
from random import Random
from typing import Any

import certificate_oracle as oracle

SCHEMES = ("right", "fewer features", "zero splits", "floored splits", "negative splits", "named twice")
SCHEMES += ("rounded up", "both classes", "pairs used twice", "few leaves")
SET_SCHEMES = ("right", "weightless", "two names", "rounded up", "cancelled weights")


def write_false_proof(problem: oracle.Problem, rng: Random) -> tuple[str, dict[str, Any]] | None:
    if rng.random() < 0.6:
        return write_cones(problem, rng, rng.choice(SCHEMES))
    return write_sets(problem, rng, rng.choice(SET_SCHEMES))


# --- Cones: pairs along single axes are easy to find, and prove nothing about what is between the axes


def write_cones(problem: oracle.Problem, rng: Random, scheme: str) -> tuple[str, dict[str, Any]] | None:
    n_features = len(problem.integers[0])
    first = {x: i for i, x in reversed(list(enumerate(problem.integers)))}
    places = sorted(x for x, net in problem.net.items() if net)
    left = [x for x in places if problem.net[x] > 0]
    right = [x for x in places if problem.net[x] < 0]
    if scheme == "both classes":
        left, right = places[::2], places[1::2]
    if scheme == "named twice":
        left, right = left * 2, right * 2
    factor = rng.choice([2, 3]) if scheme == "rounded up" else 1
    used = [rng.randrange(n_features)] if scheme == "fewer features" else list(range(n_features))
    copies = [
        [x for x in side for _ in range((abs(problem.net[x]) + factor - 1) // factor)] for side in (left, right)
    ]
    if not all(copies):
        return None
    leaves: list[list[tuple[int, int]]] = []
    tree: list[int] = []
    split = {"floored splits": [1, 1, 10**9], "negative splits": [1, -1, 1]}.get(scheme, [0, 0, 1])
    for orthant in range(1 if scheme == "few leaves" else 2 ** len(used)):
        signs = [-1 if orthant >> (len(used) - 1 - k) & 1 else 1 for k in range(len(used))]
        for entry in list_axes(list(range(len(used)))):
            if isinstance(entry, tuple):
                tree += [1, *entry, *split]
                continue
            scores = ([signs[entry] * x[used[entry]] for x in side] for side in copies)
            pairs = match(*scores, is_repeated=scheme == "pairs used twice")
            leaves.append(pairs)
            tree += [2, 0, len(pairs), *(i for pair in pairs for i in pair)]
    target = min(map(len, leaves))
    if not target:
        return None
    return "cones of directions", {
        "left": [first[x] for x in left],
        "right": [first[x] for x in right],
        "features": used,
        "scales": [1] * len(used),
        "target": target,
        "factor": factor,
        "tree": tree,
    }


def list_axes(axes: list[int]) -> Iterator[int | tuple[int, int]]:
    """Yield splits of a cone, a pair of axes each, and the axis that is left where a part has no other."""
    if len(axes) == 1:
        yield axes[0]
        return
    a, b, *rest = axes
    yield a, b
    yield from list_axes([a, *rest])
    yield from list_axes([b, *rest])


def match(left: list[int], right: list[int], is_repeated: bool = False) -> list[tuple[int, int]]:
    """Return as many pairs of indices as there are with a left score of no more than the right one.

    They have nothing in common, unless one on the right may be repeated.
    """
    if is_repeated:
        j = max(range(len(right)), key=right.__getitem__)
        return [(i, j) for i, score in enumerate(left) if score <= right[j]]
    pairs, waiting = [], sorted(range(len(left)), key=left.__getitem__)
    for j in sorted(range(len(right)), key=right.__getitem__):
        if waiting and left[waiting[0]] <= right[j]:
            pairs.append((waiting.pop(0), j))
    return pairs


# --- Impossible sets


def write_sets(problem: oracle.Problem, rng: Random, scheme: str) -> tuple[str, dict[str, Any]] | None:
    places = sorted(x for x, net in problem.net.items() if net)
    found = list(oracle.list_impossible_sets(places, [problem.net[x] > 0 for x in places]))
    names = [[i for i, x in enumerate(problem.integers) if x == place] for place in places]
    factor = rng.choice([2, 3]) if scheme == "rounded up" else 1
    copies = [(abs(problem.net[x]) + factor - 1) // factor for x in places]
    rng.shuffle(found)
    sets = [
        [[names[k][0] for k in members], [int(w * lcm(*(v.denominator for v in weights))) for w in weights]]
        for members, weights in found
    ]
    proof = {"sets": sets, "target": 1, "factor": factor, "grains": 1, "tree": []}
    if scheme == "weightless":
        sets[:] = [[[each[0]], [0]] for each in names]
        packed = [(k, count) for k, count in enumerate(copies)]
    else:
        packed = list(pack([members for members, _ in found], copies))
    if scheme == "two names":
        others = [[[names[k][-1] for k in members], sets[at][1]] for at, (members, _) in enumerate(found)]
        packed += [(len(sets) + k, weight) for k, weight in packed]
        sets += others
    proof["target"] = sum(weight for _, weight in packed)
    if scheme == "cancelled weights":
        packed += [(0, -1), (0, 1)]
    proof["tree"] = [0, len(packed), *(entry for pair in packed for entry in pair)]
    return ("impossible sets", proof) if proof["target"] else None


def pack(sets: list[tuple[int, ...]], copies: list[int]) -> Iterator[tuple[int, int]]:
    left = list(copies)
    for k, members in enumerate(sets):
        if weight := min(left[i] for i in members):
            for i in members:
                left[i] -= weight
            yield k, weight
