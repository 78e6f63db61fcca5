"""The committed results, read once for all tests of a process."""

from functools import cache
from pathlib import Path

from places import REFERENCE

from zoloss_cli.report.compare import CellComparison, compare_run
from zoloss_cli.report.runs import RunResult, drop_alternatives, load_runs, select_runs


@cache
def load_reference() -> list[RunResult]:
    runs, store = load_runs(REFERENCE)
    assert not store.notes
    return runs


@cache
def compare_reference() -> list[CellComparison]:
    """Return the compared cells of all runs but alternatives."""
    return [cell for run in drop_alternatives(load_reference()) for cell in compare_run(run)]


def build_reference_page(path: Path) -> None:
    """Write the page of all runs; a file of this name is a whole page."""
    from zoloss_cli.report.html.page import build_page

    part = path.with_suffix(".part")
    part.write_text(build_page(load_reference(), Path("results/reference"), []), encoding="utf-8")
    part.rename(path)


def find_reference_run(name: str) -> RunResult:
    (run,) = select_runs(load_reference(), name)
    return run
