"""Results to draw: the reference, and a small run with curves."""

from __future__ import annotations

import pytest
from drawing import DISKS, FIGURE_3, WRONG_LABELS, YIN_YANG
from places import REFERENCE

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.runner import Progress, run_experiment
from zoloss_cli.reporting.results import RunResult, load_results
from zoloss_cli.results.store import Store


@pytest.fixture(scope="module")
def reference() -> dict[str, RunResult]:
    return {run.name: run for run in load_results(REFERENCE)[0]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(the folder, the run) of a small Figure 3."""
    folder = tmp_path_factory.mktemp("recorded")
    config = folder / "figure3.yaml"
    config.write_text(FIGURE_3, encoding="utf-8")
    run_experiment(load_config(config), str(config), Store(folder / "results"), 1, Progress())
    (run,) = load_results(folder / "results")[0]
    return folder / "results", run


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """(the folder, its runs by figure) of small runs of the figures of the thesis's first chapter."""
    folder = tmp_path_factory.mktemp("measured")
    texts = {"1.5": DISKS, "1.8": YIN_YANG}
    texts |= {name: WRONG_LABELS.replace("FIGURE", name) for name in ("1.11", "1.12", "1.13")}
    for name, text in texts.items():
        config = folder / f"figure{name}.yaml"
        config.write_text(text, encoding="utf-8")
        run_experiment(load_config(config), str(config), Store(folder / "results"), 1, Progress())
    runs, _ = load_results(folder / "results")
    return folder / "results", {run.published["figure"]: run for run in runs}
