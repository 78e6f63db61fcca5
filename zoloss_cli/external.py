"""Classes of other packages and of files: sklearn.svm.LinearSVC, mine.py:MyClass.

Importing a package or loading a file executes arbitrary code: only scikit-learn and zoloss are trusted.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable
from typing import Any

from zoloss_cli.errors import ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.utils.imports import (
    find_code_policy,
    is_code_name,
    is_dotted_name,
    is_installed,
    load_class,
    name_class,
)

EXTERNAL_VERSION = 1  # increment when what is passed to external estimators, or counted, changes
TRUSTED_PACKAGES = {"sklearn": "scikit-learn", "zoloss_cli": "zoloss"}  # import names with distribution names
OTHER_KINDS = {
    "RegressorMixin": "a regressor",
    "ClusterMixin": "a clusterer",
    "OutlierMixin": "an outlier detector",
}
PRIVATE_MODULE = re.compile(r"\._\w+")


def format_error(error: Exception) -> str:
    """Return the type and message of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def is_trusted(name: str) -> bool:
    """Return whether a class may be imported without permission."""
    return is_dotted_name(name) and name.partition(".")[0] in TRUSTED_PACKAGES


def explain_refusal(name: str) -> str:
    """Return why a class is refused, and how to allow it."""
    shown = name.partition("@")[0]
    what = "code from a file" if is_code_name(name) else "a class from a package that zoloss does not trust"
    return (
        f"'{shown}' is {what} and runs with your permissions: review it, and if you trust it, "
        "allow it with --allow-code"
    )


def check_allowed(name: str) -> None:
    """Raise ConfigError if the class of a package or file is not allowed, or its package is missing."""
    check_package_installed(name)
    if not is_trusted(name) and find_code_policy() != "run":
        raise ConfigError(explain_refusal(name))


def load_external(name: str) -> Any:
    """Load a class from a package, or from a file that was read (mine.py:MyClass@SHA256), if allowed."""
    return load_class(name) if is_code_name(name) else _import_class(name)


def check_package_installed(name: str) -> None:
    """Raise MissingPackageError if the package of a dotted name is not installed; nothing is imported."""
    package = name.partition(".")[0]
    if is_dotted_name(name) and not is_installed(package):
        raise MissingPackageError(f"the learner '{name}' needs the package '{package}', which is not installed")


def _import_class(name: str) -> Any:
    module_name, _, attribute = name.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is None or not f"{module_name}.".startswith(f"{missing}."):
            raise ConfigError(f"'{name}' cannot be imported: {format_error(error)}") from error
        raise ConfigError(f"there is no module '{module_name}'{_suggest_class(name)}") from None
    found = getattr(module, attribute, None)
    defined_in = getattr(found, "__module__", "")
    if found is None or (is_trusted(name) and not is_trusted(f"{defined_in}.{attribute}")):
        raise ConfigError(f"the module '{module_name}' has no class '{attribute}'{_suggest_class(name)}")
    return found


def _suggest_class(name: str) -> str:
    """Return a suggestion to end a message: the nearest scikit-learn classifier, or module of the package."""
    package = name.partition(".")[0]
    if package == "sklearn":
        from sklearn.utils.discovery import all_estimators

        known = {PRIVATE_MODULE.sub("", f"{c.__module__}.{n}"): n for n, c in all_estimators("classifier")}
        same = [full for full, short in known.items() if short.lower() == name_class(name).lower()]
        return f"; did you mean '{same[0]}'?" if same else suggest_nearest(name, known)
    path: Iterable[str] = getattr(importlib.import_module(package), "__path__", ())
    return suggest_nearest(name.rpartition(".")[0], [f"{package}.{m.name}" for m in pkgutil.iter_modules(path)])


def check_is_classifier(found: Any, name: str) -> None:
    """Raise ConfigError unless `found` is a classifier class."""
    if not isinstance(found, type):
        raise ConfigError(f"'{name}' is not a class, but a {type(found).__name__}: a learner is a class")
    lacking = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
    if lacking:
        raise ConfigError(
            f"'{name}' is not an estimator: the class has no method {' and no method '.join(lacking)}"
        )
    bases = {base.__name__ for base in found.__mro__ if base.__module__.startswith("sklearn.")}
    for mixin, kind in OTHER_KINDS.items():
        if mixin in bases and "ClassifierMixin" not in bases:
            raise ConfigError(f"'{name}' is {kind}, and a learner must be a classifier")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise ConfigError(f"'{name}' is abstract: methods are missing ({missing})")


@functools.cache
def name_package(name: str) -> str:
    """Return the package and version of a dotted name, without importing it; empty for a class in a file."""
    if not is_dotted_name(name):
        return ""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    package = name.partition(".")[0]
    if package == "zoloss_cli":
        import zoloss_cli

        return f"zoloss {zoloss_cli.__version__}"
    known = TRUSTED_PACKAGES.get(package) or next(iter(packages_distributions().get(package, [package])))
    try:
        return f"{known} {version(known)}"
    except PackageNotFoundError:  # a module that no package installed
        return package
