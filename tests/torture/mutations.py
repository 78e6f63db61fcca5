"""Changes to bytes, texts and nested values, by random numbers that are passed in."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

NUMBERS = [
    *("0", "-0", "-1", "1", "2", "1e308", "-1e308", "1e309", "5e-324", "1e-307", "nan", "inf", "-inf", ".inf"),
    *(".nan", "1_000", "0x1F", "1e400", "9" * 25, "9" * 500, "١٢", "1,5", "1e", "0.1.2", "+1", "٣.٥", "1e-400"),
]
TEXTS = [
    *("", " ", "\t", "~", "null", "true", "no", "on", "---", "...", "{}", "[]", "!!python/object:os.system x"),
    *("&a", "*a", "<<", "../../x", "/etc/passwd", "C:\\x", ".", "..", "a/b", "x" * 300, "\x1b[2J", "\x00"),
    *(
        "\u202e",
        "\ufeff",
        "é",
        "<script>alert(1)</script>",
        "\\input{evil}",
        '=HYPERLINK("http://x")',
        "@SUM(1)",
    ),
    *("%s%n", "{0}", "\r", "\n", "'", '"', "`", "#", ":", ",", ";", "|", "\u2028", "\ud7ff", "😀"),
    *("label", "\x85", "1e5 ", "None", "NaN", "-"),
]
BYTES = [
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\r\n", b"\n\n", b"\x1a"),
    b"\x1b]0;x\x07",
]
VALUES: list[Any] = [
    *(0, -1, 1, 2, 3, 0.5, 1e308, -1e308, 2**31, 2**63, 2**70, 10**30, 1e-320, None, True, False, "", "x", []),
    *({}, [[]], [1], [None], {"a": 1}, "../../x", "\x1b[2J", "<b>", "nan", float("inf"), float("nan")),
    *("\ud7ff", "1", [[1]]),
]
Mutation = Callable[[bytes, Random], bytes]


def change_digit(content: bytes, rng: Random) -> bytes:
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return flip_bit(content, rng)
    place = rng.choice(places)
    other = rng.choice([d for d in range(48, 58) if d != content[place]])
    return content[:place] + bytes([other]) + content[place + 1 :]


def change_span(content: bytes, rng: Random, length: int, change: Callable[[bytes], bytes]) -> bytes:
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.randint(1, length))
    return content[:start] + change(content[start:end]) + content[end:]


def flip_bit(content: bytes, rng: Random) -> bytes:
    return change_span(content, rng, 1, lambda part: bytes([part[0] ^ 1 << rng.randrange(8)]))


def change_lines(content: bytes, rng: Random) -> bytes:
    """Double, swap or remove lines: each of those that are left is as it was."""
    lines = content.splitlines(keepends=True)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    swapped = [lines[{i: j, j: i}.get(k, k)] for k in range(len(lines))]
    return b"".join(rng.choice([[*lines, lines[i]], swapped, lines[:i] + lines[i + 1 :], lines[:i]]))


def insert_token(content: bytes, rng: Random) -> bytes:
    token = rng.choice([*(t.encode() for t in NUMBERS + TEXTS), *BYTES])
    place = rng.randrange(len(content) + 1)
    return content[:place] + token + content[place:]


def replace_word(content: bytes, rng: Random) -> bytes:
    words = [w for w in content.replace(b",", b" ").replace(b":", b" ").split() if len(w) < 60]
    if not words:
        return insert_token(content, rng)
    return content.replace(rng.choice(words), rng.choice(NUMBERS + TEXTS).encode(), rng.choice([1, 1, -1]))


DAMAGES: list[Mutation] = [
    *(change_digit, flip_bit, change_lines, change_lines, change_lines),
    lambda content, rng: content[: rng.randrange(len(content))],  # cut
    lambda content, rng: change_span(content, rng, 1, lambda part: bytes([part[0] ^ rng.randrange(1, 256)])),
    lambda content, rng: change_span(content, rng, 40, lambda part: b""),
    lambda content, rng: change_span(content, rng, 60, lambda part: part * rng.choice([2, 2, 2, 51])),
    lambda content, rng: change_span(content, rng, 600, lambda part: bytes(len(part))),
]
EDITS: list[Mutation] = [*DAMAGES, insert_token, replace_word, replace_word]


def damage(content: bytes, rng: Random) -> bytes:
    """Make one change, mostly of a digit or a bit."""
    return rng.choice([change_digit, flip_bit] if rng.random() < 0.6 else DAMAGES)(content, rng)


def edit(content: bytes, rng: Random) -> bytes:
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = rng.choice(EDITS)(content or b"x", rng)
    return content


def change_value(node: Any, rng: Random, values: list[Any]) -> None:
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
