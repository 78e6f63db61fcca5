"""Learners compared on one's own table: the experiment that a command's options stand for, and its YAML."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from zoloss_cli.config.data_spec import build_data_spec
from zoloss_cli.config.loader import build_experiment
from zoloss_cli.config.models import Experiment, Preprocess, Split
from zoloss_cli.datasets.dataset import load_data
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.learners.multiclass.partitions import MOST_CLASSES
from zoloss_cli.results.store import Store
from zoloss_cli.workflows.learner_options import OptionMistakes, chosen_settings

WIDTH = 110
FOR_TWO = ["rcd-bias", "soft-svm", "lr", "sla"]
FOR_SEVERAL = ["one-vs-one:rcd-bias", "one-vs-one:soft-svm", "ecc:stump", "erp:stump"]


@dataclass(frozen=True)
class Evaluation:
    """What the options say."""

    data: Path
    learners: list[str]
    splits: int
    train: str = str(Split().train)
    label: str | None = None
    positive: str | None = None
    scale: str = Preprocess().scale
    missing: str = "error"
    seed: int = Split().seed
    assignments: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The run's name in a results folder; a table's own name could be that of another run there."""
        return f"evaluate-{self.data.stem}"

    def content(self, folder: Path) -> dict:
        """The keys of the config, for a file in `folder`; those at their defaults only where they inform."""
        if not self.learners:
            raise ConfigError("--learners: name at least one learner, such as rcd-bias")
        settings = chosen_settings(self.learners, self.assignments)
        return {
            "name": self.name,
            "title": f"Test errors (%) on {self.data.name}",
            "datasets": {self.data.stem: self._source(os.path.relpath(self.data.resolve(), folder.resolve()))},
            "split": {"train": _training_part(self.train), "repeats": self.splits, "seed": self.seed},
            "preprocess": {"scale": self.scale},
            "learners": settings if any(settings.values()) else list(settings),
        }

    def _source(self, path: str) -> dict:
        """The table as a data set of a config."""
        source = {"csv": path}
        source |= {k: v for k, v in (("label", self.label), ("positive", self.positive)) if v is not None}
        return source | ({"missing": self.missing} if self.missing != "error" else {})

    def with_usual_learners(self) -> tuple[Evaluation, list[str]]:
        """The learners to compare where none is named, by the number of classes; and what to say of them."""
        mistakes = OptionMistakes()
        spec = build_data_spec(self.data.stem, self._source(str(self.data)), Path(), mistakes)
        if mistakes.lines:
            raise ConfigError("\n".join(mistakes.lines))
        count = len(load_data(spec).classes)
        if count == 2:
            return replace(self, learners=FOR_TWO), []
        note = f"{self.data} has {count} classes, so these learners are compared: {', '.join(FOR_SEVERAL)}"
        exact = count <= MOST_CLASSES or any("partition" in text for text in self.assignments)
        cut = [] if exact else ["ecc:stump.partition=greedy"]
        asked = replace(self, learners=FOR_SEVERAL, assignments=[*self.assignments, *cut])
        return asked, [note]

    def experiment(self) -> Experiment:
        """Checked as a config is; the table by the path that was given, since messages name it."""
        content = self.content(Path())
        content["datasets"][self.data.stem] = self._source(str(self.data))
        return build_experiment(content, self.name, Path(), OptionMistakes())

    def command(self) -> list[str]:
        """The command line that says the same."""
        words = [
            "evaluate",
            str(self.data),
            "--learners",
            ",".join(self.learners),
            "--splits",
            str(self.splits),
        ]
        default = Evaluation(self.data, self.learners, self.splits)
        for key in ("train", "label", "positive", "scale", "missing", "seed"):
            if getattr(self, key) != getattr(default, key):
                words += [f"--{key}", str(getattr(self, key))]
        return [*words, *(word for text in self.assignments for word in ("--set", text))]

    def config_text(self, folder: Path) -> str:
        """The YAML file that `zoloss run` takes instead."""
        command = " ".join(shlex.join(["zoloss", *self.command()]).splitlines())
        content = self.content(folder)
        text = yaml.safe_dump(
            content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=WIDTH
        )
        return f"# {command}\n{text}"


def says_already(path: Path, text: str) -> bool:
    """Whether a file holds this text: then a command that was interrupted can be given again as it was."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _training_part(text: str) -> int | float:
    """A share or a count, as in a config, but not 'all': then no row would be left to test."""
    try:
        part = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        part = -1
    if not (0.0 < part < 1.0 or (isinstance(part, int) and part >= 2)):
        raise ConfigError(
            f"--train: must be a share between 0 and 1 (both excluded) or a count of at least 2 (got {text})"
        )
    return part


def check_own_run(results: Path, experiment: Experiment) -> None:
    """Refuse to put a table's run in the place of that of another table with the same file name."""
    (wanted,) = (Path(data.csv).resolve() for data in experiment.datasets)
    for manifest in Store(results).manifests():
        stored = manifest["experiment"]
        paths = [Path(data["csv"]) for data in stored["datasets"] if "csv" in data]
        if stored["name"] == experiment.name and [path.resolve() for path in paths] != [wanted]:
            other = ", ".join(map(str, paths)) or "other data"
            raise ResultsError(
                f"{results} holds a run '{experiment.name}' of {other}; choose another folder with --out, or "
                "another name for the file"
            )
