"""How to read the page: what is ours, what is published, what z says, and what can be clicked."""

from __future__ import annotations

from zoloss_cli.reporting.html_report.cells import Z_ALERT, Z_WARN
from zoloss_cli.reporting.render.html import escape

ALWAYS = {
    "a number": "The mean over splits ± its standard error, or a count on the whole set; the heading of each "
    "table says which. What bold means stands under the table.",
    "a data set's name": "Click it for box plots and the value of every split. A heading sorts its column; the "
    "fields over a table filter rows and columns.",
}
OF_PUBLISHED = {
    "published": "A number from a paper. It stands below ours, in italics. Where a choice that the "
    "paper leaves open was made by how near ours comes, the cell is called fitted and is counted apart, as are "
    "cells on other data and cells too uncertain for a test. What the choices are stands under each table.",
    "z": "For errors, z is the difference divided by its standard error: ours minus published, over the "
    f"standard error of both together. Chance alone gives |z| up to {Z_WARN:g} in about 95 % of cells; z = +1 "
    "means that ours is higher by one standard error.",
    "a coloured cell": f"|z| is beyond {Z_WARN:g}, or beyond {Z_ALERT:g} where the colour is darker; the small "
    "raised number is z. What is known of the reasons is under “Cells that differ, and why”.",
    "losses and times": "Losses are counts: they are equal, lower (better) or higher. Times are compared by "
    "their ratio, ours over published: the machines are not the same.",
}


def explain_page(has_published: bool) -> str:
    """Return the explanations as HTML; those of published values only if there are any."""
    items = ALWAYS | (OF_PUBLISHED if has_published else {})
    body = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in items.items())
    return f'<div class="reading"><h3>How to read this page</h3><dl>{body}</dl></div>'
