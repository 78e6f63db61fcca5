"""What the name of a learner stands for: a registered class, one of another package, or one in a file.

A registered name is a line of `zoloss_cli/registry.py` or an entry point. Any other class of an installed
package is given by its dotted name, sklearn.svm.LinearSVC, and one in a file as mine.py:MyClass. Importing a
package or running a file runs whatever its author wrote: only scikit-learn and zoloss itself are trusted.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zoloss_cli.errors import ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.plugins import Plugin, Registration, import_target
from zoloss_cli.utils.code_files import (
    find_code_policy,
    is_code_name,
    is_dotted_name,
    load_class,
    name_class,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

ANY_LEARNER = "zoloss_cli.learners.base:Learner"
BASE_LEARNER = "zoloss_cli.learners.base:BinaryLearner"
FOREIGN_LEARNER = "zoloss_cli.learners.foreign:ForeignLearner"
FOREIGN_VERSION = 1  # raise when what is passed to other packages' estimators, or counted, changes
TRUSTED_PACKAGES = {"sklearn": "scikit-learn", "zoloss_cli": "zoloss"}  # with their names in pip
OTHER_KINDS = {
    "RegressorMixin": "a regressor",
    "ClusterMixin": "a clusterer",
    "OutlierMixin": "a detector of outliers",
}
PRIVATE_MODULE = re.compile(r"\._\w+")


class LearnerRegistration(Registration):
    """A learner's or measure's class, and the parameters that its name fixes."""

    @property
    def learner_class(self) -> Any:
        """The class, imported at first use."""
        return self.loaded

    @property
    def is_foreign(self) -> bool:
        """Whether the class is an estimator that is not derived from zoloss's own."""
        return False

    @property
    def is_multiclass(self) -> bool:
        """Whether the learner takes more than two classes."""
        return getattr(self.learner_class, "multiclass", False)

    @property
    def accepts_sample_weight(self) -> bool:
        """Whether the learner's fit takes sample weights."""
        return "sample_weight" in inspect.signature(self.learner_class.fit).parameters

    @property
    def reports(self) -> tuple[str, ...]:
        """The optional record fields that a fitted learner provides."""
        return tuple(getattr(self.learner_class, "reports", ()))

    @property
    def version(self) -> int:
        """The version of the algorithm, on which results depend."""
        return self.learner_class.version

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A typed model of the parameters that a config may set."""
        from zoloss_cli.utils.signature import learner_parameters

        return learner_parameters(self.learner_class, frozenset(self.fixed))

    def build(self, settings: Mapping[str, Any], random_state: Any) -> Any:
        """Return the unfitted estimator, with the seed only if it takes one.

        Parameters
        ----------
        settings : mapping
            Parameters other than those that the name fixes.
        random_state : int, Generator, RandomState or None
            The seed.
        """
        estimator = self.learner_class(**self.fixed, **settings)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=random_state)
        return estimator

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a documented learner whose parameters can be checked."""
        from zoloss_cli.utils.signature import learner_parameters

        if not (isinstance(found, type) and issubclass(found, import_target(BASE_LEARNER))):
            raise plugin.build_error(
                "is not a learner: it must be a class derived from zoloss_cli.BinaryLearner"
            )
        if not found.__doc__:
            raise plugin.build_error("has no docstring")
        try:
            learner_parameters(found)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise plugin.build_error(f"has parameters that cannot be checked: {reason}") from error


@dataclass(frozen=True)
class FoundRegistration(LearnerRegistration):
    """A class derived from zoloss's own, given by its package or file."""

    found: Any = None

    @property
    def loaded(self) -> Any:
        """The class."""
        return self.found

    @property
    def package(self) -> str:
        """The name and version of the package; empty if the class is in a file."""
        return name_package(self.target)


class ForeignRegistration(FoundRegistration):
    """An estimator class of another package or in a file, used through an adapter."""

    @property
    def is_foreign(self) -> bool:
        """Whether the class is an estimator that is not derived from zoloss's own."""
        return True

    @property
    def is_multiclass(self) -> bool:
        """Whether it takes more than two classes, according to its tags or its attribute `multiclass`."""
        try:
            return import_target(FOREIGN_LEARNER)(self.found()).multiclass
        except Exception:  # it cannot be built without parameters: each task checks again
            return True

    @property
    def version(self) -> int:
        """The version of the adapter; its package's version or its file's content identifies the class."""
        return FOREIGN_VERSION

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A model of the parameters by name; only the estimator knows which values are valid."""
        from zoloss_cli.utils.signature import untyped_parameters

        return untyped_parameters(self.found)

    def build(self, settings: Mapping[str, Any], random_state: Any) -> Any:
        """Return the adapter around an estimator with these parameters."""
        inner = {k: getattr(v, "wrapped_estimator", v) for k, v in settings.items()}
        try:
            estimator = self.found(**inner)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ConfigError(f"'{self.title}' cannot be made with these parameters: {reason}") from error
        return import_target(FOREIGN_LEARNER)(estimator, random_state)


def is_foreign_name(name: str) -> bool:
    """Return whether a learner's name refers to a class of a package or in a file, not to a registered one."""
    return is_dotted_name(name) or is_code_name(name)


def is_trusted(name: str) -> bool:
    """Return whether a class may be imported without permission."""
    return is_dotted_name(name) and name.partition(".")[0] in TRUSTED_PACKAGES


def explain_refusal(name: str) -> str:
    """Return why a class is refused, and how to allow it."""
    shown = name.partition("@")[0]
    what = "code from a file" if is_code_name(name) else "a class of a package that zoloss does not know"
    return (
        f"'{shown}' is {what}, which can do on this computer whatever you can: read it, and if you trust it, "
        "allow it with --allow-code"
    )


def find_foreign(name: str) -> LearnerRegistration:
    """Return the class of a package or in a file; ConfigError if missing, no classifier, or not allowed.

    Parameters
    ----------
    name : str
        A dotted name, or mine.py:MyClass@SHA256 of a file that was read.
    """
    check_package_is_there(name)
    if not is_trusted(name) and find_code_policy() != "run":
        raise ConfigError(explain_refusal(name))
    return _find_allowed(name)


@functools.lru_cache(maxsize=256)
def _find_allowed(name: str) -> LearnerRegistration:
    found = load_class(name) if is_code_name(name) else _import_class(name)
    return register_class(found, name.partition("@")[0])


def register_class(found: Any, name: str = "") -> LearnerRegistration:
    """Return the registration of a class itself; ConfigError if it is not a classifier.

    Parameters
    ----------
    found : type
        The class.
    name : str
        What to call it; its own name by default.
    """
    name = name or getattr(found, "__name__", repr(found))
    check_is_classifier(found, name)
    if not issubclass(found, import_target(ANY_LEARNER)):
        return ForeignRegistration(name, title=name_class(name), found=found)
    from zoloss_cli.utils.signature import learner_parameters

    try:
        learner_parameters(found)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"'{name}' has parameters that cannot be checked: {reason}") from error
    return FoundRegistration(name, title=name_class(name), found=found)


def check_package_is_there(name: str) -> None:
    """Raise MissingPackageError if the package of a dotted name is not installed; nothing is imported."""
    if not is_dotted_name(name):
        return
    package = name.partition(".")[0]
    try:
        is_there = importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise MissingPackageError(f"the learner '{name}' needs the package '{package}', which is not installed")


def _import_class(name: str) -> Any:
    module_name, _, attribute = name.rpartition(".")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise _build_import_error(name, error) from error
        raise ConfigError(f"there is no module '{module_name}'{_suggest_class(name)}") from None
    except Exception as error:
        raise _build_import_error(name, error) from error
    found = getattr(module, attribute, None)
    defined_in = getattr(found, "__module__", "")
    if found is None or (is_trusted(name) and not is_trusted(f"{defined_in}.{attribute}")):
        raise ConfigError(f"the module '{module_name}' has no class '{attribute}'{_suggest_class(name)}")
    return found


def _build_import_error(name: str, error: Exception) -> ConfigError:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return ConfigError(f"'{name}' cannot be imported: {reason}")


def _suggest_class(name: str) -> str:
    """Return the nearest class as the end of a message: among scikit-learn's classifiers, or modules."""
    package = name.partition(".")[0]
    if package == "sklearn":
        from sklearn.utils.discovery import all_estimators

        known = {PRIVATE_MODULE.sub("", f"{c.__module__}.{n}"): n for n, c in all_estimators("classifier")}
        same = [full for full, short in known.items() if short.lower() == name_class(name).lower()]
        return f"; did you mean '{same[0]}'?" if same else suggest_nearest(name, known)
    path: Iterable[str] = getattr(importlib.import_module(package), "__path__", ())
    return suggest_nearest(name.rpartition(".")[0], [f"{package}.{m.name}" for m in pkgutil.iter_modules(path)])


def check_is_classifier(found: Any, name: str) -> None:
    """Raise ConfigError unless this is a class with the methods of a classifier.

    Parameters
    ----------
    found : object
        The object that the name refers to.
    name : str
        The name, for the message.
    """
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
    """Return the package of a class by its dotted name, with its version; nothing is imported.

    Parameters
    ----------
    name : str
        A dotted name; a class in a file has no package.
    """
    if not is_dotted_name(name):
        return ""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    package = name.partition(".")[0]
    if package == "zoloss_cli":
        return f"zoloss {import_target('zoloss_cli:__version__')}"
    known = TRUSTED_PACKAGES.get(package) or next(iter(packages_distributions().get(package, [package])))
    try:
        return f"{known} {version(known)}"
    except PackageNotFoundError:  # a module that no package installed
        return package
