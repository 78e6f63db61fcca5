"""The examples in docstrings do what they show."""

from __future__ import annotations

import doctest

import pytest

import zoloss_cli


def run_examples(thing) -> int:
    """How many examples a docstring has; each must give what it shows."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    reports: list[str] = []
    for test in finder.find(thing, globs={}):
        runner.run(test, out=reports.append)
    assert runner.failures == 0, "".join(reports)
    return runner.tries


@pytest.mark.parametrize("name", zoloss_cli.__all__)
def test_every_exported_name_has_examples_that_hold(name):
    assert run_examples(getattr(zoloss_cli, name)) >= 2


def test_the_examples_of_the_package_hold():
    assert run_examples(zoloss_cli) >= 3


def test_an_example_that_does_not_hold_is_found():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    with pytest.raises(AssertionError, match="Expected"):
        run_examples(wrong)
