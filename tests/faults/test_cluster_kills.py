"""A run on hosts in network namespaces of their own, of which 30 processes are killed at random."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from places import TOP
from processes import HANG_SECONDS, environment
from torture.cluster_hosts import find_obstacle

pytest.importorskip("distributed", reason="Dask is not installed")


@pytest.mark.skipif(bool(find_obstacle()), reason=f"no network namespaces: {find_obstacle()}")
def test_no_record_is_lost_or_changed_by_thirty_kills():
    program, seed = TOP / "tests" / "torture", ("--seed", "7", "--tries", "1")
    ended = subprocess.run(
        [sys.executable, program, "--campaign", "cluster-kills", *seed],
        env=environment(), capture_output=True, text=True, timeout=HANG_SECONDS, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    killed = dict(re.findall(r"(worker|scheduler|client)s killed (\d+)", ended.stdout))
    assert sum(map(int, killed.values())) == 30
    assert len(killed) == 3
    assert "namespaces 3" in ended.stdout
