"""Axes to plot on, given or new, and the choice of the data set to plot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from zoloss_cli.errors import ResultsError, suggest_nearest
from zoloss_cli.reporting.figures import style
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.utils.optional_imports import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@contextlib.contextmanager
def open_axes(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Yield the given axes unchanged, or those of a new pyplot figure with our settings."""
    if ax is not None:
        yield ax
        return
    pyplot = import_optional("matplotlib.pyplot", style.NEEDED_BY)
    with style.apply_style():
        _, axes = pyplot.subplots(figsize=(1.4 * style.COLUMN, height), layout="constrained")
        yield axes


def choose_dataset(run: RunResult, wanted: str | None, found: list[str], what: str) -> str:
    """Return the data set to plot, which must be among `found`; without a name, the only one there is."""
    if not found:
        raise ResultsError(f"'{run.name}' has no {what}")
    if wanted is None and len(found) == 1:
        return found[0]
    if wanted is None:
        raise ResultsError(f"'{run.name}' has several data sets; name one: {', '.join(found)}")
    if wanted not in found:
        reason = f"has no {what} of" if wanted in run.datasets else "has no data set"
        raise ResultsError(f"'{run.name}' {reason} '{wanted}'{suggest_nearest(wanted, found)}")
    return wanted
