"""Command options for parameters of scoring systems, and what they require of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.learners.scoring.constraints import name_features
from zoloss_cli.registry import find_registration, make_learner
from zoloss_cli.workflows.choices import DEFAULT_SCALING

SCORING_LEARNER = "scoring"


@dataclass(frozen=True)
class ScoringOptions:
    """The options for a scoring system; None if not given.

    Attributes
    ----------
    max_terms, max_points : int or None
        The maximum number of conditions, and the largest points.
    monotone, require, forbid : tuple of str
        Names of columns; in `monotone`, with a sign.
    """

    max_terms: int | None = None
    max_points: int | None = None
    monotone: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()

    def list_assignments(self, learner: str | None) -> list[str]:
        """Return the options as parameters KEY=VALUE; ConfigError if the learner has no such parameters."""
        found: list[str] = []
        for key, value in vars(self).items():
            if value is None or value == ():
                continue
            if learner != SCORING_LEARNER:
                raise ConfigError(
                    f"--{key.replace('_', '-')} is for scoring systems; add --learner {SCORING_LEARNER}"
                )
            found.append(f"{key}={json.dumps(list(value) if isinstance(value, tuple) else value)}")
        return found


def check_has_card(learner: str | None) -> None:
    """Raise ConfigError for a learner without a card."""
    if learner != SCORING_LEARNER:
        raise ConfigError(f"--out: only scoring systems have a card; add --learner {SCORING_LEARNER}")


def takes_raw_features(spec: LearnerSpec) -> bool:
    """Return whether a learner's rule is read in the table's units, so that its features are not scaled."""
    return bool(getattr(find_registration(spec.source).learner_class, "takes_raw_features", False))


def choose_scaling(spec: LearnerSpec, scaling: str) -> str:
    """Return how features are scaled for a learner; ConfigError if it does not allow that."""
    if not takes_raw_features(spec):
        return scaling
    if scaling not in (DEFAULT_SCALING, "none"):
        raise ConfigError(
            f"--scale: the conditions of '{spec.learner}' are in the table's units, so its features are not "
            "scaled; leave out --scale"
        )
    return "none"


def check_scoring(table: CsvTable, y: np.ndarray, spec: LearnerSpec, max_terms: int | None) -> int:
    """Return the number of conditions of a table; DataError if it cannot provide what is asked for.

    Parameters
    ----------
    table : CsvTable
        The table.
    y : ndarray of int of shape (n_samples,)
        Indices of classes.
    spec : LearnerSpec
        The learner with its parameters.
    max_terms : int or None
        The number of terms that an option requests.

    Returns
    -------
    int
        The number of conditions that terms can be chosen from.
    """
    with name_features(table.features):
        learner: Any = make_learner(spec.source, spec.parameters)
        try:
            count = learner.count_conditions(table.X, y)
        except ValueError as error:
            raise DataError(f"{table.path}: {error}") from None
    if max_terms is not None and max_terms > count:
        raise DataError(
            f"{table.path}: --max-terms asks for {max_terms:,} terms, more than the {count:,} conditions of "
            f"its {len(table.columns):,} columns; ask for at most {count:,}"
        )
    return count
