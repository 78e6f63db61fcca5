"""Run zoloss: as the command ``zoloss``, or with ``python -m zoloss_cli``."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


def main() -> None:
    """Import the command line and run it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless the shell ignores it
        signal.signal(signal.SIGINT, interrupt)
    open_closed_streams()
    from zoloss_cli.cli.app import main as run

    try:
        run()
    finally:
        gc.freeze()  # garbage collection at exit would take as long as a short command


def open_closed_streams() -> None:
    """Redirect closed standard streams to the null device.

    Python sets them to None, which neither zoloss nor its dependencies expect. The next opened file would also
    reuse their descriptor, and receive what a library writes to the stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; during an import, end the program silently instead.

    Packages do not expect KeyboardInterrupt during their import: they swallow or print it, or are only partly
    imported when exit handlers run. Nothing is lost: results are written before the next import.
    """
    while frame is not None:
        if frame.f_code.co_filename == IMPORT_SYSTEM:
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
