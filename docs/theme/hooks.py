"""What the site adds to MkDocs: the page on the results format, which is beside the results, and its links."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.files import File

RESULTS_PAGE = "results-format.md"
TABLE_CELL = re.compile(r"<td.*?</td>", re.S)
COMMANDS = re.compile(r'<div class="language-(?:sh|bash|console) .*?</div>', re.S)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


def on_files(files, config):
    """Add the page of the folder `results`, with its links as they are in `docs`."""
    text = Path(config.config_file_path).parent.joinpath("results", "README.md").read_text(encoding="utf-8")
    title, _, body = text.replace("](../docs/", "](").partition("\n")
    assert title == "# Results", title
    files.append(File.generated(config, RESULTS_PAGE, content=f"# The results format\n{body}"))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to the folder `results` to its page, and tell the input of Python from its output."""
    markdown = markdown.replace("```python\n>>>", "```pycon\n>>>")
    return markdown.replace("](../results/README.md", f"]({RESULTS_PAGE}")


def on_page_content(html, page, config, files):
    """Break no line within a value and its standard error, nor within the option of a command."""
    html = TABLE_CELL.sub(lambda cell: cell[0].replace(" ± ", "&nbsp;±&nbsp;"), html)
    return COMMANDS.sub(lambda block: OPTION.sub(r'<span class="option">\g<0></span>', block[0]), html)
