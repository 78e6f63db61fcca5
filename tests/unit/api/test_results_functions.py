"""Experiments, tables, comparisons and plots from Python, beside what the commands give of the same folder."""

from __future__ import annotations

import csv
import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from places import REFERENCE, TOP

import zoloss_cli as zl
from zoloss_cli.api.experiments import _NotebookBar, _TerminalBar, build_progress
from zoloss_cli.errors import ConfigError, DataError, ResultsError, RunError
from zoloss_cli.experiment.runner import Progress

CONFIG = {
    "name": "small",
    "title": "Small",
    "datasets": ["heart", "votes84"],
    "split": {"repeats": 3, "seed": 5},
    "learners": {"fld": {}, "majority": {}, "pocket": {"epochs": 20, "record_every": 5}},
}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return zl.run_experiment(CONFIG, out=tmp_path_factory.mktemp("python") / "results")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_run_is_the_commands_run(zoloss, small, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(
        "name: small\ntitle: Small\ndatasets: [heart, votes84]\nsplit: {repeats: 3, seed: 5}\n"
        "learners: {fld: , majority: , pocket: {epochs: 20, record_every: 5}}\n"
    )
    assert (small.n_tasks, small.n_done_before, small.n_run, small.failures) == (18, 0, 18, ())
    ended = zoloss("run", path, "--out", small.folder, "--jobs", 1)
    assert "18 tasks: 18 were done, 0 run" in ended.err
    assert zoloss("table", small.folder).out.strip() == str(small.table).strip()


def test_the_same_call_runs_nothing_again_and_a_part_runs_a_part(small, tmp_path):
    again = zl.run_experiment(CONFIG, out=small.folder)
    assert (again.n_done_before, again.n_run) == (18, 0)
    text = "datasets: [heart]\nlearners: [fld, majority]\nsplit: {repeats: 4}\n"
    part = zl.run_experiment(text, out=tmp_path, splits=2, learners="fld")
    assert (part.n_tasks, part.n_run) == (2, 2)
    assert part.frame["learner"].unique().tolist() == ["fld"]


def test_a_table_that_was_edited_between_two_runs_is_read_again(table, tmp_path):
    rows = [f"{i},{i % 7},{'ab'[i > 9]}" for i in range(20)]
    config = {"datasets": {"mine": {"csv": str(table("\n".join(["u,v,y", *rows])))}}, "learners": ["fld"]}
    counts = []
    for content in (rows, [*rows[:-1], "19,5,a"], rows):
        table("\n".join(["u,v,y", *content]))
        counts.append(zl.run_experiment({**config, "split": {"repeats": 2}}, out=tmp_path / "results").n_run)
    assert counts == [2, 2, 0]


def test_tables_in_every_form(zoloss, small):
    table = zl.make_table(small)
    for format in ("markdown", "latex", "html", "csv"):
        assert zoloss("table", small.folder, "--format", format).out.strip() == table.render(format).strip()
    assert (table.to_markdown(), table.to_latex()) == (table.render("markdown"), table.render("latex"))
    assert table.to_latex(standalone=True).startswith(r"\documentclass")
    assert small._repr_html_() == table._repr_html_() == table.render("html")
    grouped = small.frame.groupby(["dataset", "learner"], observed=True)["test_error"]
    numbers = table.to_frame()
    for (dataset, learner), errors in grouped:
        title = {"fld": "FLD"}.get(learner, learner)
        assert numbers.loc[dataset, (title, "mean")] == pytest.approx(errors.mean())
        assert numbers.loc[dataset, (title, "stderr")] == pytest.approx(errors.sem())


def test_a_dataframe_gives_the_same_table_and_its_own_rows_only(small):
    frame = zl.load_results(small.folder)
    pd.testing.assert_frame_equal(zl.make_table(frame).to_frame(), zl.make_table(small).to_frame())
    first = frame[frame["split"] == 0]
    means = zl.make_table(first, metric="train_error").to_frame().xs("mean", axis=1, level="value")
    expected = first.set_index(["dataset", "learner"])["train_error"]
    assert means.loc["votes84", "majority"] == pytest.approx(expected["votes84", "majority"])
    with pytest.raises(ResultsError, match="more than once: keep the rows of one table"):
        zl.make_table(pd.concat([frame, frame]))
    with pytest.raises(ResultsError, match="the DataFrame has no column 'learner'"):
        zl.make_table(frame.drop(columns="learner"))
    with pytest.raises(ResultsError, match="there is no table 'other'"):
        zl.make_table(small, "other")
    with pytest.raises(ResultsError, match="no column of the DataFrame is named after a metric"):
        zl.make_table(frame[["dataset", "learner", "split"]])


def test_comparisons_are_those_of_the_command(zoloss):
    cells = zl.compare(REFERENCE, "III")
    rows = list(csv.DictReader(io.StringIO(zoloss("compare", REFERENCE, "-t", "III", "-f", "csv").out)))
    assert cells["learner"].tolist() == [row["learner"] for row in rows]
    assert cells["z"].tolist() == pytest.approx([float(row["z"]) for row in rows], rel=1e-3, abs=1e-3)
    np.testing.assert_allclose(cells["difference"], cells["mean"] - cells["published"])
    assert cells.attrs["summary"][0].startswith("table III: from the authors' program: 21 cells")
    assert zl.compare(REFERENCE, "III", beyond=9)["z"].dtype == float  # of no rows
    far = zl.compare(REFERENCE, "II", beyond=2)
    assert far["z"].abs().min() > 2
    assert len(far) == (zl.compare(REFERENCE, "II")["z"].abs() > 2).sum()


WRONG = [
    (lambda: zl.make_table(REFERENCE), ResultsError, "these results hold several tables; name one with table="),
    (lambda: zl.make_table(REFERENCE, "XX"), ResultsError, "there is no table 'XX'"),
    (lambda: zl.make_table(REFERENCE, "II", datasets="hart"), ConfigError, "^datasets: table 'II' has no"),
    (lambda: zl.make_table(REFERENCE, "II", stat="st"), ConfigError, "stat: 'st' is unknown"),
    (lambda: zl.make_table(REFERENCE, "II", stats="sd"), ConfigError, "'stats'; did you mean 'stat'"),
    (lambda: zl.make_table(REFERENCE, "II", digits=99), ConfigError, "digits: must be between 0 and 10"),
    (lambda: zl.make_table(7), ConfigError, "results must be a folder, a DataFrame of load_results, or"),
    (lambda: zl.make_table("nowhere"), ResultsError, "there is no folder nowhere"),
    (lambda: zl.compare(TOP), ResultsError, "is not a results folder"),
    (lambda: zl.plot_boxes(REFERENCE, table="II"), ResultsError, "'table2' has several data sets"),
    (lambda: zl.plot_boxes(REFERENCE, "hart", table="II"), ResultsError, "'hart'; did you mean 'heart'"),
    (lambda: zl.plot_curves(REFERENCE, "heart", table="II"), ResultsError, "epochs .* set record_every"),
    (lambda: zl.plot_curves(REFERENCE, part="tests"), ConfigError, "no curves of 'tests'; did you mean"),
    (lambda: zl.run_experiment("table99"), ConfigError, "there is no config table99"),
    (lambda: zl.run_experiment(7), ConfigError, "config must be a path, a name, a mapping or YAML text"),
    (lambda: zl.run_experiment({"datasets": ["hart"]}), ConfigError, "config: datasets.hart: unknown data"),
    (lambda: zl.run_experiment("a: [\n"), ConfigError, "config:2: not valid YAML"),
    (lambda: zl.run_experiment("table2", n_jobs=0), ConfigError, "n_jobs must be a number of at least 1"),
    (lambda: zl.plot_boundary(zl.FLDClassifier(), [[1, 2, 3]], [0]), DataError, "X must have two features"),
]


def test_what_is_wrong_is_said_as_the_commands_say_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call, error, message in WRONG:
        with pytest.raises(error, match=message):
            call()
    assert not list(tmp_path.iterdir())


def test_a_run_whose_tasks_all_fail_is_an_error_and_one_whose_tasks_fail_in_part_warns(tmp_path):
    broken = {
        "datasets": ["heart"],
        "split": {"repeats": 1},
        "learners": {
            "wrong": {"learner": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 5000},
            "fld": {},
        },
    }
    with pytest.warns(UserWarning, match="1 tasks failed: wrong on heart, split 0: ValueError"):
        results = zl.run_experiment(broken, out=tmp_path / "some")
    assert len(results.failures) == 1
    with pytest.raises(RunError, match="1 tasks failed"):
        zl.run_experiment(broken, out=tmp_path / "none", learners="wrong")


def test_plots_take_axes_and_return_them_and_change_no_settings(small):
    before = dict(plt.rcParams)
    _, axes = plt.subplots(2, 3)
    flat = axes.ravel()
    given = [
        zl.plot_boxes(small, "heart", ax=flat[0]),
        zl.plot_differences(small, "heart", against="fld", metric="train_error", ax=flat[1]),
        zl.plot_curves(small, "heart", part="train", ax=flat[2]),
        zl.plot_time(small, "votes84", ax=flat[3]),
        zl.plot_ranks(small, ax=flat[4]),
        zl.plot_boundary(
            zl.FLDClassifier().fit([[0, 0], [1, 1], [0, 1]], [0, 1, 0]), [[0, 0], [1, 1]], [0, 1], ax=flat[5]
        ),
    ]
    assert given == list(flat)
    assert all(each.has_data() for each in flat)
    assert len(plt.get_fignums()) == 1
    assert zl.plot_boxes(small, "heart").figure is not flat[0].figure
    assert dict(plt.rcParams) == before


def test_a_boundary_is_where_the_prediction_changes():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0, 1.0]})
    y = np.array(["no", "no", "yes", "yes"])

    class Threshold:
        def predict(self, X):
            return np.where(X["a"] > 1.5, "yes", "no")

    ax = zl.plot_boundary(Threshold(), X, y)
    (image,) = ax.images
    left, right, *_ = image.get_extent()
    regions = np.asarray(image.get_array())
    columns = np.linspace(left, right, regions.shape[1])
    assert set(regions[:, columns < 1.5].ravel()) == {0}
    assert set(regions[:, columns > 1.51].ravel()) == {1}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


def test_progress_is_quiet_but_where_somebody_looks(capsys):
    assert type(build_progress(False)) is Progress
    assert type(build_progress(None)) is Progress  # no terminal and no notebook
    bar = build_progress(True)
    assert isinstance(bar, _TerminalBar)
    bar.start({"a": 3, "b": 2}, {"a": 1, "b": 0})
    bar.advance("a", 2, 61.0)
    bar.finish()
    assert capsys.readouterr().err.split("\r")[-1] == "3 of 5 tasks, 1:01 left  \n"
    notebook = _NotebookBar()
    notebook.total, notebook.done = 5, 3
    assert notebook.render().startswith('<progress value="3" max="5"></progress> 3 of 5 tasks')
