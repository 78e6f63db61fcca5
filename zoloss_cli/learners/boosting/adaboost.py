"""AdaBoost, and the base learner of an ensemble: resolved, checked, and fitted repeatedly."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from zoloss_cli.kernels.stumps import end_round
from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import (
    BaseLearner,
    BinaryLearner,
    Learner,
    PerfectOdds,
    Problem,
    Rounds,
    Samples,
    check_parameters,
)
from zoloss_cli.registry import resolve_learner


class BaseLearnerFactory:
    """Build and fit copies of the base learner of an ensemble."""

    def __init__(self, owner: Learner, learner: Any):
        self._owner = type(owner).__name__
        self._n_features = getattr(owner, "n_features_in_", None)
        self.name, self.learner = resolve_learner(learner)

    def check(self) -> None:
        """Raise ValueError if the learner cannot be the base of an ensemble."""
        if getattr(self.learner, "multiclass", False):
            raise ValueError(f"{self._owner}: its base learner {self.name} must be one for two classes")
        if not has_fit_parameter(self.learner, "sample_weight"):
            raise ValueError(
                f"{self._owner}: its base learner {self.name} takes no sample weights and cannot be boosted"
            )
        check_parameters(self.learner)

    def build_unfitted(self, classes: np.ndarray) -> Any:
        """Return an unfitted copy of the learner for these two classes."""
        # copy.copy goes through scikit-learn's pickling, ten times slower.
        learner: Any = object.__new__(type(self.learner))
        learner.__dict__.update(self.learner.__dict__)
        learner.classes_, learner.n_features_in_ = classes, self._n_features
        return learner

    def fit_copy(self, problem: Problem, classes: np.ndarray, round_: int) -> BinaryLearner:
        """Return a fitted copy of the learner for two classes; an error names the learner and the round."""
        learner = self.build_unfitted(classes)
        try:
            learner.train(problem)
        except Exception as error:
            kind = ValueError if isinstance(error, ValueError) else RuntimeError
            raise kind(
                f"{self._owner}: its base learner {self.name} failed in round {round_}: {error}"
            ) from error
        return learner


class BoostingLearner(BinaryLearner):
    """An ensemble of the learner in parameter `base`; subclasses implement `train` and `_iterate_scores`."""

    base: Any

    @property
    def deterministic(self) -> bool:
        """Whether the base learner makes no random draws."""
        return BaseLearnerFactory(self, self.base).learner.deterministic

    def _iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        """Yield the scores after 1, 2, ... rounds."""
        raise TypeError(f"{type(self).__name__} does not implement _iterate_scores")

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the scores after the last round."""
        return self.compute_scores(Samples(X))

    def compute_scores(self, samples: Samples) -> np.ndarray:
        """Return the scores after the last round, 0 if the ensemble is empty."""
        last = np.zeros(samples.X.shape[0])
        for last in self._iterate_scores(samples):  # noqa: B007  only the last one matters
            pass
        return last

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Return the scores after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        iterator of ndarray of shape (n_samples,)
            Scores after 1, 2, ... rounds.
        """
        return self._iterate_scores(Samples(self._validate_samples(X)))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield the predicted classes after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Yields
        ------
        ndarray of shape (n_samples,)
            Labels after 1, 2, ... rounds.
        """
        for scores in self.staged_decision_function(X):
            yield self.classes_[(scores >= 0.0).astype(int)]


@dataclass(eq=False, repr=False)
class AdaBoostClassifier(BoostingLearner):  # numpydoc ignore=PR02
    """AdaBoost: each round fits the base learner with more weight on the samples misclassified so far.

    Round t fits the base learner with sample weights phi_i and takes its weighted error e_t; h_t joins the
    ensemble with alpha_t = 1/2 ln((1 - e_t) / e_t), and phi_i is multiplied by exp(-alpha_t y_i h_t(x_i)).
    Online learners use phi through their own parameter `weighting`.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. Or an estimator of this package,
        whose `random_state` is not used.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to use for (1 - e) / e in a round without errors.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The coefficients alpha_t.
    estimators_ : list of BinaryLearner
        The hypotheses h_t.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of hypotheses. If the fit already ends in the first round, the ensemble is empty, all its scores
        are 0, and a warning is issued.

    Notes
    -----
    Details that the papers omit follow the authors' program: e_t >= 1/2 (up to rounding) ends the fit, and
    h_t is not added; e_t = 0 uses the odds 1000 for (1 - e_t) / e_t and goes on; every round starts from the
    base learner's own seeding ('zero' in the tables), not from the weights of the previous round.

    References
    ----------
    .. [1] Freund, Y. and Schapire, R. E. (1996). Experiments with a new boosting algorithm.
    .. [2] Li, L. and Lin, H.-T. (2007). Optimizing 0/1 loss for perceptrons by random coordinate descent.
       IJCNN. Section IV.C.
    .. [3] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Sections 2.4.3-2.4.4.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import AdaBoostClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = AdaBoostClassifier(base={"learner": "rcd-bias", "epochs": 200}, rounds=50, random_state=0)
    >>> model.fit(scale(X), y).score(scale(X), y) > 0.95
    True
    >>> sum(1 for _ in model.staged_predict(scale(X))) == model.n_rounds_
    True
    """

    reports: ClassVar[tuple[str, ...]] = ("iterations",)

    base: BaseLearner = "rcd-bias"
    rounds: Rounds = 200
    perfect_odds: PerfectOdds = 1000.0
    random_state: Any = None

    def train(self, problem: Problem) -> None:
        """Add hypotheses until the rounds are used up, or one is no better than chance."""
        base = BaseLearnerFactory(self, self.base)
        base.check()
        self.estimators_: list[BinaryLearner] = []
        alphas, errors = [], []
        phi = problem.phi.copy()  # end_round changes it
        problem = replace(problem, phi=phi)
        for round_ in range(1, self.rounds + 1):
            h_t = base.fit_copy(problem, self.classes_, round_)
            e_t, alpha_t = end_round(h_t.compute_scores(problem), problem.y, phi, float(self.perfect_odds))
            if alpha_t == 0.0:
                break
            self.estimators_.append(h_t)
            alphas.append(alpha_t)
            errors.append(e_t)
        self.n_rounds_ = len(self.estimators_)
        self.estimator_weights_ = np.array(alphas)
        self.estimator_errors_ = np.array(errors)
        if not self.estimators_:
            warnings.warn(
                f"{type(self).__name__}: {base.name} has a weighted error of {e_t:.3f} in round 1, no better "
                f"than chance; the ensemble is empty",
                stacklevel=4,
            )

    def _iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        return itertools.accumulate(
            alpha_t * predict_signs(h_t.compute_scores(samples))
            for h_t, alpha_t in zip(self.estimators_, self.estimator_weights_, strict=True)
        )


@dataclass
class BoostingPath:
    """The ensembles F_0, F_1, ... with F_t = F_{t-1} + alpha_t d_t and d_t = f_t + beta_t d_{t-1}."""

    kappa: float  # parameter kappa_- of the bisigmoid cost
    costs: list[float]  # at sizes 0, 1, ...
    hypotheses: list[BinaryLearner] = field(default_factory=list)  # whose predicted signs are f_t
    alphas: list[float] = field(default_factory=list)  # steps alpha_t
    betas: list[float] = field(default_factory=list)  # how much of the previous direction is kept
    end_reason: str = ""  # why there were no more rounds

    def append(self, hypothesis: BinaryLearner, alpha: float, beta: float, cost: float) -> None:
        """Add a round, which leads to this cost."""
        self.hypotheses.append(hypothesis)
        self.alphas.append(alpha)
        self.betas.append(beta)
        self.costs.append(cost)

    def iterate_scores(self, samples: Samples) -> Iterator[np.ndarray]:
        """Yield F_1, F_2, ... at these samples."""
        F, d = np.zeros(samples.X.shape[0]), np.zeros(samples.X.shape[0])
        for h_t, alpha_t, beta_t in zip(self.hypotheses, self.alphas, self.betas, strict=True):
            d = predict_signs(h_t.compute_scores(samples)) + beta_t * d
            F = F + alpha_t * d
            yield F

    def truncate(self, size: int) -> BoostingPath:
        """Return the path up to this size."""
        if size == len(self.hypotheses):
            return self
        kept = self.hypotheses[:size], self.alphas[:size], self.betas[:size]
        return BoostingPath(self.kappa, self.costs[: size + 1], *kept, f"validation chose the size {size}")

    def compute_coefficients(self) -> np.ndarray:
        """Return the final coefficient of each hypothesis: sum_{t >= i} alpha_t beta_{i,t}, eq. (3.3)."""
        total, of_direction = np.zeros(len(self.alphas)), np.zeros(len(self.alphas))
        for t, (alpha_t, beta_t) in enumerate(zip(self.alphas, self.betas, strict=True)):
            of_direction *= beta_t
            of_direction[t] = 1.0
            total += alpha_t * of_direction
        return total
