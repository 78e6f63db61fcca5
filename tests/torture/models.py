"""Model files: changed after they were fitted, and with other contents and a digest that fits."""

import json
from pathlib import Path
from random import Random

from own_rows import COLOURS, GOOD, SEVERAL

from torture.campaign import InputCampaign
from torture.children import Command, Outcome, run_commands
from torture.inputs import make_model
from torture.mutations import VALUES, change_value, damage, edit

REFUSED = 6
MODELS = {
    "rule": (["fld"], COLOURS),
    "code of stumps": (["ecc:stump", "--set", "rounds=4"], SEVERAL),
    "pairs of rules": (["one-vs-one:fld"], SEVERAL),
    "boosted stumps": (["adaboost-stump", "--set", "rounds=5"], GOOD),
}


class ChangedModels(InputCampaign):
    name = "changed-models"
    n_short = 8
    unit = "changes"

    def prepare(self) -> None:
        super().prepare()
        self.models = {
            title: make_model(self.make_folder(f"fit-{title}"), words[0], table, *words[1:])
            for title, (words, table) in MODELS.items()
        }
        folders = {title: self.make_folder(f"truth-{title}") for title in MODELS}
        commands = [self._write(title, self.models[title], folders[title]) for title in MODELS]
        self.truth = dict(zip(MODELS, (outcome.out for outcome in run_commands(commands)), strict=True))
        if not all(self.truth.values()):
            raise RuntimeError("no predictions to compare with")

    def build(self, rng: Random, folder: Path) -> Command:
        title = rng.choice(list(MODELS))
        return self._write(title, damage(self.models[title], rng), folder)

    @staticmethod
    def _write(title: str, model: bytes, folder: Path) -> Command:
        (folder / "m.json").write_bytes(model)
        features = [",".join(line.split(",")[:-1]) for line in MODELS[title][1].splitlines()]
        (folder / "t.csv").write_text("\n".join(features) + "\n", encoding="utf-8")
        return Command(["predict", "m.json", "t.csv"], folder, about=title)

    def judge(self, command: Command, outcome: Outcome) -> list[str]:
        if outcome.code == REFUSED:
            self.counts["refused"] += 1
            return [f"predictions by a refused {command.about}"] if outcome.out else []
        same = outcome.out == self.truth[command.about]
        self.counts["same predictions" if same else "other predictions"] += 1
        # A file that lost its digest and nothing else is like one of before there were digests.
        is_right = same and (not outcome.err or "sha256" in outcome.err)
        return [] if is_right else [f"other predictions without a word by a {command.about}"]


class ModelInputs(InputCampaign):
    name = "model-inputs"

    def prepare(self) -> None:
        super().prepare()
        self.models = [
            (make_model(self.make_folder(learner[0]), learner[0], table, *learner[1:]), table)
            for learner, table in list(MODELS.values())[:3]
        ]

    def build(self, rng: Random, folder: Path) -> Command:
        from zoloss_cli.api.models import _compute_digest

        model, table = rng.choice(self.models)
        if rng.random() < 0.4:
            content = edit(model, rng)
        else:
            value = json.loads(model)
            for _ in range(rng.choice([1, 1, 2, 4])):
                change_value(value, rng, VALUES)
            if rng.random() < 0.5:
                value["sha256"] = _compute_digest(json.dumps(value))
            content = json.dumps(value, indent=1).encode()
        (folder / "m.json").write_bytes(content)
        (folder / "t.csv").write_text(table, encoding="utf-8")
        trust = ["--trust"] if rng.random() < 0.5 else []
        return Command(["predict", "m.json", "t.csv", *trust], folder)
