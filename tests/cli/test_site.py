"""The documentation site: complete, without a dead link, and nothing of it is fetched from elsewhere."""

from __future__ import annotations

import inspect
import re
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from places import TOP
from site_pages import Page, list_navigation

import zoloss_cli

# What a new user wants to do, the page that it is done on, and what is to be copied there.
TASKS = {
    "first table": ("start.html", "make quickstart"),
    "own CSV": ("own-data.html", "zoloss fit "),
    "own estimator in a table": ("own-estimator.html", "--add-learner "),
    "prove an optimum": ("prove.html", "--learner certify"),
    "figure for a talk": ("talk-figures.html", "zoloss plot "),
    "run on a cluster": ("clusters.html", "--scheduler "),
}


@pytest.fixture(scope="module")
def pages(site):
    return {str(path.relative_to(site)): Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_in_the_navigation_once():
    docs = TOP / "docs"
    written = {str(path.relative_to(docs)) for path in docs.rglob("*.md")} | {"results-format.md"}
    listed = list_navigation()
    assert sorted(listed) == sorted(written)


def test_no_link_or_anchor_is_dead(site, pages):
    dead = []
    for name, page in pages.items():
        if name == "404.html":  # its links are those of a server's root
            continue
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = ((site / name).parent / unquote(parts.path)).resolve() if parts.path else site / name
            target = target / "index.html" if target.is_dir() else target
            inside = str(target.relative_to(site.resolve())) if target.is_relative_to(site.resolve()) else ""
            known = pages[inside].anchors if inside in pages else {""}
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in known):
                dead.append((name, link))
    assert dead == []


def test_a_dead_link_would_be_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#c">b</a><img src="d.png"><p id="e">')
    page = Page(tmp_path / "a.html")
    assert (page.links, page.fetched, page.anchors) == (["b.html#c"], ["d.png"], {"e"})
    assert page.images_without_text == ["d.png"]


def test_nothing_is_fetched_from_elsewhere_and_images_have_a_text(pages):
    for name, page in pages.items():
        assert [link for link in page.fetched if urlsplit(link).scheme not in ("", "data")] == [], name
        assert page.images_without_text == [], name


def test_the_reference_has_every_public_name_and_its_index_leads_there(pages):
    anchors = set().union(*(page.anchors for name, page in pages.items() if name.startswith("api/")))
    linked = {urlsplit(link).fragment for link in pages["api/index.html"].links}
    assert {f"zoloss_cli.{name}" for name in zoloss_cli._read_imports()} <= anchors & linked


def test_the_reference_has_the_defaults_of_all_parameters(site):
    """What the site shows is read from docstrings by another program."""
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    sections = dict(re.findall(r'id="zoloss_cli\.(\w+)"(.*?)(?=id="zoloss_cli\.\w+"|</article>)', text, re.S))
    checked = 0
    for name in zoloss_cli._read_imports():
        exported = getattr(zoloss_cli, name)
        if not (isinstance(exported, type) and hasattr(exported, "get_params")):
            continue
        rows = re.findall(
            r"<tr[^>]*>(.*?)</tr>", sections[name].partition("Parameters:")[2].partition("</table>")[0], re.S
        )
        cells = [
            [re.sub(r"<[^>]+>", "", c).strip() for c in re.findall(r"<td>(.*?)</td>", row, re.S)]
            for row in rows
        ]
        shown = {row[0]: unescape(row[-1]) for row in cells if row}
        for parameter in inspect.signature(exported).parameters.values():
            if isinstance(parameter.default, str | int | float | None):
                assert shown[parameter.name] == repr(parameter.default), (name, parameter.name)
                checked += 1
    assert checked > 100


def test_tasks_are_on_the_front_page_and_what_to_copy_is_where_they_lead(site):
    front = (site / "index.html").read_text(encoding="utf-8").partition("<article")[2].partition("</article")[0]
    for task, (page, command) in TASKS.items():
        assert f'href="{page}"' in front, task
        text = re.sub(r"<[^>]+>", "", (site / page).read_text(encoding="utf-8").partition("<article")[2])
        assert command in text, task
