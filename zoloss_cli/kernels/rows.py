"""Online learners on samples in place: sparse ones, and files mapped into memory.

Sample k has the values data[starts[k]], ..., data[starts[k + 1] - 1] in the features that `columns` lists at
the same indices; if `shares_columns`, as in a dense array, `columns` lists those of one sample for all. The
bias is w[0], and the weight of feature j is w[j + 1]. The rest is as in `online`, except that rows are not
multiplied by y.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import inline_kernel, kernel
from zoloss_cli.kernels.numeric import copy_vector, draw_epoch
from zoloss_cli.kernels.online import (
    LEAST_SQUARES,
    MODIFIED_LEAST_SQUARES,
    PERCEPTRON_CRITERION,
    compute_average,
)


@inline_kernel
def compute_score(w, data, columns, first, last, shift):
    """Return the score of the sample data[first:last]; `shift` is subtracted from indices into `columns`."""
    total = w[0]
    for j in range(first, last):
        total += w[columns[j - shift] + 1] * data[j]
    return total


@inline_kernel
def add_scaled_sample(w, scale, data, columns, first, last, shift):
    """Add `scale` times the sample data[first:last] to w; `shift` is that of `compute_score`."""
    w[0] += scale
    for j in range(first, last):
        w[columns[j - shift] + 1] += scale * data[j]


@kernel
def fit_to_rows(
    data,
    columns,
    starts,
    shares_columns,
    y,
    step,
    cut,
    alias,
    w,
    late,
    clock,
    epochs,
    rate,
    cost,
    order,
    seed,
    checkpoints,
    path,
):
    """Apply the rule of `online.fit_sgd`; the perceptron rule is the perceptron criterion at rate 1.

    If `late` is not empty, the average is kept as in `online.fit_averaged_perceptron`, and recorded. Returns
    (mistakes, clock).
    """
    indices = np.arange(y.shape[0]).astype(np.int32)
    squared = cost in (MODIFIED_LEAST_SQUARES, LEAST_SQUARES)
    reach = 1.0
    if cost == LEAST_SQUARES:
        reach = np.inf
    elif cost == PERCEPTRON_CRITERION:
        reach = np.nextafter(0.0, 1.0)  # so that rho < reach means rho <= 0
    averages = late.shape[0] > 0
    counter = seed
    mistakes, at = 0, 0
    for epoch in range(1, epochs + 1):
        counter = draw_epoch(order, indices, counter, cut, alias)
        for k in indices:
            first, last = np.int64(starts[k]), np.int64(starts[k + 1])
            shift = first if shares_columns else np.int64(0)
            rho = y[k] * compute_score(w, data, columns, first, last, shift)
            mistakes += rho <= 0.0
            if rho < reach:
                scale = rate * step[k] * (1.0 - rho if squared else 1.0) * y[k]
                add_scaled_sample(w, scale, data, columns, first, last, shift)
                if averages:
                    add_scaled_sample(late, scale * clock, data, columns, first, last, shift)
            clock += step[k]
        if at < checkpoints.shape[0] and checkpoints[at] == epoch:
            copy_vector(compute_average(w, late, clock) if averages else w, path[at])
            at += 1
    return mistakes, clock
