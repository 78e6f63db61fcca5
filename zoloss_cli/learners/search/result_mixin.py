"""Attributes of linear learners that report how close they came to the smallest 0-1 loss."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from zoloss_cli.kernels.zero_one import find_strict_errors
from zoloss_cli.learners.linear_base import LinearLearner
from zoloss_cli.learners.problem import Problem
from zoloss_cli.learners.search.exact_features import find_exact_features
from zoloss_cli.learners.search.merged_samples import merge_equal_samples
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress


class SearchResultMixin(LinearLearner):
    """Mixin for linear learners that recounts the training errors and sets attributes about them.

    Attributes
    ----------
    training_errors_ : int
        Training errors, recounted from the returned weights; a zero margin is an error.
    training_loss_ : float
        The share of the sample weight that is misclassified.
    lower_bound_ : float
        No linear rule has a smaller loss, in mean sample weights (a count if all weights are equal).
    bound_is_exact_ : bool
        Whether `lower_bound_` is proved, rather than right up to rounding.
    optimal_ : bool
        Whether `lower_bound_` is attained.
    seconds_ : float
        How long the fit took.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.
    """

    reports: ClassVar[tuple[str, ...]] = ("lower_bound", "time_to_best")

    def _build_problem(self, X, y, sample_weight) -> Problem:
        problem = super()._build_problem(X, y, sample_weight)
        return replace(problem, exact=find_exact_features(X))

    def train(self, problem: Problem) -> None:
        """Fit, and set the attributes."""
        self._search = search = SearchProgress(type(self).__name__, getattr(self, "time_limit", None))
        super().train(problem)
        self.seconds_ = search.seconds
        del self._search
        weights = problem.unit_mean_weights
        wrong = find_strict_errors(self.scores(problem.X), problem.y)
        self.training_errors_ = int(wrong.sum())
        self.training_loss_ = float(problem.phi[wrong].sum())
        if not search.has_merged:  # equal samples with both labels give a bound at almost no cost
            keys = problem.X if problem.exact is None else problem.exact.keys
            search.raise_bound(merge_equal_samples(keys, problem.y, weights)[-1])
        loss = float(weights[wrong].sum())
        # Rounding may make a rule right on samples that no rule separates: then its loss is the bound.
        self.lower_bound_, self.bound_is_exact_ = min(search.lower_bound, loss), search.bound_is_exact
        self.optimal_ = loss <= search.lower_bound + LOSS_TOLERANCE
        self.trace_ = search.trace or [(self.seconds_, loss)]
