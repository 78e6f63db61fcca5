"""Run zoloss: as the command ``zoloss``, or with ``python -m zoloss_cli``."""

from __future__ import annotations

import gc
import os
import signal
from types import FrameType

INTERRUPTED = 130
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def main() -> None:
    """Import the command line and run it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where the shell ignores it
        signal.signal(signal.SIGINT, interrupt)
    from zoloss_cli.cli.app import main as run

    try:
        run()
    finally:
        gc.freeze()  # else Python looks for garbage at its end, which takes as long as a short command


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; during an import, end the program silently instead.

    Packages do not expect their import to be interrupted: they catch the interrupt, print it, or stay half
    imported for code that runs at exit. Nothing is lost: a result is in its file before the next import.
    """
    while frame is not None:
        if frame.f_code.co_filename == IMPORT_SYSTEM:
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
