"""zoloss complexity and prune on your own tables: the library's numbers, and lines that stay as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from own_rows import as_csv, loaded, noisy_rows

from zoloss_cli import data_complexity
from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import cluster_samples, decompose
from zoloss_cli.complexity.hard_margin import build_problem, compute_path_complexities, fit_hard_margin_svm
from zoloss_cli.utils.files import shipped_folder

QUICK = ["--permutations", "30"]


@pytest.fixture
def mine(table):
    return table(as_csv(noisy_rows()))


def test_json_has_the_library_s_numbers_of_every_row(zoloss, mine):
    ended = zoloss("complexity", mine, *QUICK, "--seed", 7, "--json")
    assert ended.code == 0, ended.err
    assert len(ended.out.splitlines()) == 1
    facts, (X, y, own) = json.loads(ended.out), loaded(mine)
    problem = build_problem(X, y)
    sums = sum_paths_in_blocks(problem, 30, 7)
    rows = facts["rows"]
    assert facts["complexity"] == data_complexity(X, y) == sum(row["support"] for row in rows)
    assert [i for i, row in enumerate(rows) if row["support"]] == fit_hard_margin_svm(problem).support.tolist()
    assert [row["contribution"] for row in rows] == average_contributions(sums).tolist()
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
    problem, rng = build_problem(X, y), np.random.default_rng(0)
    paths = np.array([compute_path_complexities(problem, rng.permutation(60)) for _ in range(300)])
    assert len(facts["growth"]) == 61
    assert (facts["growth"][0], facts["growth"][-1]) == (0.0, facts["complexity"])
    spread = paths.std(axis=0, ddof=1) / np.sqrt(300)
    assert np.all(np.abs(paths.mean(axis=0) - facts["growth"]) <= 6 * np.hypot(spread, spread) + 1e-9)


@pytest.mark.parametrize(
    ("options", "how"),
    [
        (["--kernel", "stump"], ("stump", None, "standard")),
        (["--kernel", "rbf", "--gamma", "50"], ("rbf", 50.0, "standard")),
        (["--scale", "minmax"], ("perceptron", None, "minmax")),
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
    assert f"complexity  {facts['complexity']}: {100 * facts['share']:.1f} % of 60 samples" in text
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
    problem = build_problem(X, y)
    groups = cluster_samples(problem, 7)
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
    assert "sample      25 of these" in zoloss("complexity", mine, *QUICK, "--sample", 25).out
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


def test_heart_is_as_the_page_shows_it(zoloss):
    command = ["complexity", shipped_folder("datasets") / "heart.csv", "--json"]
    for options, complexity in (([], 175), (["--scale", "minmax"], 164)):
        facts = json.loads(zoloss(*command, *options).out)
        assert (facts["n"], facts["complexity"]) == (270, complexity)
