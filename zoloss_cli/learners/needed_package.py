"""A package that a learner needs and zoloss can be installed without."""

from __future__ import annotations

from typing import NamedTuple


class NeededPackage(NamedTuple):
    """A package that a learner imports when it is fitted.

    Attributes
    ----------
    module : str
        The package's name in Python.
    purpose : str
        What for, where the learner is not all about it: "for its start 'lr'".
    instead : str
        What to do instead of installing it, if anything.
    """

    module: str
    purpose: str = ""
    instead: str = ""
