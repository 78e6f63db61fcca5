"""Several classes as two-class problems, for which complexity is defined: each class against the rest."""

from __future__ import annotations

import numpy as np

from zoloss_cli.complexity.contribution import Progress


def list_one_vs_rest(y: np.ndarray) -> list[np.ndarray]:
    """Return the labels of each problem, 1 for a class and 0 for the rest.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels of at least two classes.

    Returns
    -------
    list of ndarray
        One problem per class, in the order of the labels. Two classes are one problem, with the second as 1:
        the other one would be its mirror image.
    """
    classes = np.unique(y)
    return [(y == label).astype(np.int64) for label in (classes if len(classes) > 2 else classes[1:])]


def share_progress(progress: Progress, done: int, count: int) -> Progress:
    """Return a callback for one of `count` problems of the same size, of which `done` are done."""
    return lambda step, total: progress(done * total + step, count * total)
