"""Memory that was freed is kept while it is wanted, and given back afterwards: seen by page faults."""

from __future__ import annotations

import json
import platform

import pytest
from processes import run_python

CODE = """
import json, resource
import numpy as np
from zoloss_cli.utils.processes import keep_freed_memory, release_freed_memory

def count_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(1 << 17)  # 1 MiB: 256 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

counts = [count_faults()]
assert keep_freed_memory()
np.ones(1 << 17)
counts.append(count_faults())
assert release_freed_memory()
counts.append(count_faults())
print(json.dumps(counts))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator is not glibc's")
def test_pages_are_mapped_anew_only_before_and_after(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")  # as Dask starts its workers
    ended = run_python("-c", CODE)
    assert ended.code == 0, ended.err
    before, kept, after = json.loads(ended.out)
    assert kept < 256 < 10 * 256 < min(before, after)
