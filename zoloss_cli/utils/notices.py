"""What a person should know while a long step goes on: told where it is noticed, shown by the command line."""

from __future__ import annotations

from collections.abc import Callable

_show: Callable[[str], object] | None = None


def show_notices_by(show: Callable[[str], object] | None) -> None:
    """Let `show` have all notices from now on; None drops them, as in a library that nobody watches."""
    global _show
    _show = show


def notify(text: str) -> None:
    """Tell one sentence to whoever shows notices."""
    if _show is not None:
        _show(text)
