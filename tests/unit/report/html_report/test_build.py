"""The page of `zoloss report` as a file: what it holds, what it refuses, and remarks on cells that differ."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from reference_runs import compare_reference, load_reference

from zoloss_cli.errors import ResultsError
from zoloss_cli.registry import METRICS
from zoloss_cli.report.agreement import UNEXPLAINED, group_by_remark, read_remarks
from zoloss_cli.report.compare import DERIVED, compare_run
from zoloss_cli.report.html.page import build_page, format_config
from zoloss_cli.report.html.tables import is_different
from zoloss_cli.report.papers import read_paper_titles, read_published_tables

MOST_BYTES = 4_000_000
VOID = {"meta", "link", "input", "br", "img", "path", "use", "rect", "circle", "line"}

OWN = """
name: mine
title: "<script>alert(1)</script> & co"
datasets:
  "<b>x</b>": {generator: ringnorm, size: 60}
split: {repeats: 3}
learners:
  "<i>y</i>": {learner: fld}
  lr:
"""


@pytest.fixture(scope="module")
def reference():
    return load_reference()


class Outline(HTMLParser):
    """Tags that are open, and the text and attributes seen on the way."""

    def __init__(self, text: str):
        super().__init__()
        self.open, self.texts, self.tips, self.tags = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.tips += [value for key, value in attributes if key == "data-tip"]

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_every_compared_cell_of_the_reference_is_on_the_page_with_its_z(reference, reference_page):
    page = reference_page.read_text(encoding="utf-8")
    assert len(page.encode()) < MOST_BYTES
    assert "<th>agreement with published values</th>" in page
    assert "z is the difference divided by its standard error" in page
    outline = Outline(page)
    assert outline.open == []
    expected = sorted(
        f"{cell.z:+.1f}"
        for run in reference
        for cell in compare_run(run)
        if cell.z == cell.z and not run.figure
    )
    assert sorted(z for tip in outline.tips for z in re.findall(r", z (\S+)", tip)) == expected
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)|@import|url\((?!#|data:)""", page)  # nothing outside


def test_a_figure_that_cannot_be_drawn_leaves_a_sentence(reference, monkeypatch):
    def refuse(*_):
        raise ResultsError("the samples have changed")

    monkeypatch.setattr("zoloss_cli.figures.svg.render_svg", refuse)
    page = build_page([run for run in reference if run.name == "table4"], Path("results/reference"), [])
    assert "Average ranks, Table IV: the samples have changed" in page


def test_names_are_text_never_markup_and_a_page_is_never_overwritten_unasked(zoloss, write_config, tmp_path):
    results, page = tmp_path / "results", tmp_path / "page.html"
    assert zoloss("run", write_config(OWN), "--out", results, "--jobs", "1").code == 0
    page.write_text("mine")
    ended = zoloss("report", results, "-o", page)
    assert (ended.code, page.read_text()) == (7, "mine")
    assert "--force overwrites it" in ended.err
    for target in (tmp_path, tmp_path / "nowhere" / "page.html"):
        assert zoloss("report", results, "-o", target).code == 7
    ended = zoloss.ok("report", results, "-o", page, "--force")
    outline = Outline(page.read_text(encoding="utf-8"))
    assert outline.tags.count("script") == 1  # the values of splits are in templates
    assert "i" not in outline.tags
    texts = " ".join(outline.texts)
    for name in ("<b>x</b>", "<i>y</i>", "<script>alert(1)</script> & co"):
        assert name in texts


def test_the_config_shown_reads_back(reference):
    for run in reference:
        shown = yaml.safe_load(format_config(run.experiment))
        assert list(shown["datasets"]) == run.datasets
        assert shown["split"]["seed"] == run.experiment.split.seed


def test_every_cell_that_differs_has_a_remark():
    cells = [cell for cell in compare_reference() if is_different(cell) or cell.is_beyond(2)]
    assert cells
    assert UNEXPLAINED not in group_by_remark(cells)


def test_remarks_are_on_cells_that_exist():
    cells = {
        (paper, dataset, learner, metric)
        for (paper, _), table in read_published_tables().items()
        for dataset, learner, metric in table
    }
    for entry in read_remarks():
        assert set(entry["papers"]) <= set(read_paper_titles())
        metrics = [entry["metric"]] if "metric" in entry else {m for *_, m in cells}
        assert set(metrics) <= {*METRICS.builtin, *DERIVED}
        for dataset in entry.get("datasets", []):
            for learner in entry.get("learners", [None]):
                assert any(
                    paper in entry["papers"] and d == dataset and learner in (None, x) and metric in metrics
                    for paper, d, x, metric in cells
                )
