"""Run zoloss, as the command ``zoloss`` and as ``python -m zoloss_cli``."""

import os

INTERRUPTED = 130


def main() -> None:
    """Import the command line and run it; Ctrl-C during the import ends the program without a word."""
    try:
        from zoloss_cli.cli.app import main as run
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)  # half-imported modules may not survive an orderly end
    run()


if __name__ == "__main__":
    main()
