"""Tables and comparisons from known numbers."""

from __future__ import annotations

import csv
import io
import math

import pytest
from built_runs import add_cell, build_cell, build_run

from zoloss_cli.report.agreement import render_comparison, summarize_agreement
from zoloss_cli.report.compare import COLUMNS, compare_run, compare_stars, drop_repeated, find_single_pools
from zoloss_cli.report.papers import read_published_tables
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.runs import build_column_titles
from zoloss_cli.report.tables import TableCell, build_table, find_stars, mark_best


def run_with(
    values,
    table="II",
    datasets=("heart",),
    learners=("rcd-plain", "pocket"),
    generator=None,
    seed=1,
    name="table2",
    metric="train_error",
    paper="li-lin-2007",
    **more,
):
    return build_run(
        {place: {"train_error": v, "test_error": v} for place, v in values.items()},
        name=name,
        title="Training errors (%) & more",
        metric=metric,
        published={"paper": paper, "table": table} if table else None,
        split={"repeats": 2},
        datasets=[
            {"name": d, **({"generator": generator, "seed": seed} if generator else {})} for d in datasets
        ],
        learners=learners,
        **more,
    )


def table_of(run):
    return build_table(run, [run])


def test_z_counts_both_errors_and_the_rounding():
    (cell,) = compare_run(run_with({("heart", "rcd-plain"): [9.4, 9.6]}))
    spread = math.sqrt(0.1**2 + 0.05**2 + 0.01**2 / 12)
    assert cell.published == 9.48
    assert cell.z == pytest.approx((9.5 - 9.48) / spread)
    assert cell.stderr == pytest.approx(0.1)


def test_the_variance_between_pools_counts_once_on_the_published_side():
    """Ours is a mean over both pools; the published number has the luck of one."""
    values = {("ringnorm", "pocket"): [29.0, 32.0, 30.0, 33.0]}  # pools 1, 2, 1, 2
    run = run_with(values, datasets=("ringnorm",), generator="ringnorm", seed=[1, 2])
    (cell,) = compare_run(run)
    within, between = 0.5, 4.5 - 0.5 / 2
    own = math.sqrt(between / 2 + within / 4)
    assert cell.stderr == pytest.approx(own)
    error = math.sqrt(own**2 + between + 0.07**2 + 0.01**2 / 12)
    assert cell.z == pytest.approx((31.0 - 30.46) / error)
    assert find_single_pools([run]) == []


def test_one_pool_alone_is_told():
    run = run_with({("ringnorm", "pocket"): [30.0, 31.0]}, datasets=("ringnorm",), generator="ringnorm")
    (cell,) = compare_run(run)
    assert cell.stderr == pytest.approx(0.5)
    assert find_single_pools([run]) == ["ringnorm (li-lin-2007/II)"]
    assert find_single_pools([run_with({("heart", "pocket"): [1.0, 2.0]})]) == []


def test_best_cells_are_within_one_standard_error():
    cells = [TableCell(9.48, 0.05), TableCell(9.53, 0.01), TableCell(9.54, 0.9), TableCell(None)]
    columns = [(learner, "train_error") for learner in "abcd"]
    assert [c.best for c in mark_best(cells, columns)] == [True, True, False, False]


def test_the_published_tables_mark_what_the_paper_has_in_bold():
    """Table II's bold cells as published, e.g. both RCD on breast, pocket alone on ionosphere."""
    published = read_published_tables()[("li-lin-2007", "II")]
    columns = [
        (x, "train_error") for x in ("rcd-plain", "rcd-bias", "pocket", "ave-perc", "sgd-mls", "soft-svm")
    ]
    for dataset, bold in {"breast": ["rcd-plain", "rcd-bias"], "ionosphere": ["pocket"]}.items():
        cells = [published[dataset, *column] for column in columns]
        marked = mark_best([TableCell(c.value, c.stderr) for c in cells], columns)
        assert [x for (x, _), c in zip(columns, marked, strict=True) if c.best] == bold


BOOSTED = ("adaboost:rcd-plain", "adaboost:pocket", "adaboost:soft-svm")


def table_3_and_4():
    """Heart's best of III is 16.5 ± 0.5; so a star in IV needs 16.0."""
    three = run_with(
        {("heart", "pocket"): [16.0, 17.0], ("heart", "rcd-plain"): [10.0 + 8, 10.0 + 9]},
        table="III",
        name="table3",
        metric="test_error",
    )
    boosted = [[15.9, 16.1], [16.0, 16.02], [30.0, 31.0]]
    four = run_with(
        {("heart", x): v for x, v in zip(BOOSTED, boosted, strict=True)},
        table="IV",
        learners=BOOSTED,
        name="table4",
        metric="test_error",
        baseline="III",
    )
    return three, four


def test_stars_mark_what_is_better_than_the_baselines_best_by_one_standard_error():
    three, four = table_3_and_4()
    same, differ = compare_stars(four, [three, four])  # no star is published on heart
    assert (same, differ) == (2, ["adaboost:rcd-plain on heart (ours only)"])
    assert find_stars(four, [three, four]) == {("heart", "adaboost:rcd-plain")}
    assert find_stars(four, [four]) == set()
    text = render_tables([build_table(four, [three, four])], "text")
    assert "**16.00 ± 0.10***" in text
    assert "**16.01 ± 0.01** " in text
    assert "better than the best of Table III" in text
    assert "no *: these results hold no table III" in render_tables([build_table(four, [four])], "text")
    for format, star in {"markdown": r"0.10\*", "latex": r"16.00 \pm 0.10^*", "html": "0.10*"}.items():
        assert star in render_tables([build_table(four, [three, four])], format)


def test_the_published_stars_follow_the_papers_rule_but_for_two():
    """Threenorm's ave-perc and SGD-mls have a published star though Table III's best, 16.08, is lower."""
    three, four = (read_published_tables()["li-lin-2007", table] for table in ("III", "IV"))
    against_the_rule = []
    for (dataset, learner, _), cell in four.items():
        best = min((c for (d, *_), c in three.items() if d == dataset), key=lambda c: c.value)
        if cell.star != (cell.value <= best.value - best.stderr + 1e-9):
            against_the_rule.append((dataset, learner))
    assert against_the_rule == [("threenorm", "adaboost:ave-perc"), ("threenorm", "adaboost:sgd-mls")]


def boosted_with_iterations(iterations):
    return build_run(
        {("heart", x): {"test_error": [16.0, 17.0], "iterations": v} for x, v in iterations.items()},
        published={"paper": "li-thesis-2006", "table": "2.4"},
        split={"repeats": 2},
        metric="test_error",
        also="iterations",
    )


def test_iterations_stand_beside_errors_unless_they_never_change():
    run = boosted_with_iterations({"adaboost:rcd-plain": [200.0, 200.0], "adaboost:ave-perc": [2.0, 3.0]})
    view = table_of(run)
    assert view.headings == ["RCD-plain", "ave-perc", "#ite"]
    text = render_tables([view], "text")
    assert "2.5" in text
    assert "3.0" in text  # as published
    assert "#ite of RCD-plain: 200 in every split" in text
    rows = list(csv.DictReader(io.StringIO(render_tables([view], "csv"))))
    assert [(r["learner"], r["metric"]) for r in rows][-1] == ("adaboost:ave-perc", "iterations")


def test_published_iterations_are_taken_to_spread_as_ours():
    def z_of(values):
        cells = compare_run(boosted_with_iterations({"adaboost:ave-perc": values}))
        return next(c.z for c in cells if c.metric == "iterations")  # published: 3.0, over 500 splits

    rounding = 0.1 / math.sqrt(12)
    assert z_of([3.29, 3.29]) == pytest.approx(0.29 / rounding)
    assert z_of([3.0, 5.0]) == pytest.approx(1.0 / math.hypot(1.0, math.sqrt(2 / 500), rounding))


def test_the_best_of_several_settings_is_shown():
    choices = [f"epochs={n}" for n in (1, 2, 3)]
    run = run_with({}, learners=[{"label": "pocket", "choice": choice} for choice in choices])
    for choice, values in zip(choices, ([12.0, 13.0], [11.0, 12.0], [12.5, 13.0]), strict=True):
        add_cell(run, ("heart", "pocket"), build_cell({"train_error": values}, choice=choice))
    assert run.learners == ["pocket"]
    assert run.cells["heart", "pocket"].choice == "epochs=2"
    assert (run.n_done, run.n_tasks) == (6, 6)
    text = render_tables([table_of(run)], "text")
    assert "11.50 ± 0.50" in text
    assert "pocket: each data set's best of 3 settings of epochs" in text
    (row,) = csv.DictReader(io.StringIO(render_tables([table_of(run)], "csv")))
    assert row["choice"] == "epochs=2"


def test_columns_are_called_as_in_the_papers():
    titles = build_column_titles(["adaboost:rcd-bias", "adaboost:soft-svm"])
    assert list(titles.values()) == ["RCD-bias", "soft-SVM"]
    titles = build_column_titles(["adaboost:rcd-bias", "rcd-bias", "mine"])
    assert list(titles.values()) == ["AdaBoost RCD-bias", "RCD-bias", "mine"]


RUN = {("heart", "rcd-plain"): [9.0, 10.0], ("heart", "pocket"): [11.0, 12.0]}


def test_table_formats():
    for format, parts in {
        "text": ["Table II.", "heart", "**9.50 ± 0.50**", "11.50 ± 0.50", "published", "9.48 ± 0.05"],
        "markdown": ["| heart", "**9.50 ± 0.50**", "*11.22 ± 0.05*"],
        "latex": [r"\toprule", r"$\mathbf{9.50 \pm 0.50}$", r"$11.50 \pm 0.50$", r"\%", r"\&", r"\end{table}"],
        "html": ["<b>9.50 ± 0.50</b>", "<i>11.22 ± 0.05</i>", "&amp;"],
    }.items():
        text = render_tables([table_of(run_with(RUN))], format)
        for part in parts:
            assert part in text, format
        comparison = render_comparison(compare_run(run_with(RUN)), format)
        assert "pocket" in comparison
        assert "11.22" in comparison


def test_csv_formats_can_be_read_back():
    table = list(csv.DictReader(io.StringIO(render_tables([table_of(run_with(RUN))], "csv"))))
    assert (table[0]["dataset"], table[0]["mean"], table[0]["published"]) == ("heart", "9.5", "9.48")
    rows = list(csv.DictReader(io.StringIO(render_comparison(compare_run(run_with(RUN)), "csv"))))
    assert tuple(rows[0]) == COLUMNS
    assert float(rows[1]["published"]) == 11.22


def test_missing_cells_are_dashes_and_the_table_says_it_is_incomplete():
    text = render_tables([table_of(run_with({("heart", "pocket"): [11.0, 12.0]}))], "text")
    assert "–" in text
    assert "(2 splits; incomplete)" in text
    assert (
        "(incomplete: rcd-plain on heart (0 of 2 splits); run them with: zoloss run configs/mine.yaml)" in text
    )


def test_notes_fit_into_the_terminal_and_a_command_in_them_stays_one_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = table_of(run_with({("heart", "pocket"): [11.0, 12.0]}))
    wrapped, whole = (
        render_tables([table], "text", terminal=t).rpartition("published")[2] for t in (True, False)
    )
    lines = wrapped.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()[1:]
    assert lines[-1] == " zoloss run configs/mine.yaml)"
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == " ".join(whole.replace("**", "bold").splitlines()[1:])


def test_the_summary_counts_and_names_the_worst():
    cells = compare_run(run_with({("heart", "rcd-plain"): [9.47, 9.49], ("heart", "pocket"): [13.0, 13.2]}))
    lines = summarize_agreement(cells)
    assert [line.partition(":")[0] for line in lines] == ["from the authors' program", "inferred"]
    assert "1 cells: |z| <= 2 in 0 (0.0 %)" in lines[0]
    assert "pocket on heart" in lines[0]
    assert len(drop_repeated(cells + cells)) == 2
