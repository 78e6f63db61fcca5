"""Choices made by nearness to the published values, and data that are not the paper's: one registry.

A cell that rests on such a choice does not test the reproduction independently. Tables say so, and comparisons
count the cell apart.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.utils.paths import PUBLISHED_FOLDER

if TYPE_CHECKING:
    from zoloss_cli.reporting.run_result import RunResult

FITTED_CHOICES = PUBLISHED_FOLDER / "fitted_choices.yaml"
FITTED, OTHER_DATA, NO_TEST = "fitted", "other data", "no test"
BEST_OF = "best_of"
ANY = ("*",)


@dataclass(frozen=True)
class FittedChoice:
    """A choice, and the cells that depend on it.

    Attributes
    ----------
    name : str
        Its name in CSV files.
    kind : {'fitted', 'other data'}
        Whether it was made by nearness to the published values, or is a difference in the data.
    tables : tuple of str
        Tables as PAPER/TABLE, or names of runs.
    sentence : str
        The sentence about it.
    datasets, learners : tuple of str
        Patterns of names.
    setting : 'best_of', mapping or None
        The settings that a learner must have for the choice to apply.
    noise : mapping or None
        The noise that the data must have for it.
    """

    name: str
    kind: Literal["fitted", "other data"]
    tables: tuple[str, ...]
    sentence: str
    datasets: tuple[str, ...] = ANY
    learners: tuple[str, ...] = ANY
    setting: Any = None
    noise: dict[str, str] | None = None

    def applies(self, run: RunResult, dataset: str, learner: str) -> bool:
        """Return whether a cell of a run depends on the choice."""
        return (
            not {run.full_name, run.name}.isdisjoint(self.tables)
            and any(fnmatchcase(dataset, pattern) for pattern in self.datasets)
            and any(fnmatchcase(learner, pattern) for pattern in self.learners)
            and (self.setting is None or any(map(self._is_set, _find_specs(run, learner))))
            and (self.noise is None or self._has_noise(run, dataset))
        )

    def _has_noise(self, run: RunResult, dataset: str) -> bool:
        assert self.noise is not None
        found = run.get_data(dataset).noise
        return found is not None and all(getattr(found, key) == value for key, value in self.noise.items())

    def _is_set(self, spec: LearnerSpec) -> bool:
        if self.setting == BEST_OF:
            return bool(spec.choice)
        return any(_has_setting(spec, name, value) for name, value in self.setting.items())


@functools.cache
def read_fitted_choices() -> tuple[FittedChoice, ...]:
    """Return the registry."""
    import yaml

    entries = yaml.safe_load(FITTED_CHOICES.read_text(encoding="utf-8"))
    lists = ("tables", "datasets", "learners")
    return tuple(
        FittedChoice(**entry | {key: tuple(entry[key]) for key in lists if key in entry}) for entry in entries
    )


@functools.cache  # asked for every cell of a run, and few runs have any
def _read_choices_of(*names: str) -> tuple[FittedChoice, ...]:
    """Return the choices that concern a table or a run, by all names that it has."""
    return tuple(choice for choice in read_fitted_choices() if not set(names).isdisjoint(choice.tables))


def find_choices(run: RunResult, dataset: str, learner: str) -> list[FittedChoice]:
    """Return the choices that a cell of a run depends on; differences of the data first."""
    known = _read_choices_of(run.full_name, run.name)
    found = [choice for choice in known if choice.applies(run, dataset, learner)]
    return sorted(found, key=lambda choice: choice.kind != OTHER_DATA)


def name_choices(choices: list[FittedChoice]) -> str:
    """Return names of choices as in CSV files; empty if there are none."""
    return "; ".join(choice.name for choice in choices)


def describe_fitted_choices(run: RunResult) -> list[str]:
    """Return a note for every choice that a cell of a table depends on."""
    places = list(run.cells)
    return [
        f"{choice.kind}: {choice.sentence}"
        for choice in _read_choices_of(run.full_name, run.name)
        if any(choice.applies(run, *place) for place in places)
    ]


def _find_specs(run: RunResult, learner: str) -> list[LearnerSpec]:
    return [spec for spec in run.experiment.learners if spec.label == learner]


def _has_setting(spec: LearnerSpec, name: str, value: Any) -> bool:
    """Return whether a learner, or one inside it, has a setting."""
    return any(
        (key == name and each == value) or (isinstance(each, LearnerSpec) and _has_setting(each, name, value))
        for key, each in spec.settings
    )
