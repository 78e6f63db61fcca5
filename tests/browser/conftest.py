"""A real browser for the tests of the page: Chromium, or any browser built on it, without a window."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright
from processes import HANG_SECONDS

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
# Nothing but the page: a browser that looks for updates or accounts fills the log with its own errors.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def chromium():
    path = os.environ.get("ZOLOSS_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail("no Chromium is installed (or set ZOLOSS_BROWSER); pytest -m 'not browser' does without it")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(QUIET), timeout=1000 * HANG_SECONDS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open a file or an address; then the console must be empty, and nothing asked of another host."""
    contexts, complaints = [], []

    def open_page(place, **options):
        address = place if isinstance(place, str) else place.as_uri()
        known = "file:", "/".join(address.split("/")[:3]), "data:", "blob:"  # the site, and nothing else
        context = chromium.new_context(**options)
        context.set_default_timeout(1000 * HANG_SECONDS)  # a busy machine draws slowly
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("response", lambda r: r.status < 400 or complaints.append((r.status, r.url)))
        page.on("request", lambda r: r.url.startswith(known) or complaints.append(r.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
