"""Packages that only some commands need: imported at first use, and requested in one sentence.

They are installed by default, but one of them needs a compiler and two are large, so zoloss works without them.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from zoloss_cli.errors import MissingPackageError

INSTALL_NAMES = {"liblinear": "liblinear-official"}  # packages whose names in pip and Python differ


def is_installed(module: str) -> bool:
    """Return whether a package can be found, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def import_optional(module: str, needed_by: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        The module, such as 'cvxpy' or 'liblinear.liblinearutil'.
    needed_by : str
        What needs it, as the subject of a sentence: "the learner 'mip'".

    Returns
    -------
    ModuleType
        The module.

    Raises
    ------
    MissingPackageError
        If it is not installed, or cannot be imported; the message has the command to install it.

    Examples
    --------
    >>> import_optional("no_such_package", "the learner 'mine'")
    Traceback (most recent call last):
    ...
    zoloss_cli.errors.MissingPackageError: the learner 'mine' needs the package no_such_package, which is not \
installed: pip install no_such_package
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a library that the package loads itself
        if not is_installed(package) or getattr(error, "name", None) == package:
            raise build_missing_error(package, needed_by) from None
        name, reason = find_install_name(package), " ".join(str(error).split())
        raise MissingPackageError(
            f"{needed_by} needs the package {name}, which cannot be imported ({reason}): "
            f"pip install --force-reinstall {name}"
        ) from error


def check_installed(package: str, needed_by: str) -> None:
    """Raise MissingPackageError if a package is not installed, before starting work that needs it."""
    if not is_installed(package):
        raise build_missing_error(package, needed_by)


def build_missing_error(
    package: str, needed_by: str, purpose: str = "", instead: str = ""
) -> MissingPackageError:
    """Return the error about a package that is not installed.

    Parameters
    ----------
    package : str
        The package's module name.
    needed_by : str
        What needs it.
    purpose : str
        What it is needed for, if not for everything: "for its start 'lr'".
    instead : str
        What to do instead of installing it, if anything.
    """
    name = find_install_name(package)
    what_for, otherwise = f" {purpose}" * bool(purpose), f", or {instead}" * bool(instead)
    return MissingPackageError(
        f"{needed_by} needs the package {name}{what_for}, which is not installed: pip install {name}{otherwise}"
    )


def find_install_name(package: str) -> str:
    """Return a package's name in pip."""
    return INSTALL_NAMES.get(package, package)
