"""The plane shapes behind generated samples: generators label samples by them, and figures draw them."""

from __future__ import annotations

N_DISKS = 3  # concentric disks of equal widths (Li's thesis 2006, Fig. 1.1)
DISK_RADII = tuple((i + 1) / N_DISKS for i in range(N_DISKS))

# The Yin-Yang of Li et al. (2005): a plate with two lobes, whose centres are a lobe's radius to the left and
# right of its own, and samples in a slightly larger disk.
PLATE_RADIUS = 1.0
LOBE_RADIUS = PLATE_RADIUS / 2
YINYANG_RADIUS = 1.1
