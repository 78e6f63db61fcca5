"""Tables and comparisons of counts, times and draws, from known numbers."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import pytest
from built_runs import build_run

from zoloss_cli.config.models import Published
from zoloss_cli.report.agreement import render_comparison, summarize_agreement
from zoloss_cli.report.compare import DATA, compare_run, compute_spread, drop_repeated
from zoloss_cli.report.papers import find_published_cells
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.runs import build_column_titles
from zoloss_cli.report.tables import build_table

PAPER = "nguyen-sanner-2013"


def run_with(
    cells, table="1", metric="train_01_loss", repeats=1, train="all", noise=None, published=None, **more
):
    """A run that mirrors a table; a cell is given by its values, or by several metrics and theirs."""
    cells = {place: v if isinstance(v, dict) else {metric: v} for place, v in cells.items()}
    noise = {"fraction": 0.1, **noise} if noise else None
    return build_run(
        cells,
        title="Losses",
        metric=metric,
        published={"paper": PAPER, "table": table} | (published or {}),
        split={"repeats": repeats, "train": train},
        datasets=[{"name": d, "noise": noise} for d in dict.fromkeys(d for d, _ in cells)],
        **more,
    )


def compare_learners(run):
    """The compared cells without what the table says of its data sets."""
    return [cell for cell in compare_run(run) if cell.learner != DATA]


def text_of(run, format="text"):
    return render_tables([build_table(run, [run])], format)


def csv_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_one_run_is_an_integer_and_several_have_an_error():
    text = text_of(run_with({("heart", "svm"): [39.0], ("heart", "sla"): [27.0]}))
    assert "(whole set)" in text
    assert "39 " in text
    assert "**27**" in text
    assert "(**: the row's best)" in text
    text = text_of(run_with({("heart", "svm"): [39.0, 41.0], ("heart", "sla"): [27.0, 29.0]}, repeats=2))
    assert "40.0 ± 1.0" in text
    assert "**28.0 ± 1.0**" in text
    assert "within one standard error of the row's best" in text


def test_captions_say_what_numbers_are_means_over():
    for n_values, repeats, train, draws, caption in (
        (2, 2, "all", None, "whole set, 2 repeats"),
        (2, 5, "all", 5, "whole set, 2 draws; incomplete"),
        (4, 4, "all", 2, "whole set, 4 repeats of 2 draws"),
        (2, 2, 0.8, None, "2 splits"),
    ):
        noise = {"draws": draws} if draws else None
        run = run_with({("heart", "svm"): [1.0] * n_values}, repeats=repeats, train=train, noise=noise)
        assert f"Table 1. Losses ({caption})" in text_of(run)


def test_the_lenient_count_says_so():
    run = run_with({("heart", "svm"): [37.0]}, metric="train_01_loss_lenient")
    for format in ("text", "markdown", "latex", "html"):
        assert "a margin of 0 counts as correct, as in the paper" in text_of(run, format)
    (cell,) = compare_learners(run)
    assert (cell.published, cell.match) == (39.0, "better")
    assert "zero margin" not in text_of(run_with({("heart", "svm"): [37.0]}))


def timed():
    cells = {
        ("heart", "svm"): {"fit_time": [0.01234]},
        ("heart", "pcs"): {"fit_time": [301.26], "time_to_best": [0.6213]},
        ("heart", "bnb"): {"fit_time": [2.0], "time_to_best": [0.6213]},
    }
    return run_with(cells, table="3", metric="fit_time", also="time_to_best")


def test_seconds_have_significant_digits_and_no_best():
    view = build_table(timed(), [timed()])
    pcs, bnb = build_column_titles(["pcs", "bnb"]).values()
    assert view.headings == ["SVM T1", f"{pcs} T1", "T0", f"{bnb} T1", "T0"]
    text = render_tables([view], "text")
    ours, beside = (text.splitlines()[line].split() for line in (4, 5))
    assert ours == ["heart", "0.012", "301", "0.62", "2.00", "0.62"]
    assert beside == ["published", "0.02", "–", "1.24", "–", "63.56"]
    assert "**" not in text
    assert "T0: seconds until the result was found" in text


def test_times_and_bounds_keep_their_columns_even_if_they_never_change():
    columns, constant = timed().choose_columns()
    assert [m for _, m in columns] == ["fit_time", "fit_time", "time_to_best", "fit_time", "time_to_best"]
    assert constant == {}
    run = run_with({("heart", "bnb"): {"train_01_loss": [25.0], "lower_bound": [12.0]}}, also="lower_bound")
    assert build_table(run, [run]).headings == [build_column_titles(["bnb"])["bnb"], "bound"]
    assert " 12" in text_of(run)


def test_a_published_deviation_is_shown_beside_ours_and_divided_for_the_comparison():
    spread = {"spread": "deviation", "runs": 500}
    values = [8.0, 9.0, 10.0]
    run = run_with(
        {("breast", "svm"): values, ("breast", "lr"): [12.0, 12.1, 12.2]},
        table="4",
        metric="test_error",
        train=0.8,
        repeats=3,
        published=spread,
    )
    text = text_of(run)
    assert "**9.00 ± 1.00**" in text
    assert "8.42 ± 2.30" in text
    assert "standard deviation over splits" in text
    table = csv_of(text_of(run, "csv"))[0]
    assert float(table["stderr"]) == pytest.approx(1 / math.sqrt(3), rel=1e-5)
    assert float(table["published_stderr"]) == pytest.approx(2.30 / math.sqrt(500), rel=1e-5)
    cell = compare_run(run)[0]
    error = math.sqrt(1 / 3 + 2.30**2 / 500 + 0.01**2 / 12)
    assert cell.z == pytest.approx((9.0 - 8.42) / error)
    assert (
        find_published_cells(Published(paper=PAPER, table="4"))[("breast", "svm", "test_error")].stderr == 2.30
    )


def test_leaks_are_told_under_a_table_of_test_errors():
    learners = [{"label": "svm", "tune": [{"label": "svm", "learner": "svm"}]}, {"label": "bpm", "tune": []}]
    cells = {("heart", "svm"): [20.0, 21.0], ("heart", "bpm"): [20.0, 21.0]}
    common = {"table": "4", "metric": "test_error", "train": 0.8, "repeats": 2, "learners": learners}
    leaking = text_of(run_with(cells, preprocess={"fit_on": "all"}, tuning={"folds": 5, "on": "all"}, **common))
    assert "scaling is fitted on all samples, including the test samples" in leaking
    assert "(SVM: settings by 5-fold cross-validation on all samples, including the test samples)" in leaking
    clean = text_of(
        run_with(cells, preprocess={"fit_on": "train"}, tuning={"folds": 3, "on": "train"}, **common)
    )
    assert "test samples" not in clean
    assert "(SVM: settings by 3-fold cross-validation on the training samples)" in clean


SIDES = {"of": ["sla", "csa", "pcs", "bnb"], "over": ["bpm", "svm", "lr"]}


def improving(**losses):
    return run_with({("heart", x): [v] for x, v in losses.items()}, improvement=SIDES)


def test_improvement_of_the_best_over_the_best():
    run = improving(bpm=40.0, svm=38.0, sla=30.0, bnb=24.0)
    for format in ("text", "html"):
        text = text_of(run, format)
        assert "+36.8" in text  # 100 (38 - 24) / 38
        assert "+34.2" in text  # as published: 38 and 25
    *_, row = csv_of(text_of(run, "csv"))
    assert (row["learner"], row["metric"], row["published"]) == ("improvement", "percent", "34.2")
    assert float(row["mean"]) == pytest.approx(100 * 14 / 38, rel=1e-5)
    of, over = (", ".join(build_column_titles(names).values()) for names in SIDES.values())
    assert f"by how much the best of {of} is below the best of {over}" in text_of(run)


def test_improvement_where_there_is_little_to_improve():
    for losses, shown in (
        ({"svm": 0.0, "sla": 0.0}, "0.0"),
        ({"svm": 20.0, "sla": 25.0}, "-25.0"),
        ({"svm": 0.0, "sla": 2.0}, "–"),
        ({"svm": 10.0, "bpm": 9.0}, "–"),
    ):
        ours = next(line for line in text_of(improving(**losses)).splitlines() if line.startswith("heart"))
        assert ours.split()[-1] == shown


def test_single_losses_match_or_are_better_or_worse():
    run = run_with({("heart", "bpm"): [38.0], ("heart", "svm"): [35.0], ("heart", "lr"): [42.0]})
    cells = compare_learners(run)
    assert [c.match for c in cells] == ["=", "better", "worse"]
    assert all(math.isnan(c.z) for c in cells)
    assert [c.is_beyond(2.0) for c in cells] == [False, True, True]
    assert [c.fails(2.0) for c in cells] == [False, False, True]
    (line,) = summarize_agreement(cells)
    what = "3 cells: 1 equal, 1 better, 1 worse (worst: lr on heart, 42 for 39)"
    assert line == f"from the authors' program: {what}"
    text = render_comparison(cells, "text")
    assert "match" in text
    assert "ratio" not in text


def test_losses_over_draws_are_compared_by_their_spread():
    noise = {"draws": 4}
    values = [52.0, 54.0, 56.0, 58.0]
    run = run_with({("heart", "svm"): values}, table="2", repeats=4, noise=noise)
    (cell,) = compare_run(run)
    deviation = math.sqrt(20 / 3)
    assert cell.z == pytest.approx((55.0 - 55.0) / (deviation * math.sqrt(1.25)))
    assert cell.match == ""  # the same mean by chance is not a match
    run = run_with({("heart", "svm"): [v + 9 for v in values]}, table="2", repeats=4, noise=noise)
    (cell,) = compare_run(run)
    assert cell.z == pytest.approx(9.0 / (deviation * math.sqrt(1.25)))
    assert cell.match == "worse"
    assert (cell.is_beyond(2.0), cell.is_beyond(4.0)) == (True, False)
    assert (cell.apart, cell.agreement) == ("", "nearness")
    assert cell.choices == "LIBLINEAR-settings; random-noise-labels"
    (counted,) = summarize_agreement([cell])
    assert counted.startswith("chosen for nearness: 1 cells: 0 equal")
    assert "consistent with one more of our draws: |z| <= 2 in 0 (0.0 %)" in counted
    other = summarize_agreement([replace(cell, apart="other data")])
    assert other == ["reported separately: 1 cells on other data (|z| <= 2 in 0 (0.0 %))"]


def test_times_are_compared_by_ratio():
    cells = compare_run(timed())
    assert [(c.learner, c.metric) for c in cells] == [
        ("svm", "fit_time"),
        ("pcs", "time_to_best"),
        ("bnb", "time_to_best"),
    ]
    assert [c.ratio for c in cells] == pytest.approx([0.01234 / 0.02, 0.6213 / 1.24, 0.6213 / 63.56])
    (line,) = summarize_agreement(cells)
    assert line.endswith(" 3 times: ours over published 0.0098 to 0.62, median 0.5 (slowest: svm on heart)")
    text = render_comparison(cells, "text")
    assert "pcs T0" in text
    assert "0.62" in text


def test_variance_between_and_within_draws():
    spread = compute_spread([[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]])
    assert (spread.within, spread.between) == (2.0, 16.0 - 2.0 / 2)  # means 2, 6, 10
    assert spread.stderr == pytest.approx(math.sqrt(15.0 / 3 + 2.0 / 6))
    assert compute_spread([[1.0, 3.0]]).stderr == pytest.approx(1.0)
    assert compute_spread([[4.0], [6.0]]).between == 2.0


def test_draws_are_told_by_the_number_of_the_split_also_where_some_are_missing():
    run = run_with({("heart", "svm"): [1.0, 2.0, 3.0]}, noise={"draws": 2})
    run.cells["heart", "svm"].splits = [0, 2, 3]
    assert run.group_by_draw("heart", "svm", "train_01_loss") == [[1.0, 2.0], [3.0]]


def test_each_kind_has_its_own_summary_and_equal_names_of_two_tables_stay_apart():
    one = compare_run(run_with({("heart", "svm"): [39.0]}))
    two = compare_run(run_with({("heart", "svm"): [55.0]}, table="2", noise={"draws": 2}))
    rows = one + two + one + compare_run(timed())
    assert len(drop_repeated(rows)) == 7  # with how many samples and features heart has
    lines = summarize_agreement(drop_repeated(rows))
    assert [line.rpartition(": ")[0].split(":")[0] for line in lines] == [
        *["from the authors' program"] * 2,
        *("chosen for nearness", "reported separately"),
    ]
