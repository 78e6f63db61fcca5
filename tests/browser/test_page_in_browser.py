"""The page of `zoloss report` in a real browser: tables switch, sort and filter; z shows; paper and phone."""

import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reference_runs import find_reference_run, load_reference

from zoloss_cli.report.compare import compare_run
from zoloss_cli.report.tables import build_table

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


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


def test_tables_switch_and_have_an_address(visit, reference_page):
    page = visit(reference_page)
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


def test_columns_sort_and_filters_keep_rows_columns_and_cells_that_differ(visit, reference_page, table_four):
    run, table = table_four
    page = visit(reference_page)
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


def test_pointing_at_a_cell_shows_z_and_arrows_go_from_cell_to_cell(visit, reference_page, table_four):
    run, _ = table_four
    page = visit(reference_page)
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
    cells = page.locator("table.numbers:visible tbody tr:first-child td")
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    assert cells.nth(1).evaluate("e => e === document.activeElement")
    assert cells.first.get_attribute("tabindex") == "-1"
    page.keyboard.press("ArrowDown")
    below = page.locator("table.numbers:visible tbody tr:nth-child(2) td").nth(1)
    assert below.evaluate("e => e === document.activeElement")


def test_a_phone_scrolls_tables_not_the_page(visit, reference_page):
    page = visit(reference_page, **PHONE)
    for link in page.locator("nav a").all():
        link.tap()
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, shown_headings(page)
    go_to(page, "Table II")
    assert page.locator("section:visible .wide.scrolls").count() > 0
    page.locator("table.numbers:visible td.alert").first.tap()
    assert "z +" in page.locator("#tip").inner_text()


def test_paper_gets_every_table_on_fewer_pages_than_sections(visit, reference_page):
    page = visit(reference_page)
    sections = page.locator("main > section").count()
    page.emulate_media(media="print")
    assert page.locator("main > section:visible").count() == sections
    assert page.locator("nav:visible, .filters:visible, .tools:visible").count() == 0
    assert len(re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True))) < sections


def test_an_address_within_a_panel_shows_its_figure_which_is_enlarged_and_put_back(visit, reference_page):
    page = visit(reference_page)
    go_to(page, "Figures")
    boxes = [svg.bounding_box() for svg in page.locator("section:visible figure svg").all()]
    assert min(min(box["width"], box["height"]) for box in boxes) > 100
    page.locator(".index a", has_text="Average ranks, Table IV").click()
    page.locator("#figure-ranks-iv").wait_for()
    assert shown_headings(page)[0].startswith("Table IV. ")
    assert page.locator("#figure-ranks-iv").evaluate("e => e.getBoundingClientRect().top < innerHeight")
    figure = page.locator("#figure-ranks-iv")
    before = figure.locator("svg").bounding_box()["width"]
    figure.get_by_role("button", name="Enlarge").press("Enter")
    assert page.locator("#detail svg").bounding_box()["width"] > before
    assert figure.locator("svg").count() == 0
    page.keyboard.press("Escape")
    figure.locator("svg").wait_for()
    with page.expect_download() as saved:
        figure.get_by_role("button", name="as SVG").click()
    assert saved.value.suggested_filename == "figure-ranks-IV.svg"
    ElementTree.parse(saved.value.path())


def test_a_data_set_opens_its_splits_as_boxes_and_values(visit, reference_page, table_four):
    run, _ = table_four
    page = visit(reference_page)
    go_to(page, "Table IV")
    page.get_by_role("button", name="heart", exact=True).click()
    detail = page.locator("#detail")
    detail.locator(".boxes svg").wait_for()
    assert detail.locator(".boxes .median").count() == len(run.learners)
    detail.locator("summary").click()
    values = run.get_values("heart", run.learners[0])
    detail.locator("tbody tr").first.wait_for()
    assert detail.locator("tbody tr").count() == len(values)
    first = detail.locator("tbody tr td").first.inner_text()
    assert float(first) == pytest.approx(values[0], rel=1e-5)
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.locator("section:visible").get_by_role("button", name="all splits").click()
    lines = saved.value.path().read_text(encoding="utf-8").splitlines()
    count = sum(len(run.get_values(d, x)) for d, x in run.cells if len(run.get_values(d, x)) > 1)
    assert len(lines) == 1 + count


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_figures_follow(visit, reference_page, scheme):
    page = visit(reference_page, color_scheme=scheme)
    go_to(page, "Table IV")
    assert page.evaluate(CONTRAST) == []
    filtered = page.locator("section:visible figure svg").first.evaluate("e => getComputedStyle(e).filter")
    assert ("invert" in filtered) == (scheme == "dark")


def test_without_scripts_all_is_there(visit, reference_page):
    page = visit(reference_page, java_script_enabled=False)
    assert page.locator("main > section:visible").count() == page.locator("main > section").count()
    assert page.locator(".filters").is_hidden()
