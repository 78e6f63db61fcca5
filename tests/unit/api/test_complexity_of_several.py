"""zoloss complexity and prune with more than two classes, and with rows that contradict each other."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from own_rows import as_csv, loaded, noisy_rows
from sklearn.neighbors import NearestNeighbors

QUICK = ["--permutations", "20"]


def several_rows(n: int = 60) -> list[list[str]]:
    """Three groups of points with a few labels that are wrong, and a column of text."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 2))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y)
    return [
        [f"{a:.3f}", f"{b:.3f}", "red" if a > b else "blue", ("low", "mid", "top")[k]]
        for (a, b), k in zip(X, y, strict=True)
    ]


def contradictory_rows(rows: list[list[str]], other: str) -> list[list[str]]:
    """Put in, for some rows, one more with another label; for others two, or one that is outvoted."""
    ended = [list(row) for row in rows]
    for k in (3, 10):
        ended.insert(k, [*rows[k][:3], other if rows[k][3] != other else rows[0][3]])
    label = rows[20][3]
    ended += [[*rows[20][:3], label], [*rows[20][:3], other if label != other else rows[0][3]]]
    return ended


def remove_by_hand(rows: list[list[str]]) -> list[list[str]]:
    """The rows whose label is more frequent than any other among those with the same features."""
    votes = defaultdict(Counter)
    for *features, label in rows:
        votes[tuple(features)][label] += 1
    kept = []
    for *features, label in rows:
        (first, most), *others = votes[tuple(features)].most_common()
        if first == label and (not others or others[0][1] < most):
            kept.append([*features, label])
    return kept


def measure(zoloss, path, *options) -> dict:
    ended = zoloss.ok("complexity", path, *QUICK, *options, "--json")
    return json.loads(ended.out)


def test_several_classes_are_each_against_the_rest(zoloss, table):
    path = table(as_csv(several_rows()))
    whole, classes = measure(zoloss, path), ["low", "mid", "top"]
    parts = [measure(zoloss, path, "--positive", name) for name in classes]
    assert (whole["classes"], whole["positive"], whole["share"]) == (classes, None, None)
    assert whole["complexity"] == sum(part["complexity"] for part in parts)
    given = [[row["contribution"] for row in part["rows"]] for part in parts]
    assert [row["contribution"] for row in whole["rows"]] == np.max(given, axis=0).tolist()
    assert [row["largest_against"] for row in whole["rows"]] == [classes[k] for k in np.argmax(given, axis=0)]
    assert [row["support"] for row in whole["rows"]] == [
        any(support)
        for support in zip(*([row["support"] for row in part["rows"]] for part in parts), strict=True)
    ]
    np.testing.assert_allclose(whole["growth"], np.sum([part["growth"] for part in parts], axis=0))
    for name, told, part, contributions in zip(classes, whole["one_vs_rest"], parts, given, strict=True):
        assert (told["class"], told["complexity"], told["share"]) == (name, part["complexity"], part["share"])
        assert (told["growth"], told["contributions"]) == (part["growth"], contributions)


@pytest.mark.parametrize(("rows", "other"), [(noisy_rows(), "good"), (several_rows(), "mid")])
def test_contradictory_rows_are_set_apart_as_if_removed_by_hand(zoloss, table, rows, other):
    rows = contradictory_rows(rows, other)
    kept = remove_by_hand(rows)
    assert len(rows) - len(kept) == 5  # two pairs, and one that two others outvote
    path = table(as_csv(rows))
    whole, cleaned = measure(zoloss, path), measure(zoloss, table(as_csv(kept), "clean.csv"))
    assert len(whole["contradicted"]) == 5
    assert cleaned["contradicted"] == []
    for facts in (whole, cleaned):
        del facts["data"], facts["contradicted"]
        for row in facts["rows"]:
            del row["line"]
    assert whole == cleaned
    text = zoloss("complexity", path, *QUICK).out
    assert "set aside   5 rows with equal features and different labels" in text


@pytest.mark.parametrize(("rows", "other"), [(noisy_rows(), "good"), (several_rows(), "mid")])
def test_prune_drops_what_complexity_sets_apart_and_what_it_calls_noisy(zoloss, table, tmp_path, rows, other):
    path = table(as_csv(contradictory_rows(rows, other)))
    facts = measure(zoloss, path)
    ended = zoloss.ok("prune", path, *QUICK, "--out", tmp_path / "clean.csv")
    report = list(csv.DictReader(io.StringIO((tmp_path / "clean.dropped.csv").read_text(encoding="utf-8"))))
    apart = {row["line"]: row["label"] for row in facts["contradicted"]}
    noisy = {row["line"]: row["contribution"] for row in facts["rows"] if row["category"] == "noisy"}
    assert {int(row["line"]): row["label"] for row in report if not row["score"]} == apart
    assert {int(row["line"]): float(row["score"]) for row in report if row["score"]} == noisy
    assert noisy
    label = "another" if len(facts["classes"]) > 2 else "the other"
    assert f"(dropped: {len(noisy)} as noise, 5 with equal features and {label} label)" in ended.out
    assert ("the largest of one class against the rest" in ended.out) == (len(facts["classes"]) > 2)
    again = measure(zoloss, tmp_path / "clean.csv")
    assert again["n"] == facts["n"] - len(noisy)


def test_neighbours_of_several_classes_are_scikit_learn_s(zoloss, table, tmp_path):
    path = table(as_csv(several_rows()))
    out = tmp_path / "clean.csv"
    assert zoloss("prune", path, "--by", "neighbours", "--neighbours", 5, "--out", out).code == 0
    report = list(csv.DictReader(io.StringIO((tmp_path / "clean.dropped.csv").read_text(encoding="utf-8"))))
    X, y, own = loaded(path)
    near = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False)
    opposed = (y[near] != y[:, None]).sum(axis=1)
    assert {int(row["line"]): row["reason"] for row in report} == {
        own.lines[i]: f"{opposed[i]} of 5 neighbours have another label, a share above 0.5"
        for i in np.flatnonzero(opposed > 2)
    }


def test_a_class_that_nothing_is_left_of_is_named(zoloss, table):
    path = table("a,b,label\n0,0,x\n1,0,x\n0,1,y\n1,1,y\n5,5,z\n5,5,x\n")
    ended = zoloss.ok("complexity", path, *QUICK)
    assert f"{path}: no rows remain of the class z" in ended.err
    assert "classes     'x' (2 samples) and 'y' (2 samples, positive)" in ended.out
    pruned = zoloss("prune", path, "--dry-run", "--by", "neighbours", "--threshold", "1")
    assert [line.split() for line in pruned.out.splitlines() if line[:1] in "xyz" and line[:1]] == [
        ["x", "2", "1"],
        ["y", "2", "0"],
        ["z", "0", "1"],
    ]
