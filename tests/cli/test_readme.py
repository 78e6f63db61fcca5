"""README's tables are what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
README = (TOP / "README.md").read_text(encoding="utf-8")
OUTPUTS = re.findall(r"<!-- output: zoloss ([^>]+?) -->\n(.*?)<!-- end -->", README, re.S)


@pytest.mark.parametrize(("command", "shown"), OUTPUTS, ids=[c for c, _ in OUTPUTS])
def test_readme_shows_what_the_command_prints(zoloss, monkeypatch, command, shown):
    monkeypatch.chdir(TOP)
    ended = zoloss(*shlex.split(command))
    assert ended.code == 0, ended.err
    assert shown.strip().removeprefix("```text").removesuffix("```").strip() == ended.out.strip()


def test_readme_has_outputs_and_its_two_commands():
    assert len(OUTPUTS) >= 3
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert [b.strip() for b in blocks[:2]] == ["make tables SPLITS=10", "make test"]


def test_the_readme_config_is_valid(zoloss, tmp_path):
    text = re.search(r"```yaml\n(.*?)```", README, re.S).group(1)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.csv").write_text("a,outcome\n1,yes\n2,no\n", encoding="utf-8")
    assert zoloss("validate", tmp_path / "mine.yaml").code == 0
