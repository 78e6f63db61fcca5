"""Every command of README and docs works as printed, and prints what the page shows."""

from __future__ import annotations

import re
import shlex

import pytest
from documents import PAGES, TOP, same_everywhere, steps, workplace

README = (TOP / "README.md").read_text(encoding="utf-8")
# These set up an environment of their own: CI runs the first two as they stand.
SET_UP = ("make ", "pip install ")
# What others compute may differ in its digits on another processor, whose sums have another order.
SHOW_STORED = ("table", "compare", "stats", "status", "learners", "datasets")
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?\b|\*\*")


def words_of(output: str) -> list[str]:
    return NUMBER.sub("0", same_everywhere(output)).split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_works_and_prints_what_the_page_shows(zoloss, monkeypatch, tmp_path, page):
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(workplace(tmp_path, text))
    for step in steps(text):
        if step.command.startswith(SET_UP):
            continue
        program, *words = shlex.split(step.command)
        assert program == "zoloss", step.command
        ended = zoloss(*words)
        assert ended.code == 0, (step.command, ended.err)
        if step.output is not None:
            seen = same_everywhere if words[0] in SHOW_STORED else words_of
            assert seen(ended.out) == seen(step.output), step.command


def test_readme_begins_with_its_two_commands():
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert [b.strip() for b in blocks[:2]] == ["make tables SPLITS=10", "make test"]


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (page.parent / target).exists(), (page, target)
