"""The examples in docstrings do what they show."""

from __future__ import annotations

import doctest

import pytest

import zoloss_cli
from zoloss_cli.complexity.hard_margin import data_complexity
from zoloss_cli.datasets.named import load_dataset
from zoloss_cli.registry import LEARNERS, MEASURES, make_learner

CLASSES = sorted({entry.target for entry in LEARNERS.builtin.values()})
MEASURED = sorted(entry.target.partition(":")[2] for entry in MEASURES.values())


def run_examples(thing) -> int:
    """How many examples a docstring has; each must give what it shows."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    reports: list[str] = []
    for test in finder.find(thing, globs={}):
        runner.run(test, out=reports.append)
    assert runner.failures == 0, "".join(reports)
    return runner.tries


@pytest.mark.parametrize("target", CLASSES, ids=[t.partition(":")[2] for t in CLASSES])
def test_every_learner_has_an_example_that_holds(target):
    name = target.partition(":")[2]
    assert run_examples(getattr(zoloss_cli, name)) >= 3


@pytest.mark.parametrize("name", MEASURED)
def test_every_measure_has_an_example_that_holds(name):
    assert run_examples(getattr(zoloss_cli, name)) >= 2


@pytest.mark.parametrize("thing", [zoloss_cli, make_learner, load_dataset, data_complexity])
def test_examples_of_functions_hold(thing):
    assert run_examples(thing) >= 2


def test_an_example_that_does_not_hold_is_found():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    with pytest.raises(AssertionError, match="Expected"):
        run_examples(wrong)
