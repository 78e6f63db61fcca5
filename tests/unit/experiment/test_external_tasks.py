"""Tasks of other people's classes: what is counted, what they cannot spoil, and what is said of them."""

import pickle
import sys

import numpy as np
import pytest
from external_classes import CLASSES
from sklearn.linear_model import LogisticRegression

from zoloss_cli import registry
from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.fitting import load_split
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.experiment.warming import find_unseeded
from zoloss_cli.results.record import FailedRecord
from zoloss_cli.utils.imports import allow_code


@pytest.fixture
def cells(write_config, tmp_path):
    """Build the cells of learners in mine.py or of scikit-learn, each on heart."""
    (tmp_path / "mine.py").write_text(CLASSES)

    def build(*names, keys="split: {repeats: 2}"):
        entries = "\n".join(f"  c{i}: {{learner: '{name}'}}" for i, name in enumerate(names))
        with allow_code():
            return plan(load_config(write_config(f"datasets: [heart]\n{keys}\nlearners:\n{entries}\n")))

    return build


def forget_times(record):
    return {k: getattr(record, k) for k in record.__struct_fields__ if k not in ("fit_time", "wall_time")}


def test_errors_are_counted_from_predictions_and_scores_kept(cells):
    cell, unscored = cells(
        "sklearn.linear_model.LogisticRegression", "mine.py:Duck", keys="keep: scores\nsplit: {repeats: 2}"
    )
    (record,) = run_tasks(cell, [1])
    data = load_split(cell, 1)
    X, y = data.data.X, data.data.y
    plain = LogisticRegression().fit(data.scale(X[data.train]), y[data.train])
    wrong = plain.predict(data.scale(X)) != y
    assert record.train_errors == np.count_nonzero(wrong[data.train])
    assert record.test_errors == np.count_nonzero(wrong[data.test])
    assert record.test_confusion[1][1] == np.count_nonzero(y[data.test] & ~wrong[data.test])
    assert sum(map(len, record.test_scores)) == np.sum(record.test_confusion) == len(data.test)
    assert not unscored.keep
    assert run_tasks(unscored, [0])[0].test_scores is None


MISBEHAVING = {
    "Raising": "ArithmeticError: no luck",
    "Leaving": "SystemExit: 3",
    "Mutating": "ValueError: Mutating changes its input X in fit: it must work on a copy",
    "Signs": "ValueError: Signs predicts -1, but it was given the classes 0 to 1",
    "Short": "ValueError: Short: predict of 216 samples has the shape (215,)",
    "Boasting": "ValueError: Boasting: trace_ ends with 0 errors, but ",
    "Bounding": "ValueError: Bounding: lower_bound_ is 1e+06, but it has ",
    "Silent": "ValueError: Silent lists time_to_best in reports, but has no trace_ after fit",
}


def test_a_class_that_misbehaves_fails_alone_and_with_a_sentence(cells):
    right, *wrong = cells("mine.py:Duck", *(f"mine.py:{name}" for name in MISBEHAVING))
    before = forget_times(run_tasks(right, [0])[0])
    for cell, reason in zip(wrong, MISBEHAVING.values(), strict=True):
        failed = run_tasks(cell, [0, 1])
        assert all(isinstance(record, FailedRecord) for record in failed)
        assert failed[0].failed.startswith(reason)
        assert forget_times(run_tasks(right, [0])[0]) == before


def test_a_search_says_what_it_found(cells):
    (cell,) = cells("mine.py:Searching", keys="metric: train_01_loss\nsplit: {train: all, repeats: 1}")
    (record,) = run_tasks(cell, [0])
    assert record.lower_bound == 1.0
    assert [loss for _, loss in record.trace] == [270.0, record.train_errors]
    assert 0.0 <= record.time_to_best <= record.fit_time


def test_a_task_runs_what_was_planned_in_a_process_that_knows_nothing(cells, tmp_path, monkeypatch):
    (cell,) = cells("mine.py:Drawing")
    expected = [forget_times(record) for record in run_tasks(cell, [0, 1])]
    assert expected[0] != expected[1]
    sent = pickle.dumps(cell)
    (tmp_path / "mine.py").write_text("raise OSError('changed since')")
    monkeypatch.setattr("zoloss_cli.utils.imports._sources", {})
    for name in [name for name in sys.modules if name.startswith("zoloss_code_")]:
        monkeypatch.delitem(sys.modules, name)
    registry._register_external.cache_clear()
    assert [forget_times(record) for record in run_tasks(pickle.loads(sent), [0, 1])] == expected


def test_who_ignores_the_seed_is_named(cells):
    names = ["Seedless", "Drawing", "Duck", "Raising"]
    notes = {}
    for name, cell in zip(names, cells(*(f"mine.py:{name}" for name in names)), strict=True):
        with allow_code():
            notes[name] = find_unseeded(cell.learner)
    assert notes["Seedless"].startswith("'mine.py:Seedless' gives different results for the same seed")
    assert [name for name, note in notes.items() if note] == ["Seedless"]
