"""Text utilities: escapes, file names, durations, and notices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

# C0 and C1 controls, line separators, bidirectional controls, and surrogates for bytes that are not UTF-8.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def show_controls(text: str, keep: str = "\n\t") -> str:
    """Escape the control characters of a text, except those in `keep`; JSON stays valid."""

    def escape(found: re.Match[str]) -> str:
        character = found[0]
        if character in keep:
            return character
        return f"\\x{ord(character):02x}" if character < "\x7f" else f"\\u{ord(character):04x}"

    return _CONTROLS.sub(escape, text)


def list_options(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line: a list repeats its option; None or "" leave it out.

    >>> list_options({"label": None, "drop": ["a", "b c"], "max_terms": 4})
    ['--drop', 'a', '--drop', 'b c', '--max-terms', '4']
    """
    lists = {key: value if isinstance(value, list | tuple) else [value] for key, value in options.items()}
    pairs = [(f"--{key.replace('_', '-')}", each) for key, values in lists.items() for each in values]
    return [word for key, value in pairs if value not in (None, "") for word in (key, str(value))]


MAX_NAME_BYTES = 200  # file systems allow 255, and suffixes are added
SEPARATORS = "/\\"
# Characters that move the cursor, end a line or reverse the text direction disguise a name.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def check_file_name(name: str) -> str:
    """Return a name, without suffix, if it is a valid file name in any folder; otherwise raise ValueError."""
    shown = repr(name) if len(name) <= 60 else repr(name[:57]) + "..."
    why = f"since it becomes the name of a file (got {shown})"
    if not name.strip():
        raise ValueError("must not be empty, since it becomes the name of a file")
    if found := next((c for c in name if c in SEPARATORS), None):
        raise ValueError(f"must not hold {found}, {why}")
    if name.startswith("."):
        raise ValueError(f"must not begin with a dot, {why}")
    if CONTROL.search(name):
        raise ValueError(f"must not hold line breaks or control characters, {why}")
    if not is_utf8(name):
        raise ValueError(f"must be UTF-8 text (got {shown})")
    if (size := len(name.encode())) > MAX_NAME_BYTES:
        raise ValueError(f"must not be longer than {MAX_NAME_BYTES} bytes (got {size}: {shown})")
    return name


def is_utf8(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8: file names may hold lone surrogates for other bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean_file_name(name: str) -> str:
    """Return the name with dashes for what :func:`check_file_name` refuses, cut to the length it allows."""
    text = CONTROL.sub("-", name).translate(str.maketrans(SEPARATORS, "--"))
    text = text.encode(errors="replace")[:MAX_NAME_BYTES].decode(errors="ignore")
    return "-" + text[1:] if text.startswith(".") or not text.strip() else text


def format_duration(seconds: float | None) -> str:
    """Return seconds as hours:minutes:seconds or minutes:seconds; a question mark if they are unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


_show: Callable[[str], object] | None = None


def show_notices_by(show: Callable[[str], object] | None) -> None:
    """Set the function that shows notices; None drops them, as in a library."""
    global _show
    _show = show


def notify(text: str) -> None:
    """Show a notice of one sentence, if a function for it is set."""
    if _show is not None:
        _show(text)
