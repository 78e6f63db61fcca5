"""Bad numbers for every learner: each is fitted to a small table, with a small budget, by `zoloss fit`."""

from __future__ import annotations

import random
from pathlib import Path

from torture.children import Command
from torture.fuzzing import InputCampaign

BUDGETS = {"epochs": 10, "steps": 100, "lines": 100, "nodes": 100, "rounds": 3}
OWN_BUDGETS = {"mip": {"nodes": 1}, "certify": {"programs": 0, "cones": 2000}}
SCALES = [1e-320, 1e-307, 1e-150, 1e-30, 1e-9, 1.0, 1.0, 1.0, 1e3, 1e9, 1e15, 1e30, 1e75, 1e150, 1e300, 1e307]


class LearnerInputs(InputCampaign):
    """Numbers of any size for any learner."""

    name = "learners"
    n_short = 8
    batch = 100

    def prepare(self) -> None:
        """List the learners with budgets that keep them quick."""
        super().prepare()
        from zoloss_cli.registry import LEARNERS, build_parameter_model, find_nested_learners

        self.learners: list[tuple[str, list[str]]] = []
        for name in LEARNERS.builtin:
            model = build_parameter_model(name)
            settings = {k: v for k, v in BUDGETS.items() if k in model.model_fields} | OWN_BUDGETS.get(name, {})
            if find_nested_learners(model):
                settings["base"] = "stump"  # type: ignore[assignment]
            words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            self.learners.append((name, words))

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Write a table of numbers that are far apart, equal, tiny, huge or next to each other."""
        name, words = rng.choice(self.learners)
        rows = make_numbers(rng)
        text = "\n".join(",".join(map(repr, row[:-1])) + f",{row[-1]}" for row in rows)
        header = ",".join([*(f"x{i}" for i in range(len(rows[0]) - 1)), "label"])
        (folder / "t.csv").write_text(f"{header}\n{text}\n", encoding="utf-8")
        scale = rng.choice(["none", "none", "standard", "minmax"])
        return Command(
            ["fit", "t.csv", "--learner", name, *words, "--scale", scale, "--seed", str(rng.randrange(9))],
            folder,
        )


def make_numbers(rng: random.Random) -> list[list]:
    """Return samples of one to four features and a class."""
    n, m = rng.choice([2, 3, 5, 12, 30, 60]), rng.randint(1, 4)
    columns = []
    for _ in range(m):
        scale, offset = rng.choice(SCALES), rng.choice([0.0, 0.0, 1.0, *SCALES])
        kind = rng.choice(["normal", "normal", "equal", "few", "ulp", "one out", "mixed"])
        columns.append([_draw(rng, kind, scale, offset, i) for i in range(n)])
    classes = rng.choice([2, 2, 2, 2, 3])
    labels = [rng.randrange(classes) for _ in range(n)]
    rows = [list(row) for row in zip(*columns, labels, strict=True)]
    return (
        rows
        + rows[: rng.choice([0, 0, n])]
        + [[*row[:-1], 1 - row[-1] % 2] for row in rows[: rng.choice([0, 0, 3])]]
    )


def _draw(rng: random.Random, kind: str, scale: float, offset: float, i: int) -> float:
    if kind == "equal":
        return offset
    if kind == "few":
        return offset + scale * rng.randrange(3)
    if kind == "ulp":
        return offset * (1 + rng.randrange(3) * 2.0**-52)
    if kind == "one out":
        return scale if i == 0 else offset
    if kind == "mixed":
        return rng.choice(SCALES) * rng.choice([-1, 1])
    return offset + scale * rng.gauss(0, 1)
