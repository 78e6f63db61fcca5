"""Every hyperplane through P-1 rows, one line of them at a time.

Nguyen & Sanner (2013), Figure 5, evaluates one combination of D = P-1 samples after the other, each at the cost
of an inverse and a product with all rows. But P-2 rows leave a plane of weights free, in which every other row
is a line through 0: one sort by angle gives the losses of all combinations that share the P-2 rows. In the
order of combinations, these are all that differ in the last place; here they are one step.

`Y` is n x P: rows y_i (1, x_i), scaled to length 1, with weights `c`; w is right on row i where <Y_i, w> > 0.
Rows that a w passes through can be made right by tilting it, if there are P-1 of them. If more meet, which of
them can be right is a smaller problem of its own, left to the caller.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.arrays import copy_vector
from zoloss_cli.kernels.line import LOSS_TOLERANCE, allocate_line_scratch, sort_breakpoints

IN_SPAN = 1e-7  # length: a row of which less is left belongs to the span of the rows taken so far
ROUNDING = 1e-12  # length: what rounding can leave of a row that does
SAME_ANGLE = 1e-8  # radians: angles that differ by less may be one
MIN_INDEPENDENT_LENGTH = 1e-6  # length that must be left of a row for it to extend a basis
TURN_RADIANS = 0.7548776662466927  # no fraction of a circle, so that repeated turns never come back
MIN_RELATIVE_SLOPE = 1e-6  # |g| / |f|: a breakpoint farther out than its inverse is too near infinity
MAX_TURNS = 20


@kernel
def remove_direction(N, z, out):
    """Write an orthonormal basis of the rows of N less the direction of z; return how much of z is in N.

    N is rows x P and orthonormal, z has length P, `out` has room for rows - 1 of length P. One reflection
    turns z's part to the first axis, which is then left out.
    """
    rows, P = N.shape
    a = np.dot(N, z)
    length = np.sqrt(np.dot(a, a))
    if length < MIN_INDEPENDENT_LENGTH:
        return length
    a /= length
    sign = 1.0 if a[0] >= 0.0 else -1.0
    a[0] += sign
    scale = 1.0 / abs(a[0])
    mixed = np.dot(a, N)
    for r in range(1, rows):
        for j in range(P):
            out[r - 1, j] = N[r, j] - scale * a[r] * mixed[j]
    return length


@kernel
def combine_columns(G, h, f):
    """Set f = G h for a G of a handful of columns, where a call of BLAS would cost more than the product."""
    for i in range(G.shape[0]):
        total = 0.0
        for j in range(G.shape[1]):
            total += G[i, j] * h[j]
        f[i] = total


@kernel
def rotate_plane(f, g, angle):
    """Rotate the axes of the plane of w and v: f = Yw becomes cos f + sin g, and g = Yv follows."""
    cos, sin = np.cos(angle), np.sin(angle)
    for i in range(f.shape[0]):
        f[i], g[i] = cos * f[i] + sin * g[i], cos * g[i] - sin * f[i]


@kernel
def sweep_line(f, g, c, need, largest, best, scratch, found):
    """Collect the hyperplanes at breakpoints of w + alpha v that may lose less than `best`.

    f = Yw and g = Yv have length n, and so have the weights c. A breakpoint where `need` rows meet is sure to
    lose less: it lowers `best` at once. Where more than `largest` meet, it is passed over. Rows of `found`
    (2n x 3) become (alpha, sign, loss of the rows off it). w and v are turned, and f and g with them, until
    no breakpoint is near infinity: there, rows that meet would be torn apart.

    Returns (rows of found, best, number passed over, whether a row's belonging is in doubt, the turn).
    """
    t, rows, bucket, starts, sorted_t, sorted_rows = scratch[:6]
    angle = 0.0
    for _ in range(MAX_TURNS):
        rotate_plane(f, g, TURN_RADIANS)
        angle += TURN_RADIANS
        count, flat, total, loss, sum_f, sum_g = 0, 0, 0.0, 0.0, 0.0, 0.0
        doubt, far = False, False
        for i in range(f.shape[0]):
            rest = f[i] * f[i] + g[i] * g[i]
            if rest < IN_SPAN * IN_SPAN:
                flat += 1
                doubt |= rest > ROUNDING * ROUNDING
                continue
            if abs(g[i]) < MIN_RELATIVE_SLOPE * abs(f[i]):
                far = True
                break
            t[count] = -f[i] / g[i]
            rows[count] = i
            count += 1
            sum_f += abs(f[i])
            sum_g += abs(g[i])
            total += c[i]
            loss += c[i] if g[i] > 0.0 else 0.0
        if not far:
            break
    if count == 0 or far:
        return 0, best, 0, doubt or far, angle
    sort_breakpoints(t, rows, count, sum_f / sum_g + 1e-300, bucket, starts, sorted_t, sorted_rows)
    hits, passed, j = 0, 0, 0
    while j < count:
        first = j
        before, both = 0.0, 0.0
        while True:
            row = sorted_rows[j]
            both += c[row]
            before += c[row] if g[row] > 0.0 else 0.0
            j += 1
            if j == count or sorted_t[j] - sorted_t[j - 1] > SAME_ANGLE * (1.0 + sorted_t[j] * sorted_t[j]):
                break
        off = loss - before
        loss = off + both - before
        meeting = flat + j - first
        for sign in (1.0, -1.0):
            lost = off if sign > 0.0 else total - both - off
            if lost < best - LOSS_TOLERANCE:
                if meeting > largest:
                    passed += 1
                    continue
                if hits < found.shape[0]:
                    found[hits, 0], found[hits, 1], found[hits, 2] = sorted_t[first], sign, lost
                    hits += 1
                if meeting == need:
                    best = lost
    return hits, best, passed, doubt, angle


@kernel
def sweep_prefixes(Y, c, order, n_order, prefix, lines, largest, best, planes, losses):
    """Sweep the lines of the next `lines` combinations of P-2 of the rows order[:n_order], from `prefix` on.

    `prefix` (length P-2) holds ascending places in `order`; it is changed to where to go on, its first place is
    -1 at the end. Hyperplanes that may lose less than `best` are put into the rows of `planes`, and into
    `losses` the weight of the wrong rows off them.

    Returns (how many, best, number passed over, lines swept, whether there was doubt).
    """
    n, P = Y.shape
    k = P - 2
    bases = np.zeros((k + 1, P, P))
    for j in range(P):
        bases[0, j, j] = 1.0
    scratch = allocate_line_scratch(n)
    f, g = np.empty(n), np.empty(n)
    G = Y.copy() if k == 1 else np.empty((n, 3))  # Y in the three axes that all but the last row leave free
    h = np.empty((2, 3))
    found = np.empty((2 * n, 3))
    put, passed, swept, level = 0, 0, 0, 0
    doubt = False
    while swept < lines and prefix[0] >= 0 and put + 2 * n <= losses.shape[0]:
        # Extend the bases from the first place that changed.
        sound = True
        while level < k:
            N = np.ascontiguousarray(bases[level, : P - level])
            left = remove_direction(N, Y[order[prefix[level]]], bases[level + 1])
            if left < MIN_INDEPENDENT_LENGTH:
                sound = False
                doubt |= left > ROUNDING
                break
            level += 1
            if level == k - 1:
                G = np.dot(Y, np.ascontiguousarray(bases[level, :3]).T)
        if sound:
            swept += 1
            three = np.ascontiguousarray(bases[k - 1, :3])
            for r in range(2):
                copy_vector(np.dot(three, bases[k, r]), h[r])
            combine_columns(G, h[0], f)
            combine_columns(G, h[1], g)
            hits, best, over, unsure, angle = sweep_line(f, g, c, P - 1, largest, best, scratch, found)
            passed += over
            doubt |= unsure
            for hit in range(hits):
                alpha, sign, lost = found[hit]
                toward = angle + np.arctan(alpha)
                for j in range(P):
                    planes[put, j] = sign * (np.cos(toward) * bases[k, 0, j] + np.sin(toward) * bases[k, 1, j])
                losses[put] = lost
                put += 1
            level = k
        # The next combination; a dependent row at some level ends all that share the rows up to it.
        at = k - 1 if sound else level
        while at >= 0 and prefix[at] >= n_order - (k - at):
            at -= 1
        if at < 0:
            prefix[0] = -1
            break
        prefix[at] += 1
        for later in range(at + 1, k):
            prefix[later] = prefix[later - 1] + 1
        level = min(at, level)
    return put, best, passed, swept, doubt
