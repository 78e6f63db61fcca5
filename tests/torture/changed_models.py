"""Changed digits, bits and bytes in model files: `predict` refuses them, or says the same of every sample."""

from __future__ import annotations

from own_rows import COLOURS, GOOD, SEVERAL

from torture.campaign import Campaign
from torture.children import Command, Outcome, remove_folder, run_commands, warm_up
from torture.fuzzing import import_everything
from torture.judge import find_faults
from torture.mutations import DAMAGES, change_digit, flip_bit
from torture.tables import make_model

REFUSED = 6
MODELS = {
    "rule": (["fld"], COLOURS),
    "code of stumps": (["ecc:stump", "--set", "rounds=4"], SEVERAL),
    "pairs of rules": (["one-vs-one:fld"], SEVERAL),
    "boosted stumps": (["adaboost-stump", "--set", "rounds=5"], GOOD),
}


class ChangedModels(Campaign):
    """Models that were changed after they were fitted."""

    name = "changed-models"
    n_short = 20
    unit = "changes"
    batch = 100

    def prepare(self) -> None:
        """Fit models, and predict by each."""
        import_everything()
        self.models = {
            title: make_model(self.folder / title.replace(" ", "-"), words[0], table, *words[1:])
            for title, (words, table) in MODELS.items()
        }
        self.commands = [self._ask(title, self.models[title], f"truth-{title}") for title in MODELS]
        self.truth = dict(zip(MODELS, (outcome.out for outcome in run_commands(self.commands)), strict=True))
        if not all(self.truth.values()):
            raise RuntimeError("no predictions to compare with")

    def warm_up(self) -> None:
        """Predict once in this process."""
        warm_up(self.commands)

    def attack(self, seed: int) -> list[str]:
        """Change one model."""
        return self.attack_many([seed])[seed]

    def attack_many(self, seeds: list[int]) -> dict[int, list[str]]:
        """Change a model each and predict by it."""
        titles, commands = [], []
        for seed in seeds:
            rng = self.rng(seed)
            title = rng.choice(list(MODELS))
            change = rng.choice([change_digit, flip_bit] if rng.random() < 0.7 else DAMAGES)
            titles.append(title)
            commands.append(self._ask(title, change(self.models[title], rng), f"{self.name}-{seed}"))
        found = {}
        for seed, title, command, outcome in zip(seeds, titles, commands, run_commands(commands), strict=True):
            found[seed] = [f"{fault} [{title}]" for fault in find_faults(outcome) + self._judge(title, outcome)]
            if not found[seed]:
                remove_folder(command.folder)
        return found

    def _judge(self, title: str, outcome: Outcome) -> list[str]:
        if outcome.code == REFUSED:
            self.counts["refused"] += 1
            return [] if not outcome.out else ["predictions by a model that was refused"]
        same = outcome.out == self.truth[title]
        self.counts["same predictions" if same else "other predictions"] += 1
        # A file that lost its digest and nothing else is like one of before there were digests.
        return (
            []
            if same and (not outcome.err or "sha256" in outcome.err)
            else ["other predictions without a word"]
        )

    def _ask(self, title: str, model: bytes, name: str) -> Command:
        folder = self.folder / name.replace(" ", "-")
        remove_folder(folder)
        folder.mkdir()
        (folder / "m.json").write_bytes(model)
        features = [",".join(line.split(",")[:-1]) for line in MODELS[title][1].splitlines()]
        (folder / "t.csv").write_text("\n".join(features) + "\n", encoding="utf-8")
        return Command(["predict", "m.json", "t.csv"], folder)
