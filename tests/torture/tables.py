"""Hostile and changed CSV files, given to every command that reads one."""

from __future__ import annotations

import random
from pathlib import Path

from own_rows import COLOURS, GOOD, SEVERAL, as_csv, noisy_rows

from torture.children import Command
from torture.fuzzing import InputCampaign
from torture.mutations import NUMBERS, TEXTS, edit

LABELS = ["", "--label", "label", "--label", "0", "--label", "-1", "--label", "nothing"]
SEEDS = [GOOD, COLOURS, SEVERAL, as_csv(noisy_rows(20)), GOOD.replace(",", ";"), GOOD.replace(",", "\t")]


class TableInputs(InputCampaign):
    """CSV of any kind."""

    name = "tables"

    def prepare(self) -> None:
        """Fit a model that changed tables are given to."""
        super().prepare()
        self.model = make_model(self.folder / "model", "fld", COLOURS)

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Change a table, or make one up."""
        text = rng.choice(SEEDS).encode() if rng.random() < 0.8 else make_up(rng)
        if rng.random() < 0.9:
            text = edit(text, rng)
        (folder / "t.csv").write_bytes(text)
        model = folder / "m.json"
        model.write_bytes(self.model)
        commands = [["fit", "t.csv", "--learner", "fld", *choose_options(rng)]] * 5
        commands += [
            ["evaluate", "t.csv", "--learners", "fld", "--dry-run", "--out", "out", *choose_options(rng)]
        ] * 2
        commands += [["predict", "m.json", "t.csv", *rng.choice([[], ["--out", "p.csv"]])]] * 3
        commands += [
            ["complexity", "t.csv", "--clusters", "3", "--permutations", "3"],
            ["prune", "t.csv", "--out", "p.csv"],
        ]
        return Command(rng.choice(commands), folder)


def choose_options(rng: random.Random) -> list[str]:
    """Return some options about how a table is read."""
    options: list[str] = []
    if rng.random() < 0.3:
        options += ["--missing", rng.choice(["error", "drop", "zero"])]
    if rng.random() < 0.3:
        options += ["--scale", rng.choice(["standard", "minmax", "none"])]
    if rng.random() < 0.2:
        options += ["--label", rng.choice(["label", "a", "0", "-1", "3", "99", "nothing", "colour"])]
    if rng.random() < 0.2:
        options += ["--positive", rng.choice(["x", "y", "1", "nothing", ""])]
    return options


def make_up(rng: random.Random) -> bytes:
    """Return a table of words and numbers that mean something somewhere."""
    width, separator = rng.randint(1, 5), rng.choice([",", ",", ";", "\t", "|", " "])
    words = [w for w in NUMBERS + TEXTS if separator not in w]
    header = [rng.choice([*words, *"abcdef"]) for _ in range(width)]
    kinds = [
        rng.choice([words, NUMBERS, ["1", "2", "3.5"], ["x", "y"], ["1e308", "-1e308"]]) for _ in range(width)
    ]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(rng.choice([0, 1, 2, 5, 20]))]
    return "\n".join(separator.join(row) for row in [header, *rows]).encode("utf-8", "surrogatepass")


def make_model(folder: Path, learner: str, text: str, *more: str) -> bytes:
    """Fit a learner to a table and return the model file."""
    from torture.children import run_commands

    folder.mkdir(exist_ok=True)
    (folder / "t.csv").write_text(text, encoding="utf-8")
    arguments = ["fit", "t.csv", "--learner", learner, *more, "--model", "m.json", "--force"]
    (outcome,) = run_commands([Command(arguments, folder)])
    if outcome.code:
        raise RuntimeError(f"no model of {learner}: {outcome.err}")
    return (folder / "m.json").read_bytes()
