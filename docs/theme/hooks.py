"""What the site adds to MkDocs: the page on the results format, which is beside the results, and its links."""

from __future__ import annotations

from pathlib import Path

from mkdocs.structure.files import File

RESULTS_PAGE = "results-format.md"


def on_files(files, config):
    """Add the page of the folder `results`, with its links as they are in `docs`."""
    text = Path(config.config_file_path).parent.joinpath("results", "README.md").read_text(encoding="utf-8")
    title, _, body = text.replace("](../docs/", "](").partition("\n")
    assert title == "# Results", title
    files.append(File.generated(config, RESULTS_PAGE, content=f"# The results format\n{body}"))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to the folder `results` to its page."""
    return markdown.replace("](../results/README.md", f"]({RESULTS_PAGE}")
