"""Scoring systems: the fewest training errors of a rule that fits on a card, with a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.base import BinaryLearner, Problem, find_feature_names
from zoloss_cli.learners.scoring.conditions import (
    Condition,
    ScoringProblem,
    build_conditions,
    build_constraints,
    build_scoring_problem,
    find_threshold,
    to_integer_weights,
)
from zoloss_cli.learners.scoring.search import RuleSearch
from zoloss_cli.learners.search.base import TimeLimit
from zoloss_cli.learners.search.progress import SearchProgress, end_on_interrupt

SEARCH_SHARE = 0.5  # of a time limit; the rest is for the proof


@dataclass(eq=False, repr=False)
class ScoringSystemClassifier(BinaryLearner):  # numpydoc ignore=PR02
    """A scoring system: a few conditions with small integer points, and the fewest training errors.

    Features become conditions such as age >= 60. A sample is assigned to the second class if the points of the
    conditions that it meets add up to the threshold or more. A local search over conditions and points finds a
    rule; an enumeration of all sets of conditions proves that none has fewer errors, as far as `nodes` allow.

    Parameters
    ----------
    max_terms : int >= 1, default=5
        Maximum number of conditions with points.
    max_points : int in [1, 1000], default=5
        Largest points of a condition, of either sign.
    penalty : float >= 0, default=0.0
        Training errors that each condition must save.
    conditions : {'information', 'quantiles', 'raw'}, default='information'
        Cut features where the classes' entropy falls most ('information') or into parts of equal size
        ('quantiles'), or keep integer features as they are ('raw').
    max_thresholds : int >= 1, default=4
        Maximum number of cuts per feature.
    monotone : list of str or None, default=None
        Features whose points must have a given sign: 'age:+' or 'age:-'.
    require : list of str or None, default=None
        Features that must have points.
    forbid : list of str or None, default=None
        Features that must not have points.
    steps : int >= 0, default=500
        Maximum number of perturbations of a rule, each followed by a descent.
    nodes : int >= 0, default=5000000
        Maximum number of sets of conditions and partial rules that the proof examines (0: no proof).
    time_limit : float > 0 or None, default=None
        Seconds after which the search ends with the best weights so far.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved: always.
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    conditions_ : list of Condition
        The conditions that have points, in the order of the features.
    lower_bound_ : float
        No rule with as many of these conditions and such points has a smaller loss, in mean sample weights
        (errors if all weights are equal).
    n_conditions_ : int
        Number of different conditions that terms could be chosen from.
    n_features_in_ : int
        Number of features.
    n_nodes_ : int
        Sets of conditions and partial rules that the proof examined.
    objective_ : float
        The loss plus the penalty of all terms.
    objective_bound_ : float
        No such rule has a smaller objective.
    optimal_ : bool
        Whether no rule has a smaller `objective_`.
    points_ : ndarray of int of shape (n_terms,)
        The points of each condition.
    proof_ : str
        How the bound is proved: 'all supports' or 'equal rows'.
    seconds_ : float
        Duration of the fit.
    threshold_ : int
        The lowest total for which the second class is predicted.
    trace_ : list of tuple of (float, float)
        Seconds and objective, whenever the objective fell.
    training_errors_ : int
        Number of training errors.
    training_loss_ : float
        Share of the sample weight that is misclassified.

    Notes
    -----
    The objective is that of SLIM [1]_ without its preference for small points, which only break ties between
    rules here. The score is the total minus the threshold plus 1/2: it is never 0.

    References
    ----------
    .. [1] Ustun, B. and Rudin, C. (2016). Supersparse linear integer models for optimized medical scoring
       systems. Machine Learning 102.

    Examples
    --------
    >>> from zoloss_cli import ScoringSystemClassifier, load_dataset
    >>> X, y = load_dataset("votes84")
    >>> model = ScoringSystemClassifier(max_terms=3, random_state=0).fit(X, y)
    >>> [(c.text, int(p)) for c, p in zip(model.conditions_, model.points_)], model.threshold_
    ([('x2 >= 0', 1), ('x3 >= 1', -2), ('x15 >= 1', -1)], -1)
    >>> model.training_errors_, model.optimal_
    (15, True)
    """

    reports: ClassVar[tuple[str, ...]] = ("lower_bound", "time_to_best")
    takes_raw_features = True  # for readable thresholds: features are not scaled unless a config requests it

    bound_is_exact_ = True

    max_terms: Annotated[int, Field(ge=1, description="maximum number of conditions with points")] = 5
    max_points: Annotated[
        int, Field(ge=1, le=1000, description="largest points of a condition, of either sign")
    ] = 5
    penalty: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="training errors that each condition must save")
    ] = 0.0
    conditions: Annotated[
        Literal["information", "quantiles", "raw"],
        Field(
            description="cut features where the classes' entropy falls most ('information') or into parts "
            "of equal size ('quantiles'), or keep integer features as they are ('raw')"
        ),
    ] = "information"
    max_thresholds: Annotated[int, Field(ge=1, description="maximum number of cuts per feature")] = 4
    monotone: Annotated[
        list[str] | None,
        Field(description="features whose points must have a given sign: 'age:+' or 'age:-'"),
    ] = None
    require: Annotated[list[str] | None, Field(description="features that must have points")] = None
    forbid: Annotated[list[str] | None, Field(description="features that must not have points")] = None
    steps: Annotated[
        int,
        Field(ge=0, description="maximum number of perturbations of a rule, each followed by a descent"),
    ] = 500
    nodes: Annotated[
        int,
        Field(
            ge=0,
            description="maximum number of sets of conditions and partial rules that the proof examines "
            "(0: no proof)",
        ),
    ] = 5_000_000
    time_limit: TimeLimit = None
    random_state: Any = None

    def train(self, problem: Problem) -> None:
        """Search for a rule, prove it as far as possible, and set the attributes."""
        progress = SearchProgress(type(self).__name__, self.time_limit)
        scoring = self._build_scoring_problem(problem)
        search = RuleSearch(scoring, progress)
        with end_on_interrupt(progress):
            search.start()
            with progress.restrict_time(SEARCH_SHARE):
                search.improve(self.steps, problem.draw_kernel_seed())
            search.prove(self.nodes)
            search.shrink()
        self.n_conditions_, self.n_nodes_ = len(scoring.conditions), search.n_nodes
        self._store_rule(scoring, search)
        wrong = find_strict_errors(self.scores(problem.X), problem.y)
        self.training_errors_ = int(wrong.sum())
        self.training_loss_ = float(problem.phi[wrong].sum())
        loss = float(problem.unit_mean_weights[wrong].sum())
        self.objective_ = loss + self.penalty * len(self.conditions_)
        self.optimal_ = progress.optimal
        self.proof_ = search.proof
        self.lower_bound_ = self.objective_bound_ = progress.lower_bound
        if self.penalty > 0.0:  # more terms may cost the same and make fewer errors
            least = scoring.to_loss(scoring.unavoidable - scoring.penalty * scoring.n_required)
            self.lower_bound_ = max(least, progress.lower_bound - self.penalty * scoring.max_terms)
        self.seconds_ = progress.seconds
        self.trace_ = progress.trace or [(self.seconds_, self.objective_)]

    @property
    def rule_kind(self) -> str:
        """The kind of rule that `lower_bound_` holds for."""
        terms = f"{self.max_terms} term{'s' * (self.max_terms != 1)}"
        kind = f"rule of at most {terms} with points from {-self.max_points} to {self.max_points}"
        asked = [name for name in ("monotone", "require", "forbid") if getattr(self, name)]
        return f"{kind} that keeps to {' and '.join(asked)}" if asked else kind

    def count_conditions(self, X, y) -> int:
        """Return how many different conditions the terms can be chosen from; nothing is fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        int
            The number of conditions.
        """
        return len(self._build_scoring_problem(self._build_problem(X, y, None)).conditions)

    def _build_scoring_problem(self, problem: Problem) -> ScoringProblem:
        has_weight = problem.phi > 0.0
        X, y = problem.X[has_weight, 1:], problem.y[has_weight]
        weights = to_integer_weights(problem.phi[has_weight])
        names = find_feature_names(X.shape[1], getattr(self, "feature_names_in_", None))
        constraints = build_constraints(names, self.monotone, self.require, self.forbid, self.max_terms)
        conditions = build_conditions(X, y, weights, names, self.conditions, self.max_thresholds)
        limits = (self.max_terms, self.max_points)
        return build_scoring_problem(X, y, weights, conditions, constraints, limits, self.penalty)

    def _store_rule(self, scoring: ScoringProblem, search: RuleSearch) -> None:
        """Set conditions, points and threshold, in unscaled feature values and without a common divisor."""
        used = search.terms >= 0
        order = np.argsort(search.terms[used], kind="stable")
        terms, points = search.terms[used][order], search.points[used][order]
        if points.size:
            points = points // math.gcd(*points.tolist())
        threshold = find_threshold(scoring, terms, points)
        self.conditions_: list[Condition] = [scoring.conditions[j] for j in terms]
        self.points_ = points
        self.threshold_ = int(threshold + points @ scoring.offsets[terms])

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the total of points minus the threshold plus 1/2."""
        return self.compute_totals(X[:, 1:]) - self.threshold_ + 0.5

    def compute_totals(self, X: np.ndarray) -> np.ndarray:
        """Return the total points of each sample.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Totals: integers, unless a feature used as is has other values.
        """
        totals = np.zeros(X.shape[0])
        for condition, points in zip(self.conditions_, self.points_.tolist(), strict=True):
            totals += points * condition.compute(X)
        return totals
