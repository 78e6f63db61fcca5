"""A run on hosts in network namespaces of their own, of which workers, the scheduler and clients are killed."""

import re

import pytest
from places import TOP
from processes import run_python
from torture.cluster_hosts import find_obstacle

pytest.importorskip("distributed", reason="Dask is not installed")

N_KILLS = 6  # instead of 30; with this seed, they hit all three
PROGRAM = f"""
import runpy, sys
sys.path[:0] = ["{TOP}/tests", "{TOP}/tests/support"]
from torture import cluster_kills
cluster_kills.KILLS_PER_TRY = {N_KILLS}
sys.argv = ["torture", "--campaign", "cluster-kills", "--seed", "7", "--tries", "1"]
runpy.run_path("{TOP}/tests/torture/__main__.py", run_name="__main__")
"""


@pytest.mark.skipif(bool(find_obstacle()), reason=f"no network namespaces: {find_obstacle()}")
def test_no_record_is_lost_or_changed_by_kills():
    ended = run_python("-c", PROGRAM)
    assert ended.code == 0, ended.out + ended.err
    killed = dict(re.findall(r"(worker|scheduler|client)s killed (\d+)", ended.out))
    assert sum(map(int, killed.values())) == N_KILLS
    assert len(killed) == 3
    assert "namespaces 3" in ended.out
