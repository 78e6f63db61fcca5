"""Check a certificate of the fewest errors against a table, in exact integers, with the standard library only.

    python check.py CERTIFICATE TABLE.csv

A certificate claims a lower bound on the errors of every linear rule on some features of a table. This file
reads the table itself, trusts nothing in the certificate that it has not checked, and either accepts it,
stating all that is proved, or rejects it with a reason. docs/certificates.md specifies the format and explains
why each check suffices. The work is bounded: a check that hits one of the limits below ends with a message
naming it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import gcd, lcm
from operator import gt
from typing import Any, NamedTuple

FORMAT, VERSION = "zoloss certificate", 3
EQUAL_ROWS, CONES, SETS, SWEEP = "equal rows", "cones of directions", "impossible sets", "all hyperplanes"
MAX_TABLE_BYTES = MAX_CERTIFICATE_BYTES = 100_000_000
# Maximum unpacked size of a compressed certificate: in bytes, and as a multiple of its size.
FREE_BYTES, MAX_INFLATION = 10_000_000, 20
FREE_WORK, WORK_PER_BYTE = 100_000_000, 100  # steps for any certificate, and for each of its bytes
MAX_BRACKETS = 1_000_000  # lists and mappings of a certificate
MAX_FEATURES_PER_COLUMN = 101  # levels, and an indicator of missing values
MAX_HELD = 10_000_000  # scores of pending cones
MAX_DIGITS = 400  # of a decimal number; and its largest exponent
MAX_BITS = 16_384  # of an integer
MAX_COPIES = 1_000_000  # total weight of all samples
MAX_SWEEP = 3_000_000  # places to the power of features
MISSING = {"", "?", "na", "n/a", "nan", "null", "none"}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,9}))?", re.ASCII)

Place = tuple[int, ...]


class RefusedError(Exception):
    """Raised if a certificate is rejected, with the reason as its message."""


class Proved(NamedTuple):
    """Every linear rule loses at least `bound`, the certificate's own rule `loss`; `reading` is the data."""

    bound: int
    loss: int
    errors: int
    weights: list[int]
    method: str
    n_checked: int
    reading: list[str]

    @property
    def is_weighted(self) -> bool:
        """Whether errors of the two classes count differently, so that losses are not numbers of errors."""
        return self.weights != [1, 1]

    def describe(self) -> str:
        """Return all that is proved, in sentences."""
        verb = "loses" if self.is_weighted else "makes"
        least, own = (
            f"{n:,} of weight" if self.is_weighted else f"{n:,} error{'s' * (n != 1)}"
            for n in (self.bound, self.loss)
        )
        counted = {CONES: f", {self.n_checked:,} cones checked", SETS: f", {self.n_checked:,} leaves checked"}
        method = self.method + counted.get(self.method, "")
        verdict = "proved optimal" if self.loss == self.bound else "not proved optimal"
        reading = self.reading
        if self.is_weighted:
            positive, other = f"{self.weights[1]:,}", f"{self.weights[0]:,}"
            reading = [
                *reading,
                f"weights   an error on a positive sample counts {positive}, on another {other}",
            ]
        return "\n".join(
            [
                *reading,
                f"bound     every linear rule {verb} at least {least}: proved ({method})",
                f"rule      that of the certificate {verb} {own}: {verdict}",
            ]
        )


class Work:
    """The budget of steps left; one step is about the addition of two small integers."""

    def __init__(self, n_bytes: int):
        self.limit = self.left = FREE_WORK + WORK_PER_BYTE * n_bytes

    def spend(self, steps: int, bits: int = 0, held: int = 0) -> None:
        """Charge for steps with integers of `bits` bits while `held` are held; refuse beyond a limit."""
        if bits > MAX_BITS:
            raise RefusedError(f"it needs integers of more than {MAX_BITS:,} bits, the limit")
        if held * (1 + bits // 128) > MAX_HELD:
            raise RefusedError(f"it needs more than {MAX_HELD:,} integers at a time, the limit")
        self.left -= steps * (1 + bits // 64)
        if self.left < 0:
            raise RefusedError(f"checking it takes more than {self.limit:,} steps, the limit for its size")


# --- files


def read_file(path: str, limit: int) -> bytes:
    """Return the content of a regular file, or of standard input for '-', up to a limit."""
    try:
        if path != "-" and not stat.S_ISREG(os.stat(path).st_mode):
            raise RefusedError("is not a regular file")
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            content = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise RefusedError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > limit:
        raise RefusedError(f"has more than {limit:,} bytes, the limit")
    return content


def parse_certificate(content: bytes) -> dict[str, Any]:
    """Return the certificate in the bytes of a file: JSON, compressed with gzip or not."""
    if content[:2] == b"\x1f\x8b":
        limit, unpacker = max(FREE_BYTES, MAX_INFLATION * len(content)), zlib.decompressobj(31)
        try:
            content = unpacker.decompress(content, limit + 1)
        except zlib.error as error:
            raise RefusedError(f"is damaged: {error}") from None
        if len(content) > limit:
            raise RefusedError(f"unpacks to more than {limit:,} bytes, the limit for its size")
        if not unpacker.eof or unpacker.unused_data:
            raise RefusedError("is damaged: it is cut off, or something follows its end")
    if content.count(b"[") + content.count(b"{") > MAX_BRACKETS:
        raise RefusedError(f"has more than {MAX_BRACKETS:,} lists and mappings")

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise RefusedError("has a duplicate field")
        return dict(pairs)

    def refuse(text: str) -> None:
        raise RefusedError(f"has the number {text[:20]}: its numbers must be integers")

    try:
        found = json.loads(content, object_pairs_hook=build, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"is damaged, or not a certificate: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RefusedError("is not a certificate; `zoloss fit --certificate` writes one")
    if found.get("version") != VERSION:
        wrong = f"has format version {str(found.get('version'))[:20]}, and this checks version {VERSION}"
        raise RefusedError(f"{wrong}; write it again with `zoloss fit --certificate`")
    return found


def parse_table(content: bytes, name: str = "") -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV file, with commas or else semicolons or tabs between fields."""
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")

    def split(separator: str) -> Iterator[list[str]]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        return ([value.strip() for value in row] for row in reader if row)

    try:
        order = "\t,;" if name.endswith((".tsv", ".tab")) else ",;\t"
        separator = next((each for each in order if len(next(split(each), [])) > 1), ",")
        header, *rows = split(separator)
    except (csv.Error, ValueError) as error:
        raise RefusedError(f"is not a CSV file: {error}") from None
    if len(set(header)) < len(header) or any(len(row) != len(header) for row in rows):
        raise RefusedError("is not a table: its header has a duplicate name, or a row has a different length")
    return header, rows


# --- samples


class Samples(NamedTuple):
    """Samples in integers: feature j of a sample with integer k is origins[j] + k * steps[j] in the table."""

    places: list[Place]
    y: list[int]
    origins: list[Fraction]
    steps: list[Fraction]


def read_number(text: Any) -> Fraction:
    """Return the exact value of a decimal number of limited length."""
    match = NUMBER.fullmatch(text)
    if match is None or len(text) > MAX_DIGITS or abs(int(match[2] or 0)) > MAX_DIGITS:
        wrong = f"'{text[:30]}' is not a number, or has more than {MAX_DIGITS} digits or a larger exponent"
        raise RefusedError(f"is about other data: {wrong}")
    return Fraction(text)


def read_samples(table: dict[str, Any], header: list[str], rows: list[list[str]]) -> Samples:
    """Return the samples that a certificate describes, by columns of a table."""
    at = {name: k for k, name in enumerate(header)}
    if table["label"] not in at or any(each["column"] not in at for each in table["features"]):
        raise RefusedError("is about other data: the table lacks some of its columns")
    if not table["features"] or any(
        set(each) - {"column", "level", "missing", "fill"} for each in table["features"]
    ):
        raise RefusedError("has no features, or describes one in an unknown way")
    used = {at[each["column"]] for each in table["features"]}
    kinds = {(each["column"], each.get("level"), "missing" in each) for each in table["features"]}
    if len(kinds) < len(table["features"]) or len(kinds) > MAX_FEATURES_PER_COLUMN * len(used):
        raise RefusedError(f"has a feature twice, or more than {MAX_FEATURES_PER_COLUMN} from a column")
    if table["drop_missing"]:
        rows = [row for row in rows if not any(row[k].lower() in MISSING for k in used)]
    labels = [row[at[table["label"]]] for row in rows]
    y = [int(label == table["positive"]) for label in labels]
    if len(set(y)) < 2 or at[table["label"]] in used or not MISSING.isdisjoint(map(str.lower, set(labels))):
        raise RefusedError("is about other data: a label or a feature is missing, or there is only one class")
    columns, origins, steps = [], [], []
    for each in table["features"]:
        texts = [row[at[each["column"]]] for row in rows]
        known = {text: _read_value(each, text) for text in set(texts)}
        least = min(known.values())
        common = lcm(*(value.denominator for value in known.values()))
        step = Fraction(gcd(*(int((value - least) * common) for value in known.values())) or 1, common)
        index = {text: int((value - least) / step) for text, value in known.items()}
        columns.append([index[text] for text in texts])
        origins.append(least)
        steps.append(step)
    return Samples(list(zip(*columns)), y, origins, steps)


def _read_value(feature: dict[str, str], text: str) -> Fraction:
    is_missing = text.lower() in MISSING
    if "missing" in feature:
        return Fraction(is_missing)
    text = feature.get("fill", "") if is_missing else text
    return Fraction(text == feature["level"]) if "level" in feature else read_number(text)


def describe_reading(table: dict[str, Any], header: list[str], n_rows: int, y: list[int]) -> list[str]:
    """Describe what a bound holds for: samples, classes, features, and how missing values are read."""
    names = [
        f"{each['column']} missing"
        if "missing" in each
        else "=".join(each[key] for key in ("column", "level") if key in each)
        for each in table["features"]
    ]
    columns = {each["column"] for each in table["features"]}
    unused = [name for name in header if name and name not in columns and name != table["label"]]
    fills = {
        f"{each['column']}: {each['fill'] or 'none of its levels'}": 1
        for each in table["features"]
        if "fill" in each
    }
    dropped = f" of {n_rows:,}, without those with missing values" if len(y) < n_rows else ""
    lines = [
        f"samples   {len(y):,}{dropped}; {sum(y):,} are positive: '{table['label']}' is '{table['positive']}'",
        f"features  {', '.join(names)}" + (f" (not used: {', '.join(unused)})" if unused else ""),
        f"missing   values are read as {', '.join(fills)}",
    ]
    return ["".join(c if c.isprintable() else "?" for c in line) for line in lines[: 3 if fills else 2]]


def hash_samples(samples: Samples) -> str:
    """Return the sha256 of the samples with their classes, as lines of integers between commas."""
    lines = (",".join(map(str, [*place, label])) for place, label in zip(samples.places, samples.y))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


# --- proofs


def check(certificate: dict[str, Any], header: list[str], rows: list[list[str]], n_bytes: int = 0) -> Proved:
    """Return what a certificate of `n_bytes` bytes proves about a table; RefusedError if not its bound."""
    try:
        return _check(certificate, header, rows, Work(n_bytes))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise RefusedError(f"is damaged: {type(error).__name__}: {str(error)[:100]}") from None


def _check(certificate: dict[str, Any], header: list[str], rows: list[list[str]], work: Work) -> Proved:
    table, proof, method = certificate["table"], certificate["proof"], certificate["method"]
    work.spend(10 * len(rows) * len(table["features"]))
    samples = read_samples(table, header, rows)
    if hash_samples(samples) != certificate["sha256"]:
        raise RefusedError("is about other data than this table; check it with the table that it was made from")
    weights = _expect_integers(certificate["weights"], 1)
    if len(weights) != 2 or gcd(*weights) > 1 or max(weights) * len(samples.y) > MAX_COPIES:
        raise RefusedError(
            f"must have two weights without a common divisor, at most {MAX_COPIES:,} in all samples"
        )
    # Of samples in one place, the lighter class is always misclassified; the surplus counts as one sample.
    both: dict[Place, list[int]] = {}
    for place, label in zip(samples.places, samples.y):
        both.setdefault(place, [0, 0])[label] += weights[label]
    net = {place: positive - negative for place, (negative, positive) in both.items()}
    proved, n_checked = sum(map(min, both.values())), 0
    if method in (CONES, SETS):
        target, factor = _expect_integers([proof["target"], proof["factor"]], 1)
        n_checked = (_check_cones if method == CONES else _check_sets)(proof, samples.places, net, work)
        proved += factor * target
    elif method == SWEEP:
        proved += _count_fewest(net, work)
    elif method != EQUAL_ROWS:
        raise RefusedError("names an unknown method")
    if type(certificate["bound"]) is not int or certificate["bound"] != proved:
        claimed = str(certificate["bound"])[:30]
        raise RefusedError(f"does not prove its bound: it claims {claimed}, and proves {proved:,}")
    wrong = _find_errors(certificate["rule"], samples, work)
    loss = sum(weights[samples.y[i]] for i in wrong)
    if loss < proved:
        raise RefusedError(f"does not prove its bound: its own rule loses {loss:,}")
    reading = describe_reading(table, header, len(rows), samples.y)
    return Proved(proved, loss, len(wrong), weights, method, n_checked, reading)


def _require(holds: bool, reason: str) -> None:
    """Refuse a certificate with a reason unless something holds."""
    if not holds:
        raise RefusedError(f"does not prove its bound: {reason}")


def _expect_integers(values: Any, least: int | None = None) -> list[int]:
    _require(type(values) is list and set(map(type, values)) <= {int}, "a number is not an integer")
    _require(least is None or not values or min(values) >= least, f"a number is below {least}")
    return values


def _find_errors(rule: dict[str, Any], samples: Samples, work: Work) -> list[int]:
    """Return the samples on the wrong side of at_centre + <weights, x - centre>, or on it."""
    w, centre = ([read_number(text) for text in rule[key]] for key in ("weights", "centre"))
    if len(w) != len(samples.steps) or len(centre) != len(w):
        raise RefusedError("has a rule for other features")
    start = read_number(rule["at_centre"]) + sum(a * (o - c) for a, o, c in zip(w, samples.origins, centre))
    terms = [start, *(a * step for a, step in zip(w, samples.steps))]
    common = lcm(*(term.denominator for term in terms))
    whole = [int(term * common) for term in terms]
    work.spend(len(samples.y) * len(whole), max(map(abs, whole)).bit_length())
    scores = (whole[0] + sum(map(int.__mul__, whole[1:], place)) for place in samples.places)
    return [i for i, (score, label) in enumerate(zip(scores, samples.y)) if (score if label else -score) <= 0]


def _check_cones(proof: dict[str, Any], places: list[Place], net: dict[Place, int], work: Work) -> int:
    """Check that each leaf of a tree of cones, which cover all directions, has enough conflicting pairs."""
    left, right = ([places[i] for i in _expect_integers(proof[side], 0)] for side in ("left", "right"))
    everything, tree, target = left + right, _expect_integers(proof["tree"]), proof["target"]
    signs = sorted([(net[place] > 0) - (net[place] < 0) for place in side] for side in (left, right))
    _require(list(map(set, signs)) == [{-1}, {1}], "the samples on each side are not of one class")
    _require(len(set(everything)) == len(everything), "a place is named twice")
    features, scales = _expect_integers(proof["features"], 0), _expect_integers(proof["scales"], 1)
    _check_features(everything, features, work)
    axes = [[scale * place[j] for place in everything] for scale, j in zip(scales, features, strict=True)]
    # A sample with a larger weight counts as several copies, each of which may be in one pair.
    copies = [at for at, place in enumerate(everything) for _ in range(abs(net[place]) // proof["factor"])]
    n_left = sum(at < len(left) for at in copies)
    at, n_leaves, mates = 0, 0, dict[int, int]()
    for orthant in product((1, -1), repeat=len(axes)):
        # A cone is a list of columns, one for each direction that spans it: the scores, and the largest.
        work.spend(2 * len(axes) * len(everything))
        waiting = [[_measure([sign * score for score in axis]) for sign, axis in zip(orthant, axes)]]
        while waiting:
            kind = tree[at]
            if kind == 2:
                mates, at = {}, at + 1
            elif kind == 1:
                cone, (a, b, p, q, divisor) = waiting.pop(), tree[at + 1 : at + 6]
                _require(0 <= a != b >= 0 and max(a, b) < len(cone), "a cone has no such edge")
                _require(min(p, q, divisor) > 0, "a cone is split outside of its edge")
                bits = max(divisor, p * cone[a][1] + q * cone[b][1]).bit_length()
                work.spend(100 + 3 * len(everything), bits, len(waiting) * len(everything))
                scores = [p * s + q * t for s, t in zip(cone[a][0], cone[b][0])]
                _require(divisor == 1 or not any(s % divisor for s in scores), "a direction is not in integers")
                new = _measure(scores if divisor == 1 else [score // divisor for score in scores])
                waiting += [[new if k == old else column for k, column in enumerate(cone)] for old in (a, b)]
                at += 6
            else:
                stop = at + 2 + 2 * tree[at + 1]
                _require(kind == 0 and at + 2 <= stop <= len(tree), "the tree has an entry of unknown kind")
                _change_pairs(mates, tree[at + 2 : stop], n_left, len(copies) - n_left)
                _require(len(mates) >= target, f"a cone has {len(mates)} pairs, fewer than the target")
                work.spend(300)
                one, other = [copies[i] for i in mates], [copies[n_left + j] for j in mates.values()]
                for scores, largest in waiting.pop():
                    work.spend(10 + 3 * len(mates), largest.bit_length())
                    conflict = not any(map(gt, [scores[i] for i in one], [scores[j] for j in other]))
                    _require(conflict, "a pair does not conflict in its cone")
                at, n_leaves = stop, n_leaves + 1
    _require(at == len(tree), "the tree has entries after its last cone")
    return n_leaves


def _measure(scores: list[int]) -> tuple[list[int], int]:
    return scores, max(max(scores), -min(scores))


def _change_pairs(mates: dict[int, int], changes: list[int], n_left: int, n_right: int) -> None:
    """Change the mates of some left copies, -1 for none; refuse a copy in two pairs."""
    for i, j in zip(changes[::2], changes[1::2]):
        _require(0 <= i < n_left and -1 <= j < n_right, "a pair has a copy that does not exist")
        mates.pop(i, None)
        if j >= 0:
            mates[i] = j
    _require(len(set(mates.values())) == len(mates), "a copy is in two pairs")


def _check_features(places: list[Place], features: list[int], work: Work) -> None:
    """Check that some features determine all others on these places, so that rules on them cover all rules."""
    others = [j for j in range(len(places[0])) if j not in features]
    _require(len(set(features)) == len(features) == len(places[0]) - len(others), "a feature does not exist")
    basis: list[tuple[int, list[Fraction]]] = []
    bits = 0
    for place in places if others else ():
        rest = [Fraction(1), *(Fraction(place[j]) for j in [*features, *others])]
        work.spend(20 * (1 + len(basis)) * len(rest), bits + max(map(abs, place)).bit_length())
        for pivot, row in basis:
            if factor := rest[pivot]:
                rest = [value - factor * other for value, other in zip(rest, row)]
        pivot = next((k for k, value in enumerate(rest) if value), 0)
        _require(pivot <= len(features), "its features do not determine the others")
        if rest[pivot]:
            row = [value / rest[pivot] for value in rest]
            basis.append((pivot, row))
            bits = max(bits, *(v.numerator.bit_length() + v.denominator.bit_length() for v in row))


def _check_sets(proof: dict[str, Any], places: list[Place], net: dict[Place, int], work: Work) -> int:
    """Check that each set is impossible, and that every hitting set is heavy, by a tree of decisions."""
    target, factor, (grains,) = proof["target"], proof["factor"], _expect_integers([proof["grains"]], 1)
    sets, capacities, names = [], dict[int, int](), dict[Place, int]()
    for indices, weights in proof["sets"]:
        members = [places[i] for i in _expect_integers(indices, 0)]
        _require(
            len(members) == len(_expect_integers(weights, 1)) > 0,
            "a set does not have one weight for each sample",
        )
        work.spend(2 * len(members) * (1 + len(members[0])), max(weights).bit_length())
        _require(all(net[place] for place in members), "a set has a place where both classes weigh the same")
        _require(
            all(names.setdefault(*each) == each[1] for each in zip(members, indices)), "a place has two names"
        )
        # If a positive combination of (1, x), signed by class, is 0, no rule classifies all of them correctly.
        signed = [weight if net[place] > 0 else -weight for place, weight in zip(members, weights)]
        mixture = [sum(map(int.__mul__, signed, values)) for values in zip(*members)]
        _require(not sum(signed) and not any(mixture), "a set of samples is not impossible")
        capacities.update({i: abs(net[place]) // factor * grains for place, i in zip(members, indices)})
        sets.append(indices)
    tree, at, n_leaves = _expect_integers(proof["tree"]), 0, 0
    waiting: list[dict[int, bool]] = [{}]  # the decisions so far: whether a sample is hit
    while waiting:
        decided, (kind, number) = waiting.pop(), tree[at : at + 2]
        at += 2
        work.spend(10 + 10 * len(decided))
        if kind == 1:
            _require(number in capacities and number not in decided, "a sample is decided twice, or in no set")
            waiting += [{**decided, number: False}, {**decided, number: True}]
            continue
        _require(kind == 0 and 0 <= number <= (len(tree) - at) // 2, "the tree has an entry of unknown kind")
        total, loads = 0, dict[int, int]()
        for k, weight in zip(tree[at : at + 2 * number : 2], tree[at + 1 : at + 2 * number : 2]):
            _require(0 <= k < len(sets) and weight >= 0, "a set does not exist, or has a negative weight")
            work.spend(20 + 4 * len(sets[k]), weight.bit_length())
            total += weight
            for i in sets[k]:
                loads[i] = loads.get(i, 0) + weight
        # By duality, samples that hit all sets, as decided, weigh at least this many grains.
        total += sum(capacities[i] - loads.get(i, 0) for i, is_hit in decided.items() if is_hit)
        total += sum(min(0, capacities[i] - load) for i, load in loads.items() if i not in decided)
        # They weigh a whole number of copies: if this is more than target - 1, it is at least the target.
        _require(total > (target - 1) * grains, "a leaf proves less than the target")
        at, n_leaves = at + 2 * number, n_leaves + 1
    _require(at == len(tree), "the tree has entries after its last leaf")
    return n_leaves


def _count_fewest(net: dict[Place, int], work: Work) -> int:
    """Return the smallest weight of errors over all linear rules, by enumerating all hyperplanes."""
    vectors: dict[Place, int] = {}
    for place, weight in net.items():
        if weight:
            _add(vectors, tuple((1 if weight > 0 else -1) * value for value in (1, *place)), abs(weight))
    n, D = len(vectors), len(next(iter(net)))
    if n**D > MAX_SWEEP:
        raise RefusedError(
            f"needs a sweep of {n:,} to the power of {D} hyperplanes: the limit is {MAX_SWEEP:,}"
        )
    largest = max((abs(value) for vector in vectors for value in vector), default=0)
    work.spend(10 * n**D, largest.bit_length() << min(D, 30))  # each projection doubles the bits
    return _minimize(vectors)


def _add(vectors: dict[Place, int], vector: Place, weight: int) -> None:
    divisor = gcd(*vector)
    key = tuple(value // divisor for value in vector)
    vectors[key] = vectors.get(key, 0) + weight


def _minimize(vectors: dict[Place, int]) -> int:
    """Return the smallest weight of vectors a with <a, w> <= 0, over all w that are 0 on none of them.

    The w with the same signs form a cone. It has a facet, in the hyperplane of some vector, on which the other
    vectors, projected, are a smaller such problem; multiples of the vector are correct on one side of it.
    """
    if not vectors:
        return 0
    if len(next(iter(vectors))) == 2:
        return _sweep(vectors)
    least = sum(vectors.values())
    for normal, weight in vectors.items():
        opposite = vectors.get(tuple(-value for value in normal), 0)
        here = min(weight, opposite)
        if here < least:
            k = next(k for k, value in enumerate(normal) if value)
            projected: dict[Place, int] = {}
            for vector, mass in vectors.items():
                scale, factor = abs(normal[k]), vector[k] if normal[k] > 0 else -vector[k]
                image = [scale * value - factor * other for value, other in zip(vector, normal)]
                if any(image):
                    _add(projected, (*image[:k], *image[k + 1 :]), mass)
            least = min(least, here + _minimize(projected))
    return least


def _sweep(vectors: dict[Place, int]) -> int:
    """Return the smallest weight in two dimensions, by one full rotation of w."""
    upper = {vector if vector > (0, 0) else (-vector[0], -vector[1]) for vector in vectors}
    # By the slope y / x, those with x = 0 last: floors with so many bits differ whenever the slopes do.
    bits = 2 * max(x.bit_length() for x, _ in upper) + 1
    ordered = sorted(upper, key=lambda v: (v[0] == 0, (v[1] << bits) // v[0] if v[0] else 0))
    total, lost = sum(vectors.values()), sum(vectors.get(vector, 0) for vector in ordered)
    least = min(lost, total - lost)
    for x, y in ordered:
        lost += vectors.get((-x, -y), 0) - vectors.get((x, y), 0)
        least = min(least, lost, total - lost)
    return least


def main(arguments: list[str]) -> int:
    """Check a certificate against a table, print the verdict, and return 0 if accepted, 1 if rejected."""
    if len(arguments) != 2 or arguments == ["-", "-"]:
        print("usage: python check.py CERTIFICATE TABLE.csv (one of them may be - for standard input)")
        return 2
    path = arguments[0]
    try:
        content = read_file(path, MAX_CERTIFICATE_BYTES)
        certificate = parse_certificate(content)
        path = arguments[1]
        header, rows = parse_table(read_file(path, MAX_TABLE_BYTES), path)
        path = arguments[0]
        print(check(certificate, header, rows, len(content)).describe())
    except RefusedError as error:
        print("".join(c if c.isprintable() else "?" for c in f"{path}: {error}"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
