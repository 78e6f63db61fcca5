"""docs/library.md: what it shows is run, and the package that it prints is the one that is installed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLE = TOP / "tests" / "plugin_example"
BLOCKS = re.findall(r"```(python|toml)\n(.*?)```", PAGE, re.S)


def test_every_python_block_does_what_it_shows():
    namespace: dict = {"__name__": "library"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    reports: list[str] = []
    codes = [code for language, code in BLOCKS if language == "python"]
    assert len(codes) >= 5
    for number, code in enumerate(codes):
        if ">>>" in code:
            test = parser.get_doctest(code, namespace, f"block {number}", "docs/library.md", 0)
            runner.run(test, out=reports.append, clear_globs=False)
            namespace.update(test.globs)
        else:
            exec(compile(code, f"docs/library.md, block {number}", "exec"), namespace)
    assert runner.failures == 0, "".join(reports)
    assert runner.tries >= 15


def test_the_page_shows_the_whole_example_package():
    shown = [code for _, code in BLOCKS]
    for path in ("pyproject.toml", "zoloss_example/__init__.py"):
        assert (EXAMPLE / path).read_text(encoding="utf-8") in shown
