"""What was measured of data sets, as figures need it: what is incomplete or damaged is left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoloss_cli.reporting.measured import noise_of, scores_of
from zoloss_cli.reporting.results import RunResult

Place = tuple[str, str]  # data set, column
OF_DECOMPOSITION = ("principal_points", "principal_subsets", "exact")
BY_SIZE = ("growth_by_size", "flipped_growth_by_size", "flipped_times_by_size")


def decompositions(run: RunResult) -> dict[Place, dict[int, dict]]:
    """Facts with principal points, subsets and pairs, by draw."""
    return _where(run, _decomposed)


def paths_by_size(run: RunResult) -> dict[Place, dict[int, dict]]:
    """Facts with the growth of complexity by subset size, of right and wrong labels, by draw."""
    return _where(run, _by_size)


def signs(run: RunResult) -> dict[Place, dict[int, dict]]:
    """Facts with a score for each example, of which some have wrong labels, by draw."""
    return _where(run, _scored)


def contributions(run: RunResult) -> dict[Place, dict[int, dict]]:
    """Those of them that are of complexity contributions."""
    return _where(run, lambda facts: "growth" in facts and _scored(facts))


def first_draw(draws: dict[int, dict]) -> tuple[int, dict]:
    """(number, facts) of the first draw that there is."""
    return min(draws.items(), key=lambda item: item[0])


def _where(run: RunResult, complete: Callable[[dict], bool]) -> dict[Place, dict[int, dict]]:
    found = {}
    for place in ((d, x) for d in run.datasets for x in run.learners):
        draws = {k: facts for k, facts in run.facts.get(place, {}).items() if _is(complete, facts)}
        if draws:
            found[place] = draws
    return found


def _is(complete: Callable[[dict], bool], facts: dict) -> bool:
    try:
        return bool(complete(facts))
    except (KeyError, TypeError, ValueError, IndexError):  # not what a measure gives
        return False


def _decomposed(facts: dict) -> bool:
    pairs, clusters = np.asarray(facts["pairs"], dtype=float), np.asarray(facts["clusters"], dtype=float)
    rows = all(subsets and all(int(s) > 0 for s in subsets) for _, _, _, subsets in facts["points"])
    shapes = pairs.ndim == 2 and pairs.shape[1] == 2 and clusters.ndim == 1
    return shapes and rows and len(facts["points"]) > 0 and all(key in facts for key in OF_DECOMPOSITION)


def _by_size(facts: dict) -> bool:
    sums = np.asarray([facts[key] for key in BY_SIZE], dtype=float)
    return sums.ndim == 2 and sums.shape[1] > 0 and int(facts["permutations"]) > 0


def _scored(facts: dict) -> bool:
    scores = scores_of(facts)
    if not scores:
        return False
    noisy = noise_of(facts)
    sound = all(s.shape == noisy.shape and not np.isnan(s.astype(float)).any() for s in scores.values())
    return sound and noisy.any() and not noisy.all()
