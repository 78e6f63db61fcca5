"""What a registered name stands for: a learner, a metric or a data set, of zoloss, another package or a file.

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
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from zoloss_cli.errors import ConfigError, MissingPackageError, suggest_nearest
from zoloss_cli.utils.code_files import (
    find_code_policy,
    is_code_name,
    is_dotted_name,
    load_class,
    name_class,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pydantic import BaseModel

# Other packages add to a registry through its entry point group, as in ``name = "module:Class"``. Whatever is
# wrong with such an entry point is reported in one sentence that names its package, and only when it is used.


def import_target(target: str) -> Any:
    """Import what a target such as ``package.module:Class`` names."""
    module, _, path = target.partition(":")
    found = importlib.import_module(module.strip())
    for attribute in path.strip().split("."):
        found = getattr(found, attribute)
    return found


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package.

    Attributes
    ----------
    kind : str
        What it adds, such as 'learner' or 'data set'.
    name, target : str
        The entry point, ``name = target``.
    package : str
        The package's name and version.
    rival : str
        Who else uses this name; empty if nobody does.
    """

    kind: str
    name: str
    target: str
    package: str
    rival: str = ""

    def build_error(self, reason: str) -> ConfigError:
        """Return an error that names the plug-in and its package."""
        return ConfigError(
            f"the {self.kind} '{self.name}' of the package {self.package} "
            f"(entry point {self.name} = {self.target}) {reason}"
        )

    @property
    def name_error(self) -> ConfigError:
        """The error for a name that is also used elsewhere."""
        return self.build_error(f"has the name of another one, of {self.rival}: its package must rename it")

    def load(self) -> Any:
        """Import what the entry point names."""
        if self.rival:
            raise self.name_error
        try:
            return import_target(self.target)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise self.build_error(f"cannot be imported: {reason}") from error


def list_plugins(kind: str, group: str, reserved: Collection[str] = ()) -> list[Plugin]:
    """Return the entry points of a group, sorted by name.

    Parameters
    ----------
    kind : str
        What the group adds, in the words of a message.
    group : str
        The entry point group.
    reserved : collection of str
        The names of zoloss itself, which no package can take.
    """
    from importlib.metadata import entry_points  # slow to import, and few commands need it

    found = sorted(entry_points(group=group), key=lambda e: (e.name, _name_package(e), e.value))
    claims: dict[str, list[str]] = {}
    for entry in found:
        claims.setdefault(entry.name, []).append(_name_package(entry))
    return [
        Plugin(
            kind,
            entry.name,
            entry.value,
            _name_package(entry),
            _find_rival(claims[entry.name], _name_package(entry), entry.name in reserved),
        )
        for entry in found
    ]


def _name_package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"


def _find_rival(claims: list[str], package: str, is_reserved: bool) -> str:
    if is_reserved:
        return "zoloss itself"
    others = [other for other in claims if other != package] or claims[1:]
    return "the package " + others[0] if others else ""


@dataclass(frozen=True)
class Registration:
    """What a name stands for.

    Attributes
    ----------
    target : str
        Where it is, as ``package.module:name``.
    fixed : dict
        Parameters that the name sets; the others can be set in a config.
    title : str
        What tables and figures call it.
    plugin : Plugin or None
        The entry point that added it, if it is not zoloss's own.
    """

    target: str
    fixed: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    plugin: Plugin | None = None

    @property
    def package(self) -> str:
        """The name and version of the package that added it; empty if it is zoloss's own."""
        return self.plugin.package if self.plugin else ""

    @functools.cached_property
    def loaded(self) -> Any:
        """The class or function itself; ConfigError if it is a plug-in that cannot be used."""
        if self.plugin is None:
            return import_target(self.target)
        found = self.plugin.load()
        self.check_plugin(self.plugin, found)
        return found

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless a plug-in provides what the registry holds."""


R = TypeVar("R", bound=Registration)


class Registry(Mapping[str, R]):
    """All names of one kind: zoloss's own, then those of installed packages.

    Parameters
    ----------
    kind : str
        What is registered, in the words of a message: 'learner'.
    builtin : dict
        The registrations of zoloss itself.
    group : str
        The entry point group that other packages add to; if empty, there are no plug-ins.
    registration_type : type
        The class of a plug-in's registration, which validates it.
    reserved : callable
        Returns more names that plug-ins cannot take.
    hint : str
        How a message about an unknown name ends if no name is close.
    """

    def __init__(
        self,
        kind: str,
        builtin: dict[str, R],
        group: str = "",
        registration_type: type[R] | None = None,
        reserved: Callable[[], Collection[str]] = tuple,
        hint: str = "",
    ) -> None:
        self.kind, self.builtin, self.group, self.hint = kind, builtin, group, hint
        self._registration_type, self._reserved = registration_type, reserved

    def __getitem__(self, name: str) -> R:
        return self._registrations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._registrations)

    def __len__(self) -> int:
        return len(self._registrations)

    def find(self, name: str) -> R:
        """Return a registration by its name; an unknown one is a ConfigError with the nearest name."""
        if name not in self:
            raise ConfigError(f"unknown {self.kind} '{name}'{suggest_nearest(name, self) or self.hint}")
        for plugin in self.plugins:
            if plugin.name == name and name in self.builtin:
                # Always the same place, so that Python warns only once.
                warnings.warn(f"{plugin.name_error}; '{name}' is zoloss's own", stacklevel=1)
        return self[name]

    @functools.cached_property
    def plugins(self) -> list[Plugin]:
        """What installed packages add, including what cannot be used."""
        return list_plugins(self.kind, self.group, {*self.builtin, *self._reserved()}) if self.group else []

    @functools.cached_property
    def _registrations(self) -> dict[str, R]:
        taken = {*self.builtin, *self._reserved()} if self.plugins else self.builtin
        return self.builtin | {p.name: self._register(p) for p in self.plugins if p.name not in taken}

    def _register(self, plugin: Plugin) -> R:
        assert self._registration_type is not None, f"the registry of {self.kind}s takes no plug-ins"
        return self._registration_type(plugin.target, title=plugin.name, plugin=plugin)

    def list_usable(self) -> dict[str, R]:
        """Return what can be used: a broken package must not hide the others."""
        return {name: entry for name, entry in self.items() if not find_fault(entry)}

    def list_broken(self) -> list[tuple[Plugin, str]]:
        """Return the plug-ins that cannot be used, and why."""
        faults = [(plugin, find_fault(self._register(plugin))) for plugin in self.plugins]
        return [(plugin, fault) for plugin, fault in faults if fault]


def find_fault(registration: Registration) -> str:
    """Return what is wrong with a registration, in one sentence; empty if it can be used."""
    try:
        _ = registration.loaded
    except ConfigError as error:
        return str(error)
    return ""


BASE_METRIC = "zoloss_cli.metrics.base:Metric"
RNG = "rng"  # the first parameter of a generator and of no other function


class DatasetRegistration(Registration):
    """A function that generates a pool of samples, or that returns the path of a CSV file."""

    @property
    def is_generator(self) -> bool:
        """Whether the function generates a pool."""
        return is_generator(self.loaded)

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A typed model of the generator's parameters that a config may set."""
        from zoloss_cli.utils.signature import parameter_model

        return parameter_model(self.loaded, frozenset({RNG}))

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a documented function of one of the two kinds."""
        from zoloss_cli.utils.signature import parameter_model

        if not inspect.isfunction(found):
            raise plugin.build_error("is not a function")
        if not found.__doc__:
            raise plugin.build_error("has no docstring")
        if not is_generator(found):
            if inspect.signature(found).parameters:
                raise plugin.build_error(f"must take no parameters, or '{RNG}' as its first")
            return
        try:
            settings = parameter_model(found, frozenset({RNG})).model_fields
        except Exception as error:
            reason = " ".join(str(error).split())
            raise plugin.build_error(f"has settings that cannot be checked: {reason}") from error
        if "size" not in settings or any(setting.is_required() for setting in settings.values()):
            raise plugin.build_error("must have a setting 'size', and a default for every setting")


class MetricRegistration(Registration):
    """A metric's class."""

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a metric of the plug-in's name."""
        if not (isinstance(found, type) and issubclass(found, import_target(BASE_METRIC))):
            raise plugin.build_error(
                "is not a metric: it must be a class derived from zoloss_cli.metrics.base.Metric"
            )
        if getattr(found, "name", None) != plugin.name:
            raise plugin.build_error(f"must have the name '{plugin.name}', as its entry point says")
        if inspect.isabstract(found):
            raise plugin.build_error("has no method compute")
        if getattr(found, "direction", None) not in ("lower", "higher", None):
            raise plugin.build_error("must have the direction 'lower', 'higher', or None if no value is better")


def is_generator(function: Any) -> bool:
    """Return whether a function generates pools: whether its first parameter is `rng`."""
    return next(iter(inspect.signature(function).parameters), None) == RNG


# A registered name is a line of `zoloss_cli/registry.py` or an entry point. Any other class of an installed
# package is given by its dotted name, sklearn.svm.LinearSVC, and one in a file as mine.py:MyClass. Importing a
# package or running a file runs whatever its author wrote: only scikit-learn and zoloss itself are trusted.

ANY_LEARNER = "zoloss_cli.learners.base:Learner"
BASE_LEARNER = "zoloss_cli.learners.base:BinaryLearner"
FOREIGN_LEARNER = "zoloss_cli.learners.external:ForeignLearner"
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
