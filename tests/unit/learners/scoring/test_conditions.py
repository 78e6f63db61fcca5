"""Conditions: cuts that read well, chosen where they tell the classes apart."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from zoloss_cli.learners.scoring.conditions import build_conditions, choose_cut, find_cuts, format_number

FINITE = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda v: v == 0.0 or abs(v) > 1e-12)


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [(0, 1, 1), (1, 2, 2), (-1, 1, 0), (59.5, 60.25, 60), (0.2, 37, 20), (3, 7, 5), (-0.31, -0.295, -0.3)],
)
def test_cuts_have_few_digits(low, high, cut):
    assert choose_cut(float(low), float(high)) == cut


@given(FINITE, FINITE)
def test_a_cut_lies_between_its_neighbours(first, second):
    if first == second:
        return
    low, high = min(first, second), max(first, second)
    cut = choose_cut(low, high)
    assert low < cut <= high
    assert len(Decimal(repr(cut)).normalize().as_tuple().digits) <= len(Decimal(repr(high)).as_tuple().digits)
    assert float(format_number(cut)) == cut


def test_the_first_cut_has_the_most_information():
    """Against scipy's entropy at every cut."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        values = np.arange(12.0)
        plus, minus = rng.integers(0, 9, 12).astype(float), rng.integers(1, 9, 12).astype(float)

        def remain(i, plus=plus, minus=minus):
            parts = [(plus[s].sum(), minus[s].sum()) for s in (slice(None, i), slice(i, None))]
            return sum(sum(part) * entropy(part) for part in parts)

        (cut,) = find_cuts(values, plus, minus, "information", 1)
        assert remain(cut) == pytest.approx(min(remain(i) for i in range(1, 12)))


def test_quantiles_are_parts_of_equal_weight():
    values, plus, minus = np.arange(100.0), np.ones(100), np.zeros(100)
    assert find_cuts(values, plus, minus, "quantiles", 3) == [25, 50, 75]


def test_conditions_of_columns():
    X = np.column_stack([np.arange(8.0), np.tile([0.0, 1.0], 4), np.ones(8), np.arange(8.0) % 3])
    y = np.where(np.arange(8) > 4, 1.0, -1.0)
    found = build_conditions(X, y, np.ones(8), ["age", "sex=male", "same", "kind"], "information", 1)
    assert [c.text for c in found] == ["age >= 5", "sex=male", "kind >= 2"]
    raw = build_conditions(X, y, np.ones(8), ["age", "sex=male", "same", "kind"], "raw", 1)
    assert [(c.text, c.cut) for c in raw] == [("age", None), ("sex=male", 1.0), ("kind", None)]
    np.testing.assert_array_equal(found[0].compute(X), X[:, 0] >= 5)
    np.testing.assert_array_equal(raw[2].compute(X), X[:, 3])


def test_raw_features_are_small_integers():
    y = np.array([1.0, -1.0, 1.0])
    with pytest.raises(ValueError, match=r"requires integer features, but 'a' has 0\.5"):
        build_conditions(np.array([[0.0], [0.5], [1.0]]), y, np.ones(3), ["a"], "raw", 4)
    with pytest.raises(ValueError, match="requires a range of at most 1,000, but 'a' goes from 0 to 20000"):
        build_conditions(np.array([[0.0], [3.0], [20000.0]]), y, np.ones(3), ["a"], "raw", 4)
