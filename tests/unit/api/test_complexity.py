"""zoloss complexity and prune on your own tables: the library's numbers, and lines that stay as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from drawing import assert_inside, named_lines
from own_rows import GOOD, as_csv, loaded, noisy_rows

from zoloss_cli import data_complexity
from zoloss_cli.api.complexity import ComplexityOptions, draw_complexity, load_samples, measure_complexity
from zoloss_cli.complexity.contribution import average_contributions, sum_paths_in_blocks
from zoloss_cli.complexity.decomposition import cluster_samples, decompose
from zoloss_cli.complexity.hard_margin import build_problem, fit_hard_margin_svm
from zoloss_cli.data.user_table import read_for_training

QUICK = ["--permutations", "30"]


@pytest.fixture
def mine(table):
    return table(as_csv(noisy_rows()))


def test_json_has_the_library_s_numbers_of_every_row(zoloss, mine):
    ended = zoloss.ok("complexity", mine, *QUICK, "--seed", 7, "--json")
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


def test_kernel_and_scale_are_those_asked_for(zoloss, mine):
    for options, how in (
        (["--kernel", "stump"], ("stump", None, "standard")),
        (["--kernel", "rbf", "--gamma", "50"], ("rbf", 50.0, "standard")),
        (["--scale", "minmax"], ("perceptron", None, "minmax")),
    ):
        kernel, gamma, scaling = how
        X, y, _ = loaded(mine, scaling)
        facts = json.loads(zoloss("complexity", mine, *QUICK, *options, "--json").out)
        assert facts["complexity"] == data_complexity(X, y, kernel, gamma)
        assert (facts["kernel"], facts["gamma"], facts["scale"]) == how


def test_the_text_tells_the_same_as_the_json(zoloss, mine):
    options = ("complexity", mine, *QUICK, "--clusters", 8)
    facts, text = json.loads(zoloss(*options, "--json").out), zoloss(*options).out
    lines = [line.split() for line in text.splitlines()]
    assert f"complexity  {facts['complexity']}: {100 * facts['share']:.1f} % of 60 samples" in text
    for name, counts in facts["categories"].items():
        assert [name, *map(str, counts.values())] in lines
    noisy = [row for row in facts["rows"] if row["category"] == "noisy"]
    for row in sorted(noisy, key=lambda row: -row["contribution"])[:10]:
        assert [str(row["line"]), row["label"], f"{row['contribution']:.2f}"] in lines
    for point in facts["decomposition"]["points"]:
        assert [str(point[key]) for key in ("complexity", "errors", "subsets")] in lines


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


def test_one_class_against_the_rest_missing_values_and_quoted_newlines(zoloss, table):
    path = table('a,b,note,kind\n1,1,u,x\n2,1,u,y\n3,?,u,z\n4,2,"u\nv",z\n5,1,u,x\n7,0,u,y\n')
    facts = json.loads(zoloss("complexity", path, "--positive", "z", "--missing", "drop", "--json").out)
    assert (facts["classes"], facts["n"], facts["dropped"]) == (["rest", "z"], 5, 1)
    assert [(row["line"], row["label"]) for row in facts["rows"]] == [
        *((2, "x"), (3, "y"), (5, "z"), (7, "x"), (8, "y"))
    ]


def test_every_row_is_a_point_of_its_category(table):
    samples = load_samples(read_for_training(table(GOOD)), None, "standard")
    options = ComplexityOptions(permutations=20, clusters=6, exact=True, all_pairs=True)
    found = measure_complexity(samples, options, lambda: None, lambda: None)
    figure = draw_complexity(found)
    left, right, panel = figure.axes
    drawn = {name.split(" ")[0]: xy for name, xy in named_lines(left).items() if "(" in name}
    assert set(drawn) == {"typical", "critical", "noisy"}
    assert sum(xy.shape[1] for xy in drawn.values()) == 30
    for name, (x, y) in drawn.items():
        assert sorted(y) == sorted(found.contributions[found.categories == name])
        assert np.all(np.diff(y) <= 0)
        assert np.all((x >= 1) & (x <= 30))
    thresholds = [line.get_ydata()[0] for line in left.lines if list(line.get_xdata()) == [0, 1]]
    assert thresholds == [2 / 3, 1.0]
    x, y = named_lines(right)["mean of 20 orders"]
    assert (x.tolist(), y.tolist()) == (list(range(31)), found.growth.tolist())
    assert y[-1] == found.complexity
    points = [[p.complexity, p.error] for p in found.decomposition.points]
    assert named_lines(panel)["principal points"].T.tolist() == points
    assert named_lines(panel)["unions of clusters"].T.tolist() == found.decomposition.pairs.tolist()
    assert_inside(figure)
