"""Pages with Python: what they show is run, and the package that library.md prints is the one installed."""

from __future__ import annotations

import doctest
import re

import pytest
from places import TOP

from zoloss_cli.results.record import FitRecord

EXAMPLE = TOP / "tests" / "plugin_example"
EXAMPLES = {
    "complexity.md": 3,
    "library.md": 15,
    "own-estimator.md": 0,
    "own-metric.md": 0,
    "perceptron.md": 8,
    "proofs.md": 0,
    "prove.md": 4,
    "python.md": 30,
    "results.md": 0,
    "scoring.md": 0,
    "start.md": 5,
    "talk-figures.md": 6,
}  # pages, and how many examples they have at least


def blocks(page: str) -> list[tuple[str, str]]:
    return re.findall(r"```(python|toml)\n(.*?)```", (TOP / "docs" / page).read_text(encoding="utf-8"), re.S)


def test_these_are_all_pages_with_python():
    names = [str(page.relative_to(TOP / "docs")) for page in (TOP / "docs").rglob("*.md")]
    assert {name for name in names if blocks(name)} == set(EXAMPLES)


@pytest.mark.parametrize("page", EXAMPLES)
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
    assert runner.tries >= EXAMPLES[page]


@pytest.mark.parametrize(("page", "name"), [("library.md", "my_search.py"), ("own-estimator.md", "nearest.py")])
def test_the_page_shows_the_whole_example_file(page, name):
    text = (TOP / "docs" / "examples" / name).read_text(encoding="utf-8")
    assert text in [code for _, code in blocks(page)]


def test_the_metric_of_the_page_computes_what_it_says():
    namespace: dict = {}
    exec(blocks("own-metric.md")[0][1], namespace)
    metric = namespace["Informedness"]()
    record = FitRecord(split=0, train_errors=0, test_confusion=[[8, 2], [1, 9]], fit_time=0.1)
    assert metric.compute(record, None) == pytest.approx(0.9 + 0.8 - 1)


def test_the_page_shows_the_whole_example_package():
    shown = [code for _, code in blocks("library.md")]
    for path in ("pyproject.toml", "zoloss_example/__init__.py"):
        assert (EXAMPLE / path).read_text(encoding="utf-8") in shown
