"""Bounds and certificates of tables that floating point holds badly, against brute force in fractions."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from fractions import Fraction

import certificate_oracle as oracle
import pytest
from exact_tables import KINDS, draw_table, render_table
from places import TOP

from zoloss_cli.api.certificate import build_certificate
from zoloss_cli.api.choose import TimeBudget
from zoloss_cli.api.fit import FitRequest, Weighting
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.proofs import check

SCALINGS = ("none", "standard", "minmax")
TABLES_PER_KIND = 20
ALL_TABLES_PER_KIND = 300


def fit_certifying(path, scaling="none", weighting=None):
    table = read_for_training(path, as_written=True)
    request = FitRequest(
        "certify",
        ["steps=200"],
        validate=False,
        scaling=scaling,
        keeps_proof=True,
        weighting=weighting or Weighting(),
    )
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
            integers = oracle.count_samples_in_steps(samples)
            assert truth == oracle.find_least_loss(integers, positive, [weights[label] for label in positive])
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


# --- The oracle itself


def read_example():
    page = (TOP / "docs" / "certificates.md").read_text(encoding="utf-8")
    certificate = json.loads(re.search(r"```json\n(.*?)```", page, re.S)[1])
    return certificate, *oracle.split_table(re.search(r"```text\n(.*?)```", page, re.S)[1])


def test_both_checkers_accept_the_example_of_the_page():
    example = read_example()
    assert oracle.verify(*example) == check.check(*example).bound == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bound": 2}, "1 is proved"),
        ({"weights": [2, 2], "bound": 2}, "common divisor"),
        ({"sha256": "0" * 64}, "another table"),
        ({"rule": {"weights": ["-1", "1"], "centre": ["0", "0"], "at_centre": "0"}}, "other features"),
        ({"method": "impossible sets", "proof": {}}, "not all of the fields"),
    ],
)
def test_the_oracle_refuses_what_is_changed(changes, reason):
    certificate, header, rows = read_example()
    with pytest.raises(oracle.RefusedError, match=reason):
        oracle.verify({**certificate, **changes}, header, rows)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"tree": [0, 1, 0, 0, 2, 0, 1, 1, 0, 2]}, "does not end"),
        ({"tree": [0, 1, 0, 0, 2, 0, 1, 0, 0]}, "without a conflict"),
        ({"tree": [0, 1, 0, 0]}, "ends early"),
        ({"target": 2}, "too few pairs"),
        ({"features": []}, "scales"),
        ({"features": [], "scales": []}, "do not determine"),
        ({"left": [0, 1]}, "named twice|both classes"),
        ({"factor": 2}, "not there"),
    ],
)
def test_the_oracle_refuses_a_changed_proof(changes, reason):
    certificate, header, rows = read_example()
    with pytest.raises(oracle.RefusedError, match=reason):
        oracle.verify({**certificate, "proof": {**certificate["proof"], **changes}}, header, rows)


def test_an_empty_set_is_not_impossible():
    """Its sum is 0, but every rule is right on all of it."""
    certificate, header, rows = read_example()
    proof = {"sets": [[[], []]], "target": 1, "factor": 1, "grains": 1, "tree": [0, 1, 0, 1]}
    forged = {**certificate, "method": "impossible sets", "proof": proof}
    with pytest.raises(oracle.RefusedError, match="empty"):
        oracle.verify(forged, header, rows)
    with pytest.raises(check.RefusedError):
        check.check(forged, header, rows)


@pytest.mark.parametrize("text", ["1_000", "0x1", "inf", "nan", "1e401", "", "1.", "²", "1" * 401, "1e1.5"])
def test_what_is_a_decimal_number(text):
    if text == "1.":
        assert oracle.read_exact(text) == 1
        return
    with pytest.raises(oracle.RefusedError):
        oracle.read_exact(text)


def test_brute_force_on_cases_that_are_known():
    corners = [(0, 0), (1, 1), (0, 1), (1, 0)]
    assert oracle.count_fewest(corners, [True, True, False, False], [1] * 4) == 1
    assert oracle.count_fewest(corners, [True, True, False, False], [5, 5, 2, 3]) == 2
    assert oracle.count_fewest([(0,), (0,), (0,)], [True, True, False], [1] * 3) == 1
    assert oracle.count_fewest([(k,) for k in range(6)], [k % 2 == 0 for k in range(6)], [1] * 6) == 2
    third = Fraction(1, 3)
    assert oracle.count_fewest([(third,), (third + Fraction(1, 10**40),)], [True, False], [1, 1]) == 0


def test_both_ways_of_brute_force_agree():
    rng = random.Random(1)
    for _ in range(300):
        n, n_features, largest = rng.randint(1, 8), rng.randint(1, 3), rng.choice([1, 2, 9])
        samples = [[rng.randint(0, largest) for _ in range(n_features)] for _ in range(n)]
        positive, weights = [rng.random() < 0.5 for _ in range(n)], [rng.randint(1, 3) for _ in range(n)]
        fewest = oracle.count_fewest(samples, positive, weights)
        assert fewest == oracle.find_least_loss(samples, positive, weights)


@pytest.mark.parametrize("level", ["", None])
def test_a_text_is_not_shown_as_the_number_of_its_column(level):
    """Eight samples that x separates: with a feature that is 0 everywhere, four errors are needed."""
    header, rows = ["x", "label"], [[str(i), "np"[i > 3]] for i in range(8)]
    table = {
        "label": "label",
        "positive": "p",
        "features": [{"column": "x", "level": level}],
        "drop_missing": False,
    }
    forged = {
        "format": "zoloss certificate",
        "version": 3,
        "table": table,
        "sha256": check.hash_samples(check.read_samples(table, header, rows)),
        "weights": [1, 1],
        "bound": 4,
        "rule": {"weights": ["0"], "centre": ["0"], "at_centre": "0"},
        "method": "equal rows",
        "proof": {},
    }
    try:
        shown = check.check(forged, header, rows).describe()
    except check.RefusedError:
        return
    assert "features  x\n" not in shown
