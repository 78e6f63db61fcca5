"""Data: embedded files, CSV faults, generators, noise, splits and scaling."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError
from sklearn.model_selection import KFold

from zoloss_cli.config.catalog import load_catalog
from zoloss_cli.config.models import CsvData, EmbeddedData, Noise
from zoloss_cli.data.dataset import add_noise, load_data
from zoloss_cli.data.read import read_table
from zoloss_cli.data.splits import SplitRule, derive_seed, scale_parts
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.results.store import StoredCell


def test_embedded_files_are_what_the_catalog_says():
    for name, entry in load_catalog().items():
        if entry.otherwise:  # only fetched
            continue
        data = load_data(EmbeddedData(name=name, dataset=name))
        assert data.X.shape == (entry.rows, entry.features), name
        assert np.all(np.isfinite(data.X)), name
        counts = dict(zip(data.classes, np.bincount(data.y).tolist(), strict=True))
        if entry.positive:
            assert counts[data.classes[1]] == entry.classes[entry.positive], name
        else:
            assert counts == entry.classes, name


def test_a_changed_embedded_file_is_refused(monkeypatch, tmp_path):
    original = load_catalog()["iris"].path
    (tmp_path / "iris.csv").write_bytes(original.read_bytes().replace(b"5.1", b"5.2", 1))
    (tmp_path / "catalog.yaml").write_bytes((original.parent / "catalog.yaml").read_bytes())
    monkeypatch.setattr("zoloss_cli.config.catalog.shipped_folder", lambda name: tmp_path)
    load_data.cache_clear()
    with pytest.raises(DataError, match="sha256"):
        load_data(EmbeddedData(name="iris", dataset="iris"))


def test_one_class_against_the_rest():
    data = load_data(EmbeddedData(name="iris", dataset="iris", positive="Iris-virginica"))
    assert data.classes == ["rest", "Iris-virginica"]
    assert data.y.sum() == 50
    with pytest.raises(DataError, match="did you mean 'Iris-virginica'"):
        load_data(EmbeddedData(name="iris", dataset="iris", positive="Iris-virginca"))


def test_a_config_reads_a_table_as_fit_does(table):
    path = table(b"\xef\xbb\xbfa;colour;class\n1;red;x\n?;blue;z\n3;blue;y\n4;;z\n")
    own = read_for_training(path, "2", "zero")
    data = load_data(CsvData(name="mine", csv=str(path), label="2", missing="zero", positive="z"))
    assert data.features == own.features == ["a", "colour=blue", "colour=red"]
    assert data.X.tolist() == own.X.tolist() == [[1, 0, 1], [0, 1, 0], [3, 1, 0], [4, 0, 0]]
    assert (data.y.tolist(), data.classes) == ([0, 1, 0, 1], ["rest", "z"])
    assert data.notes == [f"{path}: 'colour' has one indicator, 1 or 0, for each of: blue, red"]
    dropped = load_data(CsvData(name="mine", csv=str(path), missing="drop"))
    assert (dropped.X.tolist(), dropped.classes) == ([[1, 0, 1], [3, 1, 0]], ["x", "y"])
    assert f"{path}: 2 rows with missing values left out" in dropped.notes


def test_columns_of_codes_are_ranks_in_our_own_files_only(table):
    path = table("a,label\nA10,x\nA9,y\nA10,x\n")
    assert read_table(path).X.tolist() == [[2.0], [1.0], [2.0]]
    assert read_for_training(path).X.tolist() == [[1, 0], [0, 1], [1, 0]]
    for value, part in (("?", "has no value"), ("inf", "is inf, not a finite number")):
        with pytest.raises(DataError, match=f":3: column 'a' {part}"):
            read_table(table(f"a,label\n1,x\n{value},y\n"))


def test_noise_is_appended_in_the_widened_range():
    X, y = np.random.default_rng(0).uniform(0, 1, (95, 3)), np.arange(95) % 2
    noisy, labels = add_noise(X, y, 2, 0.1, None, 1)
    assert noisy.shape == (104, 3)
    np.testing.assert_array_equal(noisy[:95], X)
    assert (noisy >= X.min() - 0.5).all()
    assert (noisy <= X.max() + 0.5).all()
    assert set(labels[95:]) == {0, 1}
    many, _ = add_noise(X, y, 2, 10.0, None, 1)
    assert (many[95:] < X.min(axis=0)).any()
    assert (many[95:] > X.max(axis=0)).any()


def test_splits_partition_the_rows_and_depend_on_coordinates_only():
    rule = SplitRule(0.8, None, 1)
    train, test = rule.select_indices(297, "cleveland", 0)
    assert len(train) == 238
    assert sorted(np.r_[train, test]) == list(range(297))
    again, _ = SplitRule(0.8, None, 1).select_indices(297, "cleveland", 0)
    np.testing.assert_array_equal(train, again)
    for other in (
        rule.select_indices(297, "cleveland", 1),
        rule.select_indices(297, "heart", 0),
        SplitRule(0.8, None, 2).select_indices(297, "cleveland", 0),
    ):
        assert not np.array_equal(train, other[0])
    assert [len(part) for part in SplitRule(600, 4400, 1).select_indices(5000, "x", 3)] == [600, 4400]
    assert derive_seed(1, "a", 2).entropy != derive_seed(1, "a", 2, "fld").entropy
    for n_train, n_test in ((600, None), (0.8, 50)):
        with pytest.raises(DataError, match=r"'mine' has 100 samples: too few for \d+ to train"):
            SplitRule(n_train, n_test, 1).select_indices(100, "mine", 0)


@given(st.integers(4, 300), st.integers(2, 30), st.integers(0, 50))
def test_folds_partition_the_samples_as_those_of_scikit_learn_do(n, folds, partition):
    assume(n - math.ceil(n / folds) > 1 and n >= folds)
    rule, splits = SplitRule(None, None, 1, folds=folds), range(partition * folds, (partition + 1) * folds)
    parts = [rule.select_indices(n, "heart", k) for k in splits]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(n))
    assert all(sorted(np.r_[train, test]) == list(range(n)) for train, test in parts)
    sizes = [(len(train), len(test)) for train, test in parts]
    assert sizes == [(len(train), len(test)) for train, test in KFold(folds).split(np.empty(n))]
    assert rule.compute_sizes(n, "") == sizes[0]
    stored = StoredCell(n_train=sizes[0][0], n_test=sizes[0][1], identity={"split": {"folds": folds}})
    assert [stored.count_samples(k) for k in splits] == sizes  # what readers of results count by


def test_partitions_into_folds_differ_and_need_enough_samples():
    rule = SplitRule(None, None, 1, folds=10)
    first, second = (
        {frozenset(rule.select_indices(150, "iris", k)[1].tolist()) for k in r}
        for r in (range(10), range(10, 20))
    )
    assert not first & second
    for n, folds in ((9, 10), (3, 2)):
        with pytest.raises(DataError, match=f"'mine' has {n} samples: too few for {folds} folds"):
            SplitRule(None, None, 1, folds=folds).select_indices(n, "mine", 0)


def test_scaling_is_fitted_on_the_training_part_only():
    train = np.array([[0.0, 5.0, 1.0], [10.0, 5.0, 3.0], [4.0, 5.0, 2.0]])
    test = np.array([[20.0, 7.0, 0.0]])
    inside, outside = scale_parts(train, test, "minmax")
    np.testing.assert_allclose(inside, [[-1, 0, -1], [1, 0, 1], [-0.2, 0, 0]])
    np.testing.assert_allclose(outside, [[3.0, 0.0, -2.0]])
    inside, _ = scale_parts(train, test, "standard")
    np.testing.assert_allclose(inside.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(inside[:, [0, 2]].std(axis=0, ddof=1), 1)
    assert scale_parts(train, test, "none")[1] is test


def test_noise_of_one_class_has_the_class_of_the_first_row_or_the_one_named():
    def load(**noise):
        return load_data(plain.model_copy(update={"noise": Noise(fraction=0.1, labels="one-class", **noise)}))

    plain = EmbeddedData(name="heart", dataset="heart")
    clean, first, named = load_data(plain), load(), load(label="1")
    assert set(first.y[len(clean.y) :]) == {clean.y[0]} == {clean.classes.index("2")}
    assert set(named.y[len(clean.y) :]) == {clean.classes.index("1")}
    np.testing.assert_array_equal(first.X, named.X)
    with pytest.raises(DataError, match="no class '3'"):
        load(label="3")
    with pytest.raises(ValidationError, match="label requires labels: one-class"):
        Noise(fraction=0.1, label="1")
