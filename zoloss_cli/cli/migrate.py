"""The command `zoloss migrate`."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.cli import _options as options


def migrate(results: options.ResultsFolder = Path("results")) -> None:
    """Convert a results folder of zoloss 0.1 to the current layout, without rerunning anything.

    **Example:** `zoloss migrate results/`
    """
    from zoloss_cli.results.migrate import migrate as migrate_folder

    done, *faults = migrate_folder(results)
    options.show(done)
    options.show_notes(faults)
