"""Tables and comparisons from known numbers."""

from __future__ import annotations

import csv
import io
import math

import pytest

from zoloss_cli.errors import ResultsError
from zoloss_cli.report.compare import COLUMNS, compare_run, distinct, summary_line
from zoloss_cli.report.formats import render_comparison, render_tables
from zoloss_cli.report.pools import pool_deviations
from zoloss_cli.report.published import pool_sd, published
from zoloss_cli.report.results import RunResult, choose, summarize
from zoloss_cli.report.tables import CellText, make_table, mark_best


def run_with(
    values, table="II", datasets=("heart",), learners=("rcd-plain", "pocket"), generator=None, name="table2"
):
    experiment = {
        "name": name,
        "title": "Training errors (%) & more",
        "citation": "",
        "metric": "train_error",
        "published": {"paper": "li-lin-2007", "table": table} if table else None,
        "split": {"repeats": 2},
        "datasets": [{"name": d, **({"generator": generator} if generator else {})} for d in datasets],
        "learners": [{"label": x} for x in learners],
    }
    run = RunResult(name, experiment, {})
    run.cells = {key: {"train_error": v, "test_error": v} for key, v in values.items()}
    return run


def table_of(run):
    return make_table(run, [run])


def test_mean_and_standard_error():
    stat = summarize([9.0, 10.0, 11.0])
    assert (stat.mean, stat.splits) == (10.0, 3)
    assert stat.stderr == pytest.approx(1 / math.sqrt(3))
    assert math.isnan(summarize([5.0]).stderr)


def test_z_counts_both_errors_and_the_rounding():
    (row,) = compare_run(run_with({("heart", "rcd-plain"): [9.4, 9.6]}))
    spread = math.sqrt(0.1**2 + 0.05**2 + 0.01**2 / 12)
    assert row.published == 9.48
    assert row.z == pytest.approx((9.5 - 9.48) / spread)
    assert row.stderr == pytest.approx(0.1)


def test_pool_variance_enters_twice(monkeypatch):
    from zoloss_cli.report import compare

    run = run_with({("ringnorm", "pocket"): [30.0, 31.0]}, datasets=("ringnorm",), generator="ringnorm")
    monkeypatch.setattr(compare, "pool_sd", lambda: {("ringnorm", "pocket", "train_error"): 0.7})
    (row,) = compare_run(run)
    assert row.stderr == pytest.approx(math.hypot(0.5, 0.7))
    assert row.z == pytest.approx((30.5 - 30.46) / math.sqrt(0.5**2 + 2 * 0.7**2 + 0.07**2 + 0.01**2 / 12))


def test_pool_deviation_separates_pools_from_splits():
    values = {(f"r{i}", "pocket"): [10.0 + i - 0.5, 10.0 + i + 0.5] for i in range(6)}
    run = run_with(
        values, table=None, datasets=[f"r{i}" for i in range(6)], learners=("pocket",), generator="ringnorm"
    )
    row = pool_deviations([run])[0]
    assert row["sd"] == pytest.approx(math.sqrt(3.5 - 0.5 / 2), abs=1e-4)
    with pytest.raises(ResultsError, match="5 pools"):
        pool_deviations([run_with({("heart", "pocket"): [1.0, 2.0]})])


def test_best_cells_are_within_one_standard_error():
    cells = [CellText(9.48, 0.05), CellText(9.53, 0.01), CellText(9.54, 0.9), CellText(None)]
    assert [c.best for c in mark_best(cells)] == [True, True, False, False]


def test_the_published_tables_mark_what_the_paper_prints_in_bold():
    """Table II's bold cells as printed, e.g. both RCD on breast, pocket alone on ionosphere."""
    printed = published()[("li-lin-2007", "II")]
    learners = ["rcd-plain", "rcd-bias", "pocket", "ave-perc", "sgd-mls", "soft-svm"]

    def bold(dataset):
        cells = [printed[(dataset, x, "train_error")] for x in learners]
        return [
            x
            for x, c in zip(learners, mark_best([CellText(c.value, c.stderr) for c in cells]), strict=True)
            if c.best
        ]

    assert bold("breast") == ["rcd-plain", "rcd-bias"]
    assert bold("cleveland") == ["rcd-plain", "rcd-bias"]
    assert bold("ionosphere") == ["pocket"]
    assert bold("sonar") == ["pocket"]


def test_all_published_cells_are_there():
    sizes = {key: len(cells) for key, cells in published().items()}
    assert sizes[("li-lin-2007", "II")] == sizes[("li-lin-2007", "III")] == 72
    assert sizes[("li-thesis-2006", "2.2")] == sizes[("li-thesis-2006", "2.3")] == 84


def test_pool_deviations_are_shipped_for_every_generated_cell():
    learners = ["rcd-plain", "rcd-bias", "pocket", "ave-perc", "sgd-hinge", "sgd-mls", "soft-svm"]
    wanted = {
        (g, x, m)
        for g in ("ringnorm", "threenorm", "yinyang")
        for x in learners
        for m in ("train_error", "test_error")
    }
    assert wanted <= set(pool_sd())
    assert all(0 < sd < 3 for sd in pool_sd().values())


RUN = {("heart", "rcd-plain"): [9.0, 10.0], ("heart", "pocket"): [11.0, 12.0]}


@pytest.mark.parametrize(
    ("format", "parts"),
    [
        ("text", ["Table II.", "heart", "**9.50 ± 0.50**", "11.50 ± 0.50", "published", "9.48 ± 0.05"]),
        ("markdown", ["| heart", "**9.50 ± 0.50**", "*11.22 ± 0.05*"]),
        (
            "latex",
            [r"\toprule", r"$\mathbf{9.50 \pm 0.50}$", r"$11.50 \pm 0.50$", r"\% ", r"\&", r"\end{document}"],
        ),
        ("html", ["<b>9.50 ± 0.50</b>", "<i>11.22 ± 0.05</i>", "&amp;"]),
    ],
)
def test_table_formats(format, parts):
    text = render_tables([table_of(run_with(RUN))], format)
    for part in parts:
        assert part in text or part.replace(r"\% ", r"\%") in text


def test_csv_formats_can_be_read_back():
    table = list(csv.DictReader(io.StringIO(render_tables([table_of(run_with(RUN))], "csv"))))
    assert (table[0]["dataset"], table[0]["mean"], table[0]["published"]) == ("heart", "9.5", "9.48")
    rows = list(csv.DictReader(io.StringIO(render_comparison(compare_run(run_with(RUN)), "csv"))))
    assert tuple(rows[0]) == COLUMNS
    assert float(rows[1]["published"]) == 11.22


def test_missing_cells_are_dashes_and_the_table_says_it_is_incomplete():
    text = render_tables([table_of(run_with({("heart", "pocket"): [11.0, 12.0]}))], "text")
    assert "–" in text
    assert "incomplete" in text


@pytest.mark.parametrize("format", ["text", "markdown", "latex", "html"])
def test_comparison_formats(format):
    text = render_comparison(compare_run(run_with(RUN)), format)
    assert "pocket" in text
    assert "11.22" in text


def test_the_summary_counts_and_names_the_worst():
    rows = compare_run(run_with({("heart", "rcd-plain"): [9.47, 9.49], ("heart", "pocket"): [13.0, 13.2]}))
    line = summary_line(rows)
    assert "2 cells: |z| <= 2 in 1 (50.0 %)" in line
    assert "pocket on heart" in line
    assert len(distinct(rows + rows)) == 2


def test_tables_are_chosen_by_number_or_name():
    runs = [run_with(RUN), run_with(RUN, table="III", name="table3")]
    assert choose(runs, "III") == [runs[1]]
    assert choose(runs, "table2") == [runs[0]]
    with pytest.raises(ResultsError, match="there is no table 'IIII' in these results; did you mean 'III'"):
        choose(runs, "IIII")
