"""Which columns of a table are features, which is the label, and which only identifies rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zoloss_cli.errors import ConfigError, DataError, suggest_nearest

LABEL_NAMES = ("label", "class", "target", "y", "outcome")  # the first that a table has


@dataclass(frozen=True)
class ColumnSelection:
    """The columns that a user names, apart from the label.

    Attributes
    ----------
    drop : tuple of str
        Columns to leave out. Each text is the name of a column, or several names separated by commas.
    features : tuple of str
        The only columns to use as features, in the same form as `drop`; empty for all.
    id : str or None
        A column that only identifies rows: not a feature, but copied to predictions.
    """

    drop: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    id: str | None = None

    def to_keys(self) -> dict[str, Any]:
        """Return what was named, as keys of a config's data set."""
        keys: dict[str, Any] = {"drop": list(self.drop), "features": list(self.features), "id": self.id}
        return {key: value for key, value in keys.items() if value}


ALL_COLUMNS = ColumnSelection()


@dataclass(frozen=True)
class ChosenColumns:
    """Columns of a header by position.

    Attributes
    ----------
    label : int
        The label column.
    is_guessed : bool
        Whether the label column was guessed.
    features : tuple of int
        The columns that become features.
    id : int or None
        The column that identifies rows.
    """

    label: int
    is_guessed: bool
    features: tuple[int, ...]
    id: int | None


def choose_columns(
    path: Path, header: list[str], label: str | int | None, selection: ColumnSelection
) -> ChosenColumns:
    """Return what each column of a header is used for.

    Parameters
    ----------
    path : Path
        The file, for messages.
    header : list of str
        The names of the columns.
    label : str, int or None
        The label column's name or index; None to guess it.
    selection : ColumnSelection
        The columns that the user named, apart from the label.
    """
    dropped = set(resolve_columns(path, header, selection.drop, "drop"))
    chosen = set(resolve_columns(path, header, selection.features, "features"))
    ids = set() if selection.id is None else {_find_column(path, header, selection.id, "id")}
    if both := (dropped & chosen) | (ids & chosen):
        raise ConfigError(
            f"{path}: the column '{min(both)}' is both to be used and to be left out: name it once"
        )
    left_out = dropped | ids
    if label is None:
        at = guess_label(header, left_out | chosen)
        if at is None:
            raise DataError(f"{path} has no column left for the labels; name it with --label")
    else:
        at = _find_label(path, header, label)
        if header[at] in left_out | chosen:
            raise ConfigError(
                f"{path}: '{header[at]}' is the label column, which is not a feature; name it once"
            )
    wanted = chosen or set(header) - left_out - {header[at]}
    places = tuple(i for i, name in enumerate(header) if name in wanted)
    return ChosenColumns(at, label is None, places, header.index(min(ids)) if ids else None)


def guess_label(header: Sequence[str], taken: Iterable[str] = ()) -> int | None:
    """Return the index of the column with a usual label name, or else of the last one; None if all are taken.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    taken : iterable of str
        Columns with another use.

    Examples
    --------
    >>> guess_label(["Class", "size", "colour"])
    0
    >>> guess_label(["id", "size", "colour"])
    2
    """
    others = set(taken)
    free = [i for i, name in enumerate(header) if name not in others]
    for usual in LABEL_NAMES:
        if usual in header and usual not in others:
            return header.index(usual)
        for i in free:
            if header[i].lower() == usual:
                return i
    return free[-1] if free else None


def resolve_columns(path: Path, header: list[str], texts: Iterable[str], option: str) -> list[str]:
    """Return the columns that texts name: a whole text if a column has that name, otherwise its parts.

    Parameters
    ----------
    path : Path
        The file, for messages.
    header : list of str
        The names of the columns.
    texts : iterable of str
        The user's texts.
    option : str
        The option, for messages.
    """
    names = []
    for text in texts:
        parts = [text] if text in header else [part.strip() for part in text.split(",")]
        names += [_find_column(path, header, part, option) for part in parts]
    return list(dict.fromkeys(names))


def _find_column(path: Path, header: list[str], name: str, option: str) -> str:
    if name not in header:
        raise DataError(f"{path} has no column '{name}', which --{option} names{suggest_nearest(name, header)}")
    return name


def _find_label(path: Path, header: list[str], label: str | int) -> int:
    """Return the index of the label column; a text may be an index if no column has that name."""
    if isinstance(label, str) and label not in header and re.fullmatch(r"-?\d+", label):
        label = int(label)
    if isinstance(label, int):
        if not -len(header) <= label < len(header):
            raise DataError(f"{path}: label: {label} is not a column index; there are {len(header)} columns")
        return label % len(header)
    if label not in header:
        raise DataError(f"{path} has no label column '{label}'{suggest_nearest(label, header)}")
    return header.index(label)
