"""Parts of the page of `zoloss report`: addresses, downloads, the values of splits, and changes."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import re
from pathlib import Path

import pytest
from built_runs import build_run
from reference_runs import load_reference

from zoloss_cli.report.html.page import build_file_stem, build_page, render_changes
from zoloss_cli.report.html.tables import FIRST_CODE, pack_split_values
from zoloss_cli.report.render import render_tables
from zoloss_cli.report.runs import build_column_titles
from zoloss_cli.report.tables import build_table

SOURCE = Path("results/reference")
DOWNLOAD = re.compile(r'download="([^"]+)" href="data:[^;]+;charset=utf-8;base64,([^"]+)"')


@pytest.fixture(scope="module")
def page(reference_page):
    return reference_page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def runs():
    return {run.name: run for run in load_reference()}


def unpack(packed: str) -> dict:
    """The values of all splits, as the page's script reads them."""
    content = json.loads(gzip.decompress(base64.b64decode(packed)))
    for cells in content["cells"].values():
        for name, cell in cells.items():
            values = cell.get("values") or [cell["distinct"][ord(c) - FIRST_CODE] for c in cell["codes"]]
            cells[name] = dict(zip(cell.get("splits", range(len(values))), values, strict=True))
    return content


def test_every_address_is_there_once_every_figure_in_the_index_and_every_panel_has_an_anchor(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'<a [^>]*href="#([^"]+)"', page)) <= set(ids)
    index = re.search(r'<div class="index">.*?</div>', page, re.DOTALL)[0]
    linked = re.findall(r'href="#([^"]+)"', index)
    assert linked == list(dict.fromkeys(linked))
    assert sorted(linked) == sorted(re.findall(r'<figure id="([^"]+)"', page))
    panels = re.findall(r'<section id="([^"]+)"><h2>[^\n]*?<a class="anchor" href="#([^"]+)"', page)
    assert len(panels) == page.count("<section id=") > 20
    assert all(one == other for one, other in panels)


def test_downloads_are_what_the_table_command_writes(runs):
    run = runs["table4"]
    files = dict(DOWNLOAD.findall(build_page([run], SOURCE, [])))
    texts = {name: base64.b64decode(data).decode() for name, data in files.items()}
    table = build_table(run, [run])
    assert texts == {
        "Table-IV.csv": render_tables([table], "csv") + "\n",
        "Table-IV.tex": render_tables([table], "latex") + "\n",
    }
    assert len(list(csv.DictReader(io.StringIO(texts["Table-IV.csv"])))) == 72


def test_a_file_name_has_nothing_that_a_folder_could_be():
    assert build_file_stem("../../etc/pass wd") == "..-..-etc-pass-wd"
    assert build_file_stem("///") == "table"


def test_the_values_of_all_splits_come_back(runs):
    for name in ("table2", "nguyen-table4", "scoring"):
        run = runs[name]
        content = unpack(pack_split_values(run))
        titles = build_column_titles(run.learners)
        for dataset, learner in run.cells:
            stored = run.get_values_by_split(dataset, learner)
            if len(stored) > 1:
                assert content["cells"][dataset][titles[learner]] == pytest.approx(stored, rel=1e-5)
    values = [i + 0.123456 for i in range(100)]  # that never repeat, and splits that are missing
    run = build_run({("a", "fld"): {"test_error": values}, ("a", "lr"): {"test_error": [1.0, 1.0]}})
    run.cells["a", "lr"].splits = [3, 7]
    cells = unpack(pack_split_values(run))["cells"]["a"]
    assert list(cells["FLD"].values()) == pytest.approx(values, rel=1e-5)
    assert cells["LR"] == {3: 1.0, 7: 1.0}
    assert pack_split_values(build_run({("a", "fld"): {"test_error": [1.0]}})) == ""


def test_changes_are_those_of_diff(zoloss, write_config, tmp_path):
    first, second, out = tmp_path / "a", tmp_path / "b", tmp_path / "page.html"
    text = "datasets: [heart]\nsplit: {repeats: 3, seed: SEED}\nlearners: [fld, majority]\nname: mine\n"
    for folder, seed in ((first, "1"), (second, "2")):
        config = write_config(text.replace("SEED", seed))
        assert zoloss("run", config, "--out", folder, "--jobs", "1").code == 0
    zoloss.ok("report", second, "--against", first, "-o", out)
    page = out.read_text(encoding="utf-8")
    assert f"Changes against {first}" in page
    assert '<a href="#changes">Changes</a>' in page
    (_, data), *_ = [hit for hit in DOWNLOAD.findall(page) if hit[0] == "changes.csv"]
    told = zoloss("diff", first, second, "--format", "csv").out
    assert base64.b64decode(data).decode().strip() == told.strip()
    assert zoloss("report", second, "--against", tmp_path / "none", "-o", out, "--force").code == 4


def test_a_folder_against_itself_has_no_changes(runs):
    run = runs["nguyen-table1"]
    text = render_changes([run], SOURCE, [run], SOURCE)
    assert "no difference" in text
    assert "<table" not in text
