"""Learners and their parameters as options of a command, validated like those of a config."""

from __future__ import annotations

import json
import math
import re

import yaml

from zoloss_cli.config.foreign_spec import resolve_class
from zoloss_cli.config.learner_spec import build_learner_spec, parse_learner_name
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import build_parameter_model, is_foreign
from zoloss_cli.utils.code_files import name_class


class _ValueLoader(yaml.SafeLoader):
    """Safe YAML that reads 1e-3 as a number, although it has no decimal point."""


_ValueLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


class OptionErrorCollector(InlineErrorCollector):
    """Collect mistakes in options that stand for config keys; --set names the learner before the parameter."""

    def __init__(self) -> None:
        super().__init__("--set")

    def add(self, keys: tuple, message: str) -> None:
        """Add a mistake under the option that stands for the key."""
        if keys[:1] == ("learners",):
            option = f"set {'.'.join(map(str, keys[1:]))}"
        else:
            option = "splits" if keys[-1] == "repeats" else keys[-1]
        self.lines.append(f"--{option}: {message}")


def parse_learner(name: str, assignments: list[str], time_limit: float | None) -> LearnerSpec:
    """Parse a learner and its parameters.

    Parameters
    ----------
    name : str
        The learner's name, such as rcd-bias or adaboost:stump.
    assignments : list of str
        Parameters as KEY=VALUE, with values in YAML.
    time_limit : float or None
        The learner's time limit in seconds.

    Returns
    -------
    LearnerSpec
        The validated learner.
    """
    values = parse_learner_name(name)
    known = find_parameters(name)
    for text in assignments:
        key, value = _split_assignment(text, "KEY=VALUE", f"{next(iter(known), 'epochs')}=500")
        _assign(values, name, key, value, text)
    if time_limit is not None:
        if "time_limit" not in known:
            raise ConfigError(f"--time-limit: the learner '{name}' has no time limit")
        if "time_limit" in values:
            raise ConfigError("--time-limit and --set time_limit set the same limit; give one of them")
        if not (time_limit > 0.0 and math.isfinite(time_limit)):
            raise ConfigError(f"--time-limit: must be a number of seconds above 0 (got {time_limit:g})")
        values["time_limit"] = time_limit
    mistakes = InlineErrorCollector("--set")
    spec = build_learner_spec(name, values, None, mistakes)
    if spec is None or mistakes.lines:
        raise ConfigError("\n".join(dict.fromkeys(mistakes.lines)))
    return spec


def parse_settings(names: list[str], assignments: list[str]) -> dict[str, dict]:
    """Parse the parameters of several learners.

    Parameters
    ----------
    names : list of str
        The learners' names.
    assignments : list of str
        Parameters as LEARNER.KEY=VALUE, or KEY=VALUE if only one learner has that parameter.

    Returns
    -------
    dict of str to dict
        The settings of each learner, as in a config.
    """
    columns = parse_labels(names)
    known = {label: find_parameters(name) for label, name in columns.items()}
    values = {
        label: parse_learner_name(name) or ({"learner": name} if name != label else {})
        for label, name in columns.items()
    }
    first = next(iter(columns))
    example = f"{first}.{next(iter(known[first]), 'epochs')}=500"
    for text in assignments:
        key, value = _split_assignment(text, "LEARNER.KEY=VALUE", example)
        label, parameter = _split_key(key, columns)
        if not label:
            label = _find_owner(key, known, text)
        elif label not in columns:
            hint = suggest_nearest(label, columns)
            raise ConfigError(f"--set {text}: '{label}' is not one of the learners here{hint}")
        _assign(values[label], columns[label], parameter, value, text)
    return values


def parse_labels(names: list[str], option: str = "--learners") -> dict[str, str]:
    """Return the learners of an option by the labels of their columns.

    Parameters
    ----------
    names : list of str
        Learners, each optionally with a label: mine=rcd-bias. By default, the label of a class of a package or
        a file is the name of the class, and that of any other learner is its own name.
    option : str
        The option, for messages.
    """
    columns: dict[str, str] = {}
    for text in names:
        label, equals, name = (part.strip() for part in text.rpartition("="))
        if equals and not (label and name):
            raise ConfigError(f"{option}: write '{text}' as LABEL=LEARNER, such as mine=rcd-bias")
        if not label:
            label = name_class(name) if is_foreign(name) else name
        if label in columns:
            hint = "" if name == columns[label] else "; give one of them another label, as in other=" + name
            raise ConfigError(f"{option}: '{label}' is listed more than once{hint}")
        columns[label] = name
    return columns


def _split_key(key: str, columns: dict[str, str]) -> tuple[str, str]:
    """Return the label and the parameter of LEARNER.KEY; a learner with a dotted name may be named in full."""
    for label, name in columns.items():
        for start in (f"{label}.", f"{name}."):
            if key.startswith(start):
                return label, key.removeprefix(start)
    label, _, parameter = key.rpartition(".")
    return label, parameter


def find_parameters(name: str) -> dict:
    """Return the parameters of a learner, given by its name in a table or an option."""
    source = resolve_class(name).source if is_foreign(name) else name.partition(":")[0]
    return build_parameter_model(source).model_fields


def _find_owner(key: str, known: dict[str, dict], text: str) -> str:
    owners = [name for name, fields in known.items() if key in fields]
    if not owners:
        every = dict.fromkeys(parameter for fields in known.values() for parameter in fields)
        raise ConfigError(f"--set {text}: no learner here has a parameter '{key}'{suggest_nearest(key, every)}")
    if len(owners) > 1:
        raise ConfigError(
            f"--set {text}: {', '.join(owners)} have a parameter '{key}'; name one, as in {owners[0]}.{text}"
        )
    return owners[0]


def _split_assignment(text: str, form: str, example: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise ConfigError(f"--set {text}: write it as {form}, such as {example}")
    return key, value


def _assign(values: dict, learner: str, key: str, value: str, text: str) -> None:
    known = find_parameters(learner)
    if key not in known:
        raise ConfigError(
            f"--set {text}: the learner '{learner}' has no parameter '{key}'{suggest_nearest(key, known)}"
        )
    if key in values:
        raise ConfigError(f"--set {text}: '{key}' is set more than once")
    values[key] = _parse_value(text, value)


def _parse_value(text: str, value: str):
    try:
        parsed = yaml.load(value, Loader=_ValueLoader)
        json.dumps(parsed, allow_nan=False)  # a value must be one that a model file can hold
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise ConfigError(f"--set {text}: '{value}' is not a finite number, a text or a list in YAML") from None
    return parsed
