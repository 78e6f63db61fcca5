"""The page of `zoloss report` in a real browser: tables switch, sort and filter; z shows; paper and phone."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from reference_runs import find_reference_run, load_reference

from zoloss_cli.report.compare import compare_run
from zoloss_cli.report.tables import build_table

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

MAX_PRINTED_PAGES = 15
# The contrast of text against what is behind it, by kind of element: WCAG 2.1's ratio of luminances.
CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  const inside = "h2, th, td, .ours, .published, .z, .note, .button, figcaption, summary, dd, dt";
  const kinds = `h1, p, nav a, nav span, section:not([hidden]) :is(${inside})`;
  for (const e of document.querySelectorAll(kinds)) {
    if (!e.textContent.trim()) continue;
    const [a, b] = [luminance(parse(getComputedStyle(e).color)), luminance(behind(e))].sort((x, y) => y - x);
    const name = `${e.tagName.toLowerCase()}.${e.className}`;
    found[name] = Math.min(found[name] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return found;
}"""


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
    for svg in drawn.locator("svg").all():
        box = svg.bounding_box()
        assert min(box["width"], box["height"]) > 100
    go_to(page, "Table IV")
    assert "RCD-plain" in page.locator("section:visible figure svg").text_content()


def test_a_phone_scrolls_tables_not_the_page(visit, page_file):
    page = visit(page_file, **PHONE)
    for link in page.locator("nav a").all():
        link.tap()
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, shown_headings(page)
    go_to(page, "Table II")
    assert page.locator("section:visible .wide.scrolls").count() > 0
    page.locator("table.numbers:visible td.alert").first.tap()
    assert "z +" in page.locator("#tip").inner_text()


def test_paper_gets_every_table_on_few_pages(visit, page_file):
    page = visit(page_file)
    sections = page.locator("main > section").count()
    page.emulate_media(media="print")
    assert page.locator("main > section:visible").count() == sections
    assert page.locator("nav:visible, .filters:visible, .tools:visible").count() == 0
    assert len(re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True))) <= MAX_PRINTED_PAGES


def test_an_address_within_a_panel_shows_it(visit, page_file):
    page = visit(page_file)
    go_to(page, "Figures")
    page.locator(".index a", has_text="Average ranks, Table IV").click()
    page.locator("#figure-ranks-iv").wait_for()
    assert shown_headings(page)[0].startswith("Table IV. ")
    assert page.locator("#figure-ranks-iv").evaluate("e => e.getBoundingClientRect().top < innerHeight")


def test_a_figure_is_enlarged_and_put_back(visit, page_file):
    page = visit(page_file)
    go_to(page, "Table IV")
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


def test_a_data_set_opens_its_splits_as_boxes_and_values(visit, page_file, table_four):
    run, _ = table_four
    page = visit(page_file)
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


def test_arrows_go_from_cell_to_cell(visit, page_file):
    page = visit(page_file)
    go_to(page, "Table IV")
    cells = page.locator("table.numbers:visible tbody tr:first-child td")
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    assert cells.nth(1).evaluate("e => e === document.activeElement")
    assert cells.first.get_attribute("tabindex") == "-1"
    page.keyboard.press("ArrowDown")
    below = page.locator("table.numbers:visible tbody tr:nth-child(2) td").nth(1)
    assert below.evaluate("e => e === document.activeElement")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_and_figures_follow(visit, page_file, scheme):
    page = visit(page_file, color_scheme=scheme)
    go_to(page, "Table IV")
    ratios = page.evaluate(CONTRASTS)
    assert len(ratios) > 8
    assert min(ratios.values()) >= 4.5, ratios
    filtered = page.locator("section:visible figure svg").first.evaluate("e => getComputedStyle(e).filter")
    assert ("invert" in filtered) == (scheme == "dark")


def test_without_scripts_all_is_there(visit, page_file):
    page = visit(page_file, java_script_enabled=False)
    assert page.locator("main > section:visible").count() == page.locator("main > section").count()
    assert page.locator(".filters").is_hidden()
