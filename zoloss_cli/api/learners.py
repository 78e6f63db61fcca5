"""Learners as the functions accept them: names, classes and instances, from zoloss or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import make_learner
from zoloss_cli.utils.code_files import is_code_name

NEEDED_METHODS = ("fit", "predict", "get_params")


def collect_estimators(learners: Any) -> dict[str, Any]:
    """Return estimators by their labels.

    Parameters
    ----------
    learners : str, class, estimator, sequence or mapping of labels to these
        A name is one from `zoloss learners`, possibly with the base of an ensemble: ``adaboost:stump``.

    Returns
    -------
    dict
        Unfitted estimators. Labels are the names given, or those of classes, numbered if several are
        the same.
    """
    if isinstance(learners, Mapping):
        named = {str(label): build_estimator(learner) for label, learner in learners.items()}
    else:
        several = (
            isinstance(learners, Iterable) and not isinstance(learners, str) and not _is_estimator(learners)
        )
        named = {}
        for learner in learners if several else [learners]:
            named[_choose_label(learner, named)] = build_estimator(learner)
    if not named:
        raise ConfigError("learners: name at least one, such as 'rcd-bias'")
    return named


def build_estimator(learner: Any) -> Any:
    """Return an estimator from its name or class, or the instance itself; anything else is a ConfigError."""
    if isinstance(learner, str):
        from zoloss_cli.config.learner_spec import parse_learner_name

        if is_code_name(learner):
            raise ConfigError(f"learners: import the class of '{learner}', and pass it instead of the name")
        settings = dict(parse_learner_name(learner))
        name = settings.pop("learner", learner)
        return make_learner(name, settings)
    made = _call(learner) if isinstance(learner, type) else learner
    missing = [name for name in NEEDED_METHODS if not callable(getattr(made, name, None))]
    if missing:
        raise ConfigError(
            f"learners: {_name_type(learner)} is not a scikit-learn estimator: it has no method {missing[0]}"
        )
    return made


def prepare_estimator(estimator: Any, seed: np.random.SeedSequence) -> Any:
    """Return an unfitted copy, with a seed wherever it takes one and has none."""
    from sklearn.base import clone

    copy = clone(estimator)
    words = seed.generate_state(64)
    unseeded = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    )
    if unseeded:
        copy.set_params(**{name: int(words[place % 64] >> 1) for place, name in enumerate(unseeded)})
    return copy


def _call(made_of: type) -> Any:
    try:
        return made_of()
    except TypeError as error:
        raise ConfigError(
            f"learners: {made_of.__name__} needs parameters: give an instance ({error})"
        ) from None


def _is_estimator(learner: Any) -> bool:
    return isinstance(learner, type) or callable(getattr(learner, "fit", None))


def _choose_label(learner: Any, taken: Mapping[str, Any]) -> str:
    label = learner if isinstance(learner, str) else _name_type(learner)
    if label in taken and isinstance(learner, str):
        raise ConfigError(f"learners: '{label}' is listed more than once")
    number = 2
    while label in taken:
        label = f"{_name_type(learner)} {number}"
        number += 1
    return label


def _name_type(learner: Any) -> str:
    return learner.__name__ if isinstance(learner, type) else type(learner).__name__
