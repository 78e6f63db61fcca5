"""What a search claims, compared with what is counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoloss_cli.learners.search.progress import LOSS_TOLERANCE


def check_claims(learner: Any, errors: int, lenient_errors: int | None = None) -> None:
    """Raise ValueError if a trace or a bound does not match the training errors counted.

    Parameters
    ----------
    learner : learner
        The fitted learner, possibly with `lower_bound_` and `trace_`.
    errors : int
        Training errors; a margin of 0 is an error.
    lenient_errors : int or None
        Training errors if a margin of 0 is right; None if that makes no difference.
    """
    name = getattr(learner, "name", type(learner).__name__)
    bound = float(getattr(learner, "lower_bound_", 0.0))
    if not bound <= errors + LOSS_TOLERANCE:
        raise ValueError(f"{name}: lower_bound_ is {bound:g}, but it has {errors} training errors")
    trace = _read_trace(learner, name)
    fewest = errors if lenient_errors is None else lenient_errors
    if len(trace) and trace[-1, 1] < fewest - LOSS_TOLERANCE:
        raise ValueError(f"{name}: trace_ ends with {trace[-1, 1]:g} errors, but {fewest} are counted")


def _read_trace(learner: Any, name: str) -> np.ndarray:
    """Return a trace as an array of seconds and losses."""
    wrong = ValueError(
        f"{name}: trace_ must be a list of (seconds, loss), all finite, with rising seconds and falling losses"
    )
    try:
        trace = np.array(list(getattr(learner, "trace_", ())), dtype=float)
    except (TypeError, ValueError):
        raise wrong from None
    if not trace.size:
        return np.empty((0, 2))
    if trace.ndim != 2 or trace.shape[1] != 2 or not np.all(np.isfinite(trace)):
        raise wrong
    if np.any(trace < 0) or np.any(np.diff(trace[:, 0]) < 0) or np.any(np.diff(trace[:, 1]) > 0):
        raise wrong
    return trace
