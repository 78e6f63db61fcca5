"""All hyperplanes through P-1 rows, found one line of hyperplanes at a time.

Nguyen & Sanner (2013), Figure 5, evaluates every combination of D = P-1 samples separately, each at the cost
of an inverse and a product with all rows. But P-2 rows leave a plane of weights free, in which every other
row is a line through 0, so that one sort by angle gives the losses of all combinations that share the P-2
rows. In the order of combinations, these differ only in the last place; here they take one step.

`Y` is n x P, with rows y_i (1, x_i) scaled to length 1 and weights `c`; w classifies row i
correctly if <Y_i, w> > 0. If the hyperplane of w passes through just P-1 rows, tilting it classifies them
correctly. If more rows meet there, how many of them can be correct is a smaller problem of the same kind, left
to the caller.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels.compilation import kernel
from zoloss_cli.kernels.line_losses import LOSS_TOLERANCE, allocate_line_scratch, sort_line_breakpoints
from zoloss_cli.kernels.numeric import copy_vector

IN_SPAN = 1e-7  # length: a row with a shorter remainder is in the span of the rows taken so far
ROUNDING = 1e-12  # length of the remainder that rounding can leave of such a row
SAME_ANGLE = 1e-8  # radians: angles that differ by less may be equal
MIN_INDEPENDENT_LENGTH = 1e-6  # length of the remainder that a row needs to extend a basis
TURN_RADIANS = 0.7548776662466927  # not a fraction of a circle, so that repeated turns never coincide
MIN_RELATIVE_SLOPE = 1e-6  # |g| / |f|: with less, a breakpoint is too close to infinity
MAX_TURNS = 20


@kernel
def remove_direction(N, z, out):
    """Write to `out` an orthonormal basis of the row space of N without the direction of z.

    N is rows x P with orthonormal rows, z has length P, and `out` has room for rows - 1 vectors of length P.
    A reflection maps the projection of z onto the first axis, which is then dropped. Returns the length of
    that projection; nothing is written if it is below MIN_INDEPENDENT_LENGTH.
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
    """Set f = G h, for a G with so few columns that a call to BLAS would cost more than the product."""
    for i in range(G.shape[0]):
        total = 0.0
        for j in range(G.shape[1]):
            total += G[i, j] * h[j]
        f[i] = total


@kernel
def rotate_plane(f, g, angle):
    """Rotate the axes w and v of a plane: f = Yw becomes cos f + sin g, and g = Yv changes accordingly."""
    cos, sin = np.cos(angle), np.sin(angle)
    for i in range(f.shape[0]):
        f[i], g[i] = cos * f[i] + sin * g[i], cos * g[i] - sin * f[i]


@kernel
def sweep_line(f, g, c, need, largest, best, scratch, found):
    """Collect the hyperplanes at breakpoints of w + alpha v that may lose less than `best`.

    f = Yw, g = Yv and the weights c have length n. A hyperplane through just `need` rows is certain to lose
    less, so it lowers `best` at once; one through more than `largest` rows is skipped. Rows of `found`
    (2n x 3) are set to (alpha, sign, loss of the rows off the hyperplane). The axes w and v are rotated, and
    f and g with them, until no breakpoint is close to infinity, where rounding would separate rows that meet.

    Returns (number of rows in `found`, best, number skipped, whether it is in doubt which rows meet, angle of
    rotation).
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
    sort_line_breakpoints(t, rows, count, sum_f / sum_g + 1e-300, bucket, starts, sorted_t, sorted_rows)
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

    `prefix` (length P-2) holds ascending positions in `order`. It is advanced to the combination to continue
    with; its first entry is -1 at the end. Hyperplanes that may lose less than `best` are put into the rows
    of `planes`, and the weights of the misclassified rows off them into `losses`.

    Returns (number of planes, best, number skipped, lines swept, whether anything was in doubt).
    """
    n, P = Y.shape
    k = P - 2
    bases = np.zeros((k + 1, P, P))
    for j in range(P):
        bases[0, j, j] = 1.0
    scratch = allocate_line_scratch(n)
    f, g = np.empty(n), np.empty(n)
    G = Y.copy() if k == 1 else np.empty((n, 3))  # Y in the three axes that P-3 rows leave free
    h = np.empty((2, 3))
    found = np.empty((2 * n, 3))
    put, passed, swept, level = 0, 0, 0, 0
    doubt = False
    while swept < lines and prefix[0] >= 0 and put + 2 * n <= losses.shape[0]:
        # Extend the bases from the first position that changed.
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
        # Go to the next combination; a dependent row rules out all those that share the rows up to it.
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
