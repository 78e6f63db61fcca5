"""The examples in docstrings do what they show."""

import doctest

import zoloss_cli


def run_examples(thing) -> tuple[int, str]:
    """Return how many examples a docstring has, and a report on those that do not give what they show."""
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner(verbose=False)
    reports: list[str] = []
    for test in finder.find(thing, globs={}):
        runner.run(test, out=reports.append)
    return runner.tries, "".join(reports)


def test_every_exported_name_has_examples_that_hold():
    found = {name: run_examples(getattr(zoloss_cli, name)) for name in zoloss_cli.__all__}
    found["zoloss_cli"] = run_examples(zoloss_cli)
    assert "".join(report for _, report in found.values()) == ""
    assert [name for name, (count, _) in found.items() if count < 2] == []
