"""Run zoloss, as the command ``zoloss`` and as ``python -m zoloss_cli``."""

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
    """Raise KeyboardInterrupt; while a module is imported, end the program instead, without a word.

    Packages do not expect an interrupt of their import: they catch it, print it, or are left half imported for
    what runs at the program's end. Nothing is lost: a result is in its file before the next import.
    """
    while frame is not None:
        if frame.f_code.co_filename == IMPORT_SYSTEM:
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
