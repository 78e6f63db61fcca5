"""Every hyperplane through P-1 rows, one line of them at a time.

Nguyen & Sanner (2013), Figure 5, evaluates one combination of D = P-1 points after the other, at the cost
of an inverse and a product with all rows each. But P-2 rows leave a plane of weights free, in which every
other row is a line through 0: one sort by angle gives the losses of all combinations that share the P-2
rows. In the order of combinations, that is all that differ in the last place; here it is the same step.

Rows have length 1 and weights c; w is right on row i where <Y_i, w> > 0. Rows that a w passes through can
be made right by tilting it, if there are P-1 of them. Where more meet, which of them is a smaller problem
of its own: the caller's.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import kernel
from zoloss_cli.kernels.line import BETTER, line_scratch, sort_breakpoints

STILL = 1e-7  # a row of which this is left belongs to the span of the rows chosen
EXACTLY = 1e-12  # what rounding can leave of a row that does
MEET = 1e-8  # angles that differ by less may be one
INDEPENDENT = 1e-6
TURN = 0.7548776662466927  # radians: no fraction of a circle
NEAR = 1e-6  # a breakpoint at more than 1 / NEAR is too near infinity


@kernel
def without(N, z, out):
    """An orthonormal basis of the rows of N less the direction of z. Returns how much of z is in N.

    One reflection turns z's part to the first axis, which is then left out.
    """
    rows, P = N.shape
    a = np.dot(N, z)
    length = np.sqrt(np.dot(a, a))
    if length < INDEPENDENT:
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
def combine(G, h, f):
    """f = G h for a handful of columns."""
    for i in range(G.shape[0]):
        total = 0.0
        for j in range(G.shape[1]):
            total += G[i, j] * h[j]
        f[i] = total


@kernel
def turn(f, g, angle):
    """The same plane in other axes: w becomes cos w + sin v, and v follows."""
    cos, sin = np.cos(angle), np.sin(angle)
    for i in range(f.shape[0]):
        f[i], g[i] = cos * f[i] + sin * g[i], cos * g[i] - sin * f[i]


@kernel
def sweep(f, g, c, need, largest, best, scratch, found):
    """The hyperplanes at the breakpoints of w + alpha v, f = Yw, g = Yv: which may lose less than `best`?

    A breakpoint where `need` rows meet is sure to: it lowers `best` at once. Where more than `largest`
    meet, it is passed over. Rows of `found` become (alpha, sign, loss of the rows off it). w and v are
    turned, and f and g with them, until no breakpoint is near infinity: there, rows that meet would be
    torn apart.
    Returns (rows of found, best, number passed over, whether a row's belonging is in doubt, the turn).
    """
    t, rows, bucket, starts, sorted_t, sorted_rows = scratch[:6]
    angle = 0.0
    for _ in range(20):
        turn(f, g, TURN)
        angle += TURN
        count, flat, total, loss, sum_f, sum_g = 0, 0, 0.0, 0.0, 0.0, 0.0
        doubt, far = False, False
        for i in range(f.shape[0]):
            rest = f[i] * f[i] + g[i] * g[i]
            if rest < STILL * STILL:
                flat += 1
                doubt |= rest > EXACTLY * EXACTLY
                continue
            if abs(g[i]) < NEAR * abs(f[i]):
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
            if j == count or sorted_t[j] - sorted_t[j - 1] > MEET * (1.0 + sorted_t[j] * sorted_t[j]):
                break
        off = loss - before
        loss = off + both - before
        meeting = flat + j - first
        for sign in (1.0, -1.0):
            lost = off if sign > 0.0 else total - both - off
            if lost < best - BETTER:
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
    """Sweeps for the next `lines` combinations of P-2 of the rows order[:n_order], from `prefix` on.

    `prefix` holds ascending places in `order`; it is changed to where to go on, its first place is -1 at
    the end. Hyperplanes that may lose less than `best` are put into `planes` with the losses off them.
    Returns (how many, best, number passed over, lines swept, whether there was doubt).
    """
    n, P = Y.shape
    k = P - 2
    bases = np.zeros((k + 1, P, P))
    for j in range(P):
        bases[0, j, j] = 1.0
    scratch = line_scratch(n)
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
            left = without(N, Y[order[prefix[level]]], bases[level + 1])
            if left < INDEPENDENT:
                sound = False
                doubt |= left > EXACTLY
                break
            level += 1
            if level == k - 1:
                G = np.dot(Y, np.ascontiguousarray(bases[level, :3]).T)
        if sound:
            swept += 1
            three = np.ascontiguousarray(bases[k - 1, :3])
            for r in range(2):
                h[r] = np.dot(three, bases[k, r])
            combine(G, h[0], f)
            combine(G, h[1], g)
            hits, best, over, unsure, angle = sweep(f, g, c, P - 1, largest, best, scratch, found)
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
