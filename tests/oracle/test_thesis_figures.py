"""What Li's thesis (2006) says of Figures 2.1 to 2.4 and 4.2 to 4.5, in quick runs and stored results."""

import numpy as np
import pytest
from places import REFERENCE

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import Cell, plan
from zoloss_cli.experiment.task import fit_task
from zoloss_cli.figures.curves import Curves, build_curves
from zoloss_cli.figures.thesis_boosting import find_dominating_partitions
from zoloss_cli.metrics.base import Sizes
from zoloss_cli.results.store import Store
from zoloss_cli.utils.files import shipped_folder

TANGRAM = ["ecc:max-cut:perceptron", "ecc:rand-half:perceptron"]
SPLITS = 2


def cells_of(config: str) -> dict[tuple[str, str], Cell]:
    cells = plan(load_config(shipped_folder("configs") / "thesis" / f"{config}.yaml"))
    return {(cell.data.name, cell.learner.label): cell for cell in cells}


def read_curves(cell: Cell) -> Curves:
    """The curves of all splits of a cell."""
    content = Store(REFERENCE).read(cell.filename, cell.key)
    records = [content.records[k] for k in range(cell.repeats)]
    return build_curves(records, [Sizes(content.n_train, content.n_test)])


def test_nothing_is_run_twice():
    for figure, same_as in (("4.3", "figure4.2"), ("4.4", "table4.2"), ("4.5", "table4.3")):
        others = cells_of(same_as)
        for place, cell in cells_of(f"figure{figure}").items():
            assert (cell.key, cell.repeats) == (others[place].key, others[place].repeats), place


def test_the_tangram_experiment_is_that_of_the_thesis():
    """500 examples, 200 rounds; every run has examples of its own."""
    for cell in cells_of("figure4.2").values():
        assert (cell.rule.train, cell.learner.parameters["rounds"]) == (500, 200)
        assert len(set(cell.data.seed)) == cell.repeats


@pytest.fixture(scope="module")
def chapter_2():
    """The curves of each figure, by learner."""
    return {
        figure: {learner: read_curves(cell) for (_, learner), cell in cells_of(f"figure{figure}").items()}
        for figure in ("2.1", "2.2", "2.3", "2.4")
    }


def read_last(curves: dict[str, Curves], metric: str) -> dict[str, float]:
    return {learner: found.compute_mean(metric)[-1] for learner, found in curves.items()}


def test_what_the_thesis_says_of_figure_2_1(chapter_2):
    """Five observations: the start, the gradient, randomness, orthogonal directions, the bias direction."""
    curves = chapter_2["2.1"]
    last = read_last(curves, "train_error")
    variants = ("rcd-plain", "rcd-bias", "rcd-conj", "rcd-conj-bias")
    for variant in (*variants, "rcd-grad", "ccd"):
        assert last[f"{variant}-fld"] < last[f"{variant}-zero"] - 0.1
    for seeding in ("zero", "fld"):
        found = [last[f"{variant}-{seeding}"] for variant in variants]
        assert last[f"rcd-grad-{seeding}"] > max(found) + 0.5
        assert max(found) - min(found) < 0.2  # "seems not affecting the performance significantly"
    assert max(last[f"{variant}-zero"] for variant in variants) < last["ccd-fld"]
    first = {x: found.compute_mean("train_error")[1] for x, found in curves.items()}  # after 40 epochs
    edges = [(values["rcd-plain-zero"] - values["rcd-bias-zero"]) for values in (first, last)]
    assert edges[0] > max(0.1, edges[1])


def test_what_the_thesis_says_of_figure_2_2(chapter_2):
    """A fixed order is not optimal, in and out of sample; FLD only helps for early epochs."""
    for metric in ("train_error", "test_error"):
        last = read_last(chapter_2["2.2"], metric)
        for seeding in ("zero", "FLD"):
            assert (
                last[f"fixed, {seeding}"] > max(last[f"{x}, {seeding}"] for x in ("permuted", "random")) + 0.1
            )
    last = read_last(chapter_2["2.2"], "train_error")
    for order in ("permuted", "random", "fixed"):
        assert abs(last[f"{order}, FLD"] - last[f"{order}, zero"]) < 0.05


def test_what_the_thesis_says_of_figures_2_3_and_2_4(chapter_2):
    """On pima the lowest training errors are not the lowest test errors; on yinyang they are."""
    for figure in ("2.3", "2.4"):
        upward = sorted((error, x) for x, error in read_last(chapter_2[figure], "train_error").items())
        assert [x for _, x in upward[:2]] == ["rcd-bias", "pocket"]
    pima, yinyang = (read_last(chapter_2[figure], "test_error") for figure in ("2.3", "2.4"))
    assert min(pima, key=pima.get) == "ave-perc"
    assert max(pima["ave-perc"], pima["sgd-hinge"], pima["sgd-mls"]) < min(pima["rcd-bias"], pima["pocket"])
    assert (
        max(yinyang["rcd-bias"], yinyang["pocket"])
        < min(yinyang[x] for x in yinyang if x not in ("rcd-bias", "pocket")) - 1.0
    )


def test_what_the_thesis_says_of_figures_4_2_and_4_3():
    """Max-cut separates more, but its partitions are harder; cost and test error are smaller with rand-half."""
    cells = cells_of("figure4.2")
    for split in range(SPLITS):
        max_cut, rand_half = (fit_task(cells["tangram", x], split).learner for x in TANGRAM)
        assert max_cut.cuts_.min() > rand_half.cuts_.mean()  # U_t, the most that any partition separates
        assert np.all(rand_half.costs_[49:] < max_cut.costs_[49:])
        assert rand_half.costs_[-1] < 0.05 * max_cut.costs_[-1]
        codes = ((code.coding_matrix_, code.estimator_weights_) for code in (max_cut, rand_half))
        hard, easy = (find_dominating_partitions(*code)[:2] for code in codes)
        assert max(p.mean for p in hard) < 0.75 * min(p.mean for p in easy)
        assert min(p.total for p in hard) > max(p.total for p in easy)  # and come again and again
        assert np.mean(max_cut.estimator_errors_) > np.mean(rand_half.estimator_errors_)
    max_cut, rand_half = (read_curves(cells["tangram", x]) for x in TANGRAM)
    assert np.all(rand_half.values["cost"][:, -1] < max_cut.values["cost"][:, -1])
    lower = max_cut.values["test_error"][:, -1] - rand_half.values["test_error"][:, -1]
    assert lower.mean() > 2.0 * lower.std(ddof=1) / np.sqrt(len(lower))


@pytest.mark.parametrize(
    ("figure", "dataset", "base"),
    [("4.4", "letter", "stump"), ("4.4", "pendigits", "stump"), ("4.5", "letter", "perceptron")],
)
def test_what_the_thesis_says_of_figures_4_4_and_4_5(figure, dataset, base):
    """ERP is ahead with as many base classifiers, more steps help a little, and max-cut hurts."""
    cells = cells_of(f"figure{figure}")
    downward = ("ecc:max-cut", "ecc:rand-half", "erp:rand-2:LRL", "erp:rand-2:LRLR")
    for metric in ("cost", "test_error"):
        last = [read_curves(cells[dataset, f"{x}:{base}"]).compute_mean(metric)[-1] for x in downward]
        assert last == sorted(last, reverse=True), metric
    for repartitioned in ("erp:max-2:LRL", "erp:rand-2:LRL", "erp:rand-2:LRLR"):
        for plain in ("ecc:max-cut", "ecc:rand-half"):
            ours, theirs = (read_curves(cells[dataset, f"{x}:{base}"]) for x in (repartitioned, plain))
            assert np.mean(ours.compute_mean("cost") < theirs.compute_mean("cost")) > 0.95
            assert np.mean(ours.compute_mean("test_error") < theirs.compute_mean("test_error")) > 0.75
