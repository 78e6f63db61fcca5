"""In which order targets are proved: more time must never prove less."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from zoloss_cli.proofs.certify import ConeBound

# Cones that pima takes, counted up to 127 errors and estimated beyond (docs/proofs.md).
TARGETS = [40, 60, 74, 85, 100, 110, 120, 127, 135, 140, 143, 147]
CONES = [200, 2000, 5008, 12_088, 48_682, 143_418, 515_700, 1_505_556, 7.6e6, 25e6, 56e6, 213e6]
SECONDS_PER_CONE = 15e-6


class SimulatedBound(ConeBound):
    """Chooses targets as the search does, and takes the time of their cones from the table."""

    last_target = TARGETS[-1]

    def __init__(self, seconds):
        self.search = SimpleNamespace(seconds_left=seconds)
        self.proved, self._history, self._overruns = 74, [(74, 5008)], [(111, 50_667)]
        self._seconds_per_cone = SECONDS_PER_CONE

    def run(self):
        while self.proved < self.last_target:
            target = self._choose_target()
            cones = math.exp(np.interp(target, TARGETS, np.log(CONES)))
            self.search.seconds_left -= cones * SECONDS_PER_CONE
            if self.search.seconds_left < 0:
                break
            self.proved = target
            self._history.append((target, cones))
        return self.proved


@pytest.mark.parametrize(("seconds", "least"), [(30, 118), (60, 124), (200, 130), (600, 134), (1800, 139)])
def test_more_time_proves_more(seconds, least):
    assert SimulatedBound(0.9 * seconds).run() >= least


def test_enough_time_proves_the_last_target():
    assert SimulatedBound(7200).run() == TARGETS[-1]
