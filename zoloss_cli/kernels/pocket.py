"""The pocket algorithm, with and without ratchet: Gallant (1990); Algorithm 2.1 of Li's thesis (2006).

e_p starts at the seed's error instead of 1: with 1, the first long run of luck would throw a good seed
away. The error is recounted only where w has changed since the last count, and the run ends when the
pocket's error is 0, since the ratchet admits nothing after that.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.online import add_row, margin
from zoloss_cli.kernels.random import RANDOM, next_epoch

# Up to this many examples all N margins are kept up to date through the Gram matrix of the rows y x: a
# trial then costs O(1), a mistake O(N) and an error count O(N). Above, the matrix leaves the caches.
GRAM_LIMIT = 2048
REFRESH_EPOCHS = 16


@kernel
def weighted_error(margins, phi):
    """The fixed-point weight of the examples with a margin <= 0."""
    error = 0
    for i in range(margins.shape[0]):
        error += phi[i] if margins[i] <= 0.0 else 0
    return error


@kernel
def error_up_to(Z, phi, w, bound):
    """The weighted error of w, or some value >= bound as soon as it is known to reach the bound."""
    error = 0
    for i in range(Z.shape[0]):
        if margin(w, Z, i) <= 0.0:
            error += phi[i]
            if error >= bound:
                return error
    return error


@kernel
def pocket(Z, step, phi, cut, alias, w, epochs, ratchet, gram, seed, checkpoints, path):
    """Runs the perceptron rule on w; returns the pocket's w_p and the number of error counts.

    `gram` is Z Z' (or 0 x 0 to work in the primal). Without `ratchet` a longer run of correct trials
    is enough to enter the pocket.
    """
    dual = gram.shape[0] > 0
    margins = np.dot(Z, w)
    indices = np.arange(Z.shape[0]).astype(np.int32)
    pocket_w = w.copy()
    pocket_error = weighted_error(margins, phi)
    pocket_run, run, counts = 0.0, 0.0, 0
    uncounted = False  # w has changed since its error was last counted
    counter = seed
    at = 0
    for epoch in range(1, epochs + 1):
        if dual and epoch % REFRESH_EPOCHS == 0:
            margins = np.dot(Z, w)
        counter = next_epoch(RANDOM, indices, counter, cut, alias)
        for k in indices:
            rho = margins[k] if dual else margin(w, Z, k)
            if rho <= 0.0:
                add_row(w, step[k], Z, k)
                if dual:
                    add_row(margins, step[k], gram, k)
                run = 0.0
                uncounted = True
                continue
            run += step[k]
            if run <= pocket_run:
                continue
            admit = not ratchet
            if uncounted:
                if dual:
                    error = weighted_error(margins, phi)
                else:
                    error = error_up_to(Z, phi, w, pocket_error if ratchet else 2**62)
                counts += 1
                uncounted = False
                admit = admit or error < pocket_error
                if admit:
                    pocket_error = error
                    pocket_w[:] = w
            if admit:
                pocket_run = run
        if at < checkpoints.shape[0] and checkpoints[at] == epoch:
            path[at] = pocket_w
            at += 1
        if pocket_error == 0:
            break
    while at < checkpoints.shape[0]:
        path[at] = pocket_w
        at += 1
    return pocket_w, counts
