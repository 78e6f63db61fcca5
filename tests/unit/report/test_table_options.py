"""What of a table is shown and how: subsets, statistics, rules of bold, ranks, LaTeX, and what is refused."""

from __future__ import annotations

import csv
import io
import shutil
import statistics
import subprocess

import numpy as np
import pytest
from built_runs import build_run
from places import REFERENCE
from scipy import stats

from zoloss_cli.choices import BOLD_RULES, STATS
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.registry import load_metric
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.statistics import compute_corrected_interval, compute_corrected_t_test
from zoloss_cli.report.tables import TableOptions, build_table, compute_interval, load_tables, shape_runs

LEARNERS = ("fld", "pocket", "stump")


def draw_run(metrics=("test_error",), learners=LEARNERS, datasets=("heart", "sonar", "iris"), **keys):
    """A run of random errors, the first learner's the lowest, the last's the highest by far."""
    rng = np.random.default_rng(7)
    cells = {
        (d, x): {m: list(10.0 + 5 * i * i + rng.integers(0, 8, 20) / 2) for m in metrics}
        for d in datasets
        for i, x in enumerate(learners)
    }
    more = {"metric": metrics[0], "also": list(metrics[1:]) or None, "split": {"repeats": 20}}
    return build_run(cells, sizes=(80, 20), **(more | keys))


def build(run, **options):
    return build_table(run, [run], TableOptions(**options))


def read_csv(table):
    return list(csv.DictReader(io.StringIO(render_tables([table], "csv"))))


@pytest.mark.parametrize("stat", STATS)
def test_statistics_of_splits(stat):
    run = draw_run()
    values = run.cells["sonar", "pocket"]["test_error"]
    (row,) = [r for r in read_csv(build(run, stat=stat)) if (r["dataset"], r["learner"]) == ("sonar", "pocket")]
    low, middle, high = np.percentile(values, [25, 50, 75])
    mean, sd = statistics.mean(values), statistics.stdev(values)
    interval = [100 * x for x in compute_corrected_interval([v / 100 for v in values], 80, 20, 0.95)]
    expected = {
        "stderr": {"mean": mean, "stderr": sd / np.sqrt(20)},
        "sd": {"mean": mean, "sd": sd},
        "ci": {"mean": mean, "ci_low": interval[0], "ci_high": interval[1]},
        "median": {"median": middle},
        "quartiles": {"median": middle, "q1": low, "q3": high},
    }[stat]
    columns = list(row)
    assert columns[4 : columns.index("best")] == list(expected)
    for name, value in expected.items():
        assert float(row[name]) == pytest.approx(value, rel=1e-5)


def test_intervals_of_training_errors_are_students_and_percentages_stay_percentages():
    values, train, test = [1.0, 2.0, 4.0], load_metric("train_error"), load_metric("test_error")
    expected = stats.t.interval(0.95, 2, statistics.mean(values), stats.sem(values))
    assert compute_interval(values, Sizes(80, 20), train) == pytest.approx((max(0.0, expected[0]), expected[1]))
    assert compute_interval(values, Sizes(80, 20), test)[0] == 0.0
    assert compute_interval(values, Sizes(80, 20), load_metric("f1_macro"))[0] < 0.0
    assert compute_interval([3.0], Sizes(80, 20), test) is None


def test_numbers_in_text_have_a_note():
    for stat, note in {
        "sd": "±: standard deviation over splits",
        "ci": "95 % confidence interval",
        "median": "the row's best)",
        "quartiles": "first and third quartile",
    }.items():
        assert note in render_tables([build(draw_run(), stat=stat)], "text")


def test_digits_are_those_of_all_our_numbers():
    text = render_tables([build(draw_run(), digits=1)], "text")
    numbers = [
        word for line in text.splitlines()[4:7] for word in line.replace("*", "").split()[1:] if word != "±"
    ]
    assert len(numbers) == 18
    assert {len(number.partition(".")[2]) for number in numbers} == {1}


def test_published_values_have_no_more_decimals_than_they_were_published_with():
    (table,), _ = load_tables(REFERENCE, "II", TableOptions(datasets=("heart",), digits=4))
    assert {cell.decimals for cell in table.rows[0].published} == {2}
    (table,), _ = load_tables(REFERENCE, "II", TableOptions(datasets=("heart",), digits=1, published=False))
    assert table.rows[0].published == []


@pytest.mark.parametrize("rule", BOLD_RULES)
def test_bold_cells_follow_the_rule(rule):
    """By brute force: the t-test of each learner against the best, and one standard error of it."""
    run = draw_run(learners=("a", "b", "c", "d", "e"), datasets=[f"d{i}" for i in range(8)])
    rng = np.random.default_rng(5)
    for cell in run.cells.values():  # close enough for some to differ by chance
        cell._values["test_error"] = list(20 + rng.normal(0, 2, 20) + 1.5 * rng.integers(0, 3))
    n_bold = 0
    for row in build(run, bold=rule).rows:
        by_learner = {x: run.cells[row.dataset, x]["test_error"] for x in run.learners}
        best = min(by_learner, key=lambda x: statistics.mean(by_learner[x]))
        shown, stderr = round(statistics.mean(by_learner[best]), 2), round(stats.sem(by_learner[best]), 2)
        for x, cell in zip(run.learners, row.ours, strict=True):
            mean = round(statistics.mean(by_learner[x]), 2)
            pairs = [a - b for a, b in zip(by_learner[x], by_learner[best], strict=True)]
            expected = {
                "best": mean == shown,
                "stderr": mean <= shown + stderr + 1e-9,
                "significant": x == best or compute_corrected_t_test(pairs, 80, 20)[1] > 0.05,
            }[rule]
            assert cell.best == expected, (row.dataset, x)
            n_bold += expected
    assert {"best": n_bold == 8, "stderr": n_bold > 8, "significant": 8 < n_bold < 40}[rule]


def test_every_format_says_what_bold_is():
    for rule, said in {
        "best": "the row's best",
        "stderr": "within one standard error of the row's best",
        "significant": "not significantly worse than the row's best",
    }.items():
        table = build(draw_run(), bold=rule)
        for format in ("text", "markdown", "latex", "html"):
            text = render_tables([table], format).replace("&#x27;", "'")
            assert f"{'**' if format == 'text' else 'bold'}: {said}" in text


def test_a_csv_says_it_beside_itself(zoloss):
    ended = zoloss("table", REFERENCE, "--table", "IV", "--datasets", "heart", "--format", "csv")
    assert "zoloss: best: 1 is within one standard error of the row's best\n" in ended.err
    assert "zoloss: star: 1 is better than the best of Table III by one standard error\n" in ended.err
    assert ended.out.startswith("table,dataset,learner,metric,mean,stderr,best,star,choice,published,")


def test_no_test_no_bold_and_the_reason():
    table = build(draw_run(("train_error",)), bold="significant")
    assert not any(cell.best for row in table.rows for cell in row.ours)
    assert table.bold == ""
    assert "no bold cells of train_error: the test is for test errors, and this is train_error" in table.notes


def test_every_metric_has_best_cells_of_its_own():
    run = draw_run(("test_error", "f1_macro", "fit_time"))
    table = build(run, bold="best")
    best = [c.title for c, cell in zip(table.columns, table.rows[0].ours, strict=True) if cell.best]
    assert best == ["FLD test_error", "stump f1_macro"]
    assert table.bold == "the row's best in the same metric"
    assert "fit_time: no value is better than another, so none is bold or ranked" in table.notes


def test_mean_ranks_are_those_of_scipy():
    run = draw_run(("balanced_accuracy", "test_error"), learners=("a", "b", "c", "d"), datasets=list("pqrstu"))
    rng = np.random.default_rng(1)
    for cell in run.cells.values():
        cell._values["balanced_accuracy"] = [float(rng.integers(0, 3))] * 20  # many ties
    *_, last = build(run, rank_row=True).rows
    assert last.dataset == "mean rank"
    for metric, sign in (("balanced_accuracy", -1), ("test_error", 1)):
        means = [[run.get_stat(d, x, metric).mean for x in run.learners] for d in run.datasets]
        expected = stats.rankdata(sign * np.round(means, 9), axis=1).mean(axis=0)
        place = ["balanced_accuracy", "test_error"].index(metric)
        assert [cell.mean for cell in last.ours[place::2]] == pytest.approx(list(expected))


def test_rows_of_the_same_data_are_ranked_once():
    cells = {
        ("heart", "a"): [1.0, 1.0], ("heart", "b"): [2.0, 2.0],
        ("heart again", "a"): [2.0, 2.0], ("heart again", "b"): [5.0, 5.0],
        ("sonar", "a"): [4.0, 4.0], ("sonar", "b"): [3.0, 3.0],
    }  # fmt: skip
    datasets = [{"name": d, "dataset": d.split()[0]} for d in ("heart", "heart again", "sonar")]
    run = build_run({place: {"test_error": v} for place, v in cells.items()}, datasets=datasets)
    table = build(run, rank_row=True)
    assert [cell.mean for cell in table.rows[-1].ours] == [1.5, 1.5]
    assert any("3 rows come from 2 distinct data sets" in note for note in table.notes)
    # Where no data set is complete, there are no ranks.
    cells = {("heart", "fld"): [1.0], ("sonar", "stump"): [2.0]}
    run = build_run({place: {"test_error": v} for place, v in cells.items()})
    table = build(run, rank_row=True)
    assert [row.dataset for row in table.rows] == ["heart", "sonar"]
    assert "no mean rank: no data set has a result of every learner" in table.notes


def test_subsets_in_their_order_have_the_numbers_and_stars_of_the_whole():
    learners = ["adaboost:soft-svm", "adaboost:rcd-plain"]
    chosen = TableOptions(datasets=("sonar", "heart"), learners=tuple(learners), published=False)
    ((whole,), _), ((part,), _) = load_tables(REFERENCE, "IV"), load_tables(REFERENCE, "IV", chosen)
    assert [row.dataset for row in part.rows] == ["sonar", "heart"]
    assert part.headings == ["soft-SVM", "RCD-plain"]
    by_place = {
        (r.dataset, c.learner): (x.mean, x.star)
        for r in whole.rows
        for c, x in zip(whole.columns, r.ours, strict=True)
    }
    for row in part.rows:
        assert [(x.mean, x.star) for x in row.ours] == [by_place[row.dataset, x] for x in learners]
        assert row.published == []


def test_tables_without_the_names_are_left_out():
    tables, _ = load_tables(REFERENCE, None, TableOptions(datasets=("letter",)))
    assert {table.number for table in tables} == {"4.2", "4.3", "4.4"}
    assert all([row.dataset for row in table.rows] == ["letter"] for table in tables)


def test_a_transposed_table_has_the_same_cells():
    run = draw_run(("test_error", "f1_macro"))
    for format in ("markdown", "latex"):
        one, other = (render_tables([build(run, transpose=t, rank_row=True)], format) for t in (False, True))
        cells, turned = (
            [
                [cell.strip(" |\\") for cell in line.strip("|").split("&" if format == "latex" else "|")]
                for line in text.splitlines()
                if "±" in line or r"\pm" in line
            ]
            for text in (one, other)
        )
        assert [row[1:] for row in cells] == [list(c) for c in zip(*(row[1:-1] for row in turned), strict=True)]
    text = render_tables([build(run, transpose=True)], "text")
    assert text.splitlines()[2].split() == ["learner", "heart", "sonar", "iris"]
    assert "within one standard error of the column's best in the same metric" in text
    assert read_csv(build(run, transpose=True)) == read_csv(build(run))


def test_the_best_setting_is_that_of_the_metric_shown():
    """A column that shows the best of several settings shows the best by the new metric."""
    run = draw_run()
    (shaped,) = shape_runs([run], TableOptions(metrics=("accuracy",)))
    assert (shaped.metric, shaped.cells) == ("accuracy", {})  # it is read anew
    (table,), _ = load_tables(REFERENCE, "IV", TableOptions(metrics=("train_error",)))
    (by_test,), _ = load_tables(REFERENCE, "IV")
    place = [c.learner for c in table.columns].index("adaboost:soft-svm")
    chosen = [[row.ours[place].choice for row in each.rows] for each in (table, by_test)]
    assert chosen[0] != chosen[1]


BAD_OPTIONS = {
    "--datasets hart": "--datasets: table 'II' has no data set 'hart'; did you mean 'heart'?",
    "--datasets heart,heart": "--datasets: 'heart' is listed more than once",
    "--datasets heart,,sonar": "'heart,,sonar' is not a list of names separated by commas",
    "--metrics f1_macr": "--metrics: unknown metric 'f1_macr'; did you mean 'f1_macro'?",
    "--metrics f1,f1": "--metrics: 'f1' is listed more than once",
    "--metrics cost_ratio": "--metrics: 'cost_ratio' requires a table of ratios",
    "--metrics f1_macro --datasets heart": "'table2' cannot show f1_macro: rcd-plain on heart: its records",
    "--bold bset": "--bold: 'bset' is not valid; did you mean 'best'?",
    "--stat median --bold stderr": "--bold stderr is for means, and --stat median shows medians",
    "--digits -1": "--digits: must be between 0 and 10 (got -1)",
    "--standalone": "--standalone is for --format latex, and this is text",
}


def test_bad_options_are_one_sentence(zoloss):
    for options, said in BAD_OPTIONS.items():
        ended = zoloss("table", REFERENCE, "--table", "II", *options.split())
        assert ended.code != 0
        assert ended.out == ""
        assert ended.err.startswith(f"zoloss: {said}")
        assert ended.err.count("\n") == 1


ARTICLE = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n\\input{t}\n\\end{document}\n"


def find_latex():
    """Return whether pdflatex and booktabs are installed."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    return subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not find_latex(), reason="pdflatex with booktabs is not installed")
@pytest.mark.parametrize("standalone", [False, True])
def test_latex_compiles(tmp_path, standalone):
    """With the characters that mean something in LaTeX, dashes, stars, brackets and ranks."""
    learners = ("a_b & c%", r"x^2 \y {z} ~#$", "<p> | é")
    run = draw_run(("test_error", "f1_macro"), learners, ("heart", "sonar"), title="100 % of $x_1$ & <more>")
    run.cells.pop(("heart", learners[0]))
    options = {"stat": "ci", "bold": "significant", "rank_row": True}
    tables = [build(run, **options), build(run, transpose=True, **options)]
    text = render_tables(tables, "latex", standalone=standalone)
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    (tmp_path / "d.tex").write_text(ARTICLE, encoding="utf-8")
    assert (r"\documentclass" in text) == standalone
    assert standalone or text.startswith(r"% to include in a document with \usepackage{booktabs}")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex" if standalone else "d.tex"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout.decode(errors="replace")[-2000:]
