"""zoloss prune: the library's choice of rows, lines that stay as they were, and why others are gone."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest
from own_rows import HEADER, as_csv, loaded, noisy_rows, refused

from zoloss_cli.complexity.outliers import prune
from zoloss_cli.config.models import Prune
from zoloss_cli.data.user_table import read_for_training

QUICK = ["--permutations", "30"]


@pytest.fixture
def mine(table):
    return table(as_csv(noisy_rows()))


def cleaned(zoloss, path, tmp_path, *options):
    """(kept bytes, report's rows, what was printed)."""
    out = tmp_path / "clean.csv"
    ended = zoloss.ok("prune", path, "--out", out, *options)
    report = list(csv.DictReader(io.StringIO((tmp_path / "clean.dropped.csv").read_text(encoding="utf-8"))))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clean.csv", "clean.dropped.csv", path.name]
    return out.read_bytes(), report, ended


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ([], Prune()),
        (["--permutations", "30", "--threshold", "0.8"], Prune(permutations=30, threshold=0.8)),
        (["--by", "neighbours"], Prune(by="neighbours")),
        (
            ["--by", "neighbours", "--neighbours", "3", "--threshold", "0.4"],
            Prune(by="neighbours", neighbours=3, threshold=0.4),
        ),
    ],
)
def test_dropped_rows_are_the_library_s(zoloss, mine, tmp_path, options, how):
    kept, report, ended = cleaned(zoloss, mine, tmp_path, *options, "--seed", "5")
    X, y, own = loaded(mine)
    found = prune(X, y, how, 5)
    assert 0 < len(found.dropped) < 60
    assert [int(row["line"]) for row in report] == [own.lines[row] for row in found.dropped]
    assert [row["label"] for row in report] == [own.labels[row] for row in found.dropped]
    assert [float(row["score"]) for row in report] == found.scores[found.dropped].tolist()
    lines = mine.read_bytes().splitlines(keepends=True)
    gone = {int(row["line"]) for row in report}
    assert kept == b"".join(line for number, line in enumerate(lines, 1) if number not in gone)
    for k, name in enumerate(("bad", "good")):
        shown = next(line.split() for line in ended.out.splitlines() if line.startswith(name))
        dropped = int(np.sum(y[found.dropped] == k))
        assert shown == [name, str(int(np.sum(y == k)) - dropped), str(dropped)]
    assert f"kept      {tmp_path / 'clean.csv'}" in ended.out
    assert f"dropped   {tmp_path / 'clean.dropped.csv'}" in ended.out


def test_reasons(zoloss, table, tmp_path):
    rows = [*noisy_rows(), ["9", "9", "red", "good"], ["9", "9", "red", "good"], ["9", "9", "red", "bad"]]
    rows += [["8", "8", "red", "good"], ["8", "8", "red", "bad"], ["?", "1", "red", "bad"]]
    path = table(as_csv(rows))
    _, report, ended = cleaned(zoloss, path, tmp_path, "--missing", "drop")
    reasons = {int(row["line"]): row["reason"] for row in report}
    assert reasons[64] == "equal features, other label in 2 rows, first in line 62"
    assert 62 not in reasons  # the more frequent label stays, unless it is noise
    assert reasons[65] == "equal features, other label in 1 row, first in line 66"
    assert reasons[66] == "equal features, other label in 1 row, first in line 65"
    assert reasons[67] == "missing value"
    by_line = {int(row["line"]): row for row in report}
    assert {by_line[line]["score"] for line in (64, 65, 66, 67)} == {""}
    scored = [row for row in report if row["score"]]
    assert scored
    for row in scored:
        assert row["reason"] == f"contribution {float(row['score']):g} above 1"
        assert float(row["score"]) > 1
    assert (
        f"(dropped: {len(scored)} as noise, 3 with equal features and the other label, 1 have a missing value)"
        in ended.out
    )


def records(separator: str = ",", end: str = "\n", quoted: bool = False, bom: bytes = b"") -> list[bytes]:
    """The header and the rows of a file in this dress, with their line ends."""
    rows = noisy_rows()
    if quoted:
        rows = [[a, b, f'"{colour}{separator} or{end}so"', f'"{label}"'] for a, b, colour, label in rows]
    texts = [(separator.join(row) + end).encode() for row in [HEADER, *rows]]
    return [bom + texts[0], *texts[1:]]


BOM = b"\xef\xbb\xbf"
DRESSES = {
    "semicolons": records(";"),
    "byte order mark": records(bom=BOM),
    "CRLF": records(end="\r\n"),
    "CR": records(end="\r"),
    "no newline at the end": [*records()[:-1], records()[-1].strip()],
    "quoted newlines": records(quoted=True),
    "all at once": records(";", "\r\n", True, BOM),
    "blanks": records(" , "),
    "blank lines": [record + b"\n" for record in records()],
}


def test_kept_lines_are_those_of_the_input_to_the_byte(zoloss, table, tmp_path):
    for i, (header, *rows) in enumerate(DRESSES.values()):
        (folder := tmp_path / str(i)).mkdir()
        path = table(b"".join([header, *rows]), f"{i}/mine.csv")
        kept, report, _ = cleaned(zoloss, path, folder, "--by", "neighbours")
        lines = read_for_training(path).lines
        gone = {lines.index(int(row["line"])) for row in report}
        assert len(lines) == 60
        assert 0 < len(gone) < 60
        assert kept == header + b"".join(row for i, row in enumerate(rows) if i not in gone)
        assert len(read_for_training(folder / "clean.csv").lines) + len(report) == 60


def test_a_dry_run_writes_nothing_and_a_report_is_where_it_is_wanted(zoloss, mine, tmp_path):
    ended = zoloss.ok("prune", mine, "--dry-run", *QUICK)
    assert list(tmp_path.iterdir()) == [mine]
    assert "kept    dropped" in ended.out
    assert zoloss("prune", mine, *QUICK, "-o", tmp_path / "x", "--report", tmp_path / "why.csv").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.csv", "why.csv", "x"]


def test_a_class_keeps_its_last_row(zoloss, table, tmp_path):
    path = table("a,label\n1,x\n2,x\n3,x\n2.5,y\n4,x\n")
    _, report, ended = cleaned(zoloss, path, tmp_path, "--threshold", "0.1")
    assert ":5: above the threshold, but kept as the last row of the class 'y'" in ended.err
    assert 5 not in {int(row["line"]) for row in report}


def test_compressed_tables_are_pruned_and_files_without_lines_are_not(zoloss, table, mine, tmp_path):
    packed, (header, *lines) = tmp_path / "packed" / "mine.csv.gz", mine.read_bytes().splitlines(keepends=True)
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(mine.read_bytes()))
    kept, _, _ = cleaned(zoloss, packed, packed.parent, "--by", "neighbours", "--drop", "colour")
    assert kept.startswith(header)
    assert set(kept.splitlines(keepends=True)[1:]) < set(lines)
    pd.read_csv(mine).to_parquet(tmp_path / "mine.parquet")
    wide = table(mine.read_text().encode("utf-16"), "wide.csv")
    for path in (tmp_path / "mine.parquet", wide):
        refused(zoloss("prune", path, "--out", tmp_path / "clean.csv"), 3, "save it as CSV in UTF-8 first")
    assert not (tmp_path / "clean.csv").exists()
