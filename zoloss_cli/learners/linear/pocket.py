"""The pocket algorithm, with and without ratchet."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import pocket
from zoloss_cli.learners.base import Epochs, Problem, RecordEvery, Seeding, Weighting
from zoloss_cli.learners.linear.online import build_steps_and_draws, run_on_padded_samples
from zoloss_cli.learners.linear_base import LinearLearner


class PocketClassifier(LinearLearner):
    """The pocket algorithm: the best weights that the perceptron learning rule visits.

    Weights go into the pocket if they were right longer in a row than those in it; with ratchet, only if
    they also have fewer training errors. There is no `partial_fit`: the errors on all samples decide what goes
    into the pocket.

    Parameters
    ----------
    epochs : int >= 1, default=2000
        Number of epochs.
    seeding : {'zero', 'fld'} or list of float, default='zero'
        Weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list (bias first).
    ratchet : bool, default=True
        Admit to the pocket only weights with fewer training errors.
    weighting : {'reweight', 'resample'}, default='reweight'
        Use sample weights as step sizes ('reweight') or to draw samples ('resample').
    record_every : int >= 0, default=0
        Keep the weights after every this many epochs (0: only the last).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. A score of at least 0 predicts the second.
    coef_ : ndarray of shape (1, n_features)
        The weights w in the pocket.
    intercept_ : ndarray of shape (1,)
        The bias b in the pocket.
    n_error_counts_ : int
        How often the training errors were counted (the thesis gives 33,170 for pima from FLD).
    n_features_in_ : int
        Number of features.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        Epochs whose weights were recorded.
    recorded_weights_ : ndarray of shape (n_recorded, 1 + n_features)
        The weights in the pocket after these epochs, bias first.

    Notes
    -----
    Deviations, both as in the authors' program: the pocket starts with the error of the seed rather than 1, and
    the fit ends once the pocket's error is 0.

    References
    ----------
    .. [1] Gallant, S. I. (1990). Perceptron-based learning algorithms.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 2.1.

    Examples
    --------
    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PocketClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = PocketClassifier(record_every=500, random_state=0).fit(scale(X), y)
    >>> errors = model.recorded_errors(scale(X), y)  # the pocket never gets worse
    >>> bool((errors[1:] <= errors[:-1]).all()), bool(errors[-1] < 0.15)
    (True, True)
    """

    reports: ClassVar[tuple[str, ...]] = ("error_counts",)
    version = 2  # 2: epochs with many mistakes run in the primal, which rounds differently

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        ratchet: Annotated[
            bool, Field(description="admit to the pocket only weights with fewer training errors")
        ] = True,
        weighting: Weighting = "reweight",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.epochs = epochs
        self.seeding = seeding
        self.ratchet = ratchet
        self.weighting = weighting
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem: Problem, start: np.ndarray) -> np.ndarray:
        """Return the weights in the pocket after all epochs."""
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        seed, phi = problem.draw_kernel_seed(), problem.phi_fixed

        def run(Z, w, checkpoints, path):
            dual = Z.shape[0] <= pocket.MAX_GRAM_SAMPLES
            gram = problem.cached_by_X_and_y("gram", lambda: Z @ Z.T) if dual else np.empty((0, 0))
            Z_T = problem.cached_by_X_and_y("padded columns", lambda: np.ascontiguousarray(Z.T))
            samples = Z, Z_T, step, phi, cut, alias
            best, self.n_error_counts_ = pocket.fit_pocket(
                *samples, w, self.epochs, self.ratchet, gram, seed, checkpoints, path
            )
            return best

        return run_on_padded_samples(self, problem, start, run)
