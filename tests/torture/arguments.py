"""Arguments of every command at random, and what a shell asks after TAB."""

from __future__ import annotations

import os
import random
import shlex
import shutil
from pathlib import Path
from typing import Any

from own_rows import COLOURS, GOOD

from torture.children import Command
from torture.fuzzing import InputCampaign
from torture.mutations import NUMBERS, TEXTS
from torture.tables import make_model

CONFIG = "name: small\ndatasets: [sonar]\nsplit: {repeats: 2}\nlearners: [fld]\n"
PATHS = [
    "t.csv",
    "m.json",
    "c.yaml",
    "results",
    "nowhere",
    "pipe",
    "loop",
    ".",
    "out/x",
    "o.svg",
    "o.html",
    "/dev/null",
]
# Not at random: a traceback that is asked for, and files of the user's shell.
LEFT_OUT = {"--debug", "--install-completion", "--show-completion", "--archive"}
SETTINGS = [
    "epochs=2",
    "steps=3",
    "seeding=fld",
    "x=1",
    "epochs=",
    "=",
    "base={learner: fld}",
    "epochs=[1",
    "fld.epochs=2",
]
QUICK = ["fld", "ave-perc", "pivto", "ecc:fld", ":", "fld,fld", "nothing", "", "one-vs-one:fld"]
FIXED = {"run": ["--dry-run"], "evaluate": ["--dry-run"], "fit": ["--set", "steps=100"]}


class ArgumentInputs(InputCampaign):
    """Command lines."""

    name = "arguments"
    n_short = 15

    def prepare(self) -> None:
        """Ask the commands for their options, and make files to name."""
        super().prepare()
        from torture.children import run_commands
        from zoloss_cli.cli.app import COMMANDS, load_command

        self.parsers: list[tuple[list[str], Any]] = []
        for name in COMMANDS:
            parser = load_command(name)
            self.parsers.append(([name], parser))
            self.parsers += [([name, sub], each) for sub, each in getattr(parser, "commands", {}).items()]
        self.model = make_model(self.folder / "model", "fld", COLOURS)
        made = self.folder / "made"
        made.mkdir(exist_ok=True)
        (made / "c.yaml").write_text(CONFIG, encoding="utf-8")
        (ended,) = run_commands([Command(["run", "c.yaml", "--jobs", "1", "--out", "results"], made)])
        if ended.code:
            raise RuntimeError(ended.err)
        self.results = made / "results"

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Write files of every kind, and name them or something else."""
        (folder / "t.csv").write_text(GOOD, encoding="utf-8")
        (folder / "m.json").write_bytes(self.model)
        (folder / "c.yaml").write_text(CONFIG, encoding="utf-8")
        shutil.copytree(self.results, folder / "results")
        (folder / "loop").symlink_to("loop")
        os.mkfifo(folder / "pipe")
        words, parser = rng.choice(self.parsers)
        arguments = [*words, *self._choose(rng, parser)]
        if "fetch" in words:
            arguments += ["--archive", "http://127.0.0.1:1"]
        arguments += FIXED.get(words[0], [])
        if rng.random() < 0.15:
            typed = shlex.join(["zoloss", *arguments[: rng.randint(0, len(arguments))]])
            asked = {"_ZOLOSS_COMPLETE": rng.choice(["complete_bash", "complete_zsh", "complete_fish"])}
            words_typed = {"COMP_WORDS": typed, "COMP_CWORD": str(rng.randint(1, 5))}
            shells = {"_TYPER_COMPLETE_ARGS": typed, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
            return Command([], folder, asked | words_typed | shells)
        return Command(arguments, folder)

    def _choose(self, rng: random.Random, parser: Any) -> list[str]:
        positional = [p for p in parser.params if p.param_type_name == "argument"]
        options = [p for p in parser.params if p.param_type_name == "option" and not LEFT_OUT & set(p.opts)]
        arguments = [self._choose_value(rng, p.name) for p in positional if rng.random() < 0.95]
        for option in rng.sample(options, min(len(options), rng.choice([0, 1, 1, 2, 3]))):
            arguments.append(rng.choice(option.opts))
            if not option.is_flag and rng.random() < 0.95:
                arguments.append(self._choose_value(rng, option.name))
        if rng.random() < 0.05:
            arguments.insert(rng.randint(0, len(arguments)), rng.choice(["--nothing", "-", "--", *TEXTS]))
        return [word.replace("\x00", "") for word in arguments]

    def _choose_value(self, rng: random.Random, name: str) -> str:
        usual = {
            "data": "t.csv", "model": "m.json", "config": "c.yaml", "configs": "c.yaml", "results": "results",
            "settings": rng.choice(SETTINGS), "learner": rng.choice(QUICK), "learners": rng.choice(QUICK),
            "jobs": "1", "out": rng.choice(["o.svg", "o.html", "o.csv", "out"]),
            "format": rng.choice(["csv", "latex", "html"]),
            "figure": rng.choice(["ranks", "time", "boundary", "li-lin-2007/3", "nothing"]), "name": "heart",
            "table": rng.choice(["small", "II", "smal"]), "dataset": rng.choice(["sonar", "t.csv", "yinyang"]),
        }  # fmt: skip
        if name in usual and rng.random() < 0.6:
            return usual[name]
        return rng.choice([*NUMBERS, *TEXTS, *PATHS, *PATHS])
