"""The documentation site in a real browser: phone and desk, light and dark, by keyboard, without scripts."""

import functools
import http.server
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
# One of each kind: front, long tables, wide outputs, pseudo-code, thumbnails, docstrings.
PAGES = "index", "choose", "own-data", "results-format", "theory/search", "gallery", "api/search"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(site):
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def visit_site(visit, address):
    return lambda name, **options: visit(f"{address}{name}.html", **options)


def test_a_phone_scrolls_tables_and_commands_not_the_page(visit_site, address):
    page = visit_site(PAGES[0], **PHONE)
    for name in PAGES:
        page.goto(f"{address}{name}.html")
        assert page.locator("article h1").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        assert page.evaluate("document.documentElement.lang") == "en"
    page.goto(f"{address}gallery.html")
    cut = "[...document.querySelectorAll('.language-sh code')].filter(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{cut}.map(e => e.textContent)") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_told_from_what_is_behind_them(visit_site, address, scheme):
    page = visit_site(PAGES[-1], color_scheme=scheme)
    for name in reversed(PAGES):
        page.goto(f"{address}{name}.html")
        assert page.evaluate(CONTRAST) == [], name
    pale = {"light": "#ddd", "dark": "#333"}[scheme]
    page.evaluate(f"document.querySelector('article h1').style.color = '{pale}'")
    assert any("zoloss" in text for text in page.evaluate(CONTRAST))


def test_the_keyboard_skips_to_the_content_and_reaches_the_six_tasks(visit_site):
    page = visit_site("index")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Skip to content"
    page.keyboard.press("Enter")
    reached = []
    while len(reached) < 20 and "clusters.html" not in reached:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.getAttribute('href')"))
    tasks = ["start", "own-data", "own-estimator", "prove", "talk-figures", "clusters"]
    assert [link for link in reached if link in {f"{task}.html" for task in tasks}] == [
        f"{t}.html" for t in tasks
    ]


def test_a_command_is_copied_without_prompt_and_output(visit_site):
    for name, language, copied in (
        ("start", "console", ". .venv/bin/activate"),
        ("prove", "pycon", 'X, y = load_dataset("iris", positive="Iris-versicolor")'),
    ):
        page = visit_site(name, permissions=["clipboard-read", "clipboard-write"])
        block = f".language-{language}"
        page.locator(f"{block} [data-md-type=copy], {block} .md-clipboard").first.click()
        page.locator(".md-dialog--active").wait_for()
        lines = page.evaluate("navigator.clipboard.readText()").splitlines()
        assert copied in lines
        assert not any(line.startswith(("$", ">>>", "(29")) for line in lines)


def test_a_value_with_its_error_is_on_one_line(visit_site):
    page = visit_site("li-lin", viewport={"width": 1400, "height": 900})
    heights = page.evaluate("[...document.querySelector('article table').rows].map(row => row.offsetHeight)")
    assert max(heights) < 1.5 * min(heights)


def test_the_search_finds_a_learner(visit_site):
    page = visit_site("index")
    page.keyboard.press("/")
    page.keyboard.type("pocket")
    page.locator(".md-search-result__item a").first.wait_for()
    assert "pocket" in page.locator(".md-search-result__list").inner_text().lower()


def test_without_scripts_pages_and_navigation_are_there(visit_site):
    page = visit_site("theory/search", java_script_enabled=False)
    assert page.locator("article pre").first.is_visible()
    page.locator("nav.md-nav--primary a", has_text="Glossary").click()
    assert page.locator("article h1").inner_text().startswith("Glossary")
