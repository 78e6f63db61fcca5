"""The error on held-out samples: folds, counts and intervals against scikit-learn and SciPy."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_rows import build_clouds, write_clouds
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import confusion_matrix

from zoloss_cli.api import validation
from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.fit import fit_table, list_warnings
from zoloss_cli.api.validation import FoldData, FoldPlan, cross_validate, draw_folds, plan_folds
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.report.statistics import (
    compute_corrected_interval,
    compute_corrected_t_test,
    compute_proportion_interval,
)


@given(st.lists(st.integers(0, 4), min_size=3, max_size=80), st.integers(2, 10), st.integers(0, 99))
def test_folds_are_a_partition_with_equal_shares_of_each_class(labels, folds, seed):
    y = np.array(labels)
    parts = draw_folds(y, folds, np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(y)))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for k in set(labels):
        counts = [int(np.sum(y[part] == k)) for part in parts]
        assert max(counts) - min(counts) <= 1


def test_the_confusion_is_that_of_another_implementation_on_the_same_folds():
    data = build_clouds(90, 3)
    plan = FoldPlan(parse_learner("one-vs-one:fld", [], None), 5, 2, 10)
    found = cross_validate(plan, data, 3)
    expected = np.zeros((3, 3), int)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for repeat in range(2):
        rng = np.random.default_rng([data.seed, validation.SEED_WORD, repeat])
        for out in draw_folds(data.y, 5, rng):
            kept = np.setdiff1d(np.arange(90), out)
            votes = np.zeros((len(out), 3))
            for a, b in pairs:
                both = kept[np.isin(data.y[kept], (a, b))]
                lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(data.X[both], data.y[both])
                for k in (a, b):
                    votes[:, k] += lda.predict(data.X[out]) == k
            expected += confusion_matrix(data.y[out], np.argmax(votes, axis=1), labels=[0, 1, 2])
    assert found.confusion.sum() == 180
    # Both place the threshold of a pair of equal size in the middle, up to rounding.
    assert np.abs(found.confusion - expected).sum() <= 4
    assert found.error == pytest.approx(1 - np.trace(found.confusion) / 180)
    np.testing.assert_allclose(found.class_errors, 1 - np.diag(found.confusion) / 60)


def test_no_sample_is_predicted_by_what_saw_it():
    """Labels are coin flips, which the learner fits without an error: half of those left out are wrong."""
    rng = np.random.default_rng(3)
    data = FoldData(rng.normal(size=(400, 2)), rng.integers(0, 2, 400), "standard", 1)
    found = cross_validate(FoldPlan(parse_learner("svm-perceptron", [], None), 5, 1, 5), data, 2)
    assert 0.4 < found.error < 0.6


@given(st.lists(st.integers(0, 20), min_size=2, max_size=30).filter(lambda c: len(set(c)) > 1))
def test_the_interval_holds_what_the_corrected_test_does_not_reject(counts):
    rates = [count / 40 for count in counts]
    low, high = compute_corrected_interval(rates, 360, 40, 0.95)
    for edge in (low, high):
        if 0.0 < edge < 1.0:
            assert compute_corrected_t_test([rate - edge for rate in rates], 360, 40)[1] == pytest.approx(0.05)


@given(st.integers(1, 500), st.floats(0, 1))
def test_the_interval_of_one_part_is_that_of_the_score_test(n, share):
    count = round(share * n)
    expected = stats.binomtest(count, n).proportion_ci(0.95, method="wilson")
    assert compute_proportion_interval(count / n, n, 0.95) == pytest.approx(expected, abs=1e-9)


def test_small_tables_are_repeated_and_large_ones_tested_once():
    spec = parse_learner("pivot", [], None)
    expected = {
        10: (10, 10, 100),
        50: (10, 8, 80),
        150: (10, 3, 30),
        270: (10, 1, 10),
        5_000: (10, 1, 10),
        50_000: (5, 1, 5),
        1_000_000: (5, 1, 1),
    }
    for n, shape in expected.items():
        plan = plan_folds(spec, n, 0.1)
        assert (plan.folds, plan.repeats, plan.tested) == shape


def test_searches_are_shorter_in_folds_also_inside_an_ensemble():
    plan = plan_folds(parse_learner("one-vs-one:pivot", [], None), 300, 0.1)
    assert plan.learner.parameters["base"]["steps"] == 2000
    assert plan.shortened == ("2,000 of 20,000 steps",)
    limited = plan_folds(parse_learner("certify", [], 60), 300, 60.0)
    assert limited.learner.parameters["time_limit"] == pytest.approx(1.0)
    assert "at most 1 s a fold" in limited.shortened
    assert plan_folds(parse_learner("fld", [], None), 300, 60.0).shortened == ()


def test_a_fit_to_chance_is_visible_at_once(zoloss, table):
    X, y = load_breast_cancer(return_X_y=True)
    names = ",".join(f"f{i}" for i in range(X.shape[1]))
    rows = [",".join([*map(repr, x.tolist()), "mb"[k]]) for x, k in zip(X, y, strict=True)]
    path = table("\n".join([f"{names},label", *rows]) + "\n")
    text = zoloss("fit", path, "--set", "steps=2000").out
    assert "errors    0 of 569 training samples" in text
    assert "validated " in text
    assert "the rule overfits: 0.00 % training errors against" in text
    assert f"`zoloss evaluate {path}` compares other learners" in text
    assert "baseline  37.26 % errors if 'b' is always predicted" in text
    facts = json.loads(zoloss("fit", path, "--json", "--set", "steps=2000").out)
    low, high = facts["validation"]["interval"]
    assert 0.0 < low < facts["validation"]["error_rate"] < high < 0.2
    assert facts["baseline"] == {"class": "b", "errors": 212, "error_rate": 212 / 569}
    assert np.array(facts["validation"]["confusion"]).sum(axis=1).tolist() == [357, 212]


def test_a_narrow_interval_alone_is_no_warning(table):
    path = table(write_clouds(build_clouds(100)))
    fitted = fit_table(read_for_training(path), parse_learner("fld", [], None), None, "standard", 1)
    fitted = replace(fitted, class_errors=np.array([5, 5]))
    found = cross_validate(plan_folds(fitted.learner, 100, 0.0), fitted.fold_data, 2)
    for validated, warned in ((0.11, False), (0.13, True)):
        found = replace(found, error=validated, interval=(validated - 0.001, validated + 0.001))
        assert any("overfits" in text for text in list_warnings(replace(fitted, validation=found))) == warned


def test_no_training_errors_mean_nothing_and_the_advice_can_be_pasted(zoloss, table):
    """Labels are coin flips: 60 samples of 80 features are separable, and so are 60 with a column of labels."""
    rng = np.random.default_rng(2)
    X, coins = rng.normal(size=(60, 80)).round(3), rng.integers(0, 2, 60)

    def write(name, features, d):
        rows = [",".join(map(str, [*x, "ny"[k]])) for x, k in zip(features, coins, strict=True)]
        return table("\n".join([",".join([*(f"x{i}" for i in range(d)), "label"]), *rows]) + "\n", name)

    wide, narrow = write("wide one.csv", X, 80), write("narrow.csv", np.column_stack([coins, X[:, 0]]), 2)
    for path, learner, why in (
        (wide, "fld", "nearly any labels of 60 samples can be separated by 80 features"),
        (narrow, "pivot", "many rules make none on these samples"),
    ):
        facts = json.loads(zoloss.ok("fit", path, "--learner", learner, "--no-validate", "--json").out)
        assert facts["errors"] == 0
        (warning,) = facts["warnings"]
        assert warning.startswith(f"0 training errors mean nothing about new samples: {why}")
        (_, suggested, _) = warning.split("`")
        assert suggested.startswith(f"zoloss fit {shlex.quote(str(path))} --learner sklearn.svm.LinearSVC ")
        command = shlex.split(suggested)
        sparse = json.loads(zoloss.ok(*command[1:], "--json", "--no-validate").out)
        assert (sparse["learner"], sparse["n"]) == ("sklearn.svm.LinearSVC", 60)
        assert bool(sparse["warnings"]) == (sparse["errors"] == 0)
    assert f"warning   {warning}" in zoloss.ok("fit", narrow, "--no-validate").out


def test_validation_can_be_left_out_and_needs_samples(zoloss, table):
    path = table(write_clouds(build_clouds(40)))
    ended = zoloss("fit", path, "--no-validate", "--learner", "fld")
    assert "validated" not in ended.out
    assert "baseline  50.00 % errors" in ended.out
    few = zoloss("fit", table(write_clouds(build_clouds(6)), "few.csv"))
    assert few.code == 0
    assert "6 samples are too few to estimate the error on new samples" in few.err


def test_a_class_of_one_sample_is_an_error_when_it_is_left_out(zoloss, table):
    text = write_clouds(build_clouds(30)).replace(",c1", ",c0", 14)
    facts = json.loads(zoloss("fit", table(text), "--learner", "fld", "--json").out)
    assert facts["errors"] == sum(facts["class_errors"])
    matrix = np.array(facts["validation"]["confusion"])
    assert matrix[1].tolist() == [facts["validation"]["repeats"], 0]
    assert facts["validation"]["class_error_rates"][1] == 1.0


def test_time_that_runs_out_is_said_and_leaves_an_interval(monkeypatch):
    data = build_clouds(60)
    plan = FoldPlan(parse_learner("fld", [], None), 10, 1, 10, seconds=0.0)
    found = cross_validate(plan, data, 2)
    assert found.tested == 1
    assert found.confusion.sum() == 6
    low, high = found.interval
    assert 0.0 <= low <= found.error <= high <= 1.0
    assert high - low > 0.2
    assert not math.isnan(found.class_errors[0])


def test_suggestions_repeat_how_the_table_was_read(zoloss, table):
    """A table that no command can read without the options that were given, and names that need quotes."""
    rng = np.random.default_rng(0)
    X, coins = rng.normal(size=(40, 60)).round(3), rng.integers(0, 3, 40)
    header = ["patient no", *(f"x{i}" for i in range(60)), "the date", "it's ill", "after"]
    rows = [
        [f"p{i}", *map(str, x), f"d{i}", "abc"[k], ""] for i, (x, k) in enumerate(zip(X, coins, strict=True))
    ]
    path = table("\n".join(map(",".join, [header, *rows])) + "\n", "my table.csv")
    options = ["--id", "patient no", "--drop", "the date,after", "--label", "it's ill", "--positive", "b"]
    options += ["--scale", "minmax", "--missing", "impute"]
    more = ["--learner", "fld", "--class-weight", "b=2"]
    facts = json.loads(zoloss.ok("fit", path, *options, *more, "--json").out)
    overfits, nothing = (
        shlex.split(text.split("`")[1])[1:] for text in facts["warnings"][:: len(facts["warnings"]) - 1]
    )

    def pair(words):
        return sorted(zip(words[::2], words[1::2], strict=True))

    assert overfits[:2] == ["evaluate", str(path)]
    assert pair(overfits[2:]) == pair(options)
    sparse = json.loads(zoloss.ok(*nothing, "--json", "--no-validate").out)
    assert (sparse["n"], sparse["d"], sparse["positive"], sparse["scale"]) == (40, 60, "b", "minmax")
    assert sparse["class_weights"] == {"rest": 1.0, "b": 2.0}
    assert zoloss(*overfits, "--dry-run").code == 0
