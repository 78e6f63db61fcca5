"""`zoloss status` counts without keeping records: its counts are those of the results that tables show."""

from __future__ import annotations

import shutil

from places import REFERENCE
from reference_runs import load_reference

from zoloss_cli.report.runs import load_runs
from zoloss_cli.report.status import load_progress


def summarize(folder):
    return {p.run.name: (p.n_cells, p.run.n_done, p.n_failed) for p in load_progress(folder)[0]}


def test_the_counts_of_the_reference_are_those_of_its_tables():
    """36 runs, with several settings of a column, measures, ratios and cells that runs share among them."""
    expected = {run.name: (len(run.cells), run.n_done, run.n_failed) for run in load_reference()}
    assert summarize(REFERENCE) == expected
    assert any(run.experiment.ratios for run in load_reference())


def test_damage_is_counted_and_noted_as_tables_do(tmp_path):
    """Of Table 3.1 a cell is gone and another lacks its last line: the ratios over them change."""
    folder = tmp_path / "results"
    (folder / "runs").mkdir(parents=True)
    (folder / "cells").mkdir()
    shutil.copy(REFERENCE / "zoloss.json", folder)
    shutil.copy(REFERENCE / "runs" / "table3.1.json", folder / "runs")
    (run,) = (run for run in load_reference() if run.name == "table3.1")
    files = [cell.file for cell in run.manifest.cells]
    for file in files[1:]:
        shutil.copy(REFERENCE / "cells" / file, folder / "cells")
    damaged = folder / "cells" / files[2]
    damaged.write_bytes(damaged.read_bytes()[:-30])
    (found,), store = load_runs(folder)
    (progress,), counted = load_progress(folder)
    assert (progress.n_cells, progress.run.n_done, progress.n_failed) == (len(found.cells), found.n_done, 0)
    assert progress.n_cells < len(run.cells)
    assert progress.run.n_done < run.n_done
    assert counted.notes == store.notes == [f"{damaged} has 1 damaged line; left out"]
