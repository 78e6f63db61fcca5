"""The command `zoloss pools`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from zoloss_cli.cli import _options as options


def pools(results: options.ResultsFolder = Path("results")) -> None:
    """Show how much mean errors vary between generated pools, as the CSV that `compare` uses.

    **Example:** `zoloss run configs/pools.yaml && zoloss pools results/`
    """
    from zoloss_cli.reporting.loading import load_runs
    from zoloss_cli.reporting.pools import compute_pool_deviations
    from zoloss_cli.reporting.published.values import POOL_SD_COLUMNS

    runs, store = load_runs(results)
    options.show_notes(store.notes)
    writer = csv.DictWriter(sys.stdout, POOL_SD_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(compute_pool_deviations(runs))
