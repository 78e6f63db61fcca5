"""zoloss stats: which differences are statistically significant, in every format."""

from __future__ import annotations

import csv
import io

import pytest
from places import REFERENCE

from zoloss_cli.report.runs import load_runs, select_runs
from zoloss_cli.report.statistics import (
    compare_by_signed_ranks,
    compare_pair,
    compare_with_best,
    compute_average_ranks,
)


@pytest.fixture(scope="module")
def table4():
    runs, _ = load_runs(REFERENCE, "IV")
    return select_runs(runs, "IV")[0]


def test_table_iv_fits_in_100_columns_and_says_what_was_found(zoloss, table4):
    ended = zoloss("stats", REFERENCE, "--table", "IV")
    assert ended.code == 0, ended.err
    sentences = [line for line in ended.out.splitlines() if line.startswith("(")]
    assert max(len(line) for line in ended.out.splitlines() if line not in sentences) <= 100
    line = next(x for x in ended.out.splitlines() if x.startswith("sonar"))
    for comparison in compare_with_best(table4, "sonar"):
        mark = "*" if comparison.p <= 0.05 else " "
        assert f"{comparison.difference:+.2f} {comparison.p:.3f}{mark}" in line + " "
    assert line.split()[3] == "best"  # RCD-bias, after RCD-plain's two numbers
    ranks = compute_average_ranks(table4)
    assert f"{ranks.critical_difference:.2f} apart" in ended.out
    assert f"p {ranks.friedman_p:.3f} for equal ranks" in ended.out
    assert "soft-SVM: each data set's best of 6 settings of base.C, chosen on test error, so its" in ended.out
    assert "ringnorm, threenorm, yinyang: more test than training samples" in ended.out


def test_csv_has_one_row_per_comparison(zoloss, table4):
    rows = list(csv.DictReader(io.StringIO(zoloss("stats", REFERENCE, "-t", "IV", "-f", "csv").out)))
    by_test = {test: [r for r in rows if r["test"] == test] for test in {r["test"] for r in rows}}
    assert {test: len(part) for test, part in by_test.items()} == {
        "corrected-t": 12 * 15,
        "wilcoxon": 15,
        "friedman": 1,
        "nemenyi": 15,
    }
    for row in by_test["corrected-t"]:
        exact = compare_pair(table4, row["dataset"], row["first"], row["second"])
        assert float(row["p"]) == pytest.approx(exact.p, rel=1e-4)
        assert row["differs"] == str(int(exact.p <= 0.05))
    for row, exact in zip(by_test["wilcoxon"], compare_by_signed_ranks(table4)[1], strict=True):
        assert float(row["corrected_p"]) == pytest.approx(exact.holm, rel=1e-4)


def test_against_one_learner(zoloss):
    ended = zoloss("stats", REFERENCE, "--table", "IV", "--against", "adaboost:rcd-bias", "--alpha", "0.01")
    assert "Difference from RCD-bias, and p-value of the corrected t-test" in ended.out
    assert "best" not in ended.out.partition("Average ranks")[0].partition("soft-SVM")[2]
    assert "corrected for 5 pairs" in ended.out
    assert "p <= 0.01" in ended.out
    latex = zoloss("stats", REFERENCE, "--table", "IV", "--format", "latex").out
    assert r"\begin{longtable}{lrrrrrr}" in latex
    html = zoloss("stats", REFERENCE, "--table", "IV", "--format", "html").out
    assert "&lt;0.001*" in html


def test_runs_without_a_test_part_have_ranks_only(zoloss):
    ended = zoloss("stats", REFERENCE)  # all tables
    assert ended.out.count("\nTable ") >= 8
    assert "(no t-test: all samples train, so there are no test errors to test)" in ended.out
    assert "with 7 data sets and 45 pairs no Holm p can be below 0.703" in ended.out
    assert " nan" not in ended.out.lower()


def test_few_data_sets_and_learners(zoloss, small_config, tmp_path):
    results = tmp_path / "results"
    assert zoloss("run", small_config, "--out", results, "--jobs", 1, "--splits", 2).code == 0
    ended = zoloss("stats", results)
    assert ended.code == 0
    assert "fewer than three learners" in ended.out
    assert (
        "with 2 data sets and one pair no Holm p can be below 0.500, so no difference can be significant"
        in ended.out
    )
    assert zoloss("run", small_config, "--out", tmp_path / "one", "--jobs", 1, "--splits", 1).code == 0
    assert "(no t-test: one split has no variance)" in zoloss("stats", tmp_path / "one").out


def test_what_is_wrong_is_one_sentence(zoloss, tmp_path):
    cases = [
        (["--alpha", "0"], 2, "--alpha: must be between 0 and 1"),
        (["--alpha", "nan"], 2, "--alpha: must be between 0 and 1"),
        (["--format", "txet"], 2, "did you mean 'text'?"),
        (["--table", "V"], 4, "there is no table 'V'"),
        (["--table", "IV", "--against", "adaboost:rcd-bais"], 4, "did you mean 'adaboost:rcd-bias'?"),
        (["--table", "3"], 4, "shows fit_time"),
        (["--table", "nguyen-bounds"], 4, "only one learner"),
    ]
    for options, code, part in cases:
        ended = zoloss("stats", REFERENCE, *options)
        assert (ended.code, ended.out) == (code, ""), (options, ended.err)
        assert part in ended.err
        assert ended.err.count("\n") == 1
    assert zoloss("stats", tmp_path).code == 4
