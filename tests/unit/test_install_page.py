"""The lines of the page on installation name every dependency but those that they are to leave out."""

from __future__ import annotations

import re
import tomllib

from places import TOP

PAGE = (TOP / "docs" / "install.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMES = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
BY_NAME = re.compile(r"^pip install (\w[^\n]*)$", re.M)


def test_every_dependency_is_installed_by_name_but_those_left_out():
    without_compiler, small = (set(line.split()) for line in BY_NAME.findall(PAGE))
    assert without_compiler == NAMES - {"liblinear-official"}
    assert small == NAMES - {"liblinear-official", "cvxpy", "matplotlib"}


def test_the_packages_that_can_be_left_out_are_in_the_table():
    assert set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)) == {"cvxpy", "matplotlib", "liblinear-official"}
