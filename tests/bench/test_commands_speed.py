"""How long whole commands take: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import TOP

COMMANDS = {
    "zoloss --help": 5,
    "zoloss table results/reference": 5,
    "zoloss compare results/reference": 5,
    "zoloss report results/reference": 3,
    "zoloss fit 100,000 x 20, rcd-bias": 3,
}
ROWS, FEATURES = 100_000, 20


def words(name: str, folder: Path) -> list[str]:
    if name.startswith("zoloss fit"):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(ROWS, FEATURES))
        y = X @ rng.normal(size=FEATURES) + 1.5 * rng.normal(size=ROWS) > 0.3
        header = ",".join([*(f"x{i}" for i in range(FEATURES)), "label"])
        np.savetxt(folder / "big.csv", np.column_stack([X, y]), "%.6g", ",", header=header, comments="")
        return ["fit", str(folder / "big.csv"), "--learner", "rcd-bias"]
    own = ["--force", "-o", str(folder / "report.html")] if "report" in name else []
    return [*name.split()[1:], *own]


@pytest.mark.parametrize("name", COMMANDS)
def test_command(benchmark, name, tmp_path):
    benchmark.group, benchmark.name = "command", name
    benchmark.extra_info["units"] = 1
    command = [sys.executable, "-m", "zoloss_cli", *words(name, tmp_path)]
    benchmark.pedantic(
        lambda: subprocess.run(command, cwd=TOP, check=True, capture_output=True),
        rounds=COMMANDS[name],
        warmup_rounds=1,
    )
