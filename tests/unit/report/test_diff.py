"""What differs between two results folders, beside plain pandas and SciPy."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
import stored_runs
from scipy import stats
from stored_runs import SIZES

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ResultsError
from zoloss_cli.report.diff import compare_results
from zoloss_cli.report.frame import load_results
from zoloss_cli.report.runs import load_runs

ODD = ("sonar", "ave-perc")


@pytest.fixture
def experiment(small_config):
    return load_config(small_config)


@pytest.fixture
def make_folder(tmp_path, experiment):
    return lambda name, splits=range(6), experiment=experiment, **more: stored_runs.make_folder(
        tmp_path / name, experiment, splits, **more
    )


def change_odd(cell, split):
    """Another number of test errors on the later splits of one cell, and other times everywhere."""
    is_odd = (cell.data.name, cell.learner.label) == ODD and split >= 2
    return {"wall_time": 7.0} | ({"test_errors": 30 + 2 * split} if is_odd else {})


def diff(first, second):
    return compare_results(load_runs(first)[0], load_runs(second)[0])


def test_times_are_no_difference(make_folder):
    found = diff(make_folder("a"), make_folder("b", change=lambda cell, split: {"wall_time": 7.0}))
    assert found.is_empty
    assert (found.n_cells, found.n_same, found.n_splits) == (4, 4, 24)


def test_a_cell_that_differs(make_folder):
    a, b = make_folder("a"), make_folder("b", change=change_odd)
    found = diff(a, b)
    (cell,) = found.cells
    assert (cell.dataset, cell.learner, cell.metric, cell.splits, cell.n_differ) == (*ODD, "test_error", 6, 4)
    frames = [load_results(folder).query("dataset == 'sonar' and learner == 'ave-perc'") for folder in (a, b)]
    one, two = (frame.test_error.to_numpy() for frame in frames)
    assert cell.first == pytest.approx(one.mean())
    assert cell.second == pytest.approx(two.mean())
    assert cell.difference == pytest.approx((two - one).mean())
    # Nadeau and Bengio's correction widens the variance of the mean by n_test / n_train.
    plain = stats.ttest_rel(two, one).statistic
    t = plain * np.sqrt((1 / 6) / (1 / 6 + SIZES[1] / SIZES[0]))
    assert cell.t == pytest.approx(t)
    assert cell.p == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert cell.is_same_task
    assert not found.only_first + found.only_second


def test_only_common_splits_count(make_folder):
    found = diff(make_folder("a", range(5)), make_folder("b", range(2, 6), change=change_odd))
    (cell,) = found.cells
    assert (cell.splits, cell.n_differ) == (3, 3)
    assert "2 splits of rcd-bias on heart of 'small'" in found.only_first
    assert "1 split of rcd-bias on heart of 'small'" in found.only_second


def test_runs_and_cells_that_one_has_alone(make_folder, experiment):
    renamed = experiment.model_copy(update={"name": "other"})
    a, b = make_folder("a"), make_folder("b", experiment=renamed)
    found = diff(a, b)
    assert (found.only_first, found.only_second) == (["run 'small'"], ["run 'other'"])
    fewer = experiment.model_copy(update={"learners": experiment.learners[:1]})
    found = diff(a, make_folder("c", experiment=fewer))
    assert found.only_first == ["ave-perc on heart of 'small'", "ave-perc on sonar of 'small'"]
    assert found.n_same == 2


def test_another_size_of_the_test_part_differs_without_a_test(make_folder):
    found = diff(make_folder("a"), make_folder("b", sizes=(150, 100)))
    assert found.n_changed == 4
    assert {cell.p for cell in found.cells} == {None}
    assert all(cell.difference == pytest.approx(-cell.first / 2) for cell in found.cells)


def test_other_parameters_are_said(make_folder, write_config, small_config):
    text = small_config.read_text(encoding="utf-8").replace("epochs: 40", "epochs: 41")
    other = load_config(write_config(text))
    found = diff(make_folder("a"), make_folder("b", experiment=other))
    assert {cell.learner: cell.is_same_task for cell in found.cells} == {"rcd-bias": False}


def test_nothing_at_all_is_said(make_folder):
    with pytest.raises(ResultsError, match="no finished task"):
        diff(make_folder("a", []), make_folder("b", []))


def test_command(zoloss, make_folder):
    a, b = make_folder("a"), make_folder("b", change=change_odd)
    same = zoloss("diff", a, a, "--fail-on-change")
    assert (same.code, same.err) == (0, "")
    assert same.out == f"no difference: {a} and {a} have the same numbers in 4 cells and 24 splits\n"
    ended = zoloss.ok("diff", a, b)
    assert "4 of 6" in ended.out
    assert "1 of 4 cells differ; 24 splits compared" in ended.out
    failing = zoloss("diff", a, b, "--fail-on-change", "--format", "markdown")
    assert failing.code == 9
    assert "| small   | sonar" in failing.out
    assert failing.err == f"zoloss: {a} and {b} do not hold the same results\n"
    document = zoloss("diff", a, b, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(document.out))
    assert (row["dataset"], row["learner"], row["n_differ"], row["is_same_task"]) == (*ODD, "4", "1")
    assert "1 of 4 cells differ" in document.err


def test_bad_folders(zoloss, make_folder, tmp_path):
    a = make_folder("a")
    assert zoloss("diff", a, tmp_path / "nowhere").code == 4
    assert "there is no table 'III'" in zoloss("diff", a, a, "--table", "III").err
    assert "did you mean 'markdown'" in zoloss("diff", a, a, "--format", "markdwon").err
