"""zoloss as a library: what the top level offers, and at what cost."""

import numpy as np
import pytest
from processes import run_python

import zoloss_cli
from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import LEARNERS

HEAVY = ("numpy", "scipy", "numba", "sklearn", "pandas", "cvxpy", "pydantic", "yaml", "typer")


def test_importing_is_light_and_a_star_brings_the_classes():
    script = (
        f"import sys, zoloss_cli; dir(zoloss_cli); print([m for m in {HEAVY} if m in sys.modules])\n"
        "from zoloss_cli import *; print(PivotClassifier.__name__, make_learner.__name__)"
    )
    ended = run_python("-c", script)
    assert ended.out.splitlines() == ["[]", "PivotClassifier make_learner"]


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match="no attribute 'RCDClasifier'; did you mean 'RCDClassifier'"):
        _ = zoloss_cli.RCDClasifier
    with pytest.raises(ImportError):
        from zoloss_cli import nothing_like_it  # noqa: F401


def test_a_learner_by_name_and_keywords():
    made = zoloss_cli.make_learner("rcd-plain", epochs=7, random_state=3)
    assert (made.variant, made.epochs, made.random_state) == ("plain", 7, 3)
    assert zoloss_cli.make_learner("rcd-plain", {"epochs": 7}, 3).get_params() == made.get_params()
    with pytest.raises(ConfigError, match="'rcd-plain' has no parameter 'epoch'; did you mean 'epochs'"):
        zoloss_cli.make_learner("rcd-plain", epoch=7)
    with pytest.raises(ConfigError, match="unknown learner 'rcd-plane'; did you mean 'rcd-plain'"):
        zoloss_cli.make_learner("rcd-plane")
    assert list(LEARNERS)[: len(LEARNERS.builtin)] == list(LEARNERS.builtin)


def test_a_data_set_by_name():
    X, y = zoloss_cli.load_dataset("iris")
    assert X.shape == (150, 4)
    assert np.bincount(y).tolist() == [50, 50, 50]
    X[0, 0] = -1.0  # your own copy
    assert zoloss_cli.load_dataset("iris")[0][0, 0] == 5.1
    _, y = zoloss_cli.load_dataset("iris", positive="Iris-setosa")
    assert y[:50].all()
    assert not y[50:].any()
    frame, labels = zoloss_cli.load_dataset("iris", as_frame=True)
    np.testing.assert_array_equal(frame.to_numpy(), zoloss_cli.load_dataset("iris")[0])
    assert (frame.columns[0], labels.name) == ("sepal_length", "label")
    noisy, _ = zoloss_cli.load_dataset("heart", noise={"fraction": 0.1})
    assert len(noisy) == 297
    assert zoloss_cli.load_dataset("disks", size=9, seed=4)[0].shape == (9, 2)


def test_a_wrong_data_set_is_one_sentence():
    for name, settings, message in (
        ("hart", {}, r"load_dataset\('hart'\): unknown data set 'hart'; did you mean 'heart'"),
        ("heart", {"sise": 3}, r"load_dataset\('heart'\) sise: unknown key 'sise'"),
        ("yinyang", {"eye": 0.7}, r"load_dataset\('yinyang'\) eye: input should be less than 0.5 \(got 0.7\)"),
    ):
        with pytest.raises(ConfigError, match=message) as refused:
            zoloss_cli.load_dataset(name, **settings)
        assert "\n" not in str(refused.value)
