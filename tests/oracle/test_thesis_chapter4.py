"""Cells of Tables 4.2, 4.4 and 4.5 of Li's thesis without randomness: equal to print, to the digit."""

from __future__ import annotations

import pytest

from zoloss_cli.config.load import load_config
from zoloss_cli.datasets import entry
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.worker import run_unit
from zoloss_cli.paths import shipped
from zoloss_cli.report.published import published

QUICK = {
    "4.2": {
        "one-vs-one/one-vs-all:stump": ["dna", "pendigits", "satimage", "vowel"],
        "ecc:max-cut:stump": ["dna", "pendigits", "satimage"],
        "erp:max-2:LRL:stump": ["pendigits", "satimage", "vowel"],
        "erp:max-2:LRLR:stump": ["pendigits", "satimage", "vowel"],
    },
    "4.4": {
        "one-vs-one/one-vs-all:adaboost-stump": ["pendigits", "satimage"],
        "ecc:max-cut:adaboost-stump": ["dna"],
        "erp:max-2:LR:adaboost-stump": ["satimage"],
    },
}
CELLS = [
    (table, learner, name) for table, rows in QUICK.items() for learner, names in rows.items() for name in names
]


def cells_of(table, learner, dataset):
    experiment = load_config(shipped("configs") / "thesis" / f"table{table}.yaml")
    return [c for c in plan(experiment) if (c.learner.label, c.data.name) == (learner, dataset)]


def error_of(cell, row):
    n = entry(cell.data.name).rows - cell.rule.train
    return f"{100.0 * row['test'] / n:.2f}"


@pytest.mark.parametrize(("table", "learner", "dataset"), CELLS)
def test_the_printed_number(table, learner, dataset):
    printed = published()["li-thesis-2006", table][dataset, learner, "test_error"]
    assert printed.stderr is None
    cells = cells_of(table, learner, dataset)
    assert {cell.repeats for cell in cells} == {1}
    errors = [error_of(cell, run_unit(cell, 0)) for cell in cells]
    assert min(errors, key=float) == f"{printed.value:.2f}"


@pytest.mark.parametrize(("dataset", "printed"), [("vowel", "37.45"), ("satimage", "7.70")])
def test_svms_of_pairs_for_every_large_C(dataset, printed):
    """Table 4.5 chooses C by held-out rows: whichever of these it is, the test error is the printed one."""
    (cell,) = cells_of("4.5", "one-vs-one/one-vs-all:svm-perceptron", dataset)
    assert (cell.tuning.folds, cell.tuning.held_out, cell.repeats) == (10, 0.3, 20)
    for spec in cell.learner.tune[2:]:
        alone = type(cell)(cell.data, spec, cell.rule, cell.scale, 1)
        assert error_of(alone, run_unit(alone, 0)) == printed
