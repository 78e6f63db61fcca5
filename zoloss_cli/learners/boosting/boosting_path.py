"""The ensembles of growing size that a fit of AnyBoost or CGBoost goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from zoloss_cli.kernels.zero_one import predict_signs
from zoloss_cli.learners.base import BinaryLearner
from zoloss_cli.learners.problem import Samples


@dataclass
class BoostingPath:
    """The ensembles F_0, F_1, ... with F_t = F_{t-1} + alpha_t d_t and d_t = f_t + beta_t d_{t-1}.

    Attributes
    ----------
    kappa : float
        Parameter kappa_- of the bisigmoid cost.
    costs : list of float
        The cost at sizes 0, 1, ...
    hypotheses : list of BinaryLearner
        Learners whose predicted signs are f_t.
    alphas : list of float
        Steps alpha_t.
    betas : list of float
        How much of the previous direction is kept, beta_t.
    end_reason : str
        Why there were no more rounds.
    """

    kappa: float
    costs: list[float]
    hypotheses: list[BinaryLearner] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    betas: list[float] = field(default_factory=list)
    end_reason: str = ""

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
