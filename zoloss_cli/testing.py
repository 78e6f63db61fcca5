"""What every learner must keep, callable by packages that bring their own.

`check_learner(name)` runs scikit-learn's own checks and all of CHECKS on a registered learner. Each check
raises AssertionError, or what the learner raised, with the learner's name in front of it.
"""

from __future__ import annotations

import contextlib
import pickle
import re
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from zoloss_cli.datasets.named import load_dataset
from zoloss_cli.learners.base import LinearLearner
from zoloss_cli.registry import make_learner, registration
from zoloss_cli.utils.signature import learner_parameters

Make = Callable[[], object]  # the learner to check, made anew


def check_learner(
    name: str, settings: Mapping | None = None, expected_failures: Mapping[str, str] | None = None
) -> None:
    """Check a registered learner, made with these settings: give budgets that keep it quick.

    `expected_failures` maps those of scikit-learn's checks that cannot hold for it to the reasons.
    """

    def make():
        return make_learner(name, settings, 0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(make(), expected_failed_checks=dict(expected_failures or {}))
    for check in select_checks(name):
        try:
            check(make)
        except Exception as error:
            kind = AssertionError if isinstance(error, AssertionError) else RuntimeError
            raise kind(f"the learner '{name}', {check.__name__}: {error}") from error


def select_checks(name: str) -> list[Callable[[Make], None]]:
    """All of CHECKS that apply: those of sample weights and of streams are for learners that take them."""
    left_out = () if registration(name).takes_weights else WEIGHT_CHECKS
    if not hasattr(registration(name).learner_class, "partial_fit"):
        left_out += STREAM_CHECKS
    return [check for check in CHECKS if check not in left_out]


def build_noisy_problem() -> tuple[np.ndarray, np.ndarray]:
    """120 points, 4 features, about a tenth of the labels wrong."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (120, 4))
    y = (X @ [1.0, -2.0, 0.5, 0.0] + 0.3 + 0.4 * rng.standard_normal(120) > 0).astype(int)
    return X, y


def any_two_labels(make: Make) -> None:
    X, y = build_noisy_problem()
    plain = make().fit(X, y)
    words = make().fit(X, np.where(y == 1, "yes", "no"))
    assert list(words.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(words.predict(X) == "yes", plain.predict(X) == 1)


def learns_and_scores(make: Make) -> None:
    """A score of at least 0 is the second class, a linear rule is its coefficients, and it learns."""
    X, y = build_noisy_problem()
    learner = make().fit(X, y)
    scores = learner.decision_function(X)
    if isinstance(learner, LinearLearner):
        np.testing.assert_allclose(scores, X @ learner.coef_[0] + learner.intercept_[0])
    np.testing.assert_array_equal(learner.predict(X), (scores >= 0).astype(int))
    assert np.mean(learner.predict(X) != y) < 0.35


def the_same_seed_and_copies_agree(make: Make) -> None:
    """Copies: a clone, and what comes out of a pickle, before and after fit."""
    X, y = build_noisy_problem()
    first = make().fit(X, y)
    scores = first.decision_function(X)
    again = clone(pickle.loads(pickle.dumps(make())))
    np.testing.assert_array_equal(again.fit(X, y).decision_function(X), scores)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).decision_function(X), scores)


def parameters_are_declared_and_checked(make: Make) -> None:
    X, y = build_noisy_problem()
    learner = type(make())
    assert learner.__doc__, "no docstring"
    for key, fact in learner_parameters(learner).model_fields.items():
        assert fact.description, f"{key} has no description"
        with refused(f"{learner.__name__}: {key}="):
            make().set_params(**{key: object()}).fit(X, y)


def one_class_and_non_finite_data_are_refused(make: Make) -> None:
    X, y = build_noisy_problem()
    with refused("class"):
        make().fit(X, np.ones_like(y))
    with refused(r"NaN|infinity"):
        make().fit(np.where(X > 0.9, np.nan, X), y)


def data_frames_keep_their_names(make: Make) -> None:
    X, y = build_noisy_problem()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    learner = make().fit(frame, pd.Series(np.where(y == 1, "yes", "no")))
    assert list(learner.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(learner.predict(frame) == "yes", make().fit(X, y).predict(X) == 1)
    with refused("same order"):
        learner.predict(frame[["b", "a", "c", "d"]])


def pipelines_and_grids(make: Make) -> None:
    """In a pipeline, scored by cross-validation, and with a parameter searched through it."""
    X, y = build_noisy_problem()
    pipeline = make_pipeline(StandardScaler(), make())
    assert np.mean(cross_val_score(pipeline, X, y, cv=2)) > 0.6
    step = pipeline.steps[-1][0]
    grid = {f"{step}__{key}": [value] for key, value in make().get_params(deep=False).items()}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), pipeline.fit(X, y).predict(X))


def meta_estimators(make: Make) -> None:
    """Three classes through one against the rest, pairs and codes; probabilities through calibration."""
    X, y = load_dataset("iris")
    X, y = StandardScaler().fit_transform(X)[::3], y[::3]
    for several in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier):
        options = {"random_state": 0, "code_size": 2} if several is OutputCodeClassifier else {}
        fitted = several(make(), **options).fit(X, y)
        assert list(fitted.classes_) == [0, 1, 2]
        # A third by chance; the middle class cannot be separated, on which some learners never settle.
        assert fitted.score(X, y) > 0.5, f"{several.__name__}: {fitted.score(X, y)}"
    X, y = build_noisy_problem()
    chances = CalibratedClassifierCV(make(), cv=2).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert chances[y == 1, 1].mean() > chances[y == 0, 1].mean()


def ensembles_by_weights(make: Make) -> None:
    """scikit-learn's own boosting and bagging, which hand over sample weights."""
    X, y = build_noisy_problem()
    for ensemble in (AdaBoostClassifier, BaggingClassifier):
        fitted = ensemble(make(), n_estimators=2, random_state=0).fit(X, y)
        assert fitted.score(X, y) > 0.65


def the_scale_of_sample_weights_does_not_matter(make: Make) -> None:
    X, y = build_noisy_problem()
    phi = np.random.default_rng(1).exponential(size=len(y))
    small = make().fit(X, y, sample_weight=phi)
    # A power of two scales without rounding, so that nothing at all may change.
    large = make().fit(X, y, sample_weight=1024.0 * phi)
    np.testing.assert_array_equal(small.decision_function(X), large.decision_function(X))


def sample_weights_matter(make: Make) -> None:
    X, y = build_noisy_problem()
    weighted = make().fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert not np.array_equal(weighted.decision_function(X), make().fit(X, y).decision_function(X))


def sample_weights_must_be_weights(make: Make) -> None:
    X, y = build_noisy_problem()
    who = type(make()).__name__
    with refused(f"(?i){who}: .*sample weights .*zero"):
        make().fit(X, y, sample_weight=np.zeros(len(y)))
    with refused(f"{who}: the sample weight of row 3 is negative"):
        make().fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1.0, 1.0))


def streams_go_on(make: Make) -> None:
    """Rows in several calls are learned as in one, also after fit, which begins anew."""
    X, y = build_noisy_problem()
    words = np.where(y == 1, "yes", "no")
    with refused("first call .*classes"):
        make().partial_fit(X, words)
    one, several = make().partial_fit(X, words, classes=["yes", "no"]), make()
    for part in (slice(0, 1), slice(1, 50), slice(50, None)):
        several.partial_fit(X[part], words[part], classes=["no", "yes"])
    assert list(several.classes_) == ["no", "yes"]
    np.testing.assert_allclose(several.decision_function(X), one.decision_function(X), rtol=1e-9, atol=1e-12)
    with refused("'perhaps'"):
        several.partial_fit(X[:1], ["perhaps"])
    scores = make().fit(X, words).decision_function(X)
    np.testing.assert_array_equal(several.fit(X, words).decision_function(X), scores)
    assert not np.array_equal(several.partial_fit(X[::-1], words[::-1]).decision_function(X), scores)


STREAM_CHECKS = (streams_go_on,)
WEIGHT_CHECKS = (
    ensembles_by_weights,
    the_scale_of_sample_weights_does_not_matter,
    sample_weights_matter,
    sample_weights_must_be_weights,
)
CHECKS = (
    any_two_labels,
    learns_and_scores,
    the_same_seed_and_copies_agree,
    parameters_are_declared_and_checked,
    one_class_and_non_finite_data_are_refused,
    data_frames_keep_their_names,
    pipelines_and_grids,
    meta_estimators,
    *STREAM_CHECKS,
    *WEIGHT_CHECKS,
)


@contextlib.contextmanager
def refused(pattern: str):
    """The block must raise a ValueError whose message has the pattern."""
    said = "nothing"
    try:
        yield
    except ValueError as error:
        said = str(error)
    assert re.search(pattern, said), f"a ValueError had to say '{pattern}', but {said} was said"
