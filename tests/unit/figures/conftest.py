"""Results to draw: the reference, and small runs of the papers' figures."""

import pytest
from drawing import DISKS, FIGURE_3, WRONG_LABELS, YIN_YANG
from reference_runs import load_reference

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.runner import Progress, run_experiment
from zoloss_cli.report.runs import RunResult, load_runs
from zoloss_cli.results.store import Store


@pytest.fixture(scope="session")
def run_texts(tmp_path_factory):
    """Run configs, given as text by the name of their file; returns the folder and its runs by figure."""

    def run(texts: dict[str, str]):
        folder = tmp_path_factory.mktemp("runs")
        for name, text in texts.items():
            config = folder / f"{name}.yaml"
            config.write_text(text, encoding="utf-8")
            run_experiment(load_config(config), str(config), Store(folder / "results"), 1, Progress())
        runs, _ = load_runs(folder / "results")
        return folder / "results", {run.figure: run for run in runs}

    return run


@pytest.fixture(scope="module")
def reference() -> dict[str, RunResult]:
    return {run.name: run for run in load_reference()}


@pytest.fixture(scope="module")
def recorded(run_texts):
    """(the folder, the run) of a small Figure 3."""
    folder, runs = run_texts({"figure3": FIGURE_3})
    return folder, runs["3"]


@pytest.fixture(scope="session")
def measured(run_texts):
    """(the folder, its runs by figure) of small runs of the figures of the thesis's first chapter."""
    texts = {"figure1.5": DISKS, "figure1.8": YIN_YANG}
    texts |= {f"figure{name}": WRONG_LABELS.replace("FIGURE", name) for name in ("1.11", "1.12", "1.13")}
    return run_texts(texts)
