"""zoloss stats: which differences are statistically significant, in every format."""

from __future__ import annotations

from own_rows import refused
from places import REFERENCE


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


def test_only_ranks(zoloss):
    """One line for each metric, with the ranks of the full output."""
    options = ["stats", REFERENCE, "--table", "IV"]
    lines = zoloss.ok(*options, "--ranks").out.splitlines()
    (line,) = (line for line in lines if line.startswith("test_error"))
    ranks = [word.rstrip("*") for word in line.split()[2:8]]
    shown = zoloss.ok(*options).out.partition("Average ranks")[2].partition("(Friedman")[0]
    assert sorted(ranks) == [row.split()[1] for row in shown.splitlines()[4:10]]


def test_runs_without_a_test_part_have_ranks_only(zoloss):
    ended = zoloss("stats", REFERENCE)  # all tables
    assert ended.out.count("\nTable ") >= 8
    assert "(no t-test: all samples train, so there are no test errors to test)" in ended.out
    assert "with 7 data sets and 45 pairs no Holm p can be below 0.703" in ended.out
    assert " nan" not in ended.out.lower()


def test_few_data_sets_and_learners(zoloss, small_config, tmp_path):
    results = tmp_path / "results"
    assert zoloss("run", small_config, "--out", results, "--jobs", 1, "--splits", 2).code == 0
    ended = zoloss.ok("stats", results)
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
        (["--table", "II", "--ranks", "--format", "csv"], 2, "leave out --against, and --format csv"),
        (["--format", "txet"], 2, "did you mean 'text'?"),
        (["--table", "V"], 4, "there is no table 'V'"),
        (["--table", "IV", "--against", "adaboost:rcd-bais"], 4, "did you mean 'adaboost:rcd-bias'?"),
        (["--table", "3"], 4, "shows fit_time"),
        (["--table", "nguyen-bounds"], 4, "only one learner"),
    ]
    for options, code, part in cases:
        refused(zoloss("stats", REFERENCE, *options), code, part)
    assert zoloss("stats", tmp_path).code == 4
