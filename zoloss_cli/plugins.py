"""What other packages add through entry points: found by name, imported only when used.

Whatever is wrong with an entry point is said in one sentence that names its package, when it is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from dataclasses import dataclass

from zoloss_cli.errors import ConfigError


@dataclass(frozen=True)
class Plugin:
    """An entry point: `name = target`, of a package with its version."""

    what: str  # a learner, or a data set
    name: str
    target: str
    package: str
    rival: str = ""  # who else has this name

    def mistake(self, reason: str) -> ConfigError:
        return ConfigError(
            f"the {self.what} '{self.name}' of the package {self.package} "
            f"(entry point {self.name} = {self.target}) {reason}"
        )

    @property
    def clash(self) -> ConfigError:
        return self.mistake(f"has the name of another one, of {self.rival}: its package must rename it")

    def load(self):
        """What the entry point names."""
        if self.rival:
            raise self.clash
        module, _, path = self.target.partition(":")
        try:
            found = importlib.import_module(module.strip())
            for attribute in path.strip().split("."):
                found = getattr(found, attribute)
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise self.mistake(f"cannot be imported: {reason}") from error
        return found


def plugins(what: str, taken: Collection[str]) -> list[Plugin]:
    """All that installed packages add to the group `zoloss.learners` or `zoloss.datasets`, in order.

    `taken` are zoloss's own names, which nobody can take from it.
    """
    from importlib.metadata import entry_points  # slow to import, and few commands need it

    group = f"zoloss.{what.replace(' ', '')}s"
    found = sorted(entry_points(group=group), key=lambda e: (e.name, _package(e), e.value))
    claims: dict[str, list[str]] = {}
    for entry in found:
        claims.setdefault(entry.name, []).append(_package(entry))
    return [
        Plugin(what, e.name, e.value, _package(e), _rival(claims[e.name], _package(e), e.name in taken))
        for e in found
    ]


def _package(entry) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?"


def _rival(claims: list[str], own: str, ours: bool) -> str:
    if ours:
        return "zoloss itself"
    others = [package for package in claims if package != own] or (claims[1:] and [own])
    return "the package " + others[0] if others else ""
