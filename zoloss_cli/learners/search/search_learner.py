"""The base class for your own searches for the smallest 0/1 loss, with a clock, a trace and a bound."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np

from zoloss_cli.learners.problem import Problem
from zoloss_cli.learners.search.direct_optimizer import DirectOptimizer
from zoloss_cli.learners.search.progress import SearchProgress


class SearchLearner(DirectOptimizer):  # numpydoc ignore=PR02
    """A linear classifier that searches for the weights with the smallest 0/1 loss.

    Subclasses implement `search`, which offers weights to its argument `progress`. Their losses are counted
    there, the best weights are the result, and the trace of losses against seconds is kept. A subclass may have
    the parameters `time_limit` (seconds), `seeding` ('zero', 'fld', 'lr', 'svm' or a list of weights) and
    `random_state`, which are then used as their names say. Ctrl-C ends a search in the same way as its time
    limit.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result. A subclass without random draws takes
        no such parameter.

    Attributes
    ----------
    training_errors_ : int
        Training errors, recounted from the returned weights; a zero margin is an error.
    lower_bound_ : float
        No linear rule has a smaller loss, in mean sample weights (a count if all weights are equal).
    seconds_ : float
        Duration of the fit, including the computation of `start`.
    trace_ : list of tuple of (float, float)
        Seconds and loss, whenever the loss fell.

    See Also
    --------
    SearchProgress : The clock, the best weights so far and the bound.
    check_learner : Tests that every learner must pass.

    Examples
    --------
    >>> from zoloss_cli import SearchLearner, load_dataset
    >>> class RandomSearch(SearchLearner):
    ...     "Random directions."
    ...     def __init__(self, random_state=None):
    ...         self.random_state = random_state
    ...     def search(self, problem, start, progress):
    ...         while progress.n_offers < 200 and not progress.should_stop():
    ...             progress.offer_weights(problem.rng.standard_normal(start.size))
    >>> model = RandomSearch(random_state=0).fit(*load_dataset("heart"))
    >>> model.trace_[-1][1] == model.training_errors_ >= model.lower_bound_
    True
    """

    seeding: str | list[float] = "zero"  # unless a subclass has a parameter of this name

    @abstractmethod
    def search(self, problem: Problem, start: np.ndarray, progress: SearchProgress) -> None:
        """Offer weights until the search should stop, or nothing is left to try.

        Parameters
        ----------
        problem : Problem
            ``X`` of shape (n_samples, 1 + n_features), whose first column is 1; labels ``y`` of -1.0 and +1.0;
            sample weights ``phi``, which sum to 1; and the random generator ``rng``.
        start : ndarray of shape (1 + n_features,)
            Weights to start from, bias first, which have already been offered.
        progress : SearchProgress
            Takes weights through `offer_weights` and bounds through `raise_bound`; `should_stop` tells when to
            end.
        """

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the best weights offered."""
        progress = self._search
        progress.problem = problem
        progress.offer_weights(start)
        try:
            self.search(problem, start.copy(), progress)
        except KeyboardInterrupt:
            warnings.warn(
                f"{progress.name}: interrupted after {progress.seconds:.1f} s; the best so far is returned",
                stacklevel=5,
            )
        return progress.w
