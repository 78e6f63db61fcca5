"""The voted perceptron: every weight vector that the perceptron learning rule visits, and its votes."""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.arrays import copy_vector
from zoloss_cli.kernels.online import add_scaled_row, compute_margin
from zoloss_cli.kernels.random import draw_epoch

FIRST_ROOM = 64  # vectors; doubled whenever it is full


@kernel
def fit_voted_perceptron(Z, step, cut, alias, epochs, order, seed):
    """Apply the perceptron learning rule from w = 0; return all vectors, as rows, and their survival times.

    `Z`, `step`, `cut`, `alias` and `order` are those of `online`. A trial counts, by step[k], for the vector
    after it, as in Algorithm 2.6 of Li's thesis (2006). The initial vector, which survives no trial, is left
    out.
    """
    n, width = Z.shape
    indices = np.arange(n).astype(np.int32)
    vectors, lives = np.zeros((FIRST_ROOM, width)), np.zeros(FIRST_ROOM)
    w = np.zeros(width)
    counter = seed
    size = 0
    for _ in range(epochs):
        counter = draw_epoch(order, indices, counter, cut, alias)
        for k in indices:
            if step[k] > 0.0 and compute_margin(w, Z, k) <= 0.0:
                if size == vectors.shape[0]:
                    more, longer = np.zeros((2 * size, width)), np.zeros(2 * size)
                    more[:size], longer[:size] = vectors, lives
                    vectors, lives = more, longer
                add_scaled_row(w, step[k], Z, k)
                copy_vector(w, vectors[size])
                size += 1
            if size > 0:  # samples without weight may come before the first update
                lives[size - 1] += step[k]
    return vectors[:size].copy(), lives[:size].copy()
