"""The page of `zoloss report` in a real browser: tables switch, sort and filter; z shows; paper and phone."""

from __future__ import annotations

import math

import pytest
from reference_runs import find_reference_run, load_reference

from zoloss_cli.reporting.compare import compare_run
from zoloss_cli.reporting.tables import build_table

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def page_file(reference_page):
    return reference_page


@pytest.fixture(scope="module")
def table_four():
    run = find_reference_run("IV")
    return run, build_table(run, load_reference())


def shown_headings(page):
    return page.locator("main > section:visible > h2").all_inner_texts()


def names(page):
    return page.locator("table.numbers:visible tbody tr:visible th").all_inner_texts()


def go_to(page, title):
    """Click, and wait until the browser has told the page: it does so when it has time."""
    page.get_by_role("link", name=title, exact=True).first.click()
    page.locator("nav a[aria-current]").and_(page.get_by_text(title, exact=True)).wait_for()


def test_tables_switch_and_have_an_address(visit, page_file):
    page = visit(page_file)
    assert shown_headings(page) == ["Overview"]
    go_to(page, "Table IV")
    assert len(shown_headings(page)) == 1
    assert shown_headings(page)[0].startswith("Table IV. ")
    assert page.locator("nav a[aria-current]").all_inner_texts() == ["Table IV"]
    address = page.url
    page.go_back()
    page.locator("nav a[aria-current]").and_(page.get_by_text("Overview", exact=True)).wait_for()
    assert shown_headings(page) == ["Overview"]
    page.goto(address)
    assert shown_headings(page)[0].startswith("Table IV. ")


def test_a_column_sorts_up_down_and_back(visit, page_file, table_four):
    run, table = table_four
    page = visit(page_file)
    go_to(page, "Table IV")
    published_order = [row.dataset for row in table.rows]
    assert names(page) == published_order
    mean = {dataset: run.get_stat(dataset, "adaboost:pocket").mean for dataset in published_order}
    heading = page.locator("table.numbers:visible thead th", has_text="pocket")
    heading.get_by_role("button").click()
    assert names(page) == sorted(published_order, key=mean.get)
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").press("Enter")
    assert names(page) == sorted(published_order, key=mean.get, reverse=True)
    heading.get_by_role("button").click()
    assert names(page) == published_order


def test_filters_keep_rows_columns_and_cells_that_differ(visit, page_file, table_four):
    run, table = table_four
    page = visit(page_file)
    go_to(page, "Table IV")
    page.get_by_role("searchbox", name="data set").fill("Heart, son")
    assert names(page) == ["heart", "sonar"]
    page.get_by_role("searchbox", name="learner").fill("rcd")
    headings = page.locator("table.numbers:visible thead th:visible").all_inner_texts()
    assert [h.strip() for h in headings] == ["data set", "RCD-plain", "RCD-bias"]
    page.get_by_role("searchbox", name="data set").fill("")
    page.get_by_role("searchbox", name="learner").fill("")
    page.get_by_label("only cells that differ").check()
    different = {cell.dataset for cell in compare_run(run) if abs(cell.z) > 2}
    assert set(names(page)) == different
    assert page.locator("output").inner_text() == f"{len(different)} of {len(table.rows)} data sets"


def test_pointing_at_a_cell_shows_z(visit, page_file, table_four):
    run, _ = table_four
    page = visit(page_file)
    go_to(page, "Table IV")
    rows = page.locator("table.numbers:visible tbody tr")
    titles = [t.strip() for t in page.locator("table.numbers:visible thead th").all_inner_texts()]
    for learner, title, dataset in (("soft-svm", "soft-SVM", "ringnorm"), ("rcd-bias", "RCD-bias", "heart")):
        cell = next(r for r in compare_run(run) if (r.learner, r.dataset) == (f"adaboost:{learner}", dataset))
        assert not math.isnan(cell.z)
        rows.filter(has_text=dataset).locator("th, td").nth(titles.index(title)).hover()
        assert f"z {cell.z:+.1f}" in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_figures_are_seen_each_with_the_command_that_drew_it(visit, page_file):
    page = visit(page_file)
    go_to(page, "Figures")
    drawn = page.locator("section:visible figure")
    commands = drawn.locator("figcaption").all_inner_texts()
    for name in ("nguyen-sanner-2013/1", "nguyen-sanner-2013/2", "li-lin-2007/3", "li-thesis-2006/3.1"):
        assert sum(text.endswith(f"--figure {name}") for text in commands) == 1
    for figure in drawn.all():
        box = figure.locator("svg").bounding_box()
        assert min(box["width"], box["height"]) > 100
    go_to(page, "Table IV")
    assert "RCD-plain" in page.locator("section:visible figure svg").text_content()


def test_a_phone_scrolls_tables_not_the_page(visit, page_file):
    page = visit(page_file, **PHONE)
    for link in page.locator("nav a").all():
        link.tap()
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, shown_headings(page)
    go_to(page, "Table IV")
    page.locator("table.numbers:visible td.alert").first.tap()
    assert "z +" in page.locator("#tip").inner_text()


def test_paper_gets_every_table(visit, page_file):
    page = visit(page_file)
    sections = page.locator("main > section").count()
    page.emulate_media(media="print")
    assert page.locator("main > section:visible").count() == sections
    assert page.locator("nav:visible, .filters:visible").count() == 0
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") >= sections


def test_without_scripts_all_is_there(visit, page_file):
    page = visit(page_file, java_script_enabled=False)
    assert page.locator("main > section:visible").count() == page.locator("main > section").count()
    assert page.locator(".filters").is_hidden()
