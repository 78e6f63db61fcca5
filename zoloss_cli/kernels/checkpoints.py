"""Recording of a learner's weights after given epochs."""

from __future__ import annotations

from zoloss_cli.kernels import inline_kernel
from zoloss_cli.kernels.arrays import copy_vector


@inline_kernel
def save_checkpoint(w, epoch, ended, checkpoints, at, path):
    """Copy w into path[at] if this epoch is checkpoints[at]; return the next index into `checkpoints`.

    `checkpoints` holds ascending epochs, and `path` has a row of the length of w for each. If learning has
    `ended`, w is copied for all later epochs, too, since they would not change it.
    """
    while at < checkpoints.shape[0] and (checkpoints[at] == epoch or ended):
        copy_vector(w, path[at])
        at += 1
    return at
