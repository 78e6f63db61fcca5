"""The example notebook runs from top to bottom in a kernel, and uses every function that it is to show."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient
from places import TOP
from processes import environment

import zoloss_cli

PATH = TOP / "docs" / "tour.ipynb"
SECONDS_FOR_A_CELL = 300  # a kernel may have to be compiled first
OTHERS = {"load_results", "load_dataset", "make_learner"}


@pytest.fixture(scope="module")
def stored():
    return nbformat.read(PATH, as_version=4)


@pytest.fixture(scope="module")
def executed(stored, tmp_path_factory):
    notebook = nbformat.from_dict(stored)
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    client = NotebookClient(notebook, timeout=SECONDS_FOR_A_CELL, kernel_name="python3", resources=resources)
    client.execute(env=environment())
    return notebook


def list_outputs(notebook, word: str) -> list:
    """The outputs of the cell that has a word."""
    (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code" and word in cell.source)
    return cell.outputs


def test_it_uses_every_function_and_is_stored_without_outputs(stored):
    code = "\n".join(cell.source for cell in stored.cells if cell.cell_type == "code")
    modules = zoloss_cli._find_modules()
    wanted = {name for name in zoloss_cli.__all__ if modules[name].startswith("zoloss_cli.api.")} | OTHERS
    assert wanted <= set(re.findall(r"\bzl\.(\w+)", code))
    assert "as_frame=True" in code
    nbformat.validate(stored)
    assert all(not cell.outputs and cell.execution_count is None for cell in stored.cells if "outputs" in cell)


def test_it_runs_from_top_to_bottom_and_shows_tables_estimators_and_figures(executed):
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not [out for cell in code for out in cell.outputs if out.output_type == "error"]
    for word in ("n_splits=", 'make_learner("rcd-bias"', "stat=", "run_experiment(experiment", "as_frame"):
        assert any("text/html" in out.get("data", {}) for out in list_outputs(executed, word)), word
    for word in ("plot_boxes", "plot_ranks", "plot_curves", "plot_boundary"):
        assert any("image/png" in out.get("data", {}) for out in list_outputs(executed, word)), word
    (bar,) = (
        out.data["text/html"]
        for out in list_outputs(executed, "run_experiment(experiment")
        if "<progress" in out.get("data", {}).get("text/html", "")
    )
    assert 'value="60" max="60"' in bar
    assert "60 of 60 tasks" in bar
    (out,) = list_outputs(executed, "except ConfigError")
    assert out.text == "unknown learner 'rcd-baez'; did you mean 'rcd-bias'?\n"
