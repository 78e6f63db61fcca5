"""The pocket algorithm, with and without ratchet: Gallant (1990); Algorithm 2.1 of Li's thesis (2006).

e_p starts at the seed's error instead of 1: with 1, the first long run of luck would throw a good seed
away. The error is recounted only where w has changed since the last count, and it ends when the
pocket's error is 0, since the ratchet admits nothing after that.

`Z` is N x P: the padded rows y x of `online`. Sample weights phi are fixed point
(`line_search.to_fixed_point`).
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.arrays import copy_vector
from zoloss_cli.kernels.checkpoints import save_checkpoint
from zoloss_cli.kernels.online import add_scaled_row, compute_margin
from zoloss_cli.kernels.random import RANDOM, draw_epoch

# Two ways to know the margins, the same but for rounding. Dual: all N are kept up to date through the Gram
# matrix of the rows y x, so a trial costs O(1) and an update O(N); up to MAX_GRAM_SAMPLES samples, above which
# the matrix leaves the caches. Primal: each trial takes its inner product, whatever the number of
# updates. An update in the dual costs about N/8 ns, a trial in the primal 20 ns more than in the dual, so
# an epoch runs in the primal if the one before it made more than MAX_DUAL_UPDATES, whatever N is.
MAX_GRAM_SAMPLES = 2048
MAX_DUAL_UPDATES = 160
EPOCHS_PER_REFRESH = 16  # after which the dual's margins are computed anew, before rounding errors add up
SAMPLES_PER_BLOCK = 128  # whose margins stay in registers and the first cache


@kernel
def sum_error_weights(margins, phi):
    """Return the fixed-point weight of the samples with a margin <= 0."""
    error = 0
    for i in range(margins.shape[0]):
        error += phi[i] if margins[i] <= 0.0 else 0
    return error


@kernel
def sum_error_weights_up_to(Z_T, phi, w, bound):
    """Return the weighted error of w, or some value >= bound as soon as it is known to reach the bound.

    Works on columns of Z (Z_T is P x N), a block of samples at a time: sums over features then need no
    horizontal addition. The number of features is a multiple of four.
    """
    n = phi.shape[0]
    room = np.empty(SAMPLES_PER_BLOCK, np.float64)
    error = 0
    for start in range(0, n, SAMPLES_PER_BLOCK):
        stop = min(start + SAMPLES_PER_BLOCK, n)
        margins = room[: stop - start]
        margins[:] = 0.0
        for j in range(0, w.shape[0], 4):
            z_0, z_1 = Z_T[j, start:stop], Z_T[j + 1, start:stop]
            z_2, z_3 = Z_T[j + 2, start:stop], Z_T[j + 3, start:stop]
            for i in range(stop - start):
                margins[i] += w[j] * z_0[i] + w[j + 1] * z_1[i] + w[j + 2] * z_2[i] + w[j + 3] * z_3[i]
        error += sum_error_weights(margins, phi[start:stop])
        if error >= bound:
            return error
    return error


@kernel
def fit_pocket(Z, Z_T, phi_T, step, phi, cut, alias, w, epochs, ratchet, gram, seed, checkpoints, path):
    """Run the perceptron rule on w; return the pocket's w_p and the number of error counts.

    Z_T and phi_T are Z' and phi in any order of samples: with the heaviest first, counting is over sooner.
    `gram` is Z Z' (or 0 x 0 to stay in the primal). Without `ratchet` a longer run of correct trials
    is enough to enter the pocket.
    """
    dual = gram.shape[0] > 0
    margins = np.dot(Z, w)
    indices = np.arange(Z.shape[0]).astype(np.int32)
    pocket_w = w.copy()
    pocket_error = sum_error_weights(margins, phi)
    pocket_run, run, counts = 0.0, 0.0, 0
    uncounted = False  # w has changed since its error was last counted
    counter = seed
    at, updates = 0, 0
    for epoch in range(1, epochs + 1):
        was_dual = dual
        dual = gram.shape[0] > 0 and updates <= MAX_DUAL_UPDATES
        if dual and (not was_dual or epoch % EPOCHS_PER_REFRESH == 0):
            margins = np.dot(Z, w)
        updates = 0
        counter = draw_epoch(RANDOM, indices, counter, cut, alias)
        for k in indices:
            rho = margins[k] if dual else compute_margin(w, Z, k)
            if rho <= 0.0:
                add_scaled_row(w, step[k], Z, k)
                if dual:
                    add_scaled_row(margins, step[k], gram, k)
                run = 0.0
                updates += 1
                uncounted = True
                continue
            run += step[k]
            if run <= pocket_run:
                continue
            admit = not ratchet
            if uncounted:
                if dual:
                    error = sum_error_weights(margins, phi)
                else:
                    error = sum_error_weights_up_to(Z_T, phi_T, w, pocket_error if ratchet else 2**62)
                counts += 1
                uncounted = False
                admit = admit or error < pocket_error
                if admit:
                    pocket_error = error
                    copy_vector(w, pocket_w)
            if admit:
                pocket_run = run
        at = save_checkpoint(pocket_w, epoch, pocket_error == 0, checkpoints, at, path)
        if pocket_error == 0:
            break
    return pocket_w, counts
