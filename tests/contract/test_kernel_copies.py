"""A rule does not depend on which kernels were loaded before.

A compiled kernel contains copies of the kernels that it calls, and a process uses the first copy that it loads.
With fast arithmetic, LLVM may round two copies differently, so that a fit would differ in its last bits from
process to process.
"""

import subprocess
import sys

import numpy as np
from brief_learners import NAMES
from places import TOP


def test_scores_are_the_same_whatever_was_loaded_before(tmp_path):
    scores = {}
    for order in ("forwards", "backwards"):  # the first compiles what is not
        path = tmp_path / f"{order}.npz"
        subprocess.run(
            [sys.executable, TOP / "tests" / "support" / "loaded_kernels.py", order, path],
            check=True,
            timeout=600,
        )
        scores[order] = dict(np.load(path))
    assert scores["backwards"]["loaded"] > 100
    for name in NAMES:
        np.testing.assert_array_equal(scores["forwards"][name], scores["backwards"][name], err_msg=name)
