"""A package that a learner needs but zoloss can be installed without."""

from __future__ import annotations

from typing import NamedTuple


class NeededPackage(NamedTuple):
    """A package that a learner imports when it is fitted.

    Attributes
    ----------
    module : str
        The package's module name.
    purpose : str
        What it is needed for, if not for the whole learner: "for its start 'lr'".
    instead : str
        What to do instead of installing it, if anything.
    """

    module: str
    purpose: str = ""
    instead: str = ""
