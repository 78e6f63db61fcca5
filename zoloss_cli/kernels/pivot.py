"""The pivot heat bath: a random walk over vertices of the arrangement of hyperplanes, for the 0-1 loss.

Our own algorithm. Rows of `Y` are y_i = label_i (1, x_i), `c` their weights; w is right on row i where
<y_i, w> > 0. A vertex is a w on which P-1 independent rows (the basis B) have margin 0. State: the unit
vector w and the rows of V with Y_B V' = I: to move along V_k changes the margin of no basis row but k.

A step lets one basis row go. All of the line w + alpha v is then free, the loss on each of its intervals
follows from the sorted breakpoints, and one interval, of w or of -w, is drawn with probability
proportional to exp(-loss / T): a heat bath, which knows no rejections. The row at one of its ends enters
the basis. Basis rows count as right, since a small step along the sum of the V_j makes them so.

What bounds a step: the breakpoints' sort, which a scatter into buckets makes linear, and for many
features the product Yv.
"""

from __future__ import annotations

import numpy as np

from zoloss_cli.kernels import exact_kernel, kernel
from zoloss_cli.kernels.random import GOLDEN, index_of, mix

TINY = 1e-11  # of the row's length: a margin or slope below this is 0
SHALLOW = 1e-7  # of the row's length: a slope below this is no pivot
NARROW = 1e-8  # of the ends' size: a gap below this is none
REFRESH = 64
COLDEST = 40.0  # an interval that is worse by so many T is never drawn
EXACT = 2.0**-53
BETTER = 1e-9  # losses are sums of weights: what differs by less is equal


@exact_kernel
def uniform(counter):
    """A number in [0, 1) that belongs to this counter."""
    return float(mix(counter) >> np.uint64(11)) * EXACT


@kernel
def strict_loss(Y, c, lengths, w):
    """The weight of the rows that are not right beyond doubt: a margin that rounding could give is none."""
    margins = np.dot(Y, w)
    least = TINY * np.sqrt(np.dot(w, w))
    total = 0.0
    for i in range(c.shape[0]):
        total += c[i] if margins[i] <= least * lengths[i] else 0.0
    return total


@kernel
def refresh(Y, B, w, V):
    """w and V anew from the basis; false if its rows are no longer independent."""
    size = w.shape[0]
    A = np.empty((size, size), np.float64)
    for k in range(size - 1):
        A[k] = Y[B[k]]
    A[size - 1] = w
    inverse = np.linalg.inv(A)
    if not np.all(np.isfinite(inverse)):
        return False
    V[:, :] = inverse[:, : size - 1].T
    w[:] = inverse[:, size - 1]
    w /= np.sqrt(np.dot(w, w))
    return True


@kernel
def slide(Y, lengths, w, B, V, counter):
    """From any w to a vertex: P-1 times along a random direction that keeps the rows met so far at 0.

    Returns the advanced counter and whether a vertex was reached.
    """
    n, size = Y.shape
    Q = np.zeros((size, size), np.float64)  # orthonormal: the rows met so far
    w /= np.sqrt(np.dot(w, w))
    for k in range(size - 1):
        d = np.empty(size, np.float64)
        for j in range(size):
            counter += GOLDEN
            d[j] = uniform(counter) - 0.5
        for _ in range(2):  # twice: once is not orthogonal enough
            for q in range(k):
                d -= np.dot(Q[q], d) * Q[q]
            d -= np.dot(w, d) * w
        d /= np.sqrt(np.dot(d, d))
        f, g = np.dot(Y, w), np.dot(Y, d)
        nearest, chosen = np.inf, -1
        for i in range(n):
            if abs(g[i]) > 1e-9 * lengths[i]:
                alpha = -f[i] / g[i]
                if abs(alpha) < abs(nearest):
                    nearest, chosen = alpha, i
        if chosen < 0:
            return counter, False
        w += nearest * d
        B[k] = chosen
        q_k = Y[chosen].copy()
        for _ in range(2):
            for q in range(k):
                q_k -= np.dot(Q[q], q_k) * Q[q]
        Q[k] = q_k / np.sqrt(np.dot(q_k, q_k))
        for q in range(k + 1):
            w -= np.dot(Q[q], w) * Q[q]
        w /= np.sqrt(np.dot(w, w))
    return counter, refresh(Y, B, w, V)


@exact_kernel
def sort_breakpoints(t, rows, count, s, bucket, starts, sorted_t, sorted_rows):
    """t and its rows in ascending order: scattered by t / (|t| + s), then straightened by insertion.

    What lies closer together than an interval can be is left in any order: on discrete data many
    breakpoints are one but for rounding, and to order those would cost the square of their number.
    """
    buckets = starts.shape[0] - 1
    starts[:] = 0
    half = 0.5 * buckets
    top = np.int32(buckets - 1)
    for j in range(count):  # apart from the counting: so it runs on vectors
        b = np.int32((t[j] / (abs(t[j]) + s)) * half + half)
        bucket[j] = min(max(b, np.int32(0)), top)
    for j in range(count):
        starts[bucket[j] + 1] += 1
    for b in range(buckets):
        starts[b + 1] += starts[b]
    for j in range(count):
        at = starts[bucket[j]]
        starts[bucket[j]] += 1
        sorted_t[at] = t[j]
        sorted_rows[at] = rows[j]
    for j in range(1, count):
        t_j, row_j = sorted_t[j], sorted_rows[j]
        i = j - 1
        equal = t_j + 0.01 * NARROW * abs(t_j)
        while i >= 0 and sorted_t[i] > equal:
            sorted_t[i + 1], sorted_rows[i + 1] = sorted_t[i], sorted_rows[i]
            i -= 1
        sorted_t[i + 1], sorted_rows[i + 1] = t_j, row_j


@kernel
def off_the_vertex(Y, lengths, point, u, in_basis, leaving):
    """A point of a line moved along u half as far as all rows but the basis can bear: now that is right too."""
    margins, rates = np.dot(Y, point), np.dot(Y, u)
    longest = np.sqrt(np.dot(point, point) / (np.dot(u, u) + 1e-300))
    for i in range(margins.shape[0]):
        if in_basis[i] and i != leaving:
            continue
        if abs(margins[i]) > TINY * lengths[i] and margins[i] * rates[i] < 0.0:
            longest = min(longest, -margins[i] / rates[i])
    return point + 0.5 * longest * u


@kernel
def line_scratch(n):
    """Room for `losses_on_line`: t, rows, bucket, starts, sorted t, sorted rows, losses."""
    return (
        np.empty(n, np.float64),
        np.empty(n, np.int64),
        np.empty(n, np.int32),
        np.empty(2 * n + 1, np.int32),
        np.empty(n, np.float64),
        np.empty(n, np.int64),
        np.empty(n + 1, np.float64),
    )


@kernel
def losses_on_line(Y, c, lengths, f, g, u, in_basis, leaving, scratch):
    """The loss on every interval of the line w + alpha v, with f = Yw and g = Yv.

    Basis rows but the one that is leaving count as right; a row that the whole line leaves at 0 counts by
    its side of u, the sum of their V_j. Interval j ends at sorted breakpoint j; one without room has an
    infinite loss. -w passes the same points: its loss is `turned` minus that of w.

    Returns (breakpoints, turned, least loss, its interval, and -1 if it is -w's, else 1).
    """
    t, rows, bucket, starts, sorted_t, sorted_rows, losses = scratch
    loss, turned, count, sum_f, sum_g = 0.0, 0.0, 0, 0.0, 0.0
    still = False
    rates = f
    for i in range(f.shape[0]):  # the loss far to the left, at -v; and the breakpoints
        if in_basis[i] and i != leaving:
            continue
        if abs(g[i]) > TINY * lengths[i]:
            t[count] = -f[i] / g[i] if i != leaving else 0.0
            rows[count] = i
            count += 1
            sum_f += abs(f[i])
            sum_g += abs(g[i])
            loss += c[i] if g[i] > 0.0 else 0.0
            turned += c[i]
        elif abs(f[i]) > TINY * lengths[i]:
            loss += c[i] if f[i] < 0.0 else 0.0
            turned += c[i]
        else:
            if not still:
                rates, still = np.dot(Y, u), True
            if rates[i] <= 0.0:
                loss += c[i]
                turned += 2.0 * c[i]
    sort_breakpoints(t, rows, count, sum_f / sum_g + 1e-300, bucket, starts, sorted_t, sorted_rows)
    losses[0] = loss
    least, least_at, most, most_at = loss, 0, loss, 0
    for j in range(count):
        loss += -c[sorted_rows[j]] if g[sorted_rows[j]] > 0.0 else c[sorted_rows[j]]
        room = np.inf
        if j + 1 < count:
            room = sorted_t[j + 1] - sorted_t[j]
            room -= NARROW * max(abs(sorted_t[j]), abs(sorted_t[j + 1]))
        losses[j + 1] = loss if room > 0.0 else np.inf
        if room > 0.0:
            if loss < least:
                least, least_at = loss, j + 1
            if loss > most:
                most, most_at = loss, j + 1
    if turned - most < least:
        return count, turned, turned - most, most_at, -1.0
    return count, turned, least, least_at, 1.0


@exact_kernel
def inside(sorted_t, count, interval):
    """A point of an interval: its middle, or beyond the outermost breakpoint."""
    if interval == 0:
        return sorted_t[0] - 1.0 - abs(sorted_t[0])
    if interval == count:
        return sorted_t[count - 1] + 1.0 + abs(sorted_t[count - 1])
    return 0.5 * (sorted_t[interval - 1] + sorted_t[interval])


@kernel
def draw_interval(losses, count, turned, least, T, share):
    """(interval, 1 or -1 for -w) with probability as exp(-loss / T); `share` is uniform in [0, 1)."""
    reach = least + COLDEST * T
    total = 0.0
    for j in range(count + 1):
        loss = losses[j]
        total += np.exp((least - loss) / T) if loss < reach else 0.0
        if turned - reach < loss < np.inf:
            total += np.exp((least - turned + loss) / T)
    left = share * total
    chosen, sense = 0, 1.0
    for j in range(count + 1):
        loss = losses[j]
        if loss < reach:
            chosen, sense = j, 1.0
            left -= np.exp((least - loss) / T)
            if left <= 0.0:
                break
        if turned - reach < loss < np.inf:
            chosen, sense = j, -1.0
            left -= np.exp((least - turned + loss) / T)
            if left <= 0.0:
                break
    return chosen, sense


@kernel
def exchange(Y, w, V, k, v, alpha, slope, entering):
    """Basis row k gives way to the row at alpha, whose margin changes by `slope` along v."""
    w += alpha * v
    w /= np.sqrt(np.dot(w, w))
    V[k] = v / slope
    shares = np.dot(V, Y[entering])
    for j in range(V.shape[0]):
        if j != k:
            V[j] -= shares[j] * V[k]


@kernel
def walk(Y, c, lengths, w, B, V, steps, hot, cold, counter, best_w, best):
    """`steps` steps at temperatures from hot to cold. Changes w, B, V and best_w.

    Returns (best loss, advanced counter, whether the state is still sound).
    """
    n, size = Y.shape
    in_basis = np.zeros(n, np.bool_)
    for k in range(size - 1):
        in_basis[B[k]] = True
    scratch = line_scratch(n)
    sorted_t, sorted_rows, losses = scratch[4], scratch[5], scratch[6]
    f = np.dot(Y, w)
    for step in range(steps):
        if step % REFRESH == REFRESH - 1:
            if not refresh(Y, B, w, V):
                return best, counter, False
            f = np.dot(Y, w)
        T = hot * (cold / hot) ** (step / max(1, steps - 1))
        counter += GOLDEN
        k = np.int64(index_of(mix(counter), np.uint64(size - 1)))
        leaving = B[k]
        v = V[k] - np.dot(w, V[k]) * w
        v /= np.sqrt(np.dot(v, v))
        g = np.dot(Y, v)
        u = np.zeros(size, np.float64)
        for j in range(size - 1):
            if j != k:
                u += V[j]

        count, turned, least, least_at, sense = losses_on_line(
            Y, c, lengths, f, g, u, in_basis, leaving, scratch
        )
        if least < best - BETTER:
            point = sense * (w + inside(sorted_t, count, least_at) * v)
            candidate = off_the_vertex(Y, lengths, point, u, in_basis, leaving)
            found = strict_loss(Y, c, lengths, candidate)
            if found < best - BETTER:
                best = found
                best_w[:] = candidate
                if best <= 0.0:
                    return best, counter, True

        counter += GOLDEN
        chosen, sense = draw_interval(losses, count, turned, least, T, uniform(counter))
        counter += GOLDEN
        end = chosen if mix(counter) >> np.uint64(63) else chosen - 1
        end = min(max(end, 0), count - 1)
        entering, alpha = sorted_rows[end], sorted_t[end]
        if abs(g[entering]) < SHALLOW * lengths[entering]:
            continue  # it nearly depends on the rest of the basis
        in_basis[leaving] = False
        in_basis[entering] = True
        B[k] = entering
        length = np.sqrt(1.0 + alpha * alpha)  # of w + alpha v, two orthogonal unit vectors
        exchange(Y, w, V, k, v, alpha, g[entering], entering)
        w *= sense
        for i in range(n):
            f[i] = sense * (f[i] + alpha * g[i]) / length
    return best, counter, True
