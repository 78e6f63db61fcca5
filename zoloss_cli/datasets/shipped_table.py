"""Tables that come with zoloss or another package, by name, where a command takes your own."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.errors import DataError, suggest_nearest
from zoloss_cli.registry import DATASET_PLUGINS, GENERATORS
from zoloss_cli.utils.paths import list_embedded_datasets, shipped_folder

FOLDER = "datasets"


def resolve_table(path: Path) -> Path:
    """Return the file that a path or the name of a data set refers to.

    Parameters
    ----------
    path : Path
        A file; or 'heart' or 'datasets/heart.csv', which is the data set that comes with zoloss unless there is
        such a file.

    Returns
    -------
    Path
        The path itself, even if nothing is there: readers report that. A shipped file in or below the working
        folder has a relative path.

    Raises
    ------
    DataError
        If it is the name of a generator, which has no table, or almost the name of a data set.
    """
    if path.is_absolute() or _is_there(path):
        return path
    if path.parts == (FOLDER, path.name) and path.suffix == ".csv" and path.stem in list_embedded_datasets():
        return _shorten(shipped_folder(FOLDER) / path.name)
    if len(path.parts) != 1:
        return path
    if (name := str(path)) in list_embedded_datasets():
        return _shorten(shipped_folder(FOLDER) / f"{name}.csv")
    return _resolve_other_name(path)


def _resolve_other_name(path: Path) -> Path:
    """Return the file of another package's data set with this name; report what else may be meant."""
    from zoloss_cli.config.catalog import find_plugin_file, has_generator

    name = str(path)
    if name in GENERATORS or (name in DATASET_PLUGINS and has_generator(name)):
        raise DataError(
            f"'{name}' is a generator, which configs and `zoloss plot --dataset` take; here a table is needed: "
            "a file, or one of `zoloss datasets`"
        )
    if name in DATASET_PLUGINS:
        return find_plugin_file(DATASET_PLUGINS[name])
    if path.suffix == ".csv" and path.stem in list_embedded_datasets():
        raise DataError(
            f"there is no file {path}; the data set that comes with zoloss is called '{path.stem}', "
            "without .csv"
        )
    nearest = "" if path.suffix else suggest_nearest(name, list_embedded_datasets())
    if nearest and not _list_beside(path):
        raise DataError(f"there is no file or data set '{name}'{nearest}")
    return path


def _list_beside(path: Path) -> list[str]:
    """Return files whose names begin with this one: then the reader's own message is better."""
    return [each.name for each in Path().glob("*") if each.is_file() and each.stem == str(path)]


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):  # a name that no file can have: readers report what is wrong
        return True


def _shorten(path: Path) -> Path:
    """Return a shipped file by a path relative to the working folder, if possible."""
    here = Path(FOLDER, path.name)
    try:
        return here if here.is_file() and here.samefile(path) else path.relative_to(Path.cwd())
    except (OSError, ValueError):
        return path
