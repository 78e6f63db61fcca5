"""Errors caused by user input: one sentence each, one exit code per kind, and the nearest valid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

MAX_COMPLAINTS = 10  # that are shown about a table
MAX_LISTED_NAMES = 12
MIN_SIMILARITY = 0.6


class ZolossError(Exception):
    """Error caused by user input; the message says what is wrong, where, and what would be valid."""

    exit_code = 1


class ConfigError(ZolossError):
    """A config, name or option is invalid; the message has one line per error."""

    exit_code = 2


class DataError(ZolossError):
    """A data set cannot be read, fetched or used as requested.

    The message has one line per complaint, of which at most ten are shown. `options` of a command on tables, by
    name, would answer them: all of them if `advice` is just to run that command.
    """

    exit_code = 3

    def __init__(self, *complaints: str, options: Mapping[str, Sequence[str]] | None = None, advice: str = ""):
        more = len(complaints) - MAX_COMPLAINTS
        super().__init__(
            "\n".join([*complaints[:MAX_COMPLAINTS], *([f"and {more:,} more"] if more > 0 else [])])
        )
        self.options, self.advice = dict(options or {}), advice


class ResultsError(ZolossError):
    """A results folder is missing, foreign, locked, full or damaged."""

    exit_code = 4


class RunError(ZolossError):
    """Some tasks of a run failed; finished ones are stored."""

    exit_code = 5


class ModelError(ZolossError):
    """A model file is missing, damaged, or not one that this version writes."""

    exit_code = 6


class OutputError(ZolossError):
    """An output file cannot be written, or already exists."""

    exit_code = 7


class MissingPackageError(ZolossError, ImportError):
    """An optional dependency is not installed."""

    exit_code = 8


class CheckError(ZolossError):
    """Results do not meet the requirements of a check, such as `compare --fail-beyond`."""

    exit_code = 9


class ClusterError(ZolossError):
    """A cluster cannot be reached, or its workers are not compatible; finished tasks are stored."""

    exit_code = 10


def suggest_nearest(name: object, valid: Iterable[str]) -> str:
    """Return a suggestion to end a message about an unknown name: the closest name, or all if there are few.

    >>> suggest_nearest("hart", ["heart", "iris"])
    "; did you mean 'heart'?"
    """
    names = [str(each) for each in valid]
    lowered = [each.lower() for each in names]
    close = difflib.get_close_matches(str(name).lower(), lowered, n=1, cutoff=MIN_SIMILARITY)
    if close:
        return f"; did you mean '{names[lowered.index(close[0])]}'?"
    if 0 < len(names) <= MAX_LISTED_NAMES:
        return f"; valid: {', '.join(names)}"
    return ""
