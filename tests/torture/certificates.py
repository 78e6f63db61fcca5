"""Bounds and certificates: of tables that floating point holds badly, forged, and hostile."""

from __future__ import annotations

import copy
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import certificate_oracle as oracle
import hostile_certificates as hostile
from exact_tables import KINDS, draw_table, render_table

from torture.campaign import Campaign, import_everything
from torture.children import Command, remove_folder, run_commands
from torture.false_proofs import write_false_proof
from torture.judge import find_faults
from torture.mutations import change_value

SCALINGS = ("none", "standard", "minmax")
SETTINGS = ([], [], ["programs=0"], ["cones=0"], ["cones=0", "programs=0"])
SWEEP_SHARE = 0.6  # of the fits: with a sweep of all hyperplanes, impossible sets are not needed
ORACLE_SHARE = 0.05  # of the certificates: the second checker takes longer than a fit
BEYOND_LIMITS = "bits"  # in the sentence about numbers that the checker does not compute with


class Bounds(Campaign):
    name = "bounds"
    unit = "tables"
    batch = 100
    n_short = 30

    def attack(self, seed: int) -> list[str]:
        from zoloss_cli.errors import DataError

        rng = self.rng(seed)
        kind = rng.choice(list(KINDS))
        header, rows = draw_table(kind, rng)
        path = self.folder / f"{self.name}-{seed}.csv"
        path.write_text(render_table(header, rows), encoding="utf-8")
        try:
            fitted, certificate = fit_certifying(path, rng)
        except DataError as error:
            self.counts[f"refused: {kind}"] += 1
            path.unlink()
            return [] if "\n" not in str(error) else [f"a refusal in several lines: {error}"]
        except Exception as error:
            return [f"an error that nobody thought of: {error!r} [{kind}, {path}]"]
        faults = self._judge(fitted, Honest(header, rows, certificate), rng)
        self.counts[certificate["method"]] += 1
        if not faults:
            path.unlink()
        return [f"{fault} [{kind}, {fitted.scaling}, {path}]" for fault in faults]

    def _judge(self, fitted: Any, honest: Honest, rng: Random) -> list[str]:
        from zoloss_cli.proofs import check

        header, rows, certificate = honest
        samples, positive = oracle.read_samples(certificate["table"], header, rows)
        integers, weights = oracle.count_samples_in_steps(samples), certificate["weights"]
        least = oracle.count_fewest(integers, positive, [weights[label] for label in positive])
        loss, errors = (oracle.count_loss(certificate["rule"], samples, positive, w) for w in (weights, [1, 1]))
        self.counts["tight" if certificate["bound"] == least else "loose"] += 1
        faults = []
        if certificate["bound"] > least:
            faults.append(f"a certificate of {certificate['bound']}, but the least loss is {least}")
        if fitted.lower_bound is not None and fitted.lower_bound > least:
            faults.append(f"a bound of {fitted.lower_bound}, but {least} errors suffice")
        if fitted.errors != errors or loss < least:
            faults.append(f"{fitted.errors} errors of a rule that makes {errors} and loses {loss} of {least}")
        try:
            proved = check.check(certificate, header, rows)
            if (proved.bound, proved.loss, proved.errors) != (certificate["bound"], loss, errors):
                faults.append(f"another result of the check: {proved}")
            if rng.random() < ORACLE_SHARE:
                oracle.verify(certificate, header, rows)
                self.counts["checked by the oracle"] += 1
        except (check.RefusedError, oracle.RefusedError) as error:
            if BEYOND_LIMITS in str(error):
                self.counts["beyond the limits of the checker"] += 1
            else:
                faults.append(f"a certificate that is refused: {error}")
        return faults


def fit_certifying(path: Path, rng: Random, missing: str = "error") -> tuple[Any, dict[str, Any]]:
    from zoloss_cli.api.certificate import build_certificate
    from zoloss_cli.api.choose import TimeBudget
    from zoloss_cli.api.fit import FitRequest, Weighting
    from zoloss_cli.data.user_table import read_for_training
    from zoloss_cli.proofs import certify

    costs = (float(rng.randint(1, 4)), float(rng.randint(1, 4))) if rng.random() < 0.2 else (None, None)
    options = {"validate": False, "keeps_proof": True, "weighting": Weighting((), *costs)}
    options |= {"scaling": rng.choice(SCALINGS), "seed": rng.randrange(100)}
    request = FitRequest("certify", ["steps=200", *rng.choice(SETTINGS)], **options)
    can_sweep = certify.can_sweep_exactly if rng.random() < SWEEP_SHARE else lambda integers: False
    with warnings.catch_warnings(), mock.patch.object(certify, "can_sweep_exactly", can_sweep):
        warnings.simplefilter("ignore")
        fitted = request.run(read_for_training(path, None, missing, as_written=True), TimeBudget())
    return fitted, build_certificate(fitted, missing)


METHODS = ("cones of directions", "impossible sets", "all hyperplanes", "equal rows")
CERTIFICATES_PER_METHOD = 12
FORGED_KINDS = ("decimals", "grid", "duplicates", "collinear", "large integers", "magnitudes")
FACTORS = (2, 3, 7, 10, 100, 2**20)
FALSE_PROOF_SHARE = 0.4
VALUES = (-1, 0, 1, 2, 3, 10**30, True, None, "", "x", "1", 0.5, [], {}, [0], {"x": 1})
LIMITS = ("the limit", "bits")  # words of refusals that prove nothing about a certificate
TOTAL_WEIGHT, LARGE_WEIGHT = "in all samples", 10_000  # the words, and what may be too much for ten samples
WORTHLESS = {"weights": "0", "centre": "0", "at_centre": "0"}  # a rule that is wrong everywhere
RULE_NUMBERS = ["0", "1", "-1", "1e400", "1e-400", "-0.0", "1e401", "nan", "0x1", "1_0", " 1", "", "1" * 401]
# Gaps in two columns, and text in one.
GAPS = (
    "x,colour,label\n1,red,n\n2,,p\n,red,p\n3,blue,n\n1,blue,p\n2,red,n\n4,?,p\n,green,n\n4,blue,p\n1,red,p\n"
    "2,green,p\n3,red,n\n"
)


class Honest(NamedTuple):
    header: list[str]
    rows: list[list[str]]
    certificate: dict[str, Any]


class Forgeries(Campaign):
    name = "forgeries"
    unit = "forgeries"
    batch = 100
    n_short = 150

    def prepare(self) -> None:
        self.honest = build_honest(self.folder / "t.csv")

    def attack(self, seed: int) -> list[str]:
        rng = self.rng(seed)
        honest = rng.choice(self.honest[rng.choice(METHODS)])
        forged = copy.deepcopy(honest.certificate)
        others = self.honest[rng.choice(METHODS)]
        header, rows = honest.header, honest.rows
        done: list[str] = []
        if rng.random() < FALSE_PROOF_SHARE:
            write_proof(forged, header, rows, rng)
            done.append(f"false proof by {forged['method']}")
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5]) if not done else rng.choice([0, 0, 0, 1])):
            change = rng.choice([*CHANGES, take_from, None])
            done.append(change.__name__ if change else "other table")
            try:
                if change is None:
                    header, rows, _ = rng.choice(others)
                elif change is take_from:
                    take_from(forged, rng.choice(others).certificate, rng)
                else:
                    change(forged, rng)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                continue  # an earlier change left nothing to change
        if done[0].startswith("false") or rng.random() < 0.75:
            done.append("repaired")
            repair(forged, header, rows, rng)
        if forged == honest.certificate and rows is honest.rows:
            self.counts["unchanged"] += 1
        faults = self._judge(forged, header, rows)
        if faults:
            path = self.folder / f"{self.name}-{seed}"
            path.with_suffix(".json").write_text(json.dumps(forged))
            path.with_suffix(".csv").write_text(render_table(header, rows))
        return [f"{fault} [{honest.certificate['method']}: {', '.join(done)}]" for fault in faults]

    def _judge(self, forged: dict[str, Any], header: list[str], rows: list[list[str]]) -> list[str]:
        from zoloss_cli.proofs import check

        content = json.dumps(forged).encode()
        refused = reason = None
        try:
            proved = check.check(check.parse_certificate(content), header, rows, len(content))
        except check.RefusedError as error:
            refused = str(error)
        try:
            oracle.verify(json.loads(content), header, rows)
        except oracle.RefusedError as error:
            reason = error
        if refused is not None:
            is_limit = any(word in refused for word in LIMITS)
            is_limit |= TOTAL_WEIGHT in refused and reason is None and max(forged["weights"]) > LARGE_WEIGHT
            self.counts["refused by a limit" if is_limit else "refused"] += 1
            return [f"refused, but not by the page: {refused}"] if reason is None and not is_limit else []
        faults = []
        if isinstance(reason, oracle.FormError):
            self.counts["accepted in another form"] += 1
        elif reason is not None:
            faults.append(f"accepted, but refused by the page: {reason}")
        found = check.read_samples(forged["table"], header, rows)
        labels = [label == 1 for label in found.y]
        least = oracle.count_fewest(found.places, labels, [proved.weights[label] for label in labels])
        self.counts["accepted: as much as is true" if proved.bound == least else "accepted: less"] += 1
        if proved.bound > least:
            faults.append(f"a bound of {proved.bound} was accepted, and the least loss is {least}")
        if not names_its_features(forged, proved.describe()):
            faults.append("a text or a gap is shown as the number of its column")
        return faults


def names_its_features(forged: dict[str, Any], text: str) -> bool:
    line = next(line for line in text.splitlines() if line.startswith("features "))
    shown = line.removeprefix("features ").split(" (not used")[0].strip().split(", ")
    numbers = [each["column"] for each in forged["table"]["features"] if set(each) <= {"column", "fill"}]
    names = {each["column"] for each in forged["table"]["features"]}
    return sorted(name for name in shown if name in names) == sorted(numbers)


# --- Honest certificates


def build_honest(path: Path) -> dict[str, list[Honest]]:
    from zoloss_cli.errors import DataError

    found: dict[str, list[Honest]] = {method: [] for method in METHODS}
    seed = 0
    while min(map(len, found.values())) < CERTIFICATES_PER_METHOD and seed < 5000:
        rng = Random(f"honest {seed}")
        seed += 1
        missing = "error"
        header, rows = draw_table(rng.choice(FORGED_KINDS), rng, rng.randint(6, 10))
        if rng.random() < 0.15:
            header, *rows = (line.split(",") for line in GAPS.splitlines())
            missing = rng.choice(["drop", "zero", "impute", "indicator"])
        path.write_text(render_table(header, rows), encoding="utf-8")
        try:
            _, certificate = fit_certifying(path, rng, missing)
        except DataError:  # numbers that are too far apart
            continue
        kept = found[certificate["method"]]
        if certificate["bound"] and len(kept) < CERTIFICATES_PER_METHOD:
            kept.append(Honest(header, rows, certificate))
    return found


# --- Changes


def scale(forged: dict[str, Any], rng: Random) -> None:
    factor = rng.choice(FACTORS)
    for key in rng.sample(["weights", "bound", "target", "factor", "grains", "scales"], rng.randint(1, 6)):
        inner = forged if key in forged else forged["proof"]
        if key in inner:
            value = inner[key]
            inner[key] = [factor * v for v in value] if isinstance(value, list) else factor * value


def raise_target(forged: dict[str, Any], rng: Random) -> None:
    more = rng.choice([1, 1, 2, 5, -1])
    forged["bound"] += more * forged["proof"].get("factor", 1)
    if forged["proof"]:
        forged["proof"]["target"] += more


def change_number(forged: dict[str, Any], rng: Random) -> None:
    """Change one number of the proof, or of what it is about."""
    inner, key = rng.choice(list_places(forged[rng.choice(["proof", "proof", "weights", "rule", "table"])]))
    old = inner[key]
    numbers = [old + 1, old - 1, -old, 2 * old, 0, 1, old + 10] if isinstance(old, int) else VALUES
    inner[key] = copy.deepcopy(rng.choice(numbers))


def change_anything(forged: dict[str, Any], rng: Random) -> None:
    change_value(forged, rng, VALUES)


def change_tree(forged: dict[str, Any], rng: Random) -> None:
    """Remove, repeat, exchange, mix, extend or multiply entries of the tree."""
    tree, factor = forged["proof"]["tree"], rng.choice([2, 3, -1])
    i, j = sorted((rng.randrange(len(tree) + 1), rng.randrange(len(tree) + 1)))
    parts = [[2], [0, 0], [0, 1, 0, 0], [0, 1, 0, -1], [1, 0, 1, 1, 1, 1], [1, 0]]
    mixed = rng.sample(tree[i:j], j - i)
    new = rng.choice(
        [tree[:i] + tree[j:], tree[:i], tree[:j] + tree[i:], tree[:i] + mixed + tree[j:], None, None]
    )
    multiplied = [factor * entry if at > 2 and at % 2 else entry for at, entry in enumerate(tree)]
    forged["proof"]["tree"] = new or rng.choice([multiplied, tree[:i] + rng.choice(parts) + tree[i:]])


def change_lists(forged: dict[str, Any], rng: Random) -> None:
    """Permute, repeat, shorten or exchange the lists of a proof, several of them alike."""
    proof = forged["proof"]
    lists = [key for key in ("left", "right", "features", "scales", "sets") if key in proof]
    kind, state = rng.randrange(6), rng.randrange(10**6)
    for key in rng.sample(lists, rng.randint(1, len(lists))):
        same, values = Random(state), proof[key]
        at = same.randrange(len(values))
        if kind == 0:
            same.shuffle(values)
        elif kind == 1:
            values.append(copy.deepcopy(values[at]))
        elif kind == 2:
            del values[at]
        elif kind == 3:
            values[at] = copy.deepcopy(values[at - 1])
        elif kind == 4 and key != "sets":
            values[at] = rng.randrange(10)
    if kind == 5 and "left" in proof:
        proof["left"], proof["right"] = proof["right"], proof["left"]


def change_sets(forged: dict[str, Any], rng: Random) -> None:
    """Change an impossible set, or prove everything by one that is not impossible."""
    proof = forged["proof"]
    members, weights = rng.choice(proof["sets"])
    kind, at = rng.randrange(7), rng.randrange(len(members))
    if kind == 0:
        proof["sets"].append(rng.choice([[[], []], [[members[at]] * 2, [1, rng.choice([-1, 1])]]]))
        proof["tree"] = [0, 1, len(proof["sets"]) - 1, proof["target"] * proof["grains"]]
    elif kind == 1:
        del members[at], weights[at]
    elif kind == 2:
        weights[:] = [rng.choice(FACTORS) * weight for weight in weights]
    elif kind == 3:
        members[at] = rng.randrange(10)
    elif kind == 4:
        weights[at] += rng.choice([-1, 1])
    elif kind == 5:  # a sample in two parts
        members.append(members[at])
        weights.append(1)
        weights[at] -= 1
    else:
        members *= 2
        weights *= 2


def change_features(forged: dict[str, Any], rng: Random) -> None:
    """Leave out features, repeat them, or read them in another way."""
    features, rule = forged["table"]["features"], forged["rule"]
    at, kind = rng.randrange(len(features)), rng.randrange(5)
    if kind == 0:
        del features[at], rule["weights"][at], rule["centre"][at]
    elif kind == 1:
        features[at]["level"] = rng.choice(["0", "1", "red", "nothing", "?", "x", ""])
    elif kind == 2:
        features[at] = {"column": features[at]["column"], "missing": rng.choice(["yes", "no"])}
    elif kind == 3:
        features[at]["fill"] = rng.choice(["0", "red", "1e5", ""])
    else:
        features.append(copy.deepcopy(features[at]))
        rule["weights"].append("0")
        rule["centre"].append("0")


def change_claims(forged: dict[str, Any], rng: Random) -> None:
    """Name other classes, weights, labels or another method, or give another rule."""
    table, rule, kind = forged["table"], forged["rule"], rng.randrange(6)
    if kind == 0:
        table["positive"] = rng.choice(["n", "p", "", "x", "0"])
    elif kind == 1:
        table["label"] = rng.choice(table["features"])["column"]
    elif kind == 2:
        table["drop_missing"] = rng.choice([True, False])
    elif kind == 3:
        forged["weights"] = [rng.choice([1, 2, 3, 4, 5, 94, 10**5, 0, -1]) for _ in range(2)]
    elif kind == 4:
        forged["method"], forged["proof"] = rng.choice(METHODS), rng.choice([{}, forged["proof"]])
    else:
        rule[rng.choice(["weights", "centre"])][rng.randrange(len(rule["weights"]))] = rng.choice(RULE_NUMBERS)
        rule["at_centre"] = rng.choice([rule["at_centre"], rng.choice(RULE_NUMBERS)])


def split_more(forged: dict[str, Any], rng: Random) -> None:
    """Split the first cone, or decide a sample first, and prove both parts as the whole was proved."""
    proof = forged["proof"]
    tree = proof["tree"]
    if "sets" in proof:
        proof["tree"] = [1, rng.choice(proof["sets"])[0][0], *tree, *tree]
    else:
        n = len(proof["features"])
        axes = rng.sample(range(n), 2) if n > 1 else (0, 0)
        numbers = [rng.choice([1, 1, 2, 3, 0, -1]) for _ in range(3)]
        proof["tree"] = [*rng.choice([[2], []]), 1, *axes, *numbers, *tree]


def use_a_small_leaf(forged: dict[str, Any], rng: Random) -> None:
    proof = forged["proof"]
    n_cones = 2 ** len(proof["features"]) if "features" in proof else 1
    leaf = [0, proof["target"], *(rng.randrange(4) for _ in range(2 * proof["target"]))]
    proof["tree"] = rng.choice([leaf + [0, 0] * (n_cones - 1), leaf * n_cones])


CHANGES: list[Callable[[dict[str, Any], Random], None]] = [
    *(scale, raise_target, change_number, change_anything, change_tree, change_lists, change_sets),
    *(change_features, change_claims, split_more, use_a_small_leaf),
]


def take_from(forged: dict[str, Any], other: dict[str, Any], rng: Random) -> None:
    some = [["proof", "method"], ["proof", "method", "bound"], ["table", "rule"], [rng.choice(list(forged))]]
    for key in rng.choice(some):
        forged[key] = copy.deepcopy(other[key])


def write_proof(forged: dict[str, Any], header: list[str], rows: list[list[str]], rng: Random) -> None:
    """Replace the proof by one of another kind that lacks one condition, at times with other weights."""
    if rng.random() < 0.3:
        forged["weights"] = rng.choice([[1, 2], [2, 1], [1, 3], [3, 2]])
    samples, positive = oracle.read_samples(forged["table"], header, rows)
    integers = oracle.count_samples_in_steps(samples)
    problem = oracle.Problem(integers, positive, tuple(forged["weights"]))
    found = write_false_proof(problem, rng)
    if found is not None:
        forged["method"], forged["proof"] = found


def repair(forged: dict[str, Any], header: list[str], rows: list[list[str]], rng: Random) -> None:
    """Make everything fit that needs no proof: the hash, the bound, and a rule that loses enough."""
    try:
        samples, positive = oracle.read_samples(forged["table"], header, rows)
        integers = oracle.count_samples_in_steps(samples)
        forged["sha256"] = oracle.hash_samples(integers, positive)
        proof = forged["proof"]
        unavoidable = oracle.Problem(integers, positive, tuple(forged["weights"])).unavoidable
        if forged["method"] != "all hyperplanes" or rng.random() < 0.2:
            forged["bound"] = unavoidable + (proof["target"] * proof["factor"] if proof else 0)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, oracle.RefusedError):
        return
    if rng.random() < 0.8:
        n_features = len(samples[0])
        forged["rule"] = {
            key: [text] * n_features if key != "at_centre" else text for key, text in WORTHLESS.items()
        }


def list_places(content: Any) -> list[tuple[Any, Any]]:
    """Return all places of values within lists and mappings: what they are in, and where."""
    found = []
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        found += list_places(value) if isinstance(value, dict | list) else [(content, key)]
    return found


class HostileFiles(Campaign):
    name = "hostile-certificates"
    unit = "files"
    n_short = 1

    def prepare(self) -> None:
        import_everything()

    def attack(self, seed: int) -> list[str]:
        title = list(hostile.CASES)[seed % len(hostile.CASES)]
        build, words = hostile.CASES[title]
        folder = self.make_folder(seed)
        paths = build(folder)
        ended = hostile.run_checker(*paths)
        self.counts[f"exit {ended.code}"] += 1
        self.counts["most ms"] = max(self.counts["most ms"], round(1000 * ended.seconds))
        faults = hostile.find_faults(ended)
        if not faults and not re.search(words, ended.err):
            faults.append(f"a sentence without '{words}': {ended.err[:300]}")
        if title in hostile.QUICK:
            (outcome,) = run_commands([Command(["verify", *map(str, paths)], folder)])
            faults += [f"{fault} [zoloss verify]" for fault in find_faults(outcome)]
        if not faults:
            remove_folder(folder)
        return [f"{fault} [{title}]" for fault in faults]
