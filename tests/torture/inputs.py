"""Hostile inputs: configs, tables, arguments, and parameters of learners."""

import copy
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import yaml
from own_rows import COLOURS, GOOD, SEVERAL, as_csv, noisy_rows
from places import TOP

from torture.campaign import InputCampaign
from torture.children import Command, run_commands
from torture.mutations import NUMBERS, TEXTS, VALUES, change_value, edit

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
    name = "configs"

    def prepare(self) -> None:
        super().prepare()
        from zoloss_cli.registry import GENERATORS, LEARNERS, MEASURES, METRICS

        texts = [path.read_text(encoding="utf-8") for path in sorted((TOP / "configs").rglob("*.yaml"))]
        self.texts = [SMALL, SMALL, SMALL, *(text for text in texts if len(text) < MAX_SEED_BYTES)]
        self.contents = [yaml.safe_load(text) for text in self.texts]
        keys = sorted({"tune", "prune", "noise", "keep"}.union(*self.contents))
        self.values = [*VALUES, *LEARNERS, *MEASURES, *METRICS, *GENERATORS, *keys, "heart", "sonar", "mine"]

    def build(self, rng: Random, folder: Path) -> Command:
        how = rng.random()
        if how < 0.5:
            content = edit(((how < 0.05) * rng.choice(BOMBS) + rng.choice(self.texts)).encode(), rng)
        else:
            value = copy.deepcopy(rng.choice(self.contents))
            for _ in range(rng.choice([1, 1, 2, 3, 6])):
                change_value(value, rng, self.values)
            text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
            content = text.encode("utf-8", "surrogatepass")
        (folder / "c.yaml").write_bytes(content)
        (folder / "mine.csv").write_text(TABLE, encoding="utf-8")
        commands = ["validate c.yaml", "run c.yaml --dry-run --out out --jobs 1", "datasets of c.yaml"]
        return Command(rng.choices(commands, [3, 2, 1])[0].split(), folder)


SEEDS = [GOOD, COLOURS, SEVERAL, as_csv(noisy_rows(20)), GOOD.replace(",", ";"), GOOD.replace(",", "\t")]


class TableInputs(InputCampaign):
    name = "tables"

    def prepare(self) -> None:
        super().prepare()
        self.model = make_model(self.make_folder("model"), "fld", COLOURS)

    def build(self, rng: Random, folder: Path) -> Command:
        text = rng.choice(SEEDS).encode() if rng.random() < 0.8 else make_up(rng)
        if rng.random() < 0.9:
            text = edit(text, rng)
        (folder / "t.csv").write_bytes(text)
        (folder / "m.json").write_bytes(self.model)
        commands = ["fit t.csv --learner fld"] * 5 + ["evaluate t.csv --learners fld --dry-run --out out"] * 2
        commands += ["predict m.json t.csv", "predict m.json t.csv --out p.csv", "prune t.csv --out p.csv"]
        words = rng.choice([*commands, "complexity t.csv --clusters 3 --permutations 3"]).split()
        options = choose_options(rng) if words[0] in ("fit", "evaluate") else []
        return Command([*words, *options], folder)


def choose_options(rng: Random) -> list[str]:
    values = {
        "--missing": ["error", "drop", "zero"],
        "--scale": ["standard", "minmax", "none"],
        "--label": ["label", "a", "0", "-1", "3", "99", "nothing", "colour"],
        "--positive": ["x", "y", "1", "nothing", ""],
    }
    return [w for name in values if rng.random() < 0.25 for w in (name, rng.choice(values[name]))]


def make_up(rng: Random) -> bytes:
    width, separator = rng.randint(1, 5), rng.choice([",", ",", ";", "\t", "|", " "])
    words = [w for w in NUMBERS + TEXTS if separator not in w]
    header = [rng.choice([*words, *"abcdef"]) for _ in range(width)]
    kinds = [
        rng.choice([words, NUMBERS, ["1", "2", "3.5"], ["x", "y"], ["1e308", "-1e308"]]) for _ in range(width)
    ]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(rng.choice([0, 1, 2, 5, 20]))]
    return "\n".join(separator.join(row) for row in [header, *rows]).encode("utf-8", "surrogatepass")


def make_model(folder: Path, learner: str, text: str, *more: str) -> bytes:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    arguments = ["fit", "t.csv", "--learner", learner, *more, "--model", "m.json", "--force"]
    (outcome,) = run_commands([Command(arguments, folder)])
    if outcome.code:
        raise RuntimeError(f"no model of {learner}: {outcome.err}")
    return (folder / "m.json").read_bytes()


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
    name = "arguments"
    n_short = 6

    def prepare(self) -> None:
        super().prepare()
        from zoloss_cli.cli.app import COMMANDS, load_command

        self.parsers: list[tuple[list[str], Any]] = []
        for name in COMMANDS:
            parser = load_command(name)
            self.parsers.append(([name], parser))
            self.parsers += [([name, sub], each) for sub, each in getattr(parser, "commands", {}).items()]
        self.model = make_model(self.make_folder("model"), "fld", COLOURS)
        made = self.make_folder("made")
        (made / "c.yaml").write_text(CONFIG, encoding="utf-8")
        (ended,) = run_commands([Command(["run", "c.yaml", "--jobs", "1", "--out", "results"], made)])
        if ended.code:
            raise RuntimeError(ended.err)
        self.results = made / "results"

    def build(self, rng: Random, folder: Path) -> Command:
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

    def _choose(self, rng: Random, parser: Any) -> list[str]:
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

    def _choose_value(self, rng: Random, name: str) -> str:
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


SCALES = [1e-320, 1e-307, 1e-150, 1e-30, 1e-9, 1.0, 1.0, 1.0, 1e3, 1e9, 1e15, 1e30, 1e75, 1e150, 1e300, 1e307]


class LearnerInputs(InputCampaign):
    name = "learners"
    n_short = 4
    batch = 100

    def prepare(self) -> None:
        super().prepare()
        from brief_learners import BUDGETS, OWN_BUDGETS

        from zoloss_cli.registry import LEARNERS, find_nested_learners, find_registration

        self.learners: list[tuple[str, list[str]]] = []
        for name in LEARNERS.builtin:
            model = find_registration(name).parameter_model
            settings = {key: value for key, value in BUDGETS.items() if key in model.model_fields and value}
            settings |= OWN_BUDGETS.get(name, {}) | ({"base": "stump"} if find_nested_learners(model) else {})
            self.learners.append(
                (name, [word for each in settings.items() for word in ("--set", "{}={}".format(*each))])
            )

    def build(self, rng: Random, folder: Path) -> Command:
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


def make_numbers(rng: Random) -> list[list]:
    n, m = rng.choice([2, 3, 5, 12, 30, 60]), rng.randint(1, 4)
    draws: list[Callable[[float, float, int], float]] = [
        lambda scale, offset, i: offset + scale * rng.gauss(0, 1),
        lambda scale, offset, i: offset,
        lambda scale, offset, i: offset + scale * rng.randrange(3),
        lambda scale, offset, i: offset * (1 + rng.randrange(3) * 2.0**-52),
        lambda scale, offset, i: offset if i else scale,
        lambda scale, offset, i: rng.choice(SCALES) * rng.choice([-1, 1]),
    ]
    columns = []
    for _ in range(m):
        scale, offset = rng.choice(SCALES), rng.choice([0.0, 0.0, 1.0, *SCALES])
        draw = rng.choice([*draws, draws[0]])
        columns.append([draw(scale, offset, i) for i in range(n)])
    classes = rng.choice([2, 2, 2, 2, 3])
    rows = [list(row) for row in zip(*columns, (rng.randrange(classes) for _ in range(n)), strict=True)]
    contradictions = [[*row[:-1], 1 - row[-1] % 2] for row in rows[: rng.choice([0, 0, 3])]]
    return rows + rows[: rng.choice([0, 0, n])] + contradictions
