"""Docstrings of everything exported are numpydoc, and say of parameters what the signatures declare."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import ERROR_MSGS, validate

import zoloss_cli
from zoloss_cli.learners.base import Learner
from zoloss_cli.registry import LEARNERS, MEASURES
from zoloss_cli.utils.signature import describe_parameters, format_parameters_section

PYPROJECT = Path(zoloss_cli.__file__).parents[1] / "pyproject.toml"
ENTRIES = [*LEARNERS.builtin.values(), *MEASURES.values()]
REGISTERED = sorted({entry.target.partition(":")[2] for entry in ENTRIES})
# What exported names must have on top of what every docstring is checked for.
REQUIRED_OF_EXPORTS = {"GL08", "ES01", "PR01", "RT01", "YD01", "EX01"}
REQUIRED_OF_METHODS = REQUIRED_OF_EXPORTS - {"ES01", "EX01"}


def checked_everywhere() -> set[str]:
    """The checks that pyproject.toml names: all but those listed."""
    listed = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"]
    assert listed[0] == "all"
    assert set(listed[1:]) <= set(ERROR_MSGS)
    return set(ERROR_MSGS) - set(listed)


def parsed(name):
    thing = getattr(zoloss_cli, name)
    config = {"show_class_members": False}
    return ClassDoc(thing, config=config) if inspect.isclass(thing) else FunctionDoc(thing, config=config)


def written_methods(thing):
    """(class, name, whether it overrides): the public methods that this package wrote for an exported class."""
    lineage = [cls for cls in thing.__mro__ if cls.__module__.startswith("zoloss_cli")]
    for at, cls in enumerate(lineage):
        for key, member in vars(cls).items():
            if inspect.isfunction(member) and not key.startswith("_"):
                yield cls, key, any(key in vars(above) for above in lineage[at + 1 :])


@pytest.mark.parametrize("name", zoloss_cli.__all__)
def test_parameters_are_documented_as_they_are_declared(name):
    thing = getattr(zoloss_cli, name)
    declared = describe_parameters(thing)
    wanted = f"write in the docstring of {name}:\n{format_parameters_section(thing)}"
    documented = {entry.name: entry for entry in parsed(name)["Parameters"]}
    assert list(documented) == list(declared), wanted
    for key, (type_text, description) in declared.items():
        if type_text is not None:
            assert documented[key].type == type_text, wanted
        assert " ".join(" ".join(documented[key].desc).split()).startswith(description), wanted


@pytest.mark.parametrize("name", zoloss_cli.__all__)
def test_docstrings_are_numpydoc(name):
    required = checked_everywhere() | REQUIRED_OF_EXPORTS
    if not describe_parameters(getattr(zoloss_cli, name)):
        required -= {"PR01"}
    errors = validate(f"zoloss_cli.{name}")["errors"]
    assert [error for error in errors if error[0] in required] == []


@pytest.mark.parametrize("name", [n for n in zoloss_cli.__all__ if inspect.isclass(getattr(zoloss_cli, n))])
def test_docstrings_of_methods_are_numpydoc(name):
    for cls, key, overrides in written_methods(getattr(zoloss_cli, name)):
        # What an override takes and returns is said where it is first defined.
        required = checked_everywhere() | ({"GL08"} if overrides else REQUIRED_OF_METHODS)
        errors = validate(f"{cls.__module__}.{cls.__qualname__}.{key}")["errors"]
        assert [error for error in errors if error[0] in required] == [], f"{cls.__name__}.{key}"


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_classes_say_what_is_known_after_fit_and_where_it_comes_from(name):
    sections = parsed(name)
    assert sections["References"], "no References"
    if issubclass(getattr(zoloss_cli, name), Learner):
        assert sections["Attributes"], "no Attributes"
        assert all(entry.name.endswith("_") for entry in sections["Attributes"])


@pytest.mark.parametrize("name", [n for n in REGISTERED if issubclass(getattr(zoloss_cli, n), Learner)])
def test_documented_attributes_are_there_after_fit(name):
    thing = getattr(zoloss_cli, name)
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 2.0], [1.5, 1.0], [2.5, 3.0]], [0, 0, 1, 1, 0, 1]
    settings = {"record_every": 1} if "record_every" in describe_parameters(thing) else {}
    fitted = thing(**settings).fit(X, y)
    documented = {entry.name for entry in parsed(name)["Attributes"]}
    known = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
    assert documented - known <= set(dir(type(fitted))), "documented, but not set by fit"
    assert known - documented == set(), "set by fit, but not documented"
