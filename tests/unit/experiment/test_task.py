"""Protocols: training on all samples, draws, where scaling is fitted, and what a record keeps of a task."""

import json

import numpy as np
import pandas as pd
import pytest

from zoloss_cli import load_results, run_experiment
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import EmbeddedData, GeneratedData, Noise
from zoloss_cli.data.dataset import compute_fingerprint, find_draw, generate, load_data
from zoloss_cli.errors import DataError
from zoloss_cli.experiment import fitting, task
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.runner import collect_data_notes, validate_data
from zoloss_cli.experiment.task import run_task, run_tasks
from zoloss_cli.learners.linear.fld import FLDClassifier
from zoloss_cli.report.runs import load_runs
from zoloss_cli.results.record import FitRecord, decode_records, encode_line
from zoloss_cli.results.store import Store

WHOLE = "split: {train: all, repeats: 3}\nmetric: train_01_loss\n"


def cells_of(write_config, text):
    return plan(load_config(write_config(text)))


# -- identities ---------------------------------------------------------------------------------------

PLAIN = """
datasets:
  heart: {noise: {fraction: 0.1, labels: one-class, seed: 4}}
  ringnorm: {size: 500, seed: 3, train: 100, test: 200}
  cmc: {positive: "1"}
split: {train: 0.7, repeats: 5, seed: 9}
preprocess: {scale: standard}
learners: {svm: {C: [1.0]}, pocket: {epochs: 9}}
"""


def test_defaults_leave_no_trace_in_the_keys(write_config):
    """And keys are as they were: every cell of every config is found in the reference results."""
    said = PLAIN.replace("seed: 4}", "seed: 4, draws: 1}") + "tuning: {folds: 7, on: all}\n"
    said = said.replace("scale: standard", "scale: standard, fit_on: train")
    plain, full = ([cell.key for cell in cells_of(write_config, text)] for text in (PLAIN, said))
    assert plain == full


# -- all samples train -----------------------------------------------------------------------------------


def test_a_task_without_test_samples_says_nothing_of_them(write_config):
    (cell,) = cells_of(
        write_config, f"{WHOLE}datasets: [heart]\nlearners: {{pocket: {{epochs: 20, record_every: 10}}}}\n"
    )
    records = [run_task(cell, k) for k in (0, 0, 1)]
    for record in records:
        assert (record.test_errors, record.test_confusion, record.test_curve) == (None, None, None)
    assert records[0].train_errors == records[1].train_errors
    assert records[0].train_curve != records[2].train_curve  # the split's number seeds the learner


def test_the_store_keeps_records_without_test_errors_and_drops_those_with_them(write_config, tmp_path):
    (cell,) = cells_of(write_config, f"{WHOLE}datasets: [heart]\nlearners: [fld]\n")
    store = Store(tmp_path / "results")
    with store.writing():
        store.append(cell, [FitRecord(0, 40), FitRecord(1, 40, 0)], (270, 0))
    stored = store.read(cell.filename, cell.key)
    assert sorted(stored.records) == [0]
    assert stored.n_damaged == 1


# -- folds --------------------------------------------------------------------------------------------

FOLDS = """
datasets: {cleveland: {folds: 4}, glass: }
metrics: [test_error, train_error, accuracy]
split: {folds: 10, repeats: 13, seed: 5}
learners:
  one-vs-one: {base: stump, on: {cleveland: false}}
  rcd-bias: {epochs: 4, record_every: 2, on: {glass: false}}
"""


def test_folds_are_counted_by_their_sizes_for_any_number_of_workers(write_config, tmp_path):
    """297 samples in 4 folds and 214 in 10 have two sizes each; a class of glass has 9 samples."""
    config = write_config(FOLDS)
    notes = collect_data_notes(plan(load_config(config)))
    assert [note.partition(" for 10 folds")[0] for note in notes] == [
        "data set 'glass' has 9 samples of class '6'"
    ]
    folders = [tmp_path / str(jobs) for jobs in (1, 2)]
    for jobs, folder in enumerate(folders, 1):
        run_experiment(config, out=folder, n_jobs=jobs)
    frames = [load_results(folder).drop(columns=["fit_time", "wall_time"]) for folder in folders]
    pd.testing.assert_frame_equal(*frames)
    (run,), _ = load_runs(folders[0])
    for dataset, rows in frames[0].groupby("dataset", observed=True):
        counted = {
            p: rows[f"{p}_confusion"].map(lambda text: np.sum(json.loads(text))) for p in ("train", "test")
        }
        assert [rows[f"n_{p}"].tolist() for p in counted] == [sizes.tolist() for sizes in counted.values()]
        assert counted["test"].nunique() == 2
        cell = next(cell for place, cell in run.cells.items() if place[0] == dataset)
        for part, sizes in counted.items():
            errors = 100.0 * rows[f"{part}_errors"] / sizes
            np.testing.assert_allclose(cell[f"{part}_error"], errors)
            np.testing.assert_allclose(rows[f"{part}_error"], errors)
        np.testing.assert_allclose(cell["accuracy"], 1.0 - rows["test_errors"] / counted["test"])
    curves = run.cells["cleveland", "rcd-bias"].curves
    np.testing.assert_allclose(
        curves.values["test_error"][:, -1], run.cells["cleveland", "rcd-bias"]["test_error"]
    )


def test_a_fold_may_fail_on_all_of_its_samples(write_config, tmp_path):
    """And none on more: the first of 4 folds of 297 samples trains on 222, the last on 223."""
    (cell,) = cells_of(write_config, "datasets: {cleveland: {folds: 4}}\nlearners: [fld]\n")
    store = Store(tmp_path / "results")
    with store.writing():
        store.append(cell, [FitRecord(3, 223, 74), FitRecord(4, 223, 74), FitRecord(7, 223, 75)], (222, 75))
    assert sorted(store.read(cell.filename, cell.key).records) == [3]


# -- draws --------------------------------------------------------------------------------------------


def test_noise_draws_differ_and_the_first_is_the_single_one():
    single = EmbeddedData(name="heart", dataset="heart", noise=Noise(fraction=0.1, seed=5))
    several = EmbeddedData(name="heart", dataset="heart", noise=Noise(fraction=0.1, seed=5, draws=3))
    assert (single.n_draws, several.n_draws) == (1, 3)
    np.testing.assert_array_equal(load_data(single).X, load_data(several, 0).X)
    seen = [load_data(several, draw).X[270:] for draw in range(3)]
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[1], seen[2])
    assert [find_draw(several, k) for k in range(7)] == [0, 1, 2, 0, 1, 2, 0]


def test_pools_take_turns_and_noise_with_them():
    spec = GeneratedData(name="g", generator="gaussians", size=40, seed=(7, 9))
    for draw, seed in enumerate((7, 9)):
        np.testing.assert_array_equal(load_data(spec, draw).X, generate("gaussians", seed, size=40).X)
    both = spec.model_copy(update={"noise": Noise(fraction=0.5, draws=3)})
    assert both.n_draws == 6
    clean = {load_data(both, draw).X[:40].tobytes() for draw in range(6)}
    noise = {load_data(both, draw).X[40:].tobytes() for draw in range(6)}
    assert (len(clean), len(noise)) == (2, 6)
    assert compute_fingerprint(spec)["seed"] == (7, 9)


@pytest.fixture
def fitted_on(monkeypatch):
    """Return the bytes of the samples and labels that a task fits a learner on, and the samples."""
    seen = []
    real = task.fit

    def spy(spec, X, y, seed, **options):
        seen.append((X.tobytes() + y.tobytes(), X))
        return real(spec, X, y, seed, **options)

    monkeypatch.setattr(task, "fit", spy)
    return lambda cell, k: (run_task(cell, k), seen[-1])[1]


def test_every_learner_sees_the_same_draw_of_split_k(write_config, fitted_on):
    text = f"{WHOLE}datasets: {{heart: {{noise: {{fraction: 0.2, draws: 2}}}}}}\nlearners: [fld, stump, svm]\n"
    cells = cells_of(write_config, text)
    seen = [{fitted_on(cell, k)[0] for cell in cells} for k in (0, 1, 2)]
    assert [len(each) for each in seen] == [1, 1, 1]
    assert seen[0] == seen[2] != seen[1]  # draws 0, 1, 0


def test_a_tasks_scaling_follows_fit_on(write_config, fitted_on):
    text = "datasets: [heart]\npreprocess: {scale: standard, fit_on: %s}\nlearners: [fld]\n"
    train, everything = (fitted_on(cells_of(write_config, text % how)[0], 0)[1] for how in ("train", "all"))
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)
    assert np.abs(everything.mean(axis=0)).max() > 0.01


# -- what a record keeps ---------------------------------------------------------------------------------


class Telling:
    """A learner that tells all that a record can keep; its plane goes through the first feature's zeros."""

    def fit(self, X, y):
        self.seconds_, self.trace_, self.lower_bound_ = 1.5, [(0.0, 9.0), (0.75, 4.0)], 3
        return self

    def decision_function(self, X):
        return np.where(np.arange(len(X)) < 5, 0.0, 1.0)


def test_a_record_keeps_times_bound_and_the_lenient_count(write_config, monkeypatch):
    monkeypatch.setattr(fitting, "make_learner", lambda *_: Telling())
    (cell,) = cells_of(write_config, f"{WHOLE}datasets: [heart]\nlearners: [fld]\n")
    record = run_task(cell, 0)
    assert (record.fit_time, record.time_to_best, record.lower_bound) == (1.5, 0.75, 3.0)
    assert record.train_errors - record.train_errors_lenient == 5
    assert decode_records([encode_line(record)[:-1]], "fit") == ([record], [], 0)
    Telling.trace_ = []
    monkeypatch.setattr(Telling, "fit", lambda self, X, y: self)
    monkeypatch.setattr(Telling, "decision_function", lambda self, X: np.ones(len(X)))
    record = run_task(cell, 0)
    assert (record.time_to_best, record.lower_bound, record.train_errors_lenient) == (None, None, None)
    assert record.fit_time >= 0  # the task's clock stands in for the learner's


def test_too_few_samples_for_the_folds_stop_the_run(write_config):
    text = "tuning: {folds: 50}\nsplit: {train: 40}\ndatasets: [heart]\nlearners: {svm: {tune: {C: [[1.0]]}}}\n"
    with pytest.raises(DataError, match="'heart' has 40 training samples: too few for 50 folds"):
        validate_data(cells_of(write_config, text))


def test_scores_that_are_not_finite_are_a_failed_task(write_config, monkeypatch):
    config = "datasets: [heart]\nlearners: [fld]\nmetric: roc_auc\nkeep: scores\nsplit: {repeats: 1}\n"
    (cell,) = plan(load_config(write_config(config)))
    true = FLDClassifier.decision_function
    monkeypatch.setattr(FLDClassifier, "decision_function", lambda self, X: true(self, X) * np.inf)
    (record,) = run_tasks(cell, [0])
    assert "not finite" in record.failed
