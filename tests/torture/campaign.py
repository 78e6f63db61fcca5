"""What every campaign is: tries numbered by their seeds, each of which returns the faults that it found."""

import functools
import importlib
import pkgutil
from collections import Counter
from pathlib import Path
from random import Random

from torture.children import Command, Outcome, remove_folder, run_commands, warm_up
from torture.judge import find_faults


class Campaign:
    name: str  # what `--campaign` takes
    unit: str = "tries"  # what is counted as a try
    batch: int = 1  # tries that are made together
    n_short: int = 1  # tries that the test suite has time for

    def __init__(self, folder: Path):
        self.folder = folder  # nothing else may be written
        self.counts: Counter[str] = Counter()  # what happened, for the report

    def prepare(self) -> None:
        """Make what all tries need."""

    def warm_up(self) -> None:
        """Do once what makes many tries quicker."""

    def attack(self, seed: int) -> list[str]:
        """Make one try; return what went wrong, a sentence each."""
        raise NotImplementedError

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        return {seed: self.attack(seed) for seed in seeds}

    def close(self) -> None:
        """End what `prepare` started."""

    def rng(self, seed: int) -> Random:
        return Random(f"{self.name} {seed}")

    def make_folder(self, title: object) -> Path:
        folder = self.folder / f"{self.name}-{title}"
        remove_folder(folder)
        folder.mkdir()
        return folder


class InputCampaign(Campaign):
    """Inputs by the thousand: each is a folder and a command that runs in it."""

    unit = "inputs"
    batch = 100
    n_short = 8
    n_warm_up = 30  # inputs that are run in this process before it forks, for what they leave in memory

    def build(self, rng: Random, folder: Path) -> Command:
        raise NotImplementedError

    def judge(self, command: Command, outcome: Outcome) -> list[str]:
        """Return what else is wrong with how a command ended, beside what every command owes."""
        return []

    def prepare(self) -> None:
        import_everything()

    def warm_up(self) -> None:
        warm_up([self._build(seed) for seed in range(-self.n_warm_up, 0)])

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        found = dict(zip(seeds, self._attack(seeds), strict=True))
        return {seed: faults and self._attack([seed])[0] for seed, faults in found.items()}

    def _build(self, seed: int) -> Command:
        return self.build(self.rng(seed), self.make_folder(seed))

    def _attack(self, seeds: list[int]) -> list[list[str]]:
        commands = [self._build(seed) for seed in seeds]
        found = []
        for command, outcome in zip(commands, run_commands(commands), strict=True):
            self.counts[f"exit {outcome.code}"] += 1
            peaks = {"peak MB": outcome.peak_bytes >> 20, "most CPU ms": round(1000 * outcome.cpu_seconds)}
            for name, value in peaks.items():
                self.counts[name] = max(self.counts[name], value)
            faults = find_faults(outcome, shows_progress=command.shows_progress) + self.judge(command, outcome)
            found.append([f"{fault} [zoloss {' '.join(command.arguments)[:300]}]" for fault in faults])
            if not faults:
                remove_folder(command.folder)
        return found


def import_everything() -> None:
    """Import the commands and what they import when they are called, and build each parser only once."""
    import matplotlib as mpl
    import typer

    mpl.use("Agg")
    import zoloss_cli
    from zoloss_cli.cli import app

    if not hasattr(app.load_command, "cache_info"):  # which takes longer than most inputs do
        typer.main.get_command = functools.cache(typer.main.get_command)
        app.load_command = functools.cache(app.load_command)
    for module in pkgutil.walk_packages(zoloss_cli.__path__, "zoloss_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
