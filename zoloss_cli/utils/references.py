"""The References section of a docstring in short form: authors, year, and place in the paper."""

from __future__ import annotations

import inspect
import re
import textwrap

SECTION = re.compile(r"^References\n-+\n(.*?)(?=\n\S[^\n]*\n-{3,}\n|\Z)", re.S | re.M)
ENTRY = re.compile(r"^\.\. \[\d+\] ", re.M)
AUTHORS_AND_YEAR = re.compile(r"^(?P<authors>.+?) \((?P<year>\d{4})\)\.")
FAMILY_NAME = re.compile(r"([A-Z][\w'-]+), (?:[A-Z]\.[- ]?)+")
TITLED = re.compile(r'^[A-Z][\w ]* "(?P<title>[^"]+)"')
PLACE = re.compile(
    r"\b((?:Section|Algorithm|Table|Figure|Equation|Theorem|Definition|Chapter)s?|Eq\.) "
    r"([\dIV(][^,\s]*(?: (?:and|to) [\dIV][^,\s]*)?)",
    re.I,
)
OWN = "Own "  # algorithm, choice
MAX_TITLE_LENGTH = 24


def find_source(docstring: str) -> str:
    """Return the source of an algorithm, from the section References of its docstring.

    This is the first reference that names a section, algorithm, table or equation, or else the first one.

    Parameters
    ----------
    docstring : str
        A numpydoc docstring.

    Returns
    -------
    str
        Authors, year and place, 'zoloss' for an algorithm of the project itself, or '' without references.

    Examples
    --------
    >>> find_source('''Do it.
    ...
    ... References
    ... ----------
    ... .. [1] Gallant, S. I. (1990). Perceptron-based learning algorithms.
    ... .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss. IJCNN. Section III, Figures 1 and 2.
    ... ''')
    'Li & Lin (2007), Section III'
    """
    section = SECTION.search(inspect.cleandoc(docstring))
    entries = [" ".join(entry.split()) for entry in ENTRY.split(section[1]) if entry.strip()] if section else []
    if not entries:
        return ""
    if entries[0].startswith(OWN):
        return "zoloss"
    placed = [entry for entry in entries if PLACE.search(entry)]
    chosen = (placed or entries)[0]
    place = PLACE.search(chosen)
    return _name_work(chosen) + (f", {place[1].capitalize()} {place[2].rstrip('.')}" if place else "")


def _name_work(entry: str) -> str:
    found = AUTHORS_AND_YEAR.match(entry)
    if found:
        names = FAMILY_NAME.findall(found["authors"] + " ")
        short = f"{names[0]} et al." if len(names) > 2 else " & ".join(names)
        return f"{short} ({found['year']})"
    titled = TITLED.match(entry)
    title = titled["title"] if titled else entry.partition(".")[0]
    return f'"{textwrap.shorten(title, MAX_TITLE_LENGTH, placeholder=" ...")}"'
