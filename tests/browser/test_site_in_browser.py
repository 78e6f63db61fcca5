"""The documentation site in a real browser: phone and desk, light and dark, by keyboard, without scripts."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path

import pytest
from processes import HANG_SECONDS

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
def visit_site(chromium, address):
    """Open a page of the site; then the console must be empty, and nothing asked of another host."""
    contexts, complaints = [], []

    def open_page(name, **options):
        context = chromium.new_context(**options)
        context.set_default_timeout(1000 * HANG_SECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("response", lambda r: r.status < 400 or complaints.append((r.status, r.url)))
        page.on("request", lambda r: r.url.startswith((address, "data:", "blob:")) or complaints.append(r.url))
        page.goto(f"{address}{name}.html")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_tables_not_the_page(visit_site, name):
    page = visit_site(name, **PHONE)
    assert page.locator("article h1").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    assert page.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_can_be_told_from_what_is_behind_them(visit_site, address, scheme):
    page = visit_site(PAGES[0], color_scheme=scheme)
    for name in PAGES:
        page.goto(f"{address}{name}.html")
        assert page.evaluate(CONTRAST) == [], name


def test_a_pale_text_would_be_found(visit_site):
    page = visit_site("index")
    page.evaluate("document.querySelector('article h1').style.color = '#ddd'")
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


@pytest.mark.parametrize(
    ("name", "language", "copied"),
    [
        ("start", "console", ". .venv/bin/activate"),
        ("prove", "pycon", 'X, y = load_dataset("iris", positive="Iris-versicolor")'),
        ("clusters", "bash", "dask worker tcp://head:8786 --nworkers 16 --nthreads 1"),
    ],
)
def test_a_command_is_copied_without_prompt_and_output(visit_site, name, language, copied):
    page = visit_site(name, permissions=["clipboard-read", "clipboard-write"])
    page.locator(f".language-{language} [data-md-type=copy], .language-{language} .md-clipboard").first.click()
    page.locator(".md-dialog--active").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert copied in lines
    assert not any(line.startswith(("$", ">>>", "(29")) for line in lines)


def test_a_command_is_shown_whole_and_a_value_with_its_error_on_one_line(visit_site):
    page = visit_site("gallery", **PHONE)
    cut = "[...document.querySelectorAll('.language-sh code')].filter(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{cut}.map(e => e.textContent)") == []
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
