"""Numba kernels: pure functions of arrays and scalars, in the papers' symbols.

Conventions, for N samples of m features: `X` is N x (m + 1), with a sample per row and the constant x_0 = 1
first; `y` holds N labels, -1.0 or +1.0; `w` is a weight vector of length m + 1 with the bias first; `phi`
holds N sample weights. `Z` and `Y` have rows y_i x_i, so that <w, z_i> is the margin of sample i. Workspace
arrays that are passed to a function belong to the caller; their contents are undefined afterwards.

Nothing here knows about classes, files or configs, and every random number comes from a seed or an array that
the caller provides.
"""
