"""Attacks on zoloss by the thousand, each with a seed: kills, changed files, full disks, hostile inputs.

`python tests/torture` runs all campaigns for some minutes; `--campaign kills --seed 123 --tries 1` repeats one
try. A campaign is a class in a module of this folder; a try is a function of its seed, and returns what went
wrong.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

CAMPAIGNS = {
    "kills": "kills:Kills",
    "cluster-kills": "cluster_kills:ClusterKills",
    "signals": "signals:Signals",
    "disks": "disks:Disks",
    "changed-results": "damage:DamagedResults",
    "changed-models": "changed_models:ChangedModels",
    "result-inputs": "result_inputs:ResultInputs",
    "model-inputs": "model_inputs:ModelInputs",
    "configs": "configs:ConfigInputs",
    "tables": "tables:TableInputs",
    "arguments": "arguments:ArgumentInputs",
    "downloads": "downloads:DownloadInputs",
    "learners": "learners:LearnerInputs",
    "bounds": "bounds:Bounds",
    "forgeries": "forgeries:Forgeries",
    "hostile-certificates": "hostile_files:HostileFiles",
    "bare-users": "bare_users:BareUsers",
}


def load_campaign(name: str, folder: Path) -> Any:
    """Return a campaign that writes into a folder."""
    module, _, kind = CAMPAIGNS[name].partition(":")
    return getattr(importlib.import_module(f"torture.{module}"), kind)(folder)
