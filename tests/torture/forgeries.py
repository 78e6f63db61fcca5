"""Forged certificates: none is accepted with a bound that is false of the samples and weights that it names."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import certificate_oracle as oracle
from exact_tables import draw_table, render_table

from torture.bounds import fit_certifying
from torture.campaign import Campaign
from torture.false_proofs import write_false_proof

METHODS = ("cones of directions", "impossible sets", "all hyperplanes", "equal rows")
CERTIFICATES_PER_METHOD = 12
KINDS = ("decimals", "grid", "duplicates", "collinear", "large integers", "magnitudes")
FACTORS = (2, 3, 7, 10, 100, 2**20)
FALSE_PROOF_SHARE = 0.4
VALUES = (-1, 0, 1, 2, 3, 10**30, True, None, "", "x", "1", 0.5, [], {}, [0], {"x": 1})
LIMITS = ("the limit", "bits")  # words of refusals that prove nothing about a certificate
TOTAL_WEIGHT, LARGE_WEIGHT = "in all samples", 10_000  # the words, and what may be too much for ten samples
WORTHLESS = {"weights": "0", "centre": "0", "at_centre": "0"}  # a rule that is wrong everywhere
# Gaps in two columns, and text in one.
GAPS = (
    "x,colour,label\n1,red,n\n2,,p\n,red,p\n3,blue,n\n1,blue,p\n2,red,n\n4,?,p\n,green,n\n4,blue,p\n1,red,p\n"
    "2,green,p\n3,red,n\n"
)


class Honest(NamedTuple):
    """A table and a certificate about it."""

    header: list[str]
    rows: list[list[str]]
    certificate: dict[str, Any]


Change = Callable[[dict[str, Any], random.Random], None]


class Forgeries(Campaign):
    """Certificates that were changed in ways that leave as much as possible in order."""

    name = "forgeries"
    unit = "forgeries"
    batch = 100
    n_short = 300

    def prepare(self) -> None:
        """Write honest certificates by every method."""
        self.honest = build_honest(self.folder / "t.csv")

    def attack(self, seed: int) -> list[str]:
        """Forge one certificate and give it to both checkers."""
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
            name = rng.choice(list(CHANGES))
            done.append(name)
            try:
                if name == "other certificate":
                    take_from(forged, rng.choice(others).certificate, rng)
                elif name == "other table":
                    header, rows, _ = rng.choice(others)
                else:
                    CHANGES[name](forged, rng)
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
        """Return what is wrong about how the checkers answer."""
        from zoloss_cli.proofs import check

        try:
            content = json.dumps(forged).encode()
        except ValueError:  # a list within itself is no file
            self.counts["no JSON"] += 1
            return []
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
        least = oracle.find_least_loss(found.places, labels, [proved.weights[label] for label in labels])
        self.counts["accepted: as much as is true" if proved.bound == least else "accepted: less"] += 1
        if proved.bound > least:
            faults.append(f"a bound of {proved.bound} was accepted, and the least loss is {least}")
        if not names_its_features(forged, proved.describe()):
            faults.append("a text or a gap is shown as the number of its column")
        return faults


def names_its_features(forged: dict[str, Any], text: str) -> bool:
    """Return whether what is shown distinguishes numbers of a column from its texts and gaps."""
    line = next(line for line in text.splitlines() if line.startswith("features "))
    shown = line.removeprefix("features ").split(" (not used")[0].strip().split(", ")
    numbers = [each["column"] for each in forged["table"]["features"] if set(each) <= {"column", "fill"}]
    names = {each["column"] for each in forged["table"]["features"]}
    return sorted(name for name in shown if name in names) == sorted(numbers)


# --- Honest certificates


def build_honest(path: Path) -> dict[str, list[Honest]]:
    """Return certificates by each method, of tables with and without weights, texts and gaps."""
    from zoloss_cli.errors import DataError

    found: dict[str, list[Honest]] = {method: [] for method in METHODS}
    seed = 0
    while min(map(len, found.values())) < CERTIFICATES_PER_METHOD and seed < 5000:
        rng = random.Random(f"honest {seed}")
        seed += 1
        missing = "error"
        header, rows = draw_table(rng.choice(KINDS), rng, rng.randint(6, 10))
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


def scale(forged: dict[str, Any], rng: random.Random) -> None:
    """Multiply some of what a bound is made of."""
    factor, proof = rng.choice(FACTORS), forged["proof"]
    for key in rng.sample(["weights", "bound", "target", "factor", "grains", "scales"], rng.randint(1, 6)):
        inner = forged if key in forged else proof
        if key in inner:
            inner[key] = (
                [factor * v for v in inner[key]] if isinstance(inner[key], list) else factor * inner[key]
            )


def raise_target(forged: dict[str, Any], rng: random.Random) -> None:
    """Claim more."""
    more = rng.choice([1, 1, 2, 5, -1])
    forged["bound"] += more * forged["proof"].get("factor", 1)
    if forged["proof"]:
        forged["proof"]["target"] += more


def change_number(forged: dict[str, Any], rng: random.Random) -> None:
    """Change one number of the proof, or of what it is about."""
    inner, key = rng.choice(list_places(forged[rng.choice(["proof", "proof", "weights", "rule", "table"])]))
    old = inner[key]
    if isinstance(old, int):
        inner[key] = rng.choice([old + 1, old - 1, -old, 2 * old, 0, 1, old + 10])
    else:
        inner[key] = rng.choice(VALUES)


def change_anything(forged: dict[str, Any], rng: random.Random) -> None:
    """Put any value anywhere."""
    key = rng.choice(list(forged))
    if rng.random() < 0.3 or not isinstance(forged[key], dict | list) or not forged[key]:
        forged[key] = rng.choice(VALUES)
    else:
        inner, key = rng.choice(list_places(forged[key], leaves_only=False))
        inner[key] = rng.choice(VALUES)


def add_or_remove(forged: dict[str, Any], rng: random.Random) -> None:
    """Add a field, or remove one."""
    inner = rng.choice([forged, forged["proof"], forged["table"], forged["rule"], *forged["table"]["features"]])
    if rng.random() < 0.5:
        del inner[rng.choice(list(inner))]
    else:
        inner[rng.choice(["units", "level", "missing", "fill", "bound", "target"])] = rng.choice(VALUES)


def cut_tree(forged: dict[str, Any], rng: random.Random) -> None:
    """Remove, repeat, move or exchange entries of the tree."""
    tree = forged["proof"]["tree"]
    i, j = sorted((rng.randrange(len(tree) + 1), rng.randrange(len(tree) + 1)))
    kind = rng.randrange(6)
    if kind == 0:
        del tree[i:j]
    elif kind == 1:
        tree[i:i] = tree[i:j]
    elif kind == 2:
        tree[i:i] = rng.choice([[2], [0, 0], [0, 1, 0, 0], [0, 1, 0, -1], [1, 0, 1, 1, 1, 1], [1, 0]])
    elif kind == 3:
        tree[i], tree[j] = tree[j], tree[i]
    elif kind == 4:
        del tree[i:]
    else:
        part = tree[i:j]
        rng.shuffle(part)
        tree[i:j] = part


def change_lists(forged: dict[str, Any], rng: random.Random) -> None:
    """Permute, repeat, shorten or exchange the lists of a proof, several of them alike."""
    proof = forged["proof"]
    lists = [key for key in ("left", "right", "features", "scales", "sets") if key in proof]
    kind, state = rng.randrange(6), rng.randrange(10**6)
    for key in rng.sample(lists, rng.randint(1, len(lists))):
        same, values = random.Random(state), proof[key]
        at = same.randrange(len(values))
        if kind == 0:
            same.shuffle(values)
        elif kind == 1:
            values.append(copy.deepcopy(values[at]))
        elif kind == 2:
            del values[at]
        elif kind == 3:
            values[at] = copy.deepcopy(values[at - 1])
        elif kind == 4:
            values.reverse()
        elif key != "sets":
            values[at] = rng.randrange(10)
    if kind == 5 and "left" in proof:
        proof["left"], proof["right"] = proof["right"], proof["left"]


def change_sets(forged: dict[str, Any], rng: random.Random) -> None:
    """Change an impossible set, or add one that is not."""
    sets = forged["proof"]["sets"]
    members = rng.choice(sets)
    kind = rng.randrange(8)
    at = rng.randrange(len(members[0]))
    if kind == 0:
        sets.append([[], []])
    elif kind == 1:
        sets.append([[members[0][at]] * 2, [1, rng.choice([-1, 1])]])
    elif kind == 2:
        del members[0][at], members[1][at]
    elif kind == 3:
        members[1] = [rng.choice(FACTORS) * weight for weight in members[1]]
    elif kind == 4:
        members[0][at] = rng.randrange(10)
    elif kind == 5:
        members[1][at] += rng.choice([-1, 1])
    elif kind == 6:  # a sample in two parts, or the whole set twice in one
        members[0].append(members[0][at])
        members[1].append(1)
        members[1][at] -= 1
    else:
        members[0] += members[0]
        members[1] += members[1]
    if kind < 2:
        forged["proof"]["tree"] = [0, 1, len(sets) - 1, forged["proof"]["target"] * forged["proof"]["grains"]]


def raise_weights(forged: dict[str, Any], rng: random.Random) -> None:
    """Give the sets of leaves other weights."""
    tree, factor = forged["proof"]["tree"], rng.choice([2, 3, -1])
    for at in range(3, len(tree), rng.choice([1, 2])):
        tree[at] *= factor


def change_features(forged: dict[str, Any], rng: random.Random) -> None:
    """Leave out features, or read them in another way."""
    features, rule = forged["table"]["features"], forged["rule"]
    at = rng.randrange(len(features))
    kind = rng.randrange(6)
    if kind == 0:
        del features[at], rule["weights"][at], rule["centre"][at]
    elif kind == 1:
        features[at]["level"] = rng.choice(["0", "1", "red", "nothing", "?", "x", ""])
    elif kind == 2:
        features[at] = {"column": features[at]["column"], "missing": rng.choice(["yes", "no"])}
    elif kind == 3:
        features[at]["fill"] = rng.choice(["0", "red", "1e5", ""])
    elif kind == 4:
        features[at] = copy.deepcopy(features[at - 1])
    else:
        features.append(copy.deepcopy(features[at]))
        rule["weights"].append("0")
        rule["centre"].append("0")


def change_classes(forged: dict[str, Any], rng: random.Random) -> None:
    """Exchange the classes, or read them from elsewhere."""
    table = forged["table"]
    kind = rng.randrange(3)
    if kind == 0:
        table["positive"] = rng.choice(["n", "p", "", "x", "0"])
    elif kind == 1:
        table["label"] = rng.choice(table["features"])["column"]
    else:
        table["drop_missing"] = rng.choice([True, False])


def change_weights(forged: dict[str, Any], rng: random.Random) -> None:
    """Give the classes other weights."""
    forged["weights"] = [rng.choice([1, 2, 3, 4, 5, 94, 10**5, 0, -1]) for _ in range(2)]


def change_rule(forged: dict[str, Any], rng: random.Random) -> None:
    """Give another rule."""
    rule = forged["rule"]
    texts = [
        "0",
        "1",
        "-1",
        "1e400",
        "1e-400",
        "-0.0",
        "1e401",
        "nan",
        "inf",
        "0x1",
        "1_0",
        " 1",
        "",
        "1" * 401,
    ]
    rule[rng.choice(["weights", "centre"])][rng.randrange(len(rule["weights"]))] = rng.choice(texts)
    if rng.random() < 0.3:
        rule["at_centre"] = rng.choice(texts)


def change_method(forged: dict[str, Any], rng: random.Random) -> None:
    """Name another method."""
    forged["method"] = rng.choice(METHODS)
    if rng.random() < 0.5:
        forged["proof"] = {}


def split_more(forged: dict[str, Any], rng: random.Random) -> None:
    """Split the first cone, or decide a sample first, and prove both parts as the whole was proved."""
    proof = forged["proof"]
    tree = proof["tree"]
    if "sets" in proof:
        i = rng.choice(proof["sets"])[0][0]
        proof["tree"] = [1, i, *tree, *tree]
    else:
        n = len(proof["features"])
        a, b = rng.sample(range(n), 2) if n > 1 else (0, 0)
        numbers = [rng.choice([1, 1, 2, 3, 0, -1]) for _ in range(3)]
        proof["tree"] = [*([2] if rng.random() < 0.5 else []), 1, a, b, *numbers, *tree]


def use_a_small_leaf(forged: dict[str, Any], rng: random.Random) -> None:
    """Use one leaf for everything."""
    proof = forged["proof"]
    n_cones = 2 ** len(proof["features"]) if "features" in proof else 1
    pairs = [(rng.randrange(4), rng.randrange(4)) for _ in range(proof["target"])]
    leaf = [0, len(pairs), *(entry for pair in pairs for entry in pair)]
    proof["tree"] = leaf + [0, 0] * (n_cones - 1) if rng.random() < 0.5 else leaf * n_cones


CHANGES: dict[str, Change | None] = {
    "scale": scale,
    "raise target": raise_target,
    "change number": change_number,
    "change anything": change_anything,
    "add or remove": add_or_remove,
    "cut tree": cut_tree,
    "change lists": change_lists,
    "change sets": change_sets,
    "raise weights": raise_weights,
    "change features": change_features,
    "change classes": change_classes,
    "change weights": change_weights,
    "change rule": change_rule,
    "change method": change_method,
    "split more": split_more,
    "use a small leaf": use_a_small_leaf,
    "other certificate": None,
    "other table": None,
}


def take_from(forged: dict[str, Any], other: dict[str, Any], rng: random.Random) -> None:
    """Take some fields from a certificate of another table."""
    keys = rng.choice(
        [["proof", "method"], ["proof", "method", "bound"], ["table", "rule"], ["sha256"], ["weights"]]
    )
    for key in rng.choice([keys, [rng.choice(list(forged))]]):
        forged[key] = copy.deepcopy(other[key])


def write_proof(forged: dict[str, Any], header: list[str], rows: list[list[str]], rng: random.Random) -> None:
    """Replace the proof by one of another kind that lacks one condition, at times with other weights."""
    if rng.random() < 0.3:
        forged["weights"] = rng.choice([[1, 2], [2, 1], [1, 3], [3, 2]])
    samples, positive = oracle.read_samples(forged["table"], header, rows)
    integers = oracle.count_samples_in_steps(samples)
    problem = oracle.Problem(integers, positive, tuple(forged["weights"]))
    found = write_false_proof(problem, rng)
    if found is not None:
        forged["method"], forged["proof"] = found


def repair(forged: dict[str, Any], header: list[str], rows: list[list[str]], rng: random.Random) -> None:
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


def list_places(content: Any, leaves_only: bool = True) -> list[tuple[Any, Any]]:
    """Return all places of values within lists and mappings: what they are in, and where."""
    found = []
    for key, value in list(content.items() if isinstance(content, dict) else enumerate(content)):
        is_leaf = not isinstance(value, dict | list)
        if is_leaf or not leaves_only:
            found.append((content, key))
        if not is_leaf:
            found += list_places(value, leaves_only)
    return found
