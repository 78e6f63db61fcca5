"""Pages with Python: what they show is run, and the package that library.md prints is the one installed."""

from __future__ import annotations

import doctest
import re

import pytest
from places import TOP

from zoloss_cli.results.record import FitRecord


def blocks(page: str) -> list[tuple[str, str]]:
    return re.findall(r"```(python|toml)\n(.*?)```", (TOP / "docs" / page).read_text(encoding="utf-8"), re.S)


PAGES = [path.name for path in sorted((TOP / "docs").glob("*.md")) if blocks(path.name)]


@pytest.mark.parametrize("page", PAGES)
def test_every_python_block_does_what_it_shows(page):
    namespace: dict = {"__name__": page}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    reports: list[str] = []
    codes = [code for language, code in blocks(page) if language == "python"]
    for number, code in enumerate(codes):
        if ">>>" in code:
            test = parser.get_doctest(code, namespace, f"block {number}", page, 0)
            runner.run(test, out=reports.append, clear_globs=False)
            namespace.update(test.globs)
        else:
            exec(compile(code, f"{page}, block {number}", "exec"), namespace)
    assert runner.failures == 0, "".join(reports)
    assert runner.tries >= "".join(codes).count(">>>")


def test_the_metric_of_the_page_computes_what_it_says():
    namespace: dict = {}
    exec(blocks("own-metric.md")[0][1], namespace)
    metric = namespace["Informedness"]()
    record = FitRecord(split=0, train_errors=0, test_confusion=[[8, 2], [1, 9]], fit_time=0.1)
    assert metric.compute(record, None) == pytest.approx(0.9 + 0.8 - 1)


def test_pages_show_whole_files():
    plugin, examples = TOP / "tests" / "plugin_example", TOP / "docs" / "examples"
    for page, path in (
        ("library.md", examples / "my_search.py"),
        ("own-estimator.md", examples / "nearest.py"),
        ("library.md", plugin / "pyproject.toml"),
        ("library.md", plugin / "zoloss_example/__init__.py"),
    ):
        assert path.read_text(encoding="utf-8") in [code for _, code in blocks(page)], path
