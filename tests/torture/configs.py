"""Hostile and changed configs, given to `validate`, `run --dry-run` and `datasets of`."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import yaml
from places import TOP

from torture.children import Command
from torture.fuzzing import InputCampaign
from torture.mutations import VALUES, change_value, edit

MAX_SEED_BYTES = 3000
SMALL = """name: small
title: Small
datasets: {heart: , sonar: {positive: R}, yinyang: {size: 60, flip: 0.1}, mine: {csv: mine.csv, label: label}}
split: {train: 0.8, repeats: 3, seed: 5}
preprocess: {scale: standard}
metric: test_error
learners:
  fld:
  pocket: {epochs: 5, seeding: fld}
  boosted: {learner: adaboost, rounds: 3, base: {learner: rcd-bias, epochs: 5}}
  tuned: {learner: soft-svm}
"""


def nest_aliases(levels: int) -> str:
    """Return YAML in which each list holds nine times the list before it."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


BOMBS = [
    nest_aliases(6),
    "a: " + "[" * 400 + "]" * 400 + "\n",
    "a: &a {b: 1}\nc: &c {<<: [*a, *a, *a, *a]}\nd: {<<: [*c, *c, *c]}\n",
    "".join(f"k{i}: {i}\n" for i in range(3000)),
    "? [a, b]\n: c\n",
    "--- a\n--- b\n",
    "%YAML 9.9\n---\na: b\n",
    "a: !!binary zzz\nb: !!set {a, b}\nc: !!timestamp x\n",
    "&x a: *x\n",
]
TABLE = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11},{'xy'[i % 2]}\n" for i in range(12))


class ConfigInputs(InputCampaign):
    """YAML of any kind."""

    name = "configs"

    def prepare(self) -> None:
        """Take the configs that come with zoloss, and the names that mean something in them."""
        super().prepare()
        from zoloss_cli.registry import GENERATORS, LEARNERS, MEASURES, METRICS

        texts = [path.read_text(encoding="utf-8") for path in sorted((TOP / "configs").rglob("*.yaml"))]
        self.texts = [SMALL, SMALL, SMALL, *(text for text in texts if len(text) < MAX_SEED_BYTES)]
        self.contents = [yaml.safe_load(text) for text in self.texts]
        keys = sorted(
            {key for content in self.contents for key in content} | {"tune", "prune", "noise", "keep"}
        )
        self.values = [*VALUES, *LEARNERS, *MEASURES, *METRICS, *GENERATORS, *keys, "heart", "sonar", "mine"]

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Change the values of a config, or its text."""
        how = rng.random()
        if how < 0.05:
            content = edit((rng.choice(BOMBS) + rng.choice(self.texts)).encode(), rng)
        elif how < 0.5:
            content = edit(rng.choice(self.texts).encode(), rng)
        else:
            value = self._change(rng)
            content = yaml.safe_dump(value, allow_unicode=True, sort_keys=False).encode(
                "utf-8", "surrogatepass"
            )
        (folder / "c.yaml").write_bytes(content)
        (folder / "mine.csv").write_text(TABLE, encoding="utf-8")
        commands = [["validate", "c.yaml"]] * 3
        commands += [["run", "c.yaml", "--dry-run", "--out", "out", "--jobs", "1"]] * 2
        commands += [["datasets", "of", "c.yaml"]]
        return Command(rng.choice(commands), folder)

    def _change(self, rng: random.Random) -> Any:
        content = copy.deepcopy(rng.choice(self.contents))
        for _ in range(rng.choice([1, 1, 2, 3, 6])):
            change_value(content, rng, self.values)
        return content
