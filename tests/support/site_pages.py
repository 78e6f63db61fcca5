"""The documentation site: how it is built, and its pages as lists of links, anchors and files."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import yaml
from places import TOP

CONFIG = TOP / ".mkdocs.yml"
# Attributes that make a browser fetch something, by tag.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


def build_site(folder: Path) -> None:
    """Build the site as `make site` does: a warning is an error, which --quiet would not count."""
    words = f"-m mkdocs build --strict --config-file {CONFIG} --site-dir {folder}".split()
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=env, cwd=TOP)
    warnings = [line for line in ended.stderr.splitlines() if line.startswith("WARNING")]
    assert (ended.returncode, warnings) == (0, [])


class Page(HTMLParser):
    """The anchors of an HTML file, where its links lead, and what it fetches."""

    def __init__(self, path: Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.images_without_text: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[key] for key in ("id", "name") if key in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(FETCHED.get(tag, ""), "") and values.get("rel") not in ("canonical", "prev", "next"):
            self.fetched.append(values[FETCHED[tag]])
        if tag == "img" and not values.get("alt"):
            self.images_without_text.append(values.get("src", ""))


def list_navigation() -> list[str]:
    def collect(entry) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        parts = entry.values() if isinstance(entry, dict) else entry
        return [page for part in parts for page in collect(part)]

    return collect(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["nav"])
