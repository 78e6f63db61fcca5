"""How to read the page: what is ours, what is published, what z says, and what can be clicked."""

from __future__ import annotations

from zoloss_cli.reporting.html_report.cells import Z_ALERT, Z_WARN
from zoloss_cli.reporting.render.html import escape

ALWAYS = (
    (
        "a number",
        "The mean over splits ± its standard error, or a count on the whole set; what it is of stands under the "
        "table. Bold: as the notes of each table say.",
    ),
    (
        "a data set's name",
        "Click it for box plots and the value of every split. A heading sorts its column; the boxes over a table "
        "filter rows and columns.",
    ),
)
OF_PUBLISHED = (
    (
        "published",
        "A number that a paper prints. It stands below ours, in italics; nothing of it went into ours. Where a "
        "choice was made by how near it comes, the cell is called fitted and is counted apart, as are cells on "
        "other data and cells too uncertain for a test. What the choices are stands under each table.",
    ),
    (
        "z",
        "For errors, z is the difference divided by its standard error: ours minus published, over the standard "
        f"error that both together have. Chance alone gives |z| up to {Z_WARN:g} in about 95 % of cells. z = +1 "
        "means that ours is higher by one standard error.",
    ),
    (
        "a coloured cell",
        f"|z| is beyond {Z_WARN:g}, or {Z_ALERT:g} where the colour is darker; the small raised number is z. The "
        "reasons that are known are listed under “Cells that differ, and why”.",
    ),
    (
        "losses and times",
        "Losses are counts: they are equal, lower (better) or higher. Times are compared by their ratio, ours over "
        "published: the machines are not the same.",
    ),
)


def explain_page(has_published: bool) -> str:
    """Return the explanations as HTML: of published values only where there are any."""
    items = [*ALWAYS, *(OF_PUBLISHED if has_published else ())]
    body = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in items)
    return f'<section class="reading" aria-label="How to read this page"><h3>How to read this page</h3><dl>{body}</dl></section>'
