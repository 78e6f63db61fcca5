"""Certificates that are made to take all memory or time: each case by check.py and by `zoloss verify`."""

from __future__ import annotations

import re

import hostile_certificates as hostile

from torture.campaign import Campaign
from torture.children import Command, remove_folder, run_commands
from torture.fuzzing import import_everything
from torture.judge import find_faults


class HostileFiles(Campaign):
    """Hostile certificates; the seed is the number of the case."""

    name = "hostile-certificates"
    unit = "files"
    n_short = 3

    def prepare(self) -> None:
        """Import what commands import, so that their children need not."""
        import_everything()

    def attack(self, seed: int) -> list[str]:
        """Give one case to both programs."""
        title = list(hostile.CASES)[seed % len(hostile.CASES)]
        build, words = hostile.CASES[title]
        folder = self.folder / f"{self.name}-{seed}"
        remove_folder(folder)
        folder.mkdir()
        paths = build(folder)
        ended = hostile.run_checker(*paths)
        self.counts[f"exit {ended.code}"] += 1
        self.counts["most ms"] = max(self.counts["most ms"], round(1000 * ended.seconds))
        faults = hostile.find_faults(ended)
        if not faults and not re.search(words, ended.err):
            faults.append(f"a sentence without '{words}': {ended.err[:300]}")
        if title in hostile.QUICK:
            (outcome,) = run_commands([Command(["verify", *map(str, paths)], folder)])
            faults += [f"{fault} [zoloss verify]" for fault in find_faults(outcome)]
        if not faults:
            remove_folder(folder)
        return [f"{fault} [{title}]" for fault in faults]
