"""Results to draw: the reference, and a small run with curves."""

from __future__ import annotations

import pytest
from drawing import FIGURE_3, REFERENCE

from zoloss_cli.config.load import load_config
from zoloss_cli.experiment.run import Progress, run_experiment
from zoloss_cli.experiment.store import Store
from zoloss_cli.report.results import RunResult, load_results


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
