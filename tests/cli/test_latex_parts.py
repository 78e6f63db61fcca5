r"""LaTeX of every command: a part that an article takes in by \input, or a document of its own."""

from __future__ import annotations

import re

import pytest
from places import REFERENCE
from stored_runs import make_record, store_run

from zoloss_cli.config.loader import load_config

NEEDS = re.compile(r"% to include in a document with ((?:\\usepackage\{\w+\})+)")
COMMANDS = {
    "table": ["table", REFERENCE, "--table", "II"],
    "compare": ["compare", REFERENCE, "--table", "II"],
    "stats": ["stats", REFERENCE, "--table", "IV"],
    "diff": ["diff", "a", "b"],
}


@pytest.fixture
def two_folders(tmp_path, monkeypatch, small_config):
    """The folders a and b, whose records differ."""
    monkeypatch.chdir(tmp_path)
    experiment = load_config(small_config)
    for name, errors in {"a": 1, "b": 2}.items():
        store_run(tmp_path / name, experiment, lambda cell, n=errors: [make_record(cell, 0, test_errors=n)])


@pytest.mark.parametrize("name", COMMANDS)
def test_a_part_has_no_preamble_and_names_the_packages_that_it_needs(zoloss, two_folders, name):
    part, document = (
        zoloss(*COMMANDS[name], "--format", "latex", *more).out for more in ([], ["--standalone"])
    )
    needed, body = NEEDS.match(part)[1], part.partition("\n")[2]
    assert not re.search(r"\\documentclass|\\usepackage|\{document\}", body)
    assert (r"\toprule" in body, r"\begin{longtable}" in body) == ("booktabs" in needed, "longtable" in needed)
    assert document.startswith(r"\documentclass")
    preamble, _, rest = document.partition("\\begin{document}\n")
    assert set(needed.split("\\")) <= set(preamble.replace("\n", "").split("\\"))
    assert list(filter(None, rest.splitlines())) == [*filter(None, body.splitlines()), r"\end{document}"]


@pytest.mark.parametrize("words", [*COMMANDS.values(), ["evaluate", "heart"]], ids=lambda words: words[0])
def test_only_latex_can_stand_alone(zoloss, two_folders, words):
    ended = zoloss(*words, "--standalone", "--format", "html")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "zoloss: --standalone is for --format latex, and this is html\n"


def test_the_notes_under_a_difference_are_kept(zoloss, two_folders):
    assert "differ: on how many of these" in zoloss("diff", "a", "b", "--format", "latex").out
