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

# Two ways to know the margins, the same but for rounding. Dual: all N are kept up to date through the Gram
# matrix of the rows y x, so a trial costs O(1) and a mistake O(N); up to GRAM_LIMIT examples, above which
# the matrix leaves the caches. Primal: each trial takes its inner product, whatever the number of
# mistakes. A mistake in the dual costs about N/8 ns, a trial in the primal 20 ns more than in the dual, so
# an epoch runs in the primal if the one before it made more mistakes than this, whatever N is.
GRAM_LIMIT = 2048
MOST_MISTAKES_IN_DUAL = 160
REFRESH_EPOCHS = 16
BLOCK = 128


@kernel
def weighted_error(margins, phi):
    """The fixed-point weight of the examples with a margin <= 0."""
    error = 0
    for i in range(margins.shape[0]):
        error += phi[i] if margins[i] <= 0.0 else 0
    return error


@kernel
def error_up_to(Z_T, phi, w, bound):
    """The weighted error of w, or some value >= bound as soon as it is known to reach the bound.

    Works on columns, a block of examples at a time: sums over features then need no horizontal addition.
    The number of features is a multiple of four.
    """
    n = phi.shape[0]
    room = np.empty(BLOCK, np.float64)
    error = 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        margins = room[: stop - start]
        margins[:] = 0.0
        for j in range(0, w.shape[0], 4):
            z_0, z_1 = Z_T[j, start:stop], Z_T[j + 1, start:stop]
            z_2, z_3 = Z_T[j + 2, start:stop], Z_T[j + 3, start:stop]
            for i in range(stop - start):
                margins[i] += w[j] * z_0[i] + w[j + 1] * z_1[i] + w[j + 2] * z_2[i] + w[j + 3] * z_3[i]
        error += weighted_error(margins, phi[start:stop])
        if error >= bound:
            return error
    return error


@kernel
def pocket(Z, Z_T, phi_T, step, phi, cut, alias, w, epochs, ratchet, gram, seed, checkpoints, path):
    """Runs the perceptron rule on w; returns the pocket's w_p and the number of error counts.

    Z_T and phi_T are Z' and phi in any order of examples: with the heaviest first, counting is over sooner.
    `gram` is Z Z' (or 0 x 0 to stay in the primal). Without `ratchet` a longer run of correct trials
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
    at, mistakes = 0, 0
    for epoch in range(1, epochs + 1):
        was_dual = dual
        dual = gram.shape[0] > 0 and mistakes <= MOST_MISTAKES_IN_DUAL
        if dual and (not was_dual or epoch % REFRESH_EPOCHS == 0):
            margins = np.dot(Z, w)
        mistakes = 0
        counter = next_epoch(RANDOM, indices, counter, cut, alias)
        for k in indices:
            rho = margins[k] if dual else margin(w, Z, k)
            if rho <= 0.0:
                add_row(w, step[k], Z, k)
                if dual:
                    add_row(margins, step[k], gram, k)
                run = 0.0
                mistakes += 1
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
                    error = error_up_to(Z_T, phi_T, w, pocket_error if ratchet else 2**62)
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
