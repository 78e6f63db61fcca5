"""Attacks on zoloss by the thousand, each with a seed: kills, changed files, full disks, hostile inputs.

`python tests/torture` runs all campaigns for some minutes; `--campaign kills --seed 123 --tries 1` repeats one
try. A campaign is a class in a module of this folder; a try is a function of its seed, and returns what went
wrong.
"""

import importlib
from pathlib import Path
from typing import Any

CAMPAIGNS = {
    "kills": "kills:Kills",
    "cluster-kills": "cluster_kills:ClusterKills",
    "signals": "signals:Signals",
    "disks": "disks:Disks",
    "changed-results": "results:DamagedResults",
    "changed-models": "models:ChangedModels",
    "result-inputs": "results:ResultInputs",
    "model-inputs": "models:ModelInputs",
    "configs": "inputs:ConfigInputs",
    "tables": "inputs:TableInputs",
    "arguments": "inputs:ArgumentInputs",
    "downloads": "downloads:DownloadInputs",
    "learners": "inputs:LearnerInputs",
    "bounds": "certificates:Bounds",
    "forgeries": "certificates:Forgeries",
    "hostile-certificates": "certificates:HostileFiles",
    "bare-users": "bare_users:BareUsers",
}


def load_campaign(name: str, folder: Path) -> Any:
    module, _, kind = CAMPAIGNS[name].partition(":")
    return getattr(importlib.import_module(f"torture.{module}"), kind)(folder)
