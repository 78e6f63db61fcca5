"""Campaigns of inputs: a function of random numbers writes files and returns the command that is given them."""

from __future__ import annotations

import random
from pathlib import Path

from torture.campaign import Campaign
from torture.children import Command, remove_folder, run_commands, warm_up
from torture.judge import find_faults


class InputCampaign(Campaign):
    """Inputs by the thousand: each is a folder and a command that runs in it."""

    unit = "inputs"
    batch = 100
    n_short = 20
    n_warm_up = 30  # inputs that are run in this process before it forks, for what they leave in memory

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Write an input into a folder of its own and return the command that reads it."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Import what commands import, so that their children need not."""
        import_everything()

    def warm_up(self) -> None:
        """Run some inputs in this process: their children find data, types and kernels that were used once."""
        commands = []
        for seed in range(-self.n_warm_up, 0):
            folder = self.folder / f"{self.name}-warm-{-seed}"
            folder.mkdir()
            commands.append(self.build(self.rng(seed), folder))
        warm_up(commands)

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        """Run the commands of several inputs; one with a fault is run again alone."""
        found = dict(zip(seeds, self._judge(seeds), strict=True))
        return {seed: faults and self._judge([seed])[0] for seed, faults in found.items()}

    def attack(self, seed: int) -> list[str]:
        """Run the command of one input."""
        return self._judge([seed])[0]

    def _judge(self, seeds: list[int]) -> list[list[str]]:
        commands = []
        for seed in seeds:
            folder = self.folder / f"{self.name}-{seed}"
            remove_folder(folder)
            folder.mkdir()
            commands.append(self.build(self.rng(seed), folder))
        outcomes = run_commands(commands)
        faults = []
        for command, outcome in zip(commands, outcomes, strict=True):
            self.counts[f"exit {outcome.code}"] += 1
            peaks = {"peak MB": outcome.peak_bytes >> 20, "most CPU ms": round(1000 * outcome.cpu_seconds)}
            for name, value in peaks.items():
                self.counts[name] = max(self.counts[name], value)
            words = " ".join(command.arguments)
            faults.append([f"{fault} [zoloss {words[:300]}]" for fault in find_faults(outcome)])
            if not faults[-1]:
                remove_folder(command.folder)
        return faults


def import_everything() -> None:
    """Import the commands and what they import when they are called."""
    import importlib
    import pkgutil

    import matplotlib as mpl

    mpl.use("Agg")
    import zoloss_cli

    keep_parsers()
    for module in pkgutil.walk_packages(zoloss_cli.__path__, "zoloss_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def keep_parsers() -> None:
    """Build the parser of each command once: that takes longer than most inputs do."""
    import functools

    import typer

    from zoloss_cli.cli import app as _lazy

    if not hasattr(_lazy.load_command, "cache_info"):
        typer.main.get_command = functools.cache(typer.main.get_command)
        _lazy.load_command = functools.cache(_lazy.load_command)
