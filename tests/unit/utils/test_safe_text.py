"""Control characters as escapes."""

from __future__ import annotations

import json
import sys

from zoloss_cli.utils.text import show_controls


def test_what_is_printable_stays_as_it_is():
    printable = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if c.isprintable())
    assert show_controls(printable) == printable


def test_controls_directions_and_lone_bytes_are_shown():
    assert show_controls("a\x1b\r\x9b\u202e\udcffb\n\t") == "a\\x1b\\x0d\\u009b\\u202e\\udcffb\n\t"
    assert show_controls("a\n", keep="") == r"a\x0a"
    show_controls("\udcff").encode()


def test_json_says_the_same():
    content = {"a": "\x7f\x9b\u202e\x1b"}
    assert json.loads(show_controls(json.dumps(content, ensure_ascii=False, indent=1))) == content
