"""Tables and comparisons of counts, times and draws, from known numbers."""

from __future__ import annotations

import csv
import io
import math

import pytest

from zoloss_cli.reporting.compare import compare_run, distinct
from zoloss_cli.reporting.formats import render_comparison, render_tables
from zoloss_cli.reporting.learned import learned_values
from zoloss_cli.reporting.published.cells import printed_cells, published
from zoloss_cli.reporting.results import RunResult
from zoloss_cli.reporting.spread import spread_of
from zoloss_cli.reporting.summary import summary_lines
from zoloss_cli.reporting.tables import column_titles, make_table

PAPER = "nguyen-sanner-2013"


def run_with(
    cells, table="1", metric="train_01_loss", repeats=1, train="all", noise=None, published=None, **more
):
    """A run that mirrors a table; a cell is given by its values, or by several metrics and theirs."""
    cells = {place: v if isinstance(v, dict) else {metric: v} for place, v in cells.items()}
    experiment = {
        "name": "mine",
        "title": "Losses",
        "metric": metric,
        "published": {"paper": PAPER, "table": table} | (published or {}),
        "split": {"repeats": repeats, "train": train},
        "datasets": [{"name": d, "noise": noise} for d in dict.fromkeys(d for d, _ in cells)],
        "learners": [{"label": x} for x in dict.fromkeys(x for _, x in cells)],
        **more,
    }
    run = RunResult("mine", experiment, {})
    for (dataset, learner), values in cells.items():
        run.add(dataset, learner, values, "")
    return run


def text_of(run, format="text"):
    return render_tables([make_table(run, [run])], format)


def csv_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# -- tables -------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("values", "train", "noise", "caption"),
    [
        ([1.0], "all", None, "whole set"),
        ([1.0, 2.0], "all", None, "whole set, 2 runs"),
        ([1.0, 2.0], "all", {"draws": 2}, "whole set, 2 draws"),
        ([1.0, 2.0], "all", {"draws": 5}, "whole set, 2 draws; incomplete"),
        ([1.0, 2.0, 3.0, 4.0], "all", {"draws": 2}, "whole set, 4 runs of 2 draws"),
        ([1.0, 2.0], 0.8, None, "2 splits"),
    ],
)
def test_captions_say_what_numbers_are_means_over(values, train, noise, caption):
    repeats = 5 if "incomplete" in caption else len(values)
    run = run_with({("heart", "svm"): values}, repeats=repeats, train=train, noise=noise)
    assert f"Table 1. Losses ({caption})" in text_of(run)


def test_the_lenient_count_says_so():
    run = run_with({("heart", "svm"): [37.0]}, metric="train_01_loss_lenient")
    for format in ("text", "markdown", "latex", "html"):
        assert "a zero margin counts as right, as the authors count" in text_of(run, format)
    (row,) = compare_run(run)
    assert (row.published, row.match) == (39.0, "better")
    assert "zero margin" not in text_of(run_with({("heart", "svm"): [37.0]}))


def timed():
    cells = {
        ("heart", "svm"): {"seconds": [0.01234]},
        ("heart", "pcs"): {"seconds": [301.26], "reached": [0.6213]},
        ("heart", "bnb"): {"seconds": [2.0], "reached": [0.6213]},
    }
    return run_with(cells, table="3", metric="seconds", also="reached")


def test_seconds_have_significant_digits_and_no_best():
    view = make_table(timed(), [timed()])
    pcs, bnb = column_titles(["pcs", "bnb"]).values()
    assert view.headings == ["SVM T1", f"{pcs} T1", "T0", f"{bnb} T1", "T0"]
    text = render_tables([view], "text")
    ours, printed = (text.splitlines()[line].split() for line in (4, 5))
    assert ours == ["heart", "0.012", "301", "0.62", "2.00", "0.62"]
    assert printed == ["published", "0.02", "–", "1.24", "–", "63.56"]
    assert "**" not in text
    assert "T0: seconds until the result was found" in text


def test_times_and_bounds_keep_their_columns_even_if_they_never_change():
    columns, constant = timed().columns()
    assert [m for _, m in columns] == ["seconds", "seconds", "reached", "seconds", "reached"]
    assert constant == {}
    run = run_with({("heart", "bnb"): {"train_01_loss": [25.0], "lower_bound": [12.0]}}, also="lower_bound")
    assert make_table(run, [run]).headings == [column_titles(["bnb"])["bnb"], "bound"]
    assert " 12" in text_of(run)


def test_table_three_prints_when_pcs_and_bnb_reached_their_results():
    cells = published()[(PAPER, "3")]
    assert cells[("heart", "pcs", "reached")].value == 1.24
    assert cells[("heart", "csa", "seconds")].value == 126.52
    assert ("heart", "bnb", "seconds") not in cells
    assert sum(metric == "reached" for *_, metric in cells) == 10  # four of the fourteen are n/a


def test_rows_give_every_metric_that_they_hold():
    rows = [
        {"k": 0, "train": 5, "seconds": 0.1, "reached": 0.05},
        {"k": 1, "train": 6, "seconds": 0.2, "lenient": 4},
    ]
    values = learned_values(rows, 50, 0)
    assert values == {
        "train_error": [10.0, 12.0],
        "train_01_loss": [5.0, 6.0],
        "seconds": [0.1, 0.2],
        "train_01_loss_lenient": [5.0, 4.0],
    }
    old = learned_values([{"k": 0, "train": 5, "test": 1}], 50, 10)
    assert set(old) == {"train_error", "train_01_loss", "test_error"}  # its zero margins are not known


def test_cells_that_lack_the_metric_are_dashes():
    cells = {("heart", "svm"): {"train_01_loss": [39.0]}, ("heart", "sla"): {"seconds": [0.5]}}
    run = run_with(cells, metric="seconds", table="3")
    assert run.units == 2
    assert "–" in text_of(run)


# -- standard deviations in print ---------------------------------------------------------------------


def test_a_printed_deviation_is_shown_beside_ours_and_divided_for_the_comparison():
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
    assert "standard deviation over runs" in text
    table = csv_of(text_of(run, "csv"))[0]
    assert float(table["stderr"]) == pytest.approx(1 / math.sqrt(3), rel=1e-5)
    assert float(table["published_stderr"]) == pytest.approx(2.30 / math.sqrt(500), rel=1e-5)
    row = compare_run(run)[0]
    error = math.sqrt(1 / 3 + 2.30**2 / 500 + 0.01**2 / 12)
    assert row.z == pytest.approx((9.0 - 8.42) / error)
    assert printed_cells({"paper": PAPER, "table": "4"})[("breast", "svm", "test_error")].stderr == 2.30


def test_leaks_are_told_under_a_table_of_test_errors():
    learners = [{"label": "svm", "tune": [{"label": "svm"}]}, {"label": "bpm", "tune": []}]
    cells = {("heart", "svm"): [20.0, 21.0], ("heart", "bpm"): [20.0, 21.0]}
    common = {"table": "4", "metric": "test_error", "train": 0.8, "repeats": 2, "learners": learners}
    leaking = text_of(run_with(cells, preprocess={"fit_on": "all"}, tuning={"folds": 5, "on": "all"}, **common))
    assert "scaling is fitted on all rows, the test rows among them" in leaking
    assert "(SVM: settings by 5-fold cross-validation on all rows, the test rows among them)" in leaking
    clean = text_of(
        run_with(cells, preprocess={"fit_on": "train"}, tuning={"folds": 3, "on": "train"}, **common)
    )
    assert "test rows" not in clean
    assert "(SVM: settings by 3-fold cross-validation on the training rows)" in clean


# -- improvement --------------------------------------------------------------------------------------

SIDES = {"of": ["sla", "bnb"], "over": ["bpm", "svm"]}


def improving(**losses):
    return run_with({("heart", x): [v] for x, v in losses.items()}, improvement=SIDES)


def test_improvement_of_the_best_over_the_best():
    run = improving(bpm=40.0, svm=38.0, sla=30.0, bnb=24.0)
    for format in ("text", "markdown", "latex", "html"):
        text = text_of(run, format)
        assert "+36.8" in text  # 100 (38 - 24) / 38
        assert "+34.2" in text  # as printed: 38 and 25
    rows = csv_of(text_of(run, "csv"))
    assert (rows[-1]["learner"], rows[-1]["metric"]) == ("improvement", "percent")
    assert float(rows[-1]["mean"]) == pytest.approx(100 * 14 / 38, rel=1e-5)
    assert float(rows[-1]["published"]) == pytest.approx(100 * 13 / 38, rel=1e-5)
    assert make_table(run, [run]).headings[-1] == "%"
    bnb = column_titles(["bnb"])["bnb"]
    assert f"by how much the best of SLA, {bnb} is below the best of BPM, SVM" in text_of(run)


@pytest.mark.parametrize(
    ("losses", "shown"),
    [
        ({"svm": 0.0, "sla": 0.0}, "0.0"),
        ({"svm": 20.0, "sla": 25.0}, "-25.0"),
        ({"svm": 0.0, "sla": 2.0}, "–"),
        ({"svm": 10.0, "bpm": 9.0}, "–"),
    ],
)
def test_improvement_where_there_is_little_to_improve(losses, shown):
    run = improving(**losses)
    ours = next(line for line in text_of(run).splitlines() if line.startswith("heart"))
    assert ours.split()[-1] == shown


# -- comparisons --------------------------------------------------------------------------------------


def test_single_losses_match_or_are_better_or_worse():
    run = run_with({("heart", "bpm"): [38.0], ("heart", "svm"): [35.0], ("heart", "lr"): [42.0]})
    rows = compare_run(run)
    assert [r.match for r in rows] == ["=", "better", "worse"]
    assert all(math.isnan(r.z) for r in rows)
    assert [r.beyond(2.0) for r in rows] == [False, False, True]
    (line,) = summary_lines(rows)
    assert line == "3 cells: 1 equal, 1 lower, 1 higher (worst: lr on heart, 42 for 39)"
    text = render_comparison(rows, "text")
    assert "match" in text
    assert "ratio" not in text
    assert " z" not in text.splitlines()[0]
    rows = csv_of(render_comparison(rows, "csv"))
    assert [(r["match"], r["z"], r["ratio"]) for r in rows] == [
        ("=", "", ""),
        ("better", "", ""),
        ("worse", "", ""),
    ]


def test_losses_over_draws_are_compared_by_their_spread():
    noise = {"draws": 4}
    values = [52.0, 54.0, 56.0, 58.0]
    run = run_with({("heart", "svm"): values}, table="2", repeats=4, noise=noise)
    (row,) = compare_run(run)
    deviation = math.sqrt(20 / 3)
    assert row.z == pytest.approx((55.0 - 55.0) / (deviation * math.sqrt(1.25)))
    assert row.match == ""  # the same mean by chance is no match
    run = run_with({("heart", "svm"): [v + 9 for v in values]}, table="2", repeats=4, noise=noise)
    (row,) = compare_run(run)
    assert row.z == pytest.approx(9.0 / (deviation * math.sqrt(1.25)))
    assert row.match == "worse"
    assert (row.beyond(2.0), row.beyond(4.0)) == (True, False)
    assert "print as one more of our draws: |z| <= 2 in 0 (0.0 %)" in summary_lines([row])[0]


def test_times_are_compared_by_ratio():
    rows = compare_run(timed())
    assert [(r.learner, r.metric) for r in rows] == [("svm", "seconds"), ("pcs", "reached"), ("bnb", "reached")]
    assert [r.ratio for r in rows] == pytest.approx([0.01234 / 0.02, 0.6213 / 1.24, 0.6213 / 63.56])
    (line,) = summary_lines(rows)
    assert line == "3 times: ours over printed 0.0098 to 0.62, median 0.5 (slowest: svm on heart)"
    text = render_comparison(rows, "text")
    assert "pcs T0" in text
    assert "0.62" in text


def test_variance_between_and_within_draws():
    spread = spread_of([[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]])
    assert (spread.within, spread.between) == (2.0, 16.0 - 2.0 / 2)  # means 2, 6, 10
    assert spread.stderr == pytest.approx(math.sqrt(15.0 / 3 + 2.0 / 6))
    assert spread_of([[1.0, 3.0]]).stderr == pytest.approx(1.0)
    assert spread_of([[4.0], [6.0]]).between == 2.0


def test_a_printed_error_carries_the_luck_of_its_one_draw():
    """Draws 0 and 1 in turn: means 30 and 34, variance 8 between less 2/2, each with variance 2 within."""
    values = [29.0, 33.0, 31.0, 35.0]
    run = run_with(
        {("heart", "svm"): values},
        table="4",
        metric="test_error",
        train=0.8,
        repeats=4,
        noise={"draws": 2},
        published={"spread": "deviation", "runs": 500},
    )
    (row,) = compare_run(run)
    ours, theirs = 7.0 / 2 + 2.0 / 4, 7.0 + 4.45**2 / 500
    assert row.stderr == pytest.approx(math.sqrt(ours))
    assert row.z == pytest.approx((32.0 - 19.35) / math.sqrt(ours + theirs + 0.01**2 / 12))


def test_draws_are_told_by_the_number_of_the_split_also_where_some_are_missing():
    run = run_with({("heart", "svm"): [1.0, 2.0, 3.0]}, noise={"draws": 2})
    run.splits[("heart", "svm")] = [0, 2, 3]
    assert run.by_draw("heart", "svm", "train_01_loss") == [[1.0, 2.0], [3.0]]


def test_each_kind_has_its_own_summary_and_equal_names_of_two_tables_stay_apart():
    one = compare_run(run_with({("heart", "svm"): [39.0]}))
    two = compare_run(run_with({("heart", "svm"): [55.0]}, table="2"))
    rows = one + two + one + compare_run(timed())
    assert len(distinct(rows)) == 5
    assert [line.split()[1] for line in summary_lines(distinct(rows))] == ["cells:", "times:"]
