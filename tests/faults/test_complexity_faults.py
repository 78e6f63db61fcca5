"""zoloss complexity and prune with bad tables, options and targets: one sentence each, nothing lost or left."""

import json

import numpy as np
import pytest
from own_rows import GOOD, SEVERAL, refused

CLOSE = "a,label\n0,x\n1,y\n1.0000000000000002,x\n1.0000000000000004,y\n"


@pytest.mark.parametrize("command", ["complexity", "prune"])
def test_tables_that_cannot_be_measured(zoloss, table, tmp_path, command):
    out = ["--out", tmp_path / "clean.csv"] if command == "prune" else []
    for text, part in (
        ("a,label\n1,x\n2,x\n", "one class only, 'x'; two are needed"),
        ("a,label\n1,x\n1,y\n2,x\n2,y\n", "4 of 4 samples have equal features and different labels"),
        ("a,label\n1,x\n1,y\n2,z\n2,z\n", "2 of 4 samples have equal features and different labels"),
        ("a,label\n1e308,x\n-1e308,y\n", "the values of 'a' are too large to be scaled"),
    ):
        path = table(text)
        refused(zoloss(command, path, *out), 3, part, str(path))
        assert list(tmp_path.iterdir()) == [path]
    path, out = table(GOOD), ["--dry-run"] if command == "prune" else []
    for code, options, part in (
        (3, ["--label", "lable"], "no label column 'lable'; did you mean 'label'?"),
        (3, ["--positive", "w"], "has no class 'w'; valid: x, y"),
        (2, ["--scale", "minmx"], "--scale: 'minmx'"),
        (2, ["--missing", "dorp"], "--missing: 'dorp'"),
    ):
        refused(zoloss(command, path, *options, *out), code, part)


def test_options_of_complexity_that_are_wrong(zoloss, table):
    for options, part in (
        (["--kernel", "perceptrn"], "--kernel: 'perceptrn' is not valid; did you mean 'perceptron'?"),
        (["--kernel", "precomputed"], "--kernel: 'precomputed' is not valid"),
        (["--gamma", "2"], "--gamma belongs to --kernel rbf; the perceptron kernel has none"),
        (["--kernel", "rbf"], "--gamma: the rbf kernel needs one, such as --gamma 1"),
        (["--kernel", "rbf", "--gamma", "0"], "--gamma: must be a number above 0 (got 0)"),
        (["--exact"], "--exact is for principal points: set the number of --clusters"),
        (["--clusters", "64"], "64 are too many to enumerate their unions; there can be 40 with --exact, 63"),
        (["--clusters", "31"], "--clusters: there can be 2 to 30 clusters of the 30 rows of"),
    ):
        refused(zoloss("complexity", table(GOOD), *options), 2, part)


def test_too_many_clusters_for_an_exact_search(zoloss, table):
    rng = np.random.default_rng(1)
    rows = "".join(
        f"{a:.4f},{b:.4f},{'xy'[k]}\n"
        for a, b, k in zip(*rng.normal(size=(2, 60)), rng.integers(0, 2, 60), strict=True)
    )
    ended = zoloss("complexity", table("a,b,label\n" + rows), "--clusters", 45, "--exact")
    refused(ended, 2, "all unions of 45 would take about", "the limit with --exact is 40", "omit --exact")


def test_features_that_scaling_makes_equal_are_named_by_line(zoloss, table):
    path = table("a,label\n0,x\n1e17,y\n1e17,y\n1.0000000000000002,x\n1,y\n5e16,x\n")
    ended = zoloss("complexity", path)
    refused(ended, 3, f"{path}: lines 2 and 6 have features that are equal once scaled", "--scale none")


def test_principal_points_need_two_classes(zoloss, table):
    path = table(SEVERAL)
    refused(zoloss("complexity", path, "--clusters", 3), 2, "--clusters: principal points need two")
    assert zoloss("complexity", path, "--clusters", 3, "--positive", "x", "--permutations", 2).code == 0


def test_kernels_that_do_not_separate(zoloss, table):
    path = table(GOOD)
    refused(zoloss("complexity", path, "--kernel", "linear"), 3, f"{path}:", "use --kernel perceptron")
    small = ["--kernel", "rbf", "--gamma", "1e-8"]
    refused(zoloss("complexity", path, *small), 3, f"{path}:", "rbf kernel", "use a larger --gamma")
    grid = table("a,b,label\n0,0,x\n1,1,x\n0,1,y\n1,0,y\n", "grid.csv")
    refused(zoloss("complexity", grid, "--kernel", "stump"), 3, "stump kernel", "use --kernel perceptron")
    close = table(CLOSE, "close.csv")
    refused(zoloss("complexity", close), 3, f"{close}:", "nearly identical", "another --scale")
    refused(zoloss("prune", close, "--dry-run"), 3, f"{close}:", "nearly identical")


def test_too_many_rows_for_a_kernel_matrix(zoloss, table):
    path = table("a,label\n" + "".join(f"{i},{'xy'[i % 3 % 2]}\n" for i in range(20_001)))
    refused(zoloss("complexity", path), 3, "20,001 rows", "--sample N, such as --sample 1000")
    refused(zoloss("prune", path, "--dry-run"), 3, "20,001 rows", "use --by neighbours")
    facts = json.loads(zoloss("complexity", path, "--sample", 50, "--permutations", 5, "--json").out)
    assert facts["n"] == 50


def test_a_sample_of_one_class(zoloss, table):
    path = table("a,label\n0,y\n" + "".join(f"{i},x\n" for i in range(1, 200)))
    refused(zoloss("complexity", path, "--sample", 2), 3, "only one class in a --sample of 2 rows; draw more")


def test_not_enough_memory(zoloss, table, monkeypatch):
    def full(*arguments):
        raise MemoryError

    monkeypatch.setattr("zoloss_cli.api.complexity.build_problem", full)
    refused(zoloss("complexity", table(GOOD)), 3, "not enough memory for the kernel matrix of 30 samples")


def test_options_of_prune_that_are_wrong(zoloss, table, tmp_path):
    for options, part in (
        (["--by", "neighbors"], "--by: 'neighbors' is not valid; did you mean 'neighbours'?"),
        (["--threshold", "nan"], "--threshold: must be a number (got nan)"),
        (["--neighbours", "5"], "--neighbours belongs to --by neighbours"),
        (["--by", "neighbours", "--permutations", "5"], "--permutations belongs to --by contribution"),
    ):
        refused(zoloss("prune", table(GOOD), *options, "--out", tmp_path / "c.csv"), 2, part)
        assert len(list(tmp_path.iterdir())) == 1
