"""The numbers of the reference results, cell for cell: they are those of version 0.1, committed before.

reference_cells/ holds what `zoloss table`, `compare` and `stats` wrote as CSV, without the notes of `stats`.
Numbers that were corrected or added since are the later ones.
"""

import csv
import io
import math

import pytest
from places import REFERENCE, TOP
from reference_runs import load_reference

from zoloss_cli.results.store import Store

CELLS = TOP / "tests" / "oracle" / "reference_cells"
# What tells one line from the others, and how many numbers the lines have in all.
COMMANDS = {
    "tables": (["table"], ("table", "dataset", "learner", "metric"), 20320),
    "compare": (["compare"], ("paper", "table", "dataset", "learner", "metric"), 6478),
    "stats": (["stats"], ("table", "test", "dataset", "first", "second"), 37221),
}
LAST_DIGIT = 1e-5  # six digits are written


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def agree(now: str, before: str) -> bool:
    if is_number(now) and is_number(before):
        return math.isclose(float(now), float(before), rel_tol=LAST_DIGIT, abs_tol=1e-9)
    return now == before


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_is_what_it_was(zoloss, name, monkeypatch):
    for module in ("report.runs", "api.tables"):  # the results are read once for all tests
        monkeypatch.setattr(f"zoloss_cli.{module}.load_runs", lambda *_: (load_reference(), Store(REFERENCE)))
    command, keys, n_numbers = COMMANDS[name]
    before = read_csv((CELLS / f"{name}.csv").read_text(encoding="utf-8"))
    ended = zoloss.ok(*command, REFERENCE, "--format", "csv")
    now = read_csv(ended.out)
    assert [[line[key] for key in keys] for line in now] == [[line[key] for key in keys] for line in before]
    compared = 0
    for ours, theirs in zip(now, before, strict=True):
        for column, value in theirs.items():
            assert agree(ours[column], value), (ours, column, value)
            compared += column not in keys and is_number(value)
    assert compared == n_numbers
