"""Ranks count a data set once: against SciPy, on data sets told apart by what the files of cells say."""

import json
from statistics import fmean

import numpy as np
import pytest
from built_runs import build_run
from places import REFERENCE
from scipy import stats

from zoloss_cli.report.runs import load_runs, open_results, select_runs
from zoloss_cli.report.statistics import (
    compare_by_signed_ranks,
    compute_average_ranks,
    compute_critical_difference,
    describe_merged,
    group_by_data,
)


@pytest.fixture(scope="module")
def prune():
    runs, _ = load_runs(REFERENCE, "prune")
    return select_runs(runs, "prune")[0]


def read_means_by_content() -> dict[str, dict[str, float]]:
    """Mean test error of each learner on each data set, by the identity in the headers of cells."""
    runs, store = open_results(REFERENCE)
    (run,) = select_runs(runs, "prune")
    rows: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in run.manifest.cells:
        header, *lines = map(json.loads, store.path(cell.file).read_text().splitlines())
        data = header["identity"]["data"]
        errors = [100.0 * line["test_errors"] / header["n_test"] for line in lines if line["split"] < 20]
        key = data.get("sha256", data.get("generator")), cell.dataset
        rows.setdefault(key, {}).setdefault(cell.learner, []).append(fmean(errors))
    content: dict[str, list[dict[str, float]]] = {}
    for (identity, _), row in rows.items():  # a column with several settings shows the best of them
        content.setdefault(identity, []).append({learner: min(means) for learner, means in row.items()})
    return {key: {x: fmean(row[x] for row in same) for x in same[0]} for key, same in content.items()}


def test_friedman_of_the_pruned_table_is_scipys_on_nine_data_sets(prune):
    means = read_means_by_content()
    table = np.array([[row[x] for x in prune.learners] for row in means.values()]).round(9)
    assert table.shape == (9, 12)
    ranks = compute_average_ranks(prune)
    assert ranks.friedman_p == pytest.approx(stats.friedmanchisquare(*table.T).pvalue, rel=1e-9)
    average = dict(zip(prune.learners, stats.rankdata(table, axis=1).mean(axis=0), strict=True))
    assert ranks.ranks == pytest.approx([average[x] for x in ranks.learners])
    assert ranks.critical_difference == compute_critical_difference(12, 9, 0.05)
    columns = dict(zip(prune.learners, table.T, strict=True))
    for pair in compare_by_signed_ranks(prune)[1][:12]:
        exact = stats.wilcoxon(columns[pair.first], columns[pair.second], method="exact")
        differences = np.round(columns[pair.first] - columns[pair.second], 9)
        if 0 not in differences and np.unique(np.abs(differences)).size == 9:
            assert pair.p == pytest.approx(exact.pvalue)


def build_rows(*entries):
    cells = {(entry["name"], x): {"test_error": [1.0]} for entry in entries for x in "abc"}
    return build_run(cells, datasets=list(entries), split={"repeats": 1})


def test_what_makes_rows_the_same_data(tmp_path):
    one, copy, other = (tmp_path / name for name in ("one.csv", "copy.csv", "other.csv"))
    one.write_text("x,label\n1,a\n2,b\n")
    copy.write_text(one.read_text())
    other.write_text("x,label\n1,a\n3,b\n")
    run = build_rows(
        {"name": "heart", "dataset": "heart"},
        {"name": "iris", "dataset": "iris", "positive": "Iris-setosa"},
        {"name": "noisy heart", "dataset": "heart", "noise": {"fraction": 0.1}},
        {"name": "iris again", "dataset": "iris", "positive": "Iris-virginica"},
        {"name": "one", "csv": str(one)},
        {"name": "copy", "csv": str(copy)},
        {"name": "other", "csv": str(other)},
        {"name": "gone", "csv": str(tmp_path / "gone.csv")},
        {"name": "first pool", "generator": "disks", "seed": 1},
        {"name": "second pool", "generator": "disks", "seed": 2},
        {"name": "larger", "generator": "disks", "seed": 1, "size": 9000},
        {"name": "both", "generator": "disks", "seed": [1, 2]},
    )
    groups = group_by_data(run, run.datasets)
    assert groups[:4] == [["heart", "noisy heart"], ["iris", "iris again"], ["one", "copy"], ["other"]]
    assert groups[4:] == [["gone"], ["first pool", "second pool", "both"], ["larger"]]
    assert describe_merged(groups).startswith("12 rows come from 7 distinct data sets")
    assert describe_merged([["a"], ["b"]]) == ""
    assert compute_average_ranks(run).datasets == groups


def test_rows_of_one_data_set_are_averaged_before_they_are_ranked():
    values = {"heart": [1.0, 2.0, 9.0], "noisy": [5.0, 3.0, 1.0], "iris": [1.0, 2.0, 3.0]}
    noisy = {"name": "noisy", "dataset": "heart", "flip": {"share": 0.1}}
    entries = [{"name": "heart"}, noisy, {"name": "iris"}]
    run = build_rows(*({"dataset": entry["name"], **entry} for entry in entries))
    for (dataset, learner), cell in run.cells.items():
        cell._values["test_error"] = [values[dataset]["abc".index(learner)]]
    ranks = compute_average_ranks(run)  # heart and noisy together: 3, 2.5, 5
    assert dict(zip(ranks.learners, ranks.ranks, strict=True)) == {"a": 1.5, "b": 1.5, "c": 3.0}
