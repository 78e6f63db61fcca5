"""Missing values: filled as scikit-learn fills them, by what training samples show, in every split anew."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer

from zoloss_cli.config.loader import load_config
from zoloss_cli.data.columns import CsvColumn, refill
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import DataError
from zoloss_cli.experiment.fitting import load_split
from zoloss_cli.experiment.plan import plan


def build_rows(seed: int = 5, n: int = 60):
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n).round(2))
    levels = np.where(rng.random(n) < 0.3, None, rng.choice(["p", "q", "r"], n, p=[0.2, 0.5, 0.3])).astype(
        object
    )
    lines = [
        f"{'' if np.isnan(a) else a},{i},{c or 'NA'},{'xy'[i % 2]}\n"
        for i, (a, c) in enumerate(zip(numbers.tolist(), levels.tolist(), strict=True))
    ]
    return "a,b,c,label\n" + "".join(lines), numbers, levels


def fill_by_scikit_learn(values: np.ndarray, how: str, train: np.ndarray) -> np.ndarray:
    missing = np.nan if how == "median" else None
    imputer = SimpleImputer(strategy=how, missing_values=missing).fit(values[train, None])
    return imputer.transform(values[:, None])[:, 0]


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_values_are_those_of_scikit_learn(table, share):
    text, numbers, levels = build_rows()
    own = read_for_training(table(text), missing="impute")
    train = np.sort(np.random.default_rng(1).choice(60, round(60 * share), replace=False))
    X = own.fill_from(train)
    assert own.features == ["a", "b", "c=p", "c=q", "c=r"]
    np.testing.assert_array_equal(X[:, 0], fill_by_scikit_learn(numbers, "median", train))
    np.testing.assert_array_equal(X[:, 1], np.arange(60))
    filled = fill_by_scikit_learn(levels, "most_frequent", train)
    np.testing.assert_array_equal(X[:, 2:], filled[:, None] == np.array(["p", "q", "r"]))
    count = np.isnan(numbers).sum() + sum(level is None for level in levels)
    assert any(f"{count} missing values filled by medians" in note for note in own.notes)
    if share == 1.0:
        np.testing.assert_array_equal(X, own.X)
        assert own.columns[0].fill == np.nanmedian(numbers)
        assert own.columns[1] == CsvColumn("b", None, 29.5)
        assert own.columns[2].fill == "q"


def test_an_indicator_says_where(table):
    text, numbers, levels = build_rows()
    own = read_for_training(table(text), missing="indicator")
    assert own.features == ["a", "a missing", "b", "c=p", "c=q", "c=r", "c missing"]
    np.testing.assert_array_equal(own.X[:, 1], np.isnan(numbers))
    np.testing.assert_array_equal(own.X[:, 6], [level is None for level in levels])
    plain = read_for_training(table(text), missing="impute")
    np.testing.assert_array_equal(own.X[:, [0, 2, 3, 4, 5]], plain.X)


def test_a_table_without_gaps_is_the_same_by_every_policy(table):
    path = table("a,c,label\n1,p,x\n2,q,y\n")
    tables = [read_for_training(path, missing=how) for how in ("error", "drop", "zero", "impute", "indicator")]
    assert all(own.X.tolist() == tables[0].X.tolist() for own in tables)


def test_columns_without_any_value(table):
    path = table("a,b,label\n1,,x\n2,,y\n")
    with pytest.raises(DataError, match="'b' has no values at all; leave it out with --drop"):
        read_for_training(path, missing="impute")
    own = read_for_training(table("a,label\n1,x\n,y\n,x\n"), missing="impute")
    assert own.fill_from(np.array([1, 2])).ravel().tolist() == [1, 0, 0]


def test_nothing_is_copied_without_gaps():
    X = np.ones((2, 1))
    assert refill(X, (), np.arange(2)) is X


def test_each_split_fills_by_its_own_training_samples(table, write_config):
    text, numbers, _ = build_rows()
    table(text)
    keys = "split: {train: 0.5, repeats: 5, seed: 2}\npreprocess: {scale: none}\nlearners: [fld]\n"
    (cell,) = plan(load_config(write_config("datasets: {own: {csv: mine.csv, missing: impute}}\n" + keys)))
    medians = set()
    for k in range(5):
        split = load_split(cell, k)
        median = np.nanmedian(numbers[split.train])
        np.testing.assert_array_equal(split.data.X[np.isnan(numbers), 0], median)
        medians.add(median)
    assert len(medians) > 1
