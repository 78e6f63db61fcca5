"""`zoloss compare --fail-beyond`: an exit code for continuous integration."""

from __future__ import annotations

import math

import pytest
from reference_runs import REFERENCE

from zoloss_cli.errors import CheckError
from zoloss_cli.report.agreement import check_agreement
from zoloss_cli.report.compare import BETTER, EQUAL, WORSE, CellComparison


def make_cell(metric="test_error", z=math.nan, match="", ratio=None, **names):
    place = {"paper": "p", "table": "I", "dataset": "heart", "learner": "fld", "metric": metric} | names
    numbers = {"mean": 1.0, "stderr": 0.1, "splits": 9, "published": 1.0, "published_stderr": 0.1}
    return CellComparison(**place, **numbers, z=z, match=match, ratio=ratio)


def test_cells_that_fail_pass_or_cannot_be_checked():
    loss = "train_01_loss"
    failing = [make_cell(z=3.1), make_cell(z=-3.1), make_cell(match=BETTER), make_cell(loss, match=WORSE)]
    passing = [make_cell(z=2.9), make_cell(match=EQUAL), make_cell(loss, z=-9.0, match=BETTER)]
    passing += [make_cell(loss, match=BETTER), make_cell("fit_time", ratio=99.0)]
    for cell in [*failing, make_cell(loss, z=3.5, match=WORSE)]:
        with pytest.raises(CheckError, match="1 of 2 cells are beyond"):
            check_agreement([cell, make_cell(z=0.0, dataset="other")], 3.0)
    for cell in passing:
        assert check_agreement([cell], 3.0) == []
    (note,) = check_agreement([make_cell()], 3.0)
    assert "fld on heart (p/I) has no standard error" in note
    (note,) = check_agreement([make_cell("cost_ratio", apart="no test")], 3.0)
    assert "has too large a standard error, so it was not checked" in note


def test_losses_are_listed_where_they_are_off_to_either_side():
    lower = make_cell("train_01_loss", match=BETTER)
    far_below, below = (make_cell("train_01_loss", z=z, match=BETTER) for z in (-4.0, -2.0))
    assert [cell.is_beyond(3.0) for cell in (lower, far_below, below)] == [True, True, False]
    assert not make_cell("train_01_loss", match=EQUAL).is_beyond(0.0)


def test_command(zoloss):
    passing = zoloss("compare", REFERENCE, "--table", "II", "--fail-beyond", "4", "--beyond", "4")
    assert (passing.code, passing.err) == (0, "")
    failing = zoloss("compare", REFERENCE, "--table", "II", "--fail-beyond", "3")
    assert failing.code == 9
    assert "2 of 72 cells are beyond |z| = 3" in failing.err
    assert "pocket on german (li-lin-2007/II, z +3.7)" in failing.err
    assert failing.out == zoloss("compare", REFERENCE, "--table", "II").out
