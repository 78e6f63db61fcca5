"""Durations in readable form."""

from __future__ import annotations


def format_duration(seconds: float | None) -> str:
    """Return seconds as hours:minutes:seconds or minutes:seconds; a question mark if they are unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
