"""Model files with other contents, given to `predict` with a digest that fits or with `--trust`."""

from __future__ import annotations

import json
import random
from pathlib import Path

from own_rows import COLOURS, SEVERAL

from torture.children import Command
from torture.fuzzing import InputCampaign
from torture.mutations import VALUES, change_value, edit
from torture.tables import make_model


class ModelInputs(InputCampaign):
    """JSON that claims to be a model."""

    name = "model-inputs"

    def prepare(self) -> None:
        """Fit a rule, a code over stumps and pairs of rules."""
        super().prepare()
        self.models = [
            (make_model(self.folder / "m1", "fld", COLOURS), COLOURS),
            (make_model(self.folder / "m2", "ecc:stump", SEVERAL, "--set", "rounds=3"), SEVERAL),
            (make_model(self.folder / "m3", "one-vs-one:fld", SEVERAL), SEVERAL),
        ]

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Change the values of a model, or its text."""
        from zoloss_cli.api.model_files import _compute_digest

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
