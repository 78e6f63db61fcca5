"""Names that become names of files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoloss_cli.utils.text import MAX_NAME_BYTES, check_file_name, clean_file_name


@pytest.mark.parametrize("name", ["table4.2", "nguyen-table4-clean", "a,b", "данные", "two words", "x" * 200])
def test_a_plain_name_is_returned(name):
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("../../package", "must not hold /"),
        ("/etc/passwd", "must not hold /"),
        ("a\\b", "must not hold \\"),
        (".", "begin with a dot"),
        ("..", "begin with a dot"),
        (".hidden", "begin with a dot"),
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        ("a\nb", "line breaks or control characters"),
        ("a\x00b", "line breaks or control characters"),
        ("a\x1b[2Jb", "line breaks or control characters"),
        ("a\u202eb", "line breaks or control characters"),
        ("x" * 300, "longer than 200 bytes (got 300"),
        ("д" * 101, "longer than 200 bytes (got 202"),
        ("a\udcffb", "must be UTF-8 text"),
    ],
)
def test_a_name_that_is_none_of_a_file_is_refused_in_one_line(name, part):
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
