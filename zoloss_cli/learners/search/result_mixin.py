"""A linear learner that says how far it came on the 0-1 loss of its training set."""

from __future__ import annotations

from zoloss_cli.kernels.zero_one import strict_mistakes
from zoloss_cli.learners.search.merged_samples import merge_equal_samples
from zoloss_cli.learners.search.progress import LOSS_TOLERANCE, SearchProgress


class SearchResultMixin:
    """Mixed into a linear learner, it gives these attributes after fit.

    `training_errors_`, recounted from the weights that are returned (a zero margin is an error);
    `training_loss_`, the share of the sample weight that is wrong; `lower_bound_`, below which no linear
    rule can come, in mean sample weights (a count where all weigh the same); `bound_is_exact_`, whether it
    is proved rather than right up to rounding; `optimal_`, whether it is what was reached; `seconds_`; and
    `trace_`, a list of (seconds, loss) whenever the loss fell.
    """

    def train(self, problem):
        self._search = search = SearchProgress(type(self).__name__, getattr(self, "time_limit", None))
        super().train(problem)
        self.seconds_ = search.seconds
        del self._search
        weights = problem.unit_mean_weights
        wrong = strict_mistakes(self.scores(problem.X), problem.y)
        self.training_errors_ = int(wrong.sum())
        self.training_loss_ = float(problem.phi[wrong].sum())
        # Equal rows with both labels: a bound that costs nothing.
        search.raise_bound(merge_equal_samples(problem.X, problem.y, weights)[-1])
        loss = float(weights[wrong].sum())
        self.lower_bound_, self.bound_is_exact_ = search.lower_bound, search.bound_is_exact
        self.optimal_ = loss <= search.lower_bound + LOSS_TOLERANCE
        self.trace_ = search.trace or [(self.seconds_, loss)]
