"""The samples that a certificate is about, as integers, and the errors of its rule, in fractions.

The modules in this folder import neither kernels nor learners, and use no floating point. docs/proofs.md
describes what they check and why that suffices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np


class RefutedProofError(Exception):
    """A certificate does not prove what it claims; the message says where it fails."""


def read_exact_features(X: np.ndarray) -> list[list[int]]:
    """Return the samples as integers: each feature from its smallest value, in steps of its greatest divisor.

    A value is taken as the shortest decimal number that is read as it, as it appears in a table.
    """
    columns = []
    for values in np.asarray(X, dtype=float).T.tolist():
        known = {value: Fraction(Decimal(repr(value))) for value in set(values)}
        denominator = lcm(*(value.denominator for value in known.values()))
        whole = {value: int(exact * denominator) for value, exact in known.items()}
        least = min(whole.values())
        step = gcd(*(value - least for value in whole.values())) or 1
        columns.append([(whole[value] - least) // step for value in values])
    return [list(sample) for sample in zip(*columns, strict=True)]


def hash_samples(samples: list[list[int]], y: Sequence[int]) -> str:
    """Return the sha256 of samples of integers and their classes."""
    lines = (",".join(map(str, [*sample, label])) for sample, label in zip(samples, y, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class MergedPlaces:
    """The net weight of samples, by place.

    Attributes
    ----------
    net : dict of {tuple of int: int}
        The copies by which the positive class exceeds the negative one.
    unavoidable : int
        The copies that every rule misclassifies.
    """

    net: dict[tuple[int, ...], int]
    unavoidable: int


def merge_places(samples: list[list[int]], y: Sequence[int], copies: Sequence[int]) -> MergedPlaces:
    """Merge samples in the same place, where only the heavier class can be right."""
    totals: dict[tuple[int, ...], list[int]] = {}
    for sample, label in zip(samples, y, strict=True):
        totals.setdefault(tuple(sample), [0, 0])[label] += copies[label]
    return MergedPlaces(
        {place: positive - negative for place, (negative, positive) in totals.items()},
        sum(min(both) for both in totals.values()),
    )


def find_place(samples: list[list[int]], index: Any) -> tuple[int, ...]:
    """Return the place of the sample with an index, which a file may hold in any form."""
    if type(index) is not int or not 0 <= index < len(samples):
        raise RefutedProofError("it names a sample that does not exist")
    return tuple(samples[index])


def expect_integers(values: Any, least: int | None = None) -> list[int]:
    """Return a list of integers, which a file may hold in any form; none may be below `least`."""
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise RefutedProofError("one of its numbers is not an integer")
    if least is not None and values and min(values) < least:
        raise RefutedProofError(f"a number is below {least}")
    return values


def count_rank(rows: list[list[int]]) -> int:
    """Return the rank of rows of integers, by elimination in fractions."""
    basis: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        rest = [Fraction(value) for value in row]
        for pivot, other in basis:
            if rest[pivot]:
                factor = rest[pivot]
                rest = [value - factor * o for value, o in zip(rest, other, strict=True)]
        lead = next((k for k, value in enumerate(rest) if value), None)
        if lead is not None:
            basis.append((lead, [value / rest[lead] for value in rest]))
            if len(basis) == len(row):
                break
    return len(basis)


def count_rule_copies(
    rule: dict[str, Any], X: np.ndarray, y: Sequence[int], copies: Sequence[int]
) -> tuple[int, int]:
    """Return the errors and the misclassified copies of a linear rule; a score of 0 is an error."""
    weights = [Fraction(w) for w in rule["weights"]]
    centre = [Fraction(c) for c in rule["centre"]]
    offset = Fraction(rule["at_centre"]) - sum(
        (w * c for w, c in zip(weights, centre, strict=True)), Fraction(0)
    )
    # Integers over a common denominator: sums of thousands of fractions would take longer than the proof.
    columns, denominators = [], []
    for values in np.asarray(X, dtype=float).T.tolist():
        known = {value: Fraction(Decimal(repr(value))) for value in set(values)}
        denominator = lcm(*(value.denominator for value in known.values()))
        whole = {value: int(exact * denominator) for value, exact in known.items()}
        columns.append([whole[value] for value in values])
        denominators.append(denominator)
    terms = [w / d for w, d in zip(weights, denominators, strict=True)]
    common = lcm(offset.denominator, *(term.denominator for term in terms))
    factors, start = [int(term * common) for term in terms], int(offset * common)
    errors = lost = 0
    for sample, label in zip(zip(*columns, strict=True), y, strict=True):
        score = start + sum(map(int.__mul__, factors, sample))
        if (score if label == 1 else -score) <= 0:
            errors += 1
            lost += copies[label]
    return errors, lost
