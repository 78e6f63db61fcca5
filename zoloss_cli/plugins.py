"""Registries: names that stand for classes and functions, imported only when used.

Other packages add to a registry through its entry point group, as in ``name = "module:Class"``. Whatever is
wrong with such an entry point is reported in one sentence that names its package, and only when it is used.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from zoloss_cli.errors import ConfigError, suggest_nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


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
