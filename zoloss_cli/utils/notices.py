"""Notices during a long step: sent where something is noticed, shown by the command line."""

from __future__ import annotations

from collections.abc import Callable

_show: Callable[[str], object] | None = None


def show_notices_by(show: Callable[[str], object] | None) -> None:
    """Send all notices to `show` from now on; None drops them, as in a library."""
    global _show
    _show = show


def notify(text: str) -> None:
    """Send one sentence to whoever shows notices."""
    if _show is not None:
        _show(text)
