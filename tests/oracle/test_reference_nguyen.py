"""The committed results for Nguyen & Sanner (2013): equal to those published or below, and what is proved."""

import numpy as np
import pytest
from places import REFERENCE
from reference_runs import find_reference_run

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.dataset import generate
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.experiment.plan import plan
from zoloss_cli.registry import make_learner
from zoloss_cli.report.compare import compare_run
from zoloss_cli.results.store import Store
from zoloss_cli.utils.files import shipped_folder


def cells_of(config):
    return plan(load_config(shipped_folder("configs") / "nguyen" / f"{config}.yaml"))


def losses(config):
    """(data set, learner) -> training errors, split by split."""
    store = Store(REFERENCE)
    return {
        (cell.data.name, cell.learner.label): np.array(
            [record.train_errors for _, record in sorted(store.read(cell.filename, cell.key).records.items())]
        )
        for cell in cells_of(config)
    }


REFITTED = ("csa", "pcs")  # as the authors' program has them, for 300 s


def test_table_1_equals_the_published_one_or_is_below_it():
    run = find_reference_run("nguyen-sanner-2013/1")
    counts = [c for c in compare_run(run) if c.learner == "data"]
    assert [c.match for c in counts] == ["="] * 14
    cells = [c for c in compare_run(run) if c.learner != "data"]
    assert len(cells) == 49 + 7
    assert {c.match for c in cells if c.learner not in REFITTED} == {"=", "better"}
    refitted = [c for c in cells if c.learner in REFITTED]
    assert all(c.mean <= c.published + max(3, 0.03 * c.published) for c in refitted)
    assert all(run.get_stat(c.dataset, f"{c.learner}:points").mean <= c.published for c in refitted)
    exact = [c for c in cells if c.learner in ("bpm", "svm", "lr", "sla")]
    assert len(exact) == 28
    assert all(c.match == "=" for c in exact)


@pytest.mark.parametrize("config", ["table1", "table2"])
def test_pivot_is_no_worse_than_any_column_in_any_draw(config):
    found = losses(config)
    for (dataset, learner), counts in found.items():
        assert np.all(found[dataset, "pivot"] <= counts), (dataset, learner, counts, found[dataset, "pivot"])


def test_table_4_agrees_with_the_published_one():
    run = find_reference_run("nguyen-sanner-2013/4")
    z = np.array([abs(cell.z) for cell in compare_run(run) if cell.learner != "improvement"])
    assert z.shape == (28,)
    assert np.mean(z <= 2) >= 0.9


def test_what_is_proved():
    found, store = losses("bounds"), Store(REFERENCE)
    for cell in cells_of("bounds"):
        record = store.read(cell.filename, cell.key).records[0]
        assert record.lower_bound <= record.train_errors
        if cell.data.name in ("breast", "liver", "sonar"):
            assert record.lower_bound == record.train_errors
    assert [found[name, "certify"][0] for name in ("breast", "liver", "sonar")] == [10, 82, 0]


def test_the_seeds_of_figure_9_are_the_first_that_qualify():
    spec = next(cell.data for cell in cells_of("figure9") if cell.data.noise is None)
    for seed in range(1, 12):
        X, y, *_ = generate("gaussians", seed, size=500, dimensions=5)
        scaled = scale_parts(X, X, "standard")[0]
        best = make_learner("pivot", {"steps": 3000}, 0).fit(scaled, y).training_errors_
        assert (30 <= best <= 100) == (seed in spec.seed), (seed, best)


def test_what_the_paper_says_of_figure_9():
    """The optima of its sets are from 30 to 100, and noise hurts the convex losses most."""
    found = losses("figure9")
    best = np.min([found["without noise", x] for x in ("pivot", "sla")], axis=0)
    assert (best.shape, best.min() >= 30, best.max() <= 100) == ((200,), True, True)
    for other in ("svm", "lr", "bpm"):
        clean = found["without noise", other].mean() - found["without noise", "sla"].mean()
        noisy = found["with noise", other].mean() - found["with noise", "sla"].mean()
        assert 0 < clean < noisy
