"""Text from users and files: safe to show, names that become files, durations, and notices."""

from __future__ import annotations

import re
from collections.abc import Callable

# C0 and C1 controls, line separators, what reverses the direction of text, and bytes that are not UTF-8.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def show_controls(text: str, keep: str = "\n\t") -> str:
    r"""Return a text with its control characters as escapes.

    Parameters
    ----------
    text : str
        The text.
    keep : str
        The control characters to keep.

    Returns
    -------
    str
        A text that only shows its content; JSON stays JSON with the same content.

    Examples
    --------
    >>> show_controls("a\x1b[2Jb") == "a" + chr(92) + "x1b[2Jb"
    True
    """

    def escape(found: re.Match[str]) -> str:
        character = found[0]
        if character in keep:
            return character
        return f"\\x{ord(character):02x}" if character < "\x7f" else f"\\u{ord(character):04x}"

    return _CONTROLS.sub(escape, text)


MAX_NAME_BYTES = 200  # file systems allow 255, and suffixes are added
SEPARATORS = "/\\"
# Characters that move the cursor, end a line or reverse the direction of text hide what a name really is.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def check_file_name(name: str) -> str:
    """Return a name that can be a file name in any folder; otherwise raise ValueError.

    Parameters
    ----------
    name : str
        The name, without the suffix that the file gets.

    Returns
    -------
    str
        The same name.

    Examples
    --------
    >>> check_file_name("table4.2")
    'table4.2'
    """
    if not name.strip():
        raise ValueError("must not be empty, since it becomes the name of a file")
    if found := next((c for c in name if c in SEPARATORS), None):
        raise ValueError(f"must not hold {found}, since it becomes the name of a file (got {_shorten(name)})")
    if name.startswith("."):
        raise ValueError(
            f"must not begin with a dot, since it becomes the name of a file (got {_shorten(name)})"
        )
    if CONTROL.search(name):
        raise ValueError(
            f"must not hold line breaks or control characters, since it becomes the name of a file "
            f"(got {_shorten(name)})"
        )
    if not is_utf8(name):
        raise ValueError(f"must be UTF-8 text (got {_shorten(name)})")
    if (size := len(name.encode())) > MAX_NAME_BYTES:
        raise ValueError(f"must not be longer than {MAX_NAME_BYTES} bytes (got {size}: {_shorten(name)})")
    return name


def is_utf8(text: str) -> bool:
    """Return whether a text can be written as UTF-8: names of files may hold other bytes.

    Examples
    --------
    >>> is_utf8("café"), is_utf8("caf" + chr(0xdce9))
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean_file_name(name: str) -> str:
    """Return the name with dashes for what :func:`check_file_name` refuses, cut to the length it allows.

    Examples
    --------
    >>> clean_file_name("a/b")
    'a-b'
    """
    text = CONTROL.sub("-", name).translate(str.maketrans(SEPARATORS, "--"))
    text = text.encode(errors="replace")[:MAX_NAME_BYTES].decode(errors="ignore")
    return "-" + text[1:] if text.startswith(".") or not text.strip() else text


def _shorten(name: str) -> str:
    """Return a name in quotes, shortened if long, with invisible characters escaped."""
    return repr(name) if len(name) <= 60 else repr(name[:57]) + "..."


def format_duration(seconds: float | None) -> str:
    """Return seconds as hours:minutes:seconds or minutes:seconds; a question mark if they are unknown."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


_show: Callable[[str], object] | None = None


def show_notices_by(show: Callable[[str], object] | None) -> None:
    """Send all notices to `show` from now on; None drops them, as in a library."""
    global _show
    _show = show


def notify(text: str) -> None:
    """Send one sentence to whoever shows notices."""
    if _show is not None:
        _show(text)
