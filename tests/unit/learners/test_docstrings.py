"""Docstrings of everything exported are numpydoc, and say of parameters what the signatures declare."""

import inspect
import tomllib
from pathlib import Path

from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import ERROR_MSGS, validate
from parameter_docs import describe_parameters, format_parameters_section

import zoloss_cli
from zoloss_cli.learners.base import Learner
from zoloss_cli.registry import LEARNERS, MEASURES

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


def find_errors(path: str, required: set[str]) -> list:
    return [(path, *error) for error in validate(path)["errors"] if error[0] in required]


def parsed(name):
    thing = getattr(zoloss_cli, name)
    config = {"show_class_members": False}
    return ClassDoc(thing, config=config) if inspect.isclass(thing) else FunctionDoc(thing, config=config)


def list_methods() -> dict[str, bool]:
    """Path of each public method of an exported class, and whether it must document parameters and results.

    Users call the methods that take samples; authors of learners implement the abstract ones. What an override
    takes and returns is said where it is first defined.
    """
    found = {}
    for name in zoloss_cli.__all__:
        thing = getattr(zoloss_cli, name)
        lineage = [c for c in getattr(thing, "__mro__", ()) if c.__module__.startswith("zoloss_cli")]
        for at, cls in enumerate(lineage):
            for key, member in vars(cls).items():
                if inspect.isfunction(member) and not key.startswith("_"):
                    overrides = any(key in vars(above) for above in lineage[at + 1 :])
                    is_abstract = getattr(member, "__isabstractmethod__", False)
                    is_used = len(lineage) == 1 or is_abstract or "X" in inspect.signature(member).parameters
                    found[f"{cls.__module__}.{cls.__qualname__}.{key}"] = is_used and not overrides
    return found


def test_parameters_are_documented_as_they_are_declared():
    wrong = []
    for name in zoloss_cli.__all__:
        declared = describe_parameters(getattr(zoloss_cli, name))
        documented = {entry.name: entry for entry in parsed(name)["Parameters"]}
        is_same = list(documented) == list(declared) and all(
            type_text in (None, documented[key].type)
            and " ".join(" ".join(documented[key].desc).split()).startswith(description)
            for key, (type_text, description) in declared.items()
        )
        if not is_same:
            section = format_parameters_section(getattr(zoloss_cli, name))
            wrong.append(f"write in the docstring of {name}:\n{section}")
    assert not wrong, "\n".join(wrong)


def test_docstrings_are_numpydoc():
    errors = []
    for name in zoloss_cli.__all__:
        without = set() if describe_parameters(getattr(zoloss_cli, name)) else {"PR01"}
        required = (checked_everywhere() | REQUIRED_OF_EXPORTS) - without
        errors += find_errors(f"zoloss_cli.{name}", required)
    for path, is_full in list_methods().items():
        errors += find_errors(path, checked_everywhere() | (REQUIRED_OF_METHODS if is_full else {"GL08"}))
    assert errors == []


def test_registered_classes_say_what_is_known_after_fit_and_where_it_comes_from():
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.5], [3.0, 2.0], [1.5, 1.0], [2.5, 3.0]], [0, 0, 1, 1, 0, 1]
    wrong = {}
    for name in REGISTERED:
        thing, sections = getattr(zoloss_cli, name), parsed(name)
        if not sections["References"]:
            wrong[name] = "no References"
        if not issubclass(thing, Learner):
            continue
        settings = {"record_every": 1} if "record_every" in describe_parameters(thing) else {}
        fitted = thing(**settings).fit(X, y)
        documented = {entry.name for entry in sections["Attributes"]}
        known = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
        differ = (documented - known - set(dir(type(fitted)))) | (known - documented)
        differ |= {key for key in documented if not key.endswith("_")}
        if differ or not documented:
            wrong[name] = f"Attributes: {sorted(differ)}"
    assert wrong == {}
