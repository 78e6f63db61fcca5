"""Kernels that the tasks of a run need, compiled before the first of them."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence

from zoloss_cli.experiment.plan import Cell
from zoloss_cli.experiment.split_data import warm_up_pruning
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation, compile_kernels
from zoloss_cli.utils.interruptible import run_interruptibly


def compile_for_cells(cells: Sequence[Cell]) -> float:
    """Compile what the tasks of cells need in this process, and return the seconds taken."""
    seconds = compile_kernels([cell.learner for cell in cells])
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        for how in {cell.prune for cell in cells if cell.prune is not None}:
            if threading.current_thread() is threading.main_thread():
                run_interruptibly(functools.partial(warm_up_pruning, how))
            else:
                warm_up_pruning(how)
    return seconds
