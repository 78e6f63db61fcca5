"""zoloss complexity and prune on one's own tables: the library's numbers, and lines that stay as they were."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from zoloss_cli import data_complexity
from zoloss_cli.complexity.clusters import clusters
from zoloss_cli.complexity.contribution import average
from zoloss_cli.complexity.decomposition import decompose
from zoloss_cli.complexity.measure import along_path, make_problem, solved
from zoloss_cli.complexity.outliers import neighbour_disagreement
from zoloss_cli.complexity.pruning import contributions, prune
from zoloss_cli.config.models import Prune
from zoloss_cli.datasets.own_table import read_training
from zoloss_cli.paths import shipped
from zoloss_cli.preprocess import scale

QUICK = ["--permutations", "30"]


def noisy_rows(n: int = 60) -> list[list[str]]:
    """Two groups of points with a few labels turned round, and a column of text."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0) ^ (rng.random(n) < 0.1)
    return [
        [f"{a:.3f}", f"{b:.3f}", "red" if a > b else "blue", "good" if k else "bad"]
        for (a, b), k in zip(X, y, strict=True)
    ]


HEADER = ["a", "b", "colour", "label"]


def as_csv(rows, separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in [HEADER, *rows])


@pytest.fixture
def mine(table):
    return table(as_csv(noisy_rows()))


def loaded(path, how: str = "minmax"):
    own = read_training(path)
    return scale(own.X, own.X, how)[0], own.classes(None)[0], own


# -- complexity ---------------------------------------------------------------------------------------


def test_json_has_the_library_s_numbers_of_every_row(zoloss, mine):
    ended = zoloss("complexity", mine, *QUICK, "--seed", 7, "--json")
    assert ended.code == 0, ended.err
    assert len(ended.out.splitlines()) == 1
    facts, (X, y, own) = json.loads(ended.out), loaded(mine)
    problem = make_problem(X, y)
    sums = contributions(problem, 30, 7)
    rows = facts["rows"]
    assert facts["complexity"] == data_complexity(X, y) == sum(row["support"] for row in rows)
    assert [i for i, row in enumerate(rows) if row["support"]] == solved(problem).support.tolist()
    assert [row["contribution"] for row in rows] == average(sums).tolist()
    assert [(row["line"], row["label"]) for row in rows] == list(zip(own.lines, own.labels, strict=True))
    assert (facts["n"], facts["share"]) == (60, facts["complexity"] / 60)
    assert facts["decomposition"] is None
    for row in rows:
        limits = {"typical": (-np.inf, 2 / 3), "critical": (2 / 3, 1.0), "noisy": (1.0, np.inf)}
        low, high = limits[row["category"]]
        assert low <= row["contribution"] <= high
    for name in ("good", "bad"):
        for category, count in facts["categories"][name].items():
            assert count == sum((row["label"], row["category"]) == (name, category) for row in rows)


def test_growth_is_the_mean_over_random_orders(zoloss, mine):
    facts = json.loads(zoloss("complexity", mine, "--permutations", 300, "--json").out)
    X, y, _ = loaded(mine)
    problem, rng = make_problem(X, y), np.random.default_rng(0)
    paths = np.array([along_path(problem, rng.permutation(60)) for _ in range(300)])
    assert len(facts["growth"]) == 61
    assert (facts["growth"][0], facts["growth"][-1]) == (0.0, facts["complexity"])
    spread = paths.std(axis=0, ddof=1) / np.sqrt(300)
    assert np.all(np.abs(paths.mean(axis=0) - facts["growth"]) <= 6 * np.hypot(spread, spread) + 1e-9)


@pytest.mark.parametrize(
    ("options", "how"),
    [
        (["--kernel", "stump"], ("stump", None, "minmax")),
        (["--kernel", "rbf", "--gamma", "50"], ("rbf", 50.0, "minmax")),
        (["--scale", "standard"], ("perceptron", None, "standard")),
        (["--scale", "none"], ("perceptron", None, "none")),
    ],
)
def test_kernel_and_scale_are_those_asked_for(zoloss, mine, options, how):
    kernel, gamma, scaling = how
    X, y, _ = loaded(mine, scaling)
    facts = json.loads(zoloss("complexity", mine, *QUICK, *options, "--json").out)
    assert facts["complexity"] == data_complexity(X, y, kernel, gamma)
    assert (facts["kernel"], facts["gamma"], facts["scale"]) == how


def test_the_text_tells_the_same_as_the_json(zoloss, mine):
    facts = json.loads(zoloss("complexity", mine, *QUICK, "--clusters", 8, "--json").out)
    text = zoloss("complexity", mine, *QUICK, "--clusters", 8).out
    assert f"complexity  {facts['complexity']}: {100 * facts['share']:.1f} % of 60 rows" in text
    table = {
        line.split()[0]: line.split()[1:] for line in text.splitlines() if line.startswith(("good", "bad"))
    }
    assert table == {name: [str(n) for n in counts.values()] for name, counts in facts["categories"].items()}
    noisy = sorted(
        (row for row in facts["rows"] if row["category"] == "noisy"), key=lambda r: -r["contribution"]
    )
    lines = text.splitlines()
    shown = lines[lines.index(next(line for line in lines if line.split()[:1] == ["line"])) + 2 :]
    assert [line.split() for line in shown[: min(10, len(noisy))]] == [
        [str(row["line"]), row["label"], f"{row['contribution']:.2f}"] for row in noisy[:10]
    ]
    points = [[p["complexity"], p["errors"], p["subsets"]] for p in facts["decomposition"]["points"]]
    after = lines.index(next(line for line in lines if "complexity    errors" in line)) + 2
    assert [list(map(int, line.split())) for line in lines[after : after + len(points)]] == points
    assert "heuristic: a point may be missed" in text


@pytest.mark.parametrize("exact", [True, False])
def test_principal_points_are_the_library_s(zoloss, mine, exact, tmp_path):
    options = ["--exact", "--plot", tmp_path / "p.svg"] if exact else ["--heuristic"]
    facts = json.loads(zoloss("complexity", mine, *QUICK, "--clusters", 7, *options, "--json").out)
    X, y, _ = loaded(mine)
    problem = make_problem(X, y)
    groups = clusters(problem, 7)
    found, told = decompose(problem, groups, exact=exact), facts["decomposition"]
    assert told["points"] == [
        {"complexity": p.complexity, "errors": p.error, "subsets": p.count} for p in found.points
    ]
    assert (told["clusters"], told["exact"]) == (7, exact)
    assert told["pairs"] == (found.pairs.tolist() if exact else None)
    assert [row["cluster"] for row in facts["rows"]] == groups.tolist()


def test_a_sample_is_drawn_by_the_seed(zoloss, mine):
    one, again, other = (
        json.loads(zoloss("complexity", mine, *QUICK, "--sample", 25, "--seed", seed, "--json").out)
        for seed in (1, 1, 2)
    )
    assert one == again
    assert (one["n"], one["sampled_from"]) == (25, 60)
    lines = [row["line"] for row in one["rows"]]
    assert lines == sorted(set(lines)) != [row["line"] for row in other["rows"]]
    X, y, own = loaded(mine)
    rows = [own.lines.index(line) for line in lines]
    assert one["complexity"] == data_complexity(X[rows], y[rows])  # scaled as all rows are
    assert "sample      25 of these rows" in zoloss("complexity", mine, *QUICK, "--sample", 25).out
    whole = json.loads(zoloss("complexity", mine, *QUICK, "--sample", 600, "--json").out)
    assert (whole["n"], whole["sampled_from"]) == (60, None)


def test_one_class_against_the_rest_and_missing_values(zoloss, table):
    path = table("a,b,kind\n1,1,x\n2,1,y\n3,?,z\n4,2,z\n5,1,x\n7,0,y\n")
    facts = json.loads(zoloss("complexity", path, "--positive", "z", "--missing", "drop", "--json").out)
    assert (facts["classes"], facts["n"], facts["dropped"]) == (["rest", "z"], 5, 1)
    assert [(row["line"], row["label"]) for row in facts["rows"]] == [
        (2, "x"),
        (3, "y"),
        (5, "z"),
        (6, "x"),
        (7, "y"),
    ]


def test_quoted_newlines_count_as_lines(zoloss, table):
    path = table('a,note,label\n1,"two\nlines",x\n9,one,y\n2,one,x\n')
    facts = json.loads(zoloss("complexity", path, "--json").out)
    assert [row["line"] for row in facts["rows"]] == [2, 4, 5]


def test_rows_without_noise_are_said_to_be_so(zoloss, table):
    path = table("a,label\n" + "".join(f"{x},{'n' if x < 10 else 'p'}\n" for x in range(20)))
    assert "No row looks like noise." in zoloss("complexity", path).out


# -- prune --------------------------------------------------------------------------------------------


def cleaned(zoloss, path, tmp_path, *options):
    """(kept bytes, report's rows, what was printed)."""
    out = tmp_path / "clean.csv"
    ended = zoloss("prune", path, "--out", out, *options)
    assert ended.code == 0, ended.err
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


def test_prune_drops_what_complexity_calls_noisy(zoloss, mine, tmp_path):
    facts = json.loads(zoloss("complexity", mine, "--json").out)
    _, report, _ = cleaned(zoloss, mine, tmp_path)
    noisy = [row["line"] for row in facts["rows"] if row["category"] == "noisy"]
    assert [int(row["line"]) for row in report] == noisy


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
        f"(dropped: {len(scored)} as noise, 3 whose equals have the other label, 1 have a missing value)"
        in ended.out
    )


def test_reasons_by_neighbours(zoloss, mine, tmp_path):
    _, report, _ = cleaned(zoloss, mine, tmp_path, "--by", "neighbours", "--neighbours", "5")
    X, y, own = loaded(mine)
    shares = neighbour_disagreement(make_problem(X, y), 5)
    assert {int(row["line"]) for row in report} == {own.lines[i] for i in np.flatnonzero(shares > 0.5)}
    for row in report:
        opposed = round(5 * shares[own.lines.index(int(row["line"]))])
        assert row["reason"] == f"{opposed} of 5 neighbours have the other label, a share above 0.5"


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


@pytest.mark.parametrize("parts", DRESSES.values(), ids=DRESSES.keys())
def test_kept_lines_are_those_of_the_input_to_the_byte(zoloss, table, tmp_path, parts):
    path = table(b"".join(parts))
    kept, report, _ = cleaned(zoloss, path, tmp_path, *QUICK)
    lines = read_training(path).lines
    gone = {lines.index(int(row["line"])) for row in report}
    assert len(lines) == 60
    assert 0 < len(gone) < 60
    header, *rows = parts
    assert kept == header + b"".join(row for i, row in enumerate(rows) if i not in gone)
    assert len(read_training(tmp_path / "clean.csv").lines) + len(report) == 60


def test_a_dry_run_writes_nothing(zoloss, mine, tmp_path):
    ended = zoloss("prune", mine, "--dry-run", *QUICK)
    assert ended.code == 0
    assert list(tmp_path.iterdir()) == [mine]
    assert "kept    dropped" in ended.out
    assert zoloss("prune", mine, "--dry-run", *QUICK, "--out", tmp_path / "x.csv").out == ended.out
    assert list(tmp_path.iterdir()) == [mine]


def test_the_report_where_it_is_wanted(zoloss, mine, tmp_path):
    assert zoloss("prune", mine, *QUICK, "-o", tmp_path / "x", "--report", tmp_path / "why.csv").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.csv", "why.csv", "x"]
    header = (tmp_path / "why.csv").read_text().splitlines()[0]
    assert header == "line,label,score,reason"


def test_a_class_keeps_its_last_row(zoloss, table, tmp_path):
    path = table("a,label\n1,x\n2,x\n3,x\n2.5,y\n4,x\n")
    _, report, ended = cleaned(zoloss, path, tmp_path, "--threshold", "0.1")
    assert (
        "line 5: above the threshold, but nothing else would be left of the class 'y', so it stays" in ended.err
    )
    assert 5 not in {int(row["line"]) for row in report}


def test_heart_is_as_the_page_shows_it(zoloss):
    facts = json.loads(zoloss("complexity", shipped("datasets") / "heart.csv", "--json").out)
    assert (facts["n"], facts["complexity"]) == (270, 164)
