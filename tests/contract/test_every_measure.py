"""What every registered measure keeps to."""

import inspect
import json

import msgspec
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from zoloss_cli.data.dataset import generate
from zoloss_cli.errors import DataError
from zoloss_cli.registry import MEASURES, find_registration, make_learner
from zoloss_cli.results.record import Measurement

NAMES = sorted(MEASURES)
QUICK = {"decomposition": {"clusters": 6}, "contribution": {"permutations": 5}}


def fresh(name, seed=0):
    return make_learner(name, QUICK.get(name, {}), seed)


@pytest.fixture
def samples():
    pool = generate("yinyang", 3, size=40)
    return pool.X, pool.y


@pytest.mark.parametrize("name", NAMES)
def test_results_can_be_stored_the_seed_decides_and_inputs_stay(name, samples):
    X, y = samples
    before = X.copy(), y.copy()
    result = fresh(name).measure(X, y, [1, 5])
    assert json.loads(json.dumps(result)) == result
    msgspec.convert(result, Measurement)
    assert fresh(name).measure(X, y, [1, 5]) == result
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert fresh(name).deterministic == (fresh(name, 1).measure(X, y, [1, 5]) == result)


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_any_kind_are_two_classes_and_masked_values_are_refused(name, samples):
    X, y = samples
    plain = fresh(name).measure(X, y)
    assert fresh(name).measure(X, np.array(["no", "yes"])[y]) == plain
    assert fresh(name).measure(np.ma.masked_array(X), np.ma.masked_array(y)) == plain
    with pytest.raises(ValueError, match="is for two classes"):
        fresh(name).check_classes(3)
    with pytest.raises(DataError, match="only one class"):
        fresh(name).measure(X, np.zeros(40))
    with pytest.raises(DataError, match="two classes"):
        fresh(name).measure(X, np.arange(40) % 3)
    with pytest.raises(ValueError, match="X has masked values, 1 of 80"):
        fresh(name).measure(np.ma.masked_array(X, X[3, 0] == X), y)
    with pytest.raises(ValueError, match="y has masked values, 1 of 40"):
        fresh(name).measure(X, np.ma.masked_array(y, np.arange(len(y)) == 3))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_declared_and_checked_but_it_is_no_estimator(name):
    measure = fresh(name)
    assert not isinstance(measure, BaseEstimator)
    assert not hasattr(measure, "fit")
    key = next(iter(measure.get_params()))
    changed = clone(measure).set_params(**{key: 7})
    assert clone(changed).get_params() == {**measure.get_params(), key: 7}
    assert repr(type(measure)(**{key: 7})) == f"{type(measure).__name__}({key}=7)"
    with pytest.raises(ValueError, match=rf"has no parameter 'kernle'; valid: .*{key}"):
        measure.set_params(kernle="rbf")
    fields = find_registration(name).parameter_model.model_fields
    assert all(field.description for field in fields.values())
    made = inspect.signature(MEASURES[name].learner_class.__init__).parameters
    assert set(fields) == set(made) - {"self", "random_state"}
