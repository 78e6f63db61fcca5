"""What commands say of files of other people: nothing of it reaches a terminal as a command."""

from __future__ import annotations

import json

import pytest

from zoloss_cli.cli._progress import ProgressLines

EVIL = "\x1b]0;evil\x07\u202e"


@pytest.fixture
def evil_table(table):
    rows = "".join(f"{i},{i * i % 7},{'=x' if i % 3 else EVIL}\n" for i in range(30))
    return table(f"a{EVIL},b,label\n{rows}")


def test_names_of_a_table_are_shown_as_escapes(zoloss, evil_table):
    for command, *options in (
        ["fit", "--learner", "fld"],
        ["fit", "--learner", "fld", "--json"],
        ["prune", "--by", "neighbours", "--dry-run"],
    ):
        ended = zoloss.ok(command, evil_table, *options)
        assert not {"\x1b", "\x07", "\u202e"} & set(ended.out + ended.err)
        if "--json" in options:
            assert json.loads(ended.out)["positive"] in ("=x", EVIL)


def test_predictions_are_no_formulas_or_escapes(zoloss, evil_table, tmp_path):
    model = tmp_path / "m.json"
    assert zoloss("fit", evil_table, "--learner", "fld", "--model", model).code == 0
    ended = zoloss.ok("predict", model, evil_table)
    assert {line.partition(",")[0] for line in ended.out.splitlines()[1:]} <= {"'=x", r"\x1b]0;evil\x07\u202e"}


def test_messages_and_progress_are_shown_as_escapes(zoloss, tmp_path, capsys):
    ended = zoloss("fit", tmp_path / f"{EVIL}.csv")
    assert ended.code == 3
    assert r"\x1b]0;evil\x07\u202e.csv" in ended.err
    ProgressLines().note(f"{EVIL} done")
    assert capsys.readouterr().err == "\\x1b]0;evil\\x07\\u202e done\n"
