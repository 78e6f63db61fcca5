"""The end of an AdaBoost round (Freund & Schapire 1996): weighted error, alpha and new sample weights."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel

# A hypothesis with at least this weighted error counts as no better than chance. One that is chosen twice in
# a row has an error of exactly 1/2 the second time, up to rounding, which must not decide whether boosting
# ends.
CHANCE_ERROR = 0.5 - 1e-10


@exact_kernel
def end_round(scores, y, phi, perfect_odds):
    """Return the weighted error e and the alpha of a hypothesis, and update phi for the next round.

    The hypothesis is +1 where its score is >= 0, else -1; `scores`, `y` and `phi` have length N. If
    e >= CHANCE_ERROR, boosting is over: alpha is 0, and phi is unchanged. If e = 0, `perfect_odds` is used
    for (1 - e) / e, and phi is unchanged, too.
    """
    n = phi.shape[0]
    e = 0.0
    for i in range(n):
        e += phi[i] if (scores[i] >= 0.0) != (y[i] > 0.0) else 0.0
    if e >= CHANCE_ERROR:
        return e, 0.0
    if e <= 0.0:
        return e, 0.5 * np.log(perfect_odds)
    alpha = 0.5 * np.log((1.0 - e) / e)
    up, down = np.exp(alpha), np.exp(-alpha)
    total = 0.0
    for i in range(n):
        phi[i] *= up if (scores[i] >= 0.0) != (y[i] > 0.0) else down
        total += phi[i]
    for i in range(n):
        phi[i] /= total
    return e, alpha
