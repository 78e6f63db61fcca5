"""A second checker of certificates, from docs/certificates.md alone: fractions, and clarity over speed.

It shares no code with the package. Where the two disagree, the page decides. Where the page says nothing, this
ignores fields that are not needed, and asks for two classes, a label in every row that is not a feature, and
features that are not repeated.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm
from typing import Any, TypeGuard

MAX_DIGITS = MAX_EXPONENT = 400
MAX_TOTAL_WEIGHT = 1_000_000
MAX_BITS = 16_384
MAX_HYPERPLANES = 6_000_000
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE]([+-]?[0-9]+))?", re.ASCII)
MISSING = ("", "?", "na", "n/a", "nan", "null", "none")
PROOF_FIELDS = {
    "equal rows": set(),
    "cones of directions": {"left", "right", "features", "scales", "target", "factor", "tree"},
    "impossible sets": {"sets", "target", "factor", "grains", "tree"},
    "all hyperplanes": set(),
}
FIELDS = {"format", "version", "table", "sha256", "weights", "bound", "rule", "method", "proof"}

Vector = tuple[Fraction, ...]


class RefusedError(Exception):
    """A certificate that does not prove its bound."""


class FormError(RefusedError):
    """A certificate in another form than that of the page, which might prove its bound all the same."""


def require(holds: bool, reason: str, kind: type[RefusedError] = RefusedError) -> None:
    if not holds:
        raise kind(reason)


def require_form(holds: bool, reason: str) -> None:
    require(holds, reason, FormError)


# --- Tables ---


def read_exact(text: str) -> Fraction:
    """Return the number that a text is, to the last digit."""
    found = NUMBER.fullmatch(text)
    if found is None:
        raise RefusedError(f"{text[:40]!r} is not a number")
    digits, exponent = found[1].replace(".", ""), found[3] or "0"
    require(len(digits) <= MAX_DIGITS and len(exponent) <= MAX_DIGITS, "too many digits")
    require(abs(int(exponent)) <= MAX_EXPONENT, "an exponent that is too large")
    return Fraction(text)


def split_table(text: str, name: str = "") -> tuple[list[str], list[list[str]]]:
    first = text.splitlines()[0]
    separators = "\t,;" if name.endswith((".tsv", ".tab")) else ",;\t"
    separator = next((s for s in separators if s in first), ",")
    header, *rows = (
        [field.strip() for field in row] for row in csv.reader(io.StringIO(text), delimiter=separator) if row
    )
    return header, rows


def is_missing(text: str) -> bool:
    return text.lower() in MISSING


def read_value(feature: dict[str, Any], text: str) -> Fraction:
    """Return the value of a feature where its column has this text."""
    if "missing" in feature:
        return Fraction(is_missing(text))
    if is_missing(text) and "fill" in feature:
        text = feature["fill"]
    return Fraction(text == feature["level"]) if "level" in feature else read_exact(text)


def read_samples(
    reading: dict[str, Any], header: list[str], rows: list[list[str]]
) -> tuple[list[Vector], list[bool]]:
    """Return the samples that a certificate is about, in the units of the table, and which are positive."""
    require_fields(reading, {"label", "positive", "drop_missing", "features"})
    require(isinstance(reading["label"], str) and isinstance(reading["positive"], str), "no label")
    require_form(isinstance(reading["drop_missing"], bool), "drop_missing is neither true nor false")
    require(isinstance(reading["features"], list) and reading["features"] != [], "no features")
    for feature in reading["features"]:
        kinds = ({"column"}, {"column", "level"}, {"column", "missing"}, {"column", "fill"})
        require(isinstance(feature, dict), "a feature that is not a mapping")
        require(isinstance(feature.get("column"), str), "a feature without a column")
        require_form(set(feature) in (*kinds, {"column", "level", "fill"}), "a feature of no known kind")
        texts = [feature[key] for key in ("level", "fill") if key in feature]
        require_form(all(isinstance(text, str) for text in texts), "a feature without text")
    kinds = {(f["column"], f.get("level"), "missing" in f) for f in reading["features"]}
    require_form(len(kinds) == len(reading["features"]), "a feature twice")
    used = [reading["label"], *(feature["column"] for feature in reading["features"])]
    require(all(header.count(column) == 1 for column in used), "a column that the table has not once")
    require(reading["label"] not in used[1:], "the label is a feature")
    at = {column: header.index(column) for column in used}
    samples, positive = [], []
    for row in rows:
        require(len(row) == len(header), "a row of another length than the header")
        if reading["drop_missing"] and any(is_missing(row[at[column]]) for column in used[1:]):
            continue
        require(not is_missing(row[at[reading["label"]]]), "a sample without a label")
        samples.append(tuple(read_value(f, row[at[f["column"]]]) for f in reading["features"]))
        positive.append(row[at[reading["label"]]] == reading["positive"])
    require(len(set(positive)) == 2, "not two classes")
    return samples, positive


def count_in_steps(column: Sequence[Fraction]) -> list[int]:
    """Return how many steps each value is above the smallest: the largest step that gives integers."""
    denominator = lcm(*(value.denominator for value in column))
    differences = [int((value - min(column)) * denominator) for value in column]
    return [difference // (gcd(*differences) or 1) for difference in differences]


def count_samples_in_steps(samples: list[Vector]) -> list[tuple[int, ...]]:
    """Return the samples as integers, each feature counted in steps of its own."""
    if not samples[0]:
        return [()] * len(samples)
    return list(zip(*(count_in_steps(column) for column in zip(*samples, strict=True)), strict=True))


def hash_samples(integers: list[tuple[int, ...]], positive: list[bool]) -> str:
    lines = [",".join(map(str, (*x, int(label)))) for x, label in zip(integers, positive, strict=True)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


# --- The theorem ---


class Problem:
    """The samples of a certificate in integers, and the net weights of their places."""

    def __init__(self, integers: list[tuple[int, ...]], positive: list[bool], weights: tuple[int, int]):
        self.integers = integers
        sums = {x: [0, 0] for x in integers}
        for x, label in zip(integers, positive, strict=True):
            sums[x][label] += weights[label]
        self.net = {x: above - below for x, (below, above) in sums.items()}  # net weight of each place
        self.unavoidable = sum(map(min, sums.values()))  # what every rule loses where both classes are

    def find_place(self, index: object) -> tuple[int, ...]:
        """Return the place of a sample, which must have a net weight."""
        if not is_integer(index) or not 0 <= index < len(self.integers):
            raise RefusedError("a sample that is not in the table")
        place = self.integers[index]
        require(self.net[place] != 0, "a place without net weight")
        return place


def verify(certificate: dict[str, Any], header: list[str], rows: list[list[str]]) -> int:
    """Return the bound that a certificate proves for a table."""
    require_fields(certificate, FIELDS)
    require_small_integers(certificate)
    require(certificate["format"] == "zoloss certificate", "not a certificate")
    require(is_integer(certificate["version"]) and certificate["version"] == 3, "another version")
    samples, positive = read_samples(certificate["table"], header, rows)
    integers = count_samples_in_steps(samples)
    require(certificate["sha256"] == hash_samples(integers, positive), "another table")
    weights = certificate["weights"]
    require(isinstance(weights, list) and len(weights) == 2 and all(map(is_positive, weights)), "weights")
    require(gcd(*weights) == 1, "weights with a common divisor")
    require(sum(weights[label] for label in positive) <= MAX_TOTAL_WEIGHT, "too large a total weight")
    problem = Problem(integers, positive, tuple(weights))
    method, proof = certificate["method"], certificate["proof"]
    require(isinstance(method, str) and method in PROOF_FIELDS, "another method")
    require_form(bool(PROOF_FIELDS[method]) or proof == {}, "a proof that is not needed")
    require_fields(proof, PROOF_FIELDS[method])
    bound = problem.unavoidable
    if method == "cones of directions":
        bound += verify_cones(proof, problem)
    elif method == "impossible sets":
        bound += verify_impossible_sets(proof, problem)
    elif method == "all hyperplanes":
        bound += sweep_hyperplanes(problem)
    require(
        is_integer(certificate["bound"]) and certificate["bound"] == bound, f"{bound} is proved, not the bound"
    )
    require(count_loss(certificate["rule"], samples, positive, weights) >= bound, "its rule loses less")
    return bound


def count_loss(
    rule: dict[str, Any], samples: list[Vector], positive: list[bool], weights: Sequence[int]
) -> int:
    """Return what a rule loses on the samples; a score of 0 is an error."""
    require_fields(rule, {"weights", "centre", "at_centre"})
    numbers = [rule["weights"], rule["centre"], [rule["at_centre"]]]
    require_form(all(isinstance(texts, list) for texts in numbers), "a rule without lists")
    require(all(isinstance(text, str) for texts in numbers for text in texts), "a rule without texts")
    direction, centre, (at_centre,) = ([read_exact(text) for text in texts] for texts in numbers)
    require(len(direction) == len(centre) == len(samples[0]), "a rule of other features")
    loss = 0
    for x, label in zip(samples, positive, strict=True):
        score = at_centre + sum(w * (value - c) for w, value, c in zip(direction, x, centre, strict=True))
        loss += 0 if (score > 0 if label else score < 0) else weights[label]
    return loss


def sweep_hyperplanes(problem: Problem) -> int:
    places = [x for x, net in problem.net.items() if net]
    require(len(places) ** len(problem.integers[0]) <= MAX_HYPERPLANES, "too many hyperplanes")
    return count_fewest(places, [problem.net[x] > 0 for x in places], [abs(problem.net[x]) for x in places])


# --- Cones of directions ---


def verify_cones(proof: dict[str, Any], problem: Problem) -> int:
    """Return what cones of directions prove about the net weights."""
    target, factor = read_target(proof)
    require(all(isinstance(proof[key], list) for key in ("left", "right", "features", "scales")), "no lists")
    left, right = ([problem.find_place(i) for i in proof[side]] for side in ("left", "right"))
    require(len(set(left + right)) == len(left + right), "a place that is named twice")
    signs = [{problem.net[x] > 0 for x in side} for side in (left, right)]
    require(all(len(sign) <= 1 for sign in signs) and not signs[0] & signs[1], "a side with both classes")
    features, scales = proof["features"], proof["scales"]
    dimension = len(problem.integers[0])
    require(all(is_integer(k) and 0 <= k < dimension for k in features), "a feature that is not in the table")
    require(len(set(features)) == len(features), "a feature that is named twice")
    require(len(scales) == len(features) and all(map(is_positive, scales)), "scales")
    chosen = [tuple(Fraction(x[k]) for k in features) for x in left + right]
    with_one, whole = ([(1, *x) for x in places] for places in (chosen, left + right))
    # Affine functions of the chosen features are among those of all: they are all, if the ranks agree.
    require(count_rank(with_one) == count_rank(whole), "features that do not determine the others")

    def list_copies(places: list[tuple[int, ...]]) -> list[Vector]:
        return [
            tuple(Fraction(x[k]) for k in features)
            for x in places
            for _ in range(abs(problem.net[x]) // factor)
        ]

    samples, opposite = list_copies(left), list_copies(right)
    tree = read_tree(proof)
    pairs: dict[int, int] = {}  # of the last leaf

    def visit(directions: list[Vector]) -> None:
        kind = take_next(tree)
        while kind == 2:
            pairs.clear()
            kind = take_next(tree)
        if kind == 1:
            split(directions)
        else:
            require(kind == 0, "neither a leaf nor a split")
            match(directions)

    def split(directions: list[Vector]) -> None:
        a, b, p, q, g = (take_next(tree) for _ in range(5))
        require(a != b and all(0 <= k < len(directions) for k in (a, b)), "a direction that the cone has not")
        require(min(p, q, g) > 0, "a new direction outside of the cone")
        new = tuple((p * u + q * v) / g for u, v in zip(directions[a], directions[b], strict=True))
        require(all(dot(new, x).denominator == 1 for x in chosen), "scores that are not integers")
        for replaced in (b, a):
            visit([new if k == replaced else direction for k, direction in enumerate(directions)])

    def match(directions: list[Vector]) -> None:
        for _ in range(take_next(tree)):
            i, j = take_next(tree), take_next(tree)
            require(0 <= i < len(samples) and -1 <= j < len(opposite), "a copy that is not there")
            pairs.pop(i, None)
            if j >= 0:
                pairs[i] = j
        require(len(set(pairs.values())) == len(pairs), "a copy in two pairs")
        require(len(pairs) >= target, "too few pairs")
        for i, j in pairs.items():
            conflicts = (dot(direction, samples[i]) <= dot(direction, opposite[j]) for direction in directions)
            require(all(conflicts), "a pair without a conflict")

    for signs_of_axes in product((1, -1), repeat=len(features)):
        axes = [
            tuple(Fraction(sign * scale if j == k else 0) for j in range(len(features)))
            for k, (sign, scale) in enumerate(zip(signs_of_axes, scales, strict=True))
        ]
        visit(axes)
    require(next(tree, None) is None, "a tree that does not end")
    return factor * target


# --- Impossible sets ---


def verify_impossible_sets(proof: dict[str, Any], problem: Problem) -> int:
    """Return what impossible sets prove about the net weights."""
    target, factor = read_target(proof)
    require(is_positive(proof["grains"]) and isinstance(proof["sets"], list), "no grains, or no sets")
    names: dict[tuple[int, ...], int] = {}
    sets: list[frozenset[int]] = []
    for members in proof["sets"]:
        require(isinstance(members, list) and len(members) == 2, "a set that is not a pair")
        require(all(isinstance(part, list) for part in members), "a set that is not two lists")
        indices, weights = members
        require(len(indices) == len(weights) and all(map(is_positive, weights)), "weights of a set")
        places = [problem.find_place(i) for i in indices]
        require(bool(indices), "an empty set")  # on which no rule is wrong
        require_form(len(set(indices)) == len(indices), "a sample that is twice in a set")
        require(all(names.setdefault(x, i) == i for x, i in zip(places, indices, strict=True)), "two names")
        signed = [w if problem.net[x] > 0 else -w for w, x in zip(weights, places, strict=True)]
        sums = [
            sum(w * value for w, value in zip(signed, column, strict=True))
            for column in zip(*places, strict=True)
        ]
        require(sum(signed) == 0 and not any(sums), "a set that is not impossible")
        sets.append(frozenset(indices))
    grains = {i: abs(problem.net[x]) // factor * proof["grains"] for x, i in names.items()}
    tree = read_tree(proof)

    def take() -> int:
        return take_next(tree)

    def visit(errors: frozenset[int], right: frozenset[int]) -> None:
        kind = take()
        if kind == 1:
            i = take()
            require(i in grains and i not in errors | right, "a sample that cannot be decided")
            visit(errors | {i}, right)
            visit(errors, right | {i})
            return
        require(kind == 0, "neither a leaf nor a decision")
        dual = [(take(), take()) for _ in range(take())]
        require(all(0 <= k < len(sets) and weight >= 0 for k, weight in dual), "a set or a weight")
        total = sum(weight for _, weight in dual)
        for i in set(grains) - right:
            slack = grains[i] - sum(weight for k, weight in dual if i in sets[k])
            total += slack if i in errors else min(slack, 0)
        require(total > (target - 1) * proof["grains"], "a leaf that proves less than the target")

    visit(frozenset(), frozenset())
    require(next(tree, None) is None, "a tree that does not end")
    return factor * target


# --- What is shared ---


def require_fields(mapping: object, fields: set[str]) -> None:
    require(isinstance(mapping, dict) and fields <= set(mapping), f"not all of the fields {sorted(fields)}")


def require_small_integers(content: object) -> None:
    """Refuse numbers that are not integers of a bounded size, anywhere in a certificate."""
    if isinstance(content, dict | list):
        for inner in content.values() if isinstance(content, dict) else content:
            require_small_integers(inner)
    else:
        require(not isinstance(content, float), "a number that is not an integer")
        require(not isinstance(content, int) or content.bit_length() <= MAX_BITS, "an integer of too many bits")


def is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def is_positive(value: object) -> TypeGuard[int]:
    return is_integer(value) and value > 0


def read_target(proof: dict[str, Any]) -> tuple[int, int]:
    require(is_positive(proof["target"]) and is_positive(proof["factor"]), "no target, or no factor")
    return proof["target"], proof["factor"]


def read_tree(proof: dict[str, Any]) -> Iterator[int]:
    require(isinstance(proof["tree"], list) and all(map(is_integer, proof["tree"])), "a tree without integers")
    return iter(proof["tree"])


def take_next(tree: Iterator[int]) -> int:
    for entry in tree:
        return entry
    raise RefusedError("a tree that ends early")


def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def count_rank(rows: Sequence[Sequence[Fraction | int]]) -> int:
    return len(eliminate(rows)[1])


def eliminate(rows: Sequence[Sequence[Fraction | int]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the reduced row echelon form of a matrix, and the columns of its pivots."""
    reduced = [list(map(Fraction, row)) for row in rows]
    pivots: list[int] = []
    for column in range(len(reduced[0]) if reduced else 0):
        top = len(pivots)
        found = next((k for k in range(top, len(reduced)) if reduced[k][column]), None)
        if found is None:
            continue
        reduced[top], reduced[found] = reduced[found], reduced[top]
        reduced[top] = [value / reduced[top][column] for value in reduced[top]]
        for k, row in enumerate(reduced):
            if k != top and row[column]:
                reduced[k] = [v - row[column] * t for v, t in zip(row, reduced[top], strict=True)]
        pivots.append(column)
    return reduced, pivots


# --- Brute force ---


def count_fewest(
    samples: Sequence[Sequence[Fraction | int]], positive: Sequence[bool], weights: Sequence[int]
) -> int:
    """Return the least loss of all linear rules, for a handful of samples and what an error costs on each.

    A rule can be right on all of some samples unless a sum of them, with positive weights and a minus for
    negative ones, is 0 in (1, x) (Gordan's theorem). By Caratheodory's, some such sum has a minimal dependent
    set: without any one of its samples, the others are independent. So every minimal dependent set is tried,
    and the errors are the lightest samples that hit all of those whose only sum has one sign.
    """
    if not samples:
        return 0
    impossible = [frozenset(members) for members, _ in list_impossible_sets(samples, positive)]
    return find_lightest_hits(impossible, frozenset(), weights)


def list_impossible_sets(
    samples: Sequence[Sequence[Fraction | int]], positive: Sequence[bool]
) -> Iterator[tuple[tuple[int, ...], list[Fraction]]]:
    """Yield the minimal sets of samples on which no rule is right, with the weights of their sum."""
    signed = [
        tuple(Fraction(value if label else -value) for value in (1, *x))
        for x, label in zip(samples, positive, strict=True)
    ]
    for size in range(2, count_rank(signed) + 2):
        for chosen in combinations(range(len(signed)), size):
            reduced, pivots = eliminate(list(zip(*(signed[i] for i in chosen), strict=True)))
            if pivots != list(range(size - 1)):
                continue  # independent, or with a dependent set inside of it
            weights = [*(-row[-1] for row in reduced[: size - 1]), Fraction(1)]
            if all(weight > 0 for weight in weights):
                yield chosen, weights


def find_lightest_hits(sets: list[frozenset[int]], right: frozenset[int], weights: Sequence[int]) -> int:
    """Return the least weight of samples that hit all sets, without those that are right."""
    if not sets:
        return 0
    smallest = min(sets, key=lambda members: len(members - right))
    best = sum(weights) + 1  # nothing hits a set of which all samples are right
    for i in sorted(smallest - right):
        rest = find_lightest_hits([members for members in sets if i not in members], right, weights)
        best = min(best, weights[i] + rest)
        right |= {i}
    return best
