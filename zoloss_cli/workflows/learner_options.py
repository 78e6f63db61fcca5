"""Learners and their parameters as options of a command, validated as those of a config are."""

from __future__ import annotations

import json
import math
import re

import yaml

from zoloss_cli.config.learner_spec import build_learner_spec, parse_learner_name
from zoloss_cli.config.messages import InlineErrorCollector
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registry import build_parameter_model


class _ValueLoader(yaml.SafeLoader):
    """Safe YAML that reads 1e-3 as the number it is, not as a text for want of a point."""


_ValueLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


class OptionErrorCollector(InlineErrorCollector):
    """Mistakes in options that stand for a config's keys; --set names the learner before the parameter."""

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
    known = _find_parameters(name)
    for text in assignments:
        key, value = _split_assignment(text, "KEY=VALUE", f"{next(iter(known), 'epochs')}=500")
        _assign(values, name, key, value, text)
    if time_limit is not None:
        if "time_limit" not in known:
            raise ConfigError(f"--time-limit: the learner '{name}' has no time limit")
        if "time_limit" in values:
            raise ConfigError("--time-limit and --set time_limit are the same; give one of them")
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
        Parameters as LEARNER.KEY=VALUE, or KEY=VALUE where only one learner has that parameter.

    Returns
    -------
    dict of str to dict
        The settings of each learner, as a config has them.
    """
    known = {name: _find_parameters(name) for name in names}
    values = {name: parse_learner_name(name) for name in names}
    if len(known) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"--learners: '{twice}' is listed more than once")
    example = f"{names[0]}.{next(iter(known[names[0]]), 'epochs')}=500"
    for text in assignments:
        key, value = _split_assignment(text, "LEARNER.KEY=VALUE", example)
        name, dot, parameter = key.partition(".")
        if not dot:
            name, parameter = _find_owner(key, known, text), key
        elif name not in known:
            hint = suggest_nearest(name, names)
            raise ConfigError(f"--set {text}: '{name}' is none of the learners here{hint}")
        _assign(values[name], name, parameter, value, text)
    return values


def _find_parameters(name: str) -> dict:
    """Return the parameters of a learner, given by a name as tables have it."""
    return build_parameter_model(name.partition(":")[0]).model_fields


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
    known = _find_parameters(learner)
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
        json.dumps(parsed, allow_nan=False)  # what a model file could not keep is no value
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise ConfigError(f"--set {text}: '{value}' is not a finite number, a text or a list in YAML") from None
    return parsed
