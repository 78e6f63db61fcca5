"""Text from users and files: names that become files, and control characters as escapes."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.utils.text import MAX_NAME_BYTES, check_file_name, clean_file_name, show_controls


def test_a_name_that_is_none_of_a_file_is_refused_in_one_line():
    for name in ("table4.2", "a,b", "данные", "two words", "x" * 200):
        assert check_file_name(name) == name
    for name, part in (
        ("../../package", "must not hold /"),
        ("a\\b", "must not hold \\"),
        ("..", "begin with a dot"),
        ("  ", "must not be empty"),
        ("a\x1b[2Jb", "line breaks or control characters"),
        ("a\u202eb", "line breaks or control characters"),
        ("x" * 300, "longer than 200 bytes (got 300"),
        ("д" * 101, "longer than 200 bytes (got 202"),
        ("a\udcffb", "must be UTF-8 text"),
    ):
        with pytest.raises(ValueError) as caught:
            check_file_name(name)
        message = str(caught.value)
        assert part in message
        assert message.isprintable()
        assert len(message) < 250


@given(st.text(alphabet=st.characters() | st.sampled_from("./\\\n"), max_size=300))
def test_a_cleaned_name_is_valid(name):
    cleaned = clean_file_name(name)
    assert check_file_name(cleaned) == cleaned
    assert len(cleaned.encode()) <= MAX_NAME_BYTES


def test_what_is_printable_stays_as_it_is():
    printable = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if c.isprintable())
    assert show_controls(printable) == printable


def test_controls_directions_and_lone_bytes_are_shown():
    assert show_controls("a\x1b\r\x9b\u202e\udcffb\n\t") == "a\\x1b\\x0d\\u009b\\u202e\\udcffb\n\t"
    assert show_controls("a\n", keep="") == r"a\x0a"
    content = {"a": "\x7f\x9b\u202e\x1b"}
    assert json.loads(show_controls(json.dumps(content, ensure_ascii=False, indent=1))) == content
