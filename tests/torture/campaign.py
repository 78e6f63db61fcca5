"""What every campaign is: tries numbered by their seeds, each of which returns the faults that it found."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path


class Campaign:
    """A kind of attack.

    Attributes
    ----------
    name : str
        What `--campaign` takes.
    unit : str
        What is counted as a try.
    batch : int
        Tries that are made together.
    n_short : int
        Tries that the test suite has time for.
    folder : Path
        Where its files are; nothing else may be written.
    counts : Counter
        What happened, for the report.
    """

    name: str
    unit: str = "tries"
    batch: int = 1
    n_short: int = 1

    def __init__(self, folder: Path):
        self.folder = folder
        self.counts: Counter[str] = Counter()

    def prepare(self) -> None:
        """Make what all tries need."""

    def warm_up(self) -> None:
        """Do once what makes many tries quicker."""

    def attack(self, seed: int) -> list[str]:
        """Make one try; return what went wrong, a sentence each."""
        raise NotImplementedError

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        """Make several tries; return what went wrong in each."""
        return {seed: self.attack(seed) for seed in seeds}

    def close(self) -> None:
        """End what `prepare` started."""

    def rng(self, seed: int) -> random.Random:
        """Return the random numbers of a try."""
        return random.Random(f"{self.name} {seed}")
