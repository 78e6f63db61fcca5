"""Changes to bytes, texts and nested values, by random numbers that are passed in."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

NUMBERS = [
    *("0", "-0", "-1", "1", "2", "1e308", "-1e308", "1e309", "5e-324", "1e-307", "nan", "inf", "-inf", ".inf"),
    *(".nan", "1_000", "0x1F", "1e400", "9" * 25, "9" * 500, "١٢", "1,5", "1e", "0.1.2", "+1", "٣.٥", "1e-400"),
]
TEXTS = [
    *(
        "",
        " ",
        "\t",
        "~",
        "null",
        "true",
        "no",
        "on",
        "---",
        "...",
        "{}",
        "[]",
        "!!python/object:os.system x",
        "&a",
        "*a",
    ),
    *(
        "<<",
        "../../x",
        "/etc/passwd",
        "C:\\x",
        ".",
        "..",
        "a/b",
        "x" * 300,
        "\x1b[2J",
        "\x00",
        "\u202e",
        "\ufeff",
        "é",
    ),
    *(
        "<script>alert(1)</script>",
        "\\input{evil}",
        '=HYPERLINK("http://x")',
        "@SUM(1)",
        "%s%n",
        "{0}",
        "\r",
        "\n",
    ),
    *(
        "'",
        '"',
        "`",
        "#",
        ":",
        ",",
        ";",
        "|",
        "\u2028",
        "\ud7ff",
        "😀",
        "label",
        "\x85",
        "1e5 ",
        "None",
        "NaN",
        "-",
    ),
]
BYTES = [
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\x00",
    b"\r\n",
    b"\n\n",
    b"\x1a",
    b"\x1b]0;x\x07",
]
VALUES: list[Any] = [
    *(
        0,
        -1,
        1,
        2,
        3,
        0.5,
        1e308,
        -1e308,
        2**31,
        2**63,
        2**70,
        10**30,
        1e-320,
        None,
        True,
        False,
        "",
        "x",
        [],
        {},
    ),
    *(
        [[]],
        [1],
        [None],
        {"a": 1},
        "../../x",
        "\x1b[2J",
        "<b>",
        "nan",
        float("inf"),
        float("nan"),
        "\ud7ff",
        "1",
        [[1]],
    ),
]


def change_digit(content: bytes, rng: random.Random) -> bytes:
    """Put another digit in the place of one."""
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return flip_bit(content, rng)
    place = rng.choice(places)
    other = rng.choice([d for d in range(48, 58) if d != content[place]])
    return content[:place] + bytes([other]) + content[place + 1 :]


def flip_bit(content: bytes, rng: random.Random) -> bytes:
    """Turn one bit round."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def change_byte(content: bytes, rng: random.Random) -> bytes:
    """Put another byte in the place of one."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ rng.randrange(1, 256)]) + content[place + 1 :]


def cut(content: bytes, rng: random.Random) -> bytes:
    """Leave the end away, at any byte."""
    return content[: rng.randrange(len(content))]


def remove_span(content: bytes, rng: random.Random) -> bytes:
    """Remove some bytes in the middle."""
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 40) :]


def double_span(content: bytes, rng: random.Random) -> bytes:
    """Write some bytes twice."""
    start = rng.randrange(len(content))
    end = start + rng.randint(1, 60)
    return content[:end] + content[start:end] * rng.choice([1, 1, 1, 50]) + content[end:]


def zero_span(content: bytes, rng: random.Random) -> bytes:
    """Put zeros in the place of some bytes, as a disk may that lost a block."""
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.randint(1, 600))
    return content[:start] + bytes(end - start) + content[end:]


def double_line(content: bytes, rng: random.Random) -> bytes:
    """Write one line twice."""
    lines = content.splitlines(keepends=True)
    return b"".join([*lines, rng.choice(lines)])


def remove_lines(content: bytes, rng: random.Random) -> bytes:
    """Remove one line, or all from one on: what is left has nothing wrong with it."""
    lines = content.splitlines(keepends=True)
    place = rng.randrange(len(lines))
    return b"".join([*lines[:place], *rng.choice([lines[place + 1 :], []])])


def swap_lines(content: bytes, rng: random.Random) -> bytes:
    """Let two lines change places."""
    lines = content.splitlines(keepends=True)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def insert_token(content: bytes, rng: random.Random) -> bytes:
    """Put something in that means something somewhere."""
    token = rng.choice([*(t.encode() for t in NUMBERS + TEXTS), *BYTES])
    place = rng.randrange(len(content) + 1)
    return content[:place] + token + content[place:]


def replace_word(content: bytes, rng: random.Random) -> bytes:
    """Put a number or text in the place of a word."""
    words = [w for w in content.replace(b",", b" ").replace(b":", b" ").split() if len(w) < 60]
    if not words:
        return insert_token(content, rng)
    return content.replace(rng.choice(words), rng.choice(NUMBERS + TEXTS).encode(), rng.choice([1, 1, -1]))


DAMAGES: list[Callable[[bytes, random.Random], bytes]] = [
    *(change_digit, flip_bit, change_byte, cut, remove_span, double_span, zero_span, double_line, swap_lines),
    remove_lines,
]
EDITS = [*DAMAGES, insert_token, replace_word, replace_word]


def edit(content: bytes, rng: random.Random) -> bytes:
    """Make one to four changes."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = rng.choice(EDITS)(content or b"x", rng)
    return content


def change_value(node: Any, rng: random.Random, values: list[Any]) -> None:
    """Change, remove, rename or double a value somewhere in nested lists and mappings."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.8:
        change_value(node[key], rng, values)
        return
    what = rng.random()
    if what < 0.7:
        node[key] = copy.deepcopy(rng.choice(values))  # the next change may be within it
    elif what < 0.8:
        del node[key]
    elif isinstance(node, list):
        node.insert(key, copy.deepcopy(node[rng.choice(keys)]))
    else:
        node[str(rng.choice([*(v for v in values if isinstance(v, str)), "x"]))] = copy.deepcopy(
            node[rng.choice(keys)]
        )
