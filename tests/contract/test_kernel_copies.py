"""A rule does not depend on which kernels were loaded before.

A compiled kernel contains copies of the kernels that it calls, and a process uses the first copy that it loads.
With fast arithmetic, LLVM may round two copies differently, so that a fit would differ in its last bits from
process to process.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from brief_learners import NAMES
from places import TOP


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scores")
    found = {}
    for order in ("forwards", "none", "backwards"):  # the first compiles what is not
        path = folder / f"{order}.npz"
        subprocess.run(
            [sys.executable, TOP / "tests" / "loaded_kernels.py", order, path], check=True, timeout=600
        )
        found[order] = dict(np.load(path))
    return found


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_scores_are_the_same_whatever_was_loaded_before(scores, order):
    assert scores["backwards"]["loaded"] > 100
    for name in NAMES:
        np.testing.assert_array_equal(scores[order][name], scores["none"][name], err_msg=name)
