"""Bounds and certificates of tables that floating point holds badly, against brute force in fractions."""

import json
import random
import re
from collections import Counter

import certificate_oracle as oracle
import numpy as np
import pytest
from exact_tables import KINDS, draw_table, render_table
from places import TOP
from problems import fewest_errors, tiny_problem

from zoloss_cli.api.certificate import build_certificate
from zoloss_cli.api.choose import TimeBudget
from zoloss_cli.api.fit import FitRequest, Weighting
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.proofs import check

SCALINGS = ("none", "standard", "minmax")
TABLES_PER_KIND = 12
ALL_TABLES_PER_KIND = 300


def fit_certifying(path, scaling="none", weighting=None):
    table = read_for_training(path, as_written=True)
    options = {"validate": False, "scaling": scaling, "keeps_proof": True}
    request = FitRequest("certify", ["steps=200"], weighting=weighting or Weighting(), **options)
    fitted = request.run(table, TimeBudget())
    return fitted, build_certificate(fitted, "error")


def check_table(kind, seed, path):
    """Fit a table under every scaling; return how many bounds were checked, and how often it was refused."""
    rng = random.Random(f"{kind} {seed}")
    header, rows = draw_table(kind, rng)
    path.write_text(render_table(header, rows))
    costs = (rng.randint(1, 4), rng.randint(1, 4)) if seed % 3 == 2 else None
    counts = Counter()
    truth = None
    for scaling in SCALINGS:
        try:
            fitted, certificate = fit_certifying(path, scaling, costs and Weighting((), *map(float, costs)))
        except DataError as error:
            counts["refused"] += 1
            counts["refused in several lines"] += "\n" in str(error)
            continue
        samples, positive = oracle.read_samples(certificate["table"], header, rows)
        weights = certificate["weights"]
        if truth is None:
            truth = oracle.count_fewest(samples, positive, [weights[label] for label in positive])
        counts["checked"] += 1
        counts[certificate["method"]] += 1
        counts["tight"] += certificate["bound"] == truth
        assert certificate["bound"] <= truth
        try:
            proved = check.check(certificate, header, rows)
        except check.RefusedError as error:
            if "bits" not in str(error):  # numbers that are too far apart for a sweep
                raise
            counts["beyond the limits"] += 1
            continue
        loss = oracle.count_loss(certificate["rule"], samples, positive, weights)
        assert oracle.verify(certificate, header, rows) == proved.bound <= truth <= loss == proved.loss
        assert (
            oracle.count_loss(certificate["rule"], samples, positive, [1, 1]) == proved.errors == fitted.errors
        )
        if costs is None:
            assert fitted.lower_bound == proved.bound
    return counts


def check_tables(kind, seeds, path):
    counts = sum((check_table(kind, seed, path) for seed in seeds), Counter())
    assert counts["checked"] + counts["refused"] == len(SCALINGS) * len(seeds)
    assert counts["refused in several lines"] == 0
    assert counts["beyond the limits"] <= 0.01 * counts["checked"]
    assert counts["checked"] > len(seeds) / 3
    assert counts["tight"] > 0.9 * counts["checked"]  # or the bounds would be true for want of proofs
    assert kind == "duplicates" or counts["checked"] > counts["equal rows"]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_true_of_the_values_as_written(kind, tmp_path):
    check_tables(kind, range(TABLES_PER_KIND), tmp_path / "t.csv")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_hundreds_of_tables_are_true(kind, tmp_path):
    check_tables(kind, range(TABLES_PER_KIND, ALL_TABLES_PER_KIND), tmp_path / "t.csv")


def test_values_that_one_double_holds_are_apart(tmp_path):
    """1 and 1 + 1e-30 are one number in floating point, but a rule separates them."""
    path = tmp_path / "t.csv"
    tiny = "1.000000000000000000000000000001"
    path.write_text(f"x,label\n1,n\n{tiny},p\n1,n\n{tiny},p\n2,n\n")
    fitted, certificate = fit_certifying(path)
    assert fitted.lower_bound == certificate["bound"] == 1
    assert check.check(certificate, *check.parse_table(path.read_bytes())).bound == 1


def read_example():
    page = (TOP / "docs" / "certificates.md").read_text(encoding="utf-8")
    certificate = json.loads(re.search(r"```json\n(.*?)```", page, re.S)[1])
    return certificate, *oracle.split_table(re.search(r"```text\n(.*?)```", page, re.S)[1])


EMPTY_SET = {"sets": [[[], []]], "target": 1, "factor": 1, "grains": 1, "tree": [0, 1, 0, 1]}
CHANGES = [
    ({"bound": 2}, "1 is proved"),
    ({"weights": [2, 2], "bound": 2}, "common divisor"),
    ({"sha256": "0" * 64}, "another table"),
    ({"rule": {"weights": ["-1", "1"], "centre": ["0", "0"], "at_centre": "0"}}, "other features"),
    ({"method": "impossible sets", "proof": {}}, "not all of the fields"),
    ({"method": "nothing", "proof": {}}, "another method"),
    ({"method": "impossible sets", "proof": EMPTY_SET}, "empty"),  # its sum is 0, but every rule is right on it
]
CHANGED_PROOFS = [
    ({"tree": [0, 1, 0, 0, 2, 0, 1, 1, 0, 2]}, "does not end"),
    ({"tree": [0, 1, 0, 0, 2, 0, 1, 0, 0]}, "without a conflict"),
    ({"tree": [0, 1, 0, 0]}, "ends early"),
    ({"target": 2}, "too few pairs"),
    ({"features": []}, "scales"),
    ({"features": [], "scales": []}, "do not determine"),
    ({"left": [0, 1]}, "named twice|both classes"),
    ({"factor": 2}, "not there"),
]


def test_both_checkers_accept_the_example_of_the_page_and_refuse_it_changed():
    certificate, header, rows = read_example()
    assert oracle.verify(certificate, header, rows) == check.check(certificate, header, rows).bound == 1
    proofs = [({"proof": certificate["proof"] | changes}, reason) for changes, reason in CHANGED_PROOFS]
    for changes, reason in CHANGES + proofs:
        with pytest.raises(oracle.RefusedError, match=reason):
            oracle.verify(certificate | changes, header, rows)
        with pytest.raises(check.RefusedError):
            check.check(certificate | changes, header, rows)


def test_what_is_a_decimal_number():
    assert oracle.read_exact("1.") == check.read_number("1.") == 1
    for text in ("1_000", "0x1", "inf", "nan", "1e401", "", "²", "1" * 401, "1e1.5"):
        with pytest.raises(oracle.RefusedError):
            oracle.read_exact(text)
        with pytest.raises(check.RefusedError):
            check.read_number(text)


def test_brute_force_agrees_with_that_over_hyperplanes():
    for seed in range(100):
        X, y = tiny_problem(seed, 4 + seed % 5, 1 + seed % 3, "discrete")
        phi = np.random.default_rng(seed).integers(1, 4, len(y))
        fewest = oracle.count_fewest(X.tolist(), (y == 1).tolist(), phi.tolist())
        assert fewest == fewest_errors(X, y, phi.astype(float))


@pytest.mark.parametrize("level", ["", None])
def test_a_text_is_not_shown_as_the_number_of_its_column(level):
    """Eight samples that x separates: with a feature that is 0 everywhere, four errors are needed."""
    header, rows = ["x", "label"], [[str(i), "np"[i > 3]] for i in range(8)]
    forged, _, _ = read_example()
    table = {"label": "label", "positive": "p", "features": [{"column": "x", "level": level}]}
    forged["table"] = table = table | {"drop_missing": False}
    forged["sha256"] = check.hash_samples(check.read_samples(table, header, rows))
    forged |= {"weights": [1, 1], "bound": 4, "method": "equal rows", "proof": {}}
    forged["rule"] = {"weights": ["0"], "centre": ["0"], "at_centre": "0"}
    try:
        shown = check.check(forged, header, rows).describe()
    except check.RefusedError:
        return
    assert "features  x\n" not in shown
