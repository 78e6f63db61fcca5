"""A learner and its parameters as options of a command, checked as those of a config are."""

from __future__ import annotations

import json
import math
import re

import yaml

from zoloss_cli.config.columns import learner_spec
from zoloss_cli.config.mistakes import LooseMistakes
from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.errors import ConfigError, nearest
from zoloss_cli.registry import parameters


class _Values(yaml.SafeLoader):
    """Safe YAML that reads 1e-3 as the number it is, not as a text for want of a point."""


_Values.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+[eE][-+]?\d+$"), list("-+0123456789")
)


def chosen_learner(name: str, assignments: list[str], time_limit: float | None) -> LearnerSpec:
    """The learner with the parameters that KEY=VALUE texts set, and its time limit if one is given."""
    known = parameters(name).model_fields
    values = {}
    for text in assignments:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key:
            raise ConfigError(f"--set {text}: write it as KEY=VALUE, such as {next(iter(known), 'epochs')}=500")
        if key not in known:
            raise ConfigError(
                f"--set {text}: the learner '{name}' has no parameter '{key}'{nearest(key, known)}"
            )
        if key in values:
            raise ConfigError(f"--set {text}: '{key}' is set more than once")
        values[key] = _value(text, value)
    if time_limit is not None:
        if "time_limit" not in known:
            raise ConfigError(f"--time-limit: the learner '{name}' has no time limit")
        if "time_limit" in values:
            raise ConfigError("--time-limit and --set time_limit are the same; give one of them")
        if not (time_limit > 0.0 and math.isfinite(time_limit)):
            raise ConfigError(f"--time-limit: must be a number of seconds above 0 (got {time_limit:g})")
        values["time_limit"] = time_limit
    mistakes = LooseMistakes("--set")
    spec = learner_spec(name, values, None, mistakes)
    if spec is None or mistakes.lines:
        raise ConfigError("\n".join(dict.fromkeys(mistakes.lines)))
    return spec


def _value(text: str, value: str):
    try:
        parsed = yaml.load(value, Loader=_Values)
        json.dumps(parsed, allow_nan=False)  # what a model file could not keep is no value
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        raise ConfigError(f"--set {text}: '{value}' is not a finite number, a text or a list in YAML") from None
    return parsed
