"""Perceptron learning rules: Rosenblatt's, batch, averaged, pocket, margin perceptron and ROMMA."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from zoloss_cli.kernels import online, pocket
from zoloss_cli.kernels.random import FIXED_ORDER
from zoloss_cli.learners.base import LinearLearner, UnweightedLinearLearner
from zoloss_cli.learners.linear.online import (
    NO_ALIAS_TABLE,
    ORDERS,
    build_steps_and_draws,
    run_on_padded_samples,
)
from zoloss_cli.learners.linear.stream import NO_SEED, NOT_RECORDED, PartialFitMixin, WeightedPartialFitMixin
from zoloss_cli.learners.parameters import Epochs, Order, RecordEvery, Seeding, Weighting


class PerceptronClassifier(WeightedPartialFitMixin, LinearLearner):
    """Rosenblatt's perceptron learning rule, eq. (2) of Li & Lin (2007): w <- w + y x on a mistake.

    A zero margin is a mistake. On nonseparable data it never settles; what is returned is the last w.
    `n_mistakes_` counts the mistakes, each of which was an update. `partial_fit` learns from a stream.

    >>> from zoloss_cli import PerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = PerceptronClassifier(order="fixed").fit(X, y)  # separable: it settles
    >>> model.predict(X).tolist()
    ['no', 'yes', 'yes', 'yes']
    >>> model = PerceptronClassifier().partial_fit(X[:2], y[:2], classes=["no", "yes"])
    >>> model.partial_fit(X[2:], y[2:]).n_mistakes_  # all but the last row; (1, 0) had a margin of 0
    3
    """

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        order: Order = "random",
        weighting: Weighting = "reweight",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.epochs = epochs
        self.seeding = seeding
        self.order = order
        self.weighting = weighting
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem, start):
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        if cut.size and self.order != "random":
            raise ValueError(
                f"{type(self).__name__}: weighting='resample' draws at random; order={self.order!r} cannot"
            )
        seed = problem.draw_kernel_seed()

        self.n_mistakes_ = 0

        def run(Z, w, *recording):
            return self._run_kernel(Z, step, cut, alias, w, self.epochs, ORDERS[self.order], seed, *recording)

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z, step, w):
        self.n_mistakes_ = getattr(self, "n_mistakes_", 0)
        return self._run_kernel(Z, step, *NO_ALIAS_TABLE, w, 1, FIXED_ORDER, NO_SEED, *NOT_RECORDED)

    def _run_kernel(self, Z, step, cut, alias, w, *how):
        """The weights that the kernel's epochs lead to from w, which is changed."""
        self.n_mistakes_ += online.perceptron(Z, step, cut, alias, w, *how)
        return w


class AveragedPerceptronClassifier(PerceptronClassifier):
    """The averaged perceptron: Algorithms 2.2 (order 'fixed') and 2.6 ('random') of Li's thesis (2006).

    The published tables draw at random. Freund & Schapire (1999) introduced it as the averaged variant
    of the voted perceptron.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import AveragedPerceptronClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = AveragedPerceptronClassifier(epochs=100, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.82
    True
    """

    def learn(self, problem, start):
        self._last = None
        return super().learn(problem, start)

    def update_in_order(self, Z, step, w):
        self._last = getattr(self, "_last", None)
        return super().update_in_order(Z, step, w)

    def _run_kernel(self, Z, step, cut, alias, w, *how):
        # What the average is made of goes on, not the average: (w, late, clock) of the kernel.
        w, late, clock = self._last or (w, np.zeros_like(w), 0.0)
        mistakes, clock = online.averaged_perceptron(Z, step, cut, alias, w, late, clock, *how)
        self._last = w, late, clock
        self.n_mistakes_ += mistakes
        return online.average(w, late, clock)


class PocketClassifier(LinearLearner):
    """The pocket algorithm with ratchet: Gallant (1990); Algorithm 2.1 of Li's thesis (2006).

    Deviations, both the authors' program's: the pocket starts with the seed's error rather than 1, and
    the run ends once the pocket's error is 0. `n_error_counts_` tells how often the training error was
    counted (the thesis gives 33,170 for pima from FLD). There is no `partial_fit`: what goes into the pocket
    is decided by the errors on all rows.

    >>> from sklearn.preprocessing import scale
    >>> from zoloss_cli import PocketClassifier, load_dataset
    >>> X, y = load_dataset("heart")
    >>> model = PocketClassifier(record_every=500, random_state=0).fit(scale(X), y)
    >>> errors = model.recorded_errors(scale(X), y)  # the pocket never gets worse
    >>> bool((errors[1:] <= errors[:-1]).all()), bool(errors[-1] < 0.15)
    (True, True)
    """

    version = 2  # 2: epochs with many mistakes run in the primal, which rounds otherwise

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        ratchet: Annotated[bool, Field(description="admit to the pocket only what has fewer errors")] = True,
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

    def learn(self, problem, start):
        step, cut, alias = build_steps_and_draws(problem, self.weighting)
        seed, phi = problem.draw_kernel_seed(), problem.phi_fixed

        def run(Z, w, checkpoints, path):
            dual = Z.shape[0] <= pocket.GRAM_LIMIT
            gram = problem.cached_by_X_and_y("gram", lambda: Z @ Z.T) if dual else np.empty((0, 0))
            if np.all(phi == phi[0]):
                Z_T, phi_T = problem.cached_by_X_and_y("padded columns", lambda: np.ascontiguousarray(Z.T)), phi
            else:
                heaviest = np.argsort(-phi, kind="stable")
                Z_T, phi_T = np.ascontiguousarray(Z[heaviest].T), phi[heaviest]
            best, self.n_error_counts_ = pocket.pocket(
                Z,
                Z_T,
                phi_T,
                step,
                phi,
                cut,
                alias,
                w,
                self.epochs,
                self.ratchet,
                gram,
                seed,
                checkpoints,
                path,
            )
            return best

        return run_on_padded_samples(self, problem, start, run)


class BatchPerceptronClassifier(LinearLearner):
    """The batch perceptron of the course notes "The Perceptron": gradient descent on eq. (2) there.

    That is the sum of max(0, -y <w, x>), the perceptron loss; footnote 1 there calls it the hinge loss, which
    is max(0, 1 - y <w, x>).

    A score of 0 predicts +1, so it is a mistake for a negative example only. Stops when nothing is
    misclassified; `n_epochs_` tells when. There is no `partial_fit`: a step is the sum over all rows.

    >>> from zoloss_cli import BatchPerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = BatchPerceptronClassifier().fit(X, y)
    >>> model.score(X, y), model.n_epochs_
    (1.0, 6)
    """

    def __init__(
        self,
        epochs: Epochs = 2000,
        seeding: Seeding = "zero",
        rate: Annotated[float, Field(gt=0, description="learning rate")] = 1.0,
        record_every: RecordEvery = 0,
    ):
        self.epochs = epochs
        self.seeding = seeding
        self.rate = rate
        self.record_every = record_every

    def learn(self, problem, start):
        step = problem.phi.size * problem.phi

        def run(Z, w, checkpoints, path):
            self.n_epochs_ = online.batch_perceptron(
                Z, problem.y, step, float(self.rate), w, self.epochs, checkpoints, path
            )
            return w

        return run_on_padded_samples(self, problem, start, run)


class MarginPerceptronClassifier(PartialFitMixin, UnweightedLinearLearner):
    """Margin Perceptron(gamma) of the lecture "Perceptron algorithm for learning linear separators".

    Also updates on examples that are right by less than gamma/2; on data separable with margin gamma it
    makes at most 8 (R/gamma)^2 + 4 R/gamma updates (Theorem 2 there), counted in `n_updates_`; the first
    example, which the lecture starts from, is one of them. In the place of gamma/2 the lecture also allows
    (1 - epsilon) gamma. Stops after a round without an update, at the latest after `epochs` rounds. R and
    gamma are those of the rows (1, x). `partial_fit` learns from a stream.

    >>> from zoloss_cli import MarginPerceptronClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> model = MarginPerceptronClassifier(gamma=0.1).fit(X, y)
    >>> model.score(X, y), model.n_updates_
    (1.0, 9)
    """

    def __init__(
        self,
        gamma: Annotated[float, Field(gt=0, description="the margin to aim at")] = 0.1,
        epsilon: Annotated[
            float, Field(gt=0, le=1, description="update on margins below (1 - epsilon) gamma")
        ] = 0.5,
        epochs: Epochs = 2000,
        record_every: RecordEvery = 0,
    ):
        self.gamma = gamma
        self.epsilon = epsilon
        self.epochs = epochs
        self.record_every = record_every

    @property
    def least(self) -> float:
        """The margin below which it updates."""
        return float((1.0 - self.epsilon) * self.gamma)

    def learn(self, problem, start):
        def run(Z, w, checkpoints, path):
            self.n_updates_, self.n_epochs_ = online.margin_perceptron(
                Z, self.least, w, self.epochs, checkpoints, path
            )
            return w

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z, step, w):
        updates, _ = online.margin_perceptron(Z, self.least, w, 1, *NOT_RECORDED)
        self.n_updates_ = getattr(self, "n_updates_", 0) + updates
        return w


class ROMMAClassifier(PartialFitMixin, UnweightedLinearLearner):
    """ROMMA, the relaxed online maximum margin algorithm (Li & Long 2002), and its aggressive form.

    Named in section 2.2 of Li's thesis (2006), which reports that it oscillates on nonseparable data
    and meets numerical trouble after several hundred epochs.

    >>> from zoloss_cli import ROMMAClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "yes"]
    >>> ROMMAClassifier(order="fixed").fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        epochs: Epochs = 100,
        aggressive: Annotated[bool, Field(description="also update on margins below 1")] = False,
        order: Order = "random",
        seeding: Seeding = "zero",
        record_every: RecordEvery = 0,
        random_state=None,
    ):
        self.epochs = epochs
        self.aggressive = aggressive
        self.order = order
        self.seeding = seeding
        self.record_every = record_every
        self.random_state = random_state

    def learn(self, problem, start):
        seed = problem.draw_kernel_seed()

        def run(Z, w, checkpoints, path):
            online.romma(Z, w, self.epochs, self.aggressive, ORDERS[self.order], seed, checkpoints, path)
            return w

        return run_on_padded_samples(self, problem, start, run)

    def update_in_order(self, Z, step, w):
        online.romma(Z, w, 1, self.aggressive, FIXED_ORDER, NO_SEED, *NOT_RECORDED)
        return w
