"""Text from files and other people, shown so that no terminal or page interprets a part of it as a command."""

from __future__ import annotations

import re

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
