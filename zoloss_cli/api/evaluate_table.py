"""Learners compared on your own table: the experiment that the options describe, its YAML and its outcome."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from zoloss_cli.api.choose import OptionErrorCollector, list_usual_learners, parse_labels, parse_settings
from zoloss_cli.choices import DEFAULT_SCALING
from zoloss_cli.config.loader import build_data_spec, build_experiment
from zoloss_cli.config.models import CsvData, Experiment, LearnerSpec, Split
from zoloss_cli.data.columns import ALL_COLUMNS, ColumnSelection
from zoloss_cli.data.dataset import load_data
from zoloss_cli.errors import ConfigError, ResultsError, ZolossError
from zoloss_cli.experiment.fitting import find_missing_needs
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.runner import validate_data
from zoloss_cli.learners.multiclass.codes import MAX_EXACT_CLASSES
from zoloss_cli.report.loading import load_runs, select_runs
from zoloss_cli.report.render.render import render_tables
from zoloss_cli.report.statistics_text import describe_best
from zoloss_cli.report.tables import build_table
from zoloss_cli.results.store import Store
from zoloss_cli.utils.code_files import is_code_name
from zoloss_cli.utils.files import check_target, write
from zoloss_cli.utils.imports import find_install_name
from zoloss_cli.utils.text import clean_file_name, show_controls

YAML_WIDTH = 110
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class Evaluation:
    """A comparison of learners as described by options.

    Attributes
    ----------
    data : Path
        The table.
    learners : list of str
        The learners' names.
    splits : int
        Number of random splits.
    train : str
        Training samples: a share of all, or a count.
    label, positive : str or None
        The label column, and the class against the rest.
    scale, missing : str
        How to scale features, and what to do with missing values.
    seed : int
        The seed of the splits and of the learners.
    assignments : list of str
        Parameters of learners as LEARNER.KEY=VALUE.
    selection : ColumnSelection
        The columns that are named, apart from the label.
    allow_code : bool
        Whether files and packages that learners name may be run.
    """

    data: Path
    learners: list[str]
    splits: int
    train: str = str(Split().train)
    label: str | None = None
    positive: str | None = None
    scale: str = DEFAULT_SCALING
    missing: str = "error"
    seed: int = Split().seed
    assignments: list[str] = field(default_factory=list)
    selection: ColumnSelection = ALL_COLUMNS
    allow_code: bool = False

    @property
    def name(self) -> str:
        """The run's name in a results folder; a table's own name could clash with another run there."""
        return clean_file_name(f"evaluate-{self.data.stem}")

    def build_content(self, folder: Path) -> dict:
        """Return the keys of the config for a file in `folder`; defaults only if they are informative."""
        if not self.learners:
            raise ConfigError("--learners: name at least one learner, such as rcd-bias")
        settings = parse_settings(self.learners, self.assignments)
        for entry in settings.values():
            if is_code_name(str(entry.get("learner"))):
                entry["learner"] = _relate_code(entry["learner"], folder)
        return {
            "name": self.name,
            "title": f"Test errors (%) on {show_controls(self.data.name)}",
            "datasets": {
                self.data.stem: self._build_data_entry(os.path.relpath(self.data.resolve(), folder.resolve()))
            },
            "split": {"train": _parse_train(self.train), "repeats": self.splits, "seed": self.seed},
            "preprocess": {"scale": self.scale},
            "learners": settings if any(settings.values()) else list(settings),
        }

    def _build_data_entry(self, path: str) -> dict:
        """Return the table as a data set of a config."""
        source: dict[str, Any] = {"csv": path}
        source |= {k: v for k, v in (("label", self.label), ("positive", self.positive)) if v is not None}
        source |= self.selection.to_keys()
        return source | ({"missing": self.missing} if self.missing != "error" else {})

    def with_usual_learners(self) -> tuple[Evaluation, list[str]]:
        """Return the evaluation with learners that suit the number of classes, and notes about them."""
        mistakes = OptionErrorCollector()
        spec = build_data_spec(self.data.stem, self._build_data_entry(str(self.data)), Path(), mistakes)
        if mistakes.lines:
            raise ConfigError("\n".join(mistakes.lines))
        data = load_data(spec)
        count = len(data.classes)
        learners, settings = list_usual_learners(data.X.shape[0], data.X.shape[1], count)
        note = f"{self.data} has {count} classes, so these learners are compared: {', '.join(learners)}"
        exact = count <= MAX_EXACT_CLASSES or any("partition" in text for text in self.assignments)
        settings += [] if exact else ["ecc:stump.partition=greedy"]
        # What the user sets takes precedence over the usual settings.
        given = {text.partition("=")[0].rpartition(".")[2].strip() for text in self.assignments}
        kept = [text for text in settings if text.partition("=")[0].rpartition(".")[2] not in given]
        evaluation = replace(self, learners=learners, assignments=[*self.assignments, *kept])
        return evaluation, [note] if count > 2 else []

    def to_experiment(self) -> Experiment:
        """Return the validated experiment; the table keeps its path, since messages name it."""
        content = self.build_content(Path())
        content["datasets"][self.data.stem] = self._build_data_entry(str(self.data))
        return build_experiment(content, self.name, Path(), OptionErrorCollector())

    def to_command(self) -> list[str]:
        """Return the words of an equivalent command line."""
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
        for key, value in self.selection.to_keys().items():
            words += [word for text in ([value] if key == "id" else value) for word in (f"--{key}", text)]
        words += [word for text in self.assignments for word in ("--set", text)]
        return [*words, "--allow-code"] if self.allow_code else words

    @property
    def command_line(self) -> str:
        """The command line as text."""
        return shlex.join(["zoloss", *self.to_command()])

    def render_config(self, folder: Path) -> str:
        """Return the YAML file that `zoloss run` takes instead."""
        command = " ".join(self.command_line.splitlines())
        content = self.build_content(folder)
        text = yaml.safe_dump(
            content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=YAML_WIDTH
        )
        return f"# {command}\n{text}"


def prepare_experiment(evaluation: Evaluation, out: Path, save_config: Path | None, force: bool) -> Experiment:
    """Check an evaluation against its data and results, and write its config.

    Parameters
    ----------
    evaluation : Evaluation
        What to compare.
    out : Path
        The results folder.
    save_config : Path or None
        Where to write the config, if anywhere.
    force : bool
        Whether another file may be overwritten.

    Returns
    -------
    Experiment
        The experiment to run. If the table cannot be used, nothing is written.
    """
    experiment, inputs = evaluation.to_experiment(), [evaluation.data]
    text = "" if save_config is None else evaluation.render_config(save_config.parent)
    if save_config is not None:
        _check_code_folder(evaluation, save_config)
    target = None if save_config is None or has_content(save_config, text) else save_config
    if target is not None:
        check_target(target, force, inputs)
    check_own_run(out, experiment)
    validate_data(plan(experiment), positive="--positive CLASS")
    if target is not None:
        write(target, text, force, inputs)
    return experiment


def _check_code_folder(evaluation: Evaluation, save_config: Path) -> None:
    """Refuse to write a config that could not find its learners' files, which must be in its folder."""
    for name in parse_labels(evaluation.learners).values():
        if is_code_name(name) and _relate_code(name, save_config.parent).startswith("../"):
            raise ConfigError(
                f"--save-config {save_config}: '{name}' is not in its folder, where `run` looks for it"
            )


def render_evaluation(
    results: Path, name: str, dataset: str, format: str, bold_terminal: bool, standalone: bool = False
) -> tuple[str, list[str]]:
    """Return the outcome of an evaluation.

    Parameters
    ----------
    results : Path
        The results folder.
    name, dataset : str
        The names of the run and of its data set.
    format : str
        The format of the table.
    bold_terminal : bool
        Whether a terminal shows the best in bold.
    standalone : bool, default=False
        Whether LaTeX is a complete document instead of a fragment.

    Returns
    -------
    table : str
        The table of test errors.
    comparison : list of str
        The best learner against each other one, in lines.
    """
    runs, _ = load_runs(results, name)
    (run,) = select_runs(runs, name)
    table = render_tables([build_table(run, runs)], format, bold_terminal, standalone)
    return table, describe_best(run, dataset, SIGNIFICANCE_LEVEL)


def has_content(path: Path, text: str) -> bool:
    """Return whether a file holds this text: then an interrupted command can be repeated unchanged."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _relate_code(name: str, folder: Path) -> str:
    """Return the name of a class in a file, relative to a config in another folder."""
    path, _, attribute = name.rpartition(":")
    return f"{Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()}:{attribute}"


def _parse_train(text: str) -> int | float:
    """Parse a share or a count, as in a config, but not 'all', which would leave no test samples."""
    try:
        part: int | float = int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        part = -1
    if not (0.0 < part < 1.0 or (isinstance(part, int) and part >= 2)):
        raise ConfigError(
            f"--train: must be a share between 0 and 1 (both excluded) or a count of at least 2 (got {text})"
        )
    return part


def check_own_run(results: Path, experiment: Experiment) -> None:
    """Refuse to replace a run by that of another table with the same file name."""
    (wanted,) = (Path(data.csv).resolve() for data in experiment.datasets if isinstance(data, CsvData))
    for manifest in Store(results).read_manifests():
        stored = manifest.experiment
        paths = [Path(data.csv) for data in stored.datasets if isinstance(data, CsvData)]
        if stored.name == experiment.name and [path.resolve() for path in paths] != [wanted]:
            other = ", ".join(map(str, paths)) or "other data"
            raise ResultsError(
                f"{results} holds a run '{experiment.name}' of {other}; choose another folder with --out, or "
                "another name for the file"
            )


def add_earlier_columns(experiment: Experiment, folder: Path) -> tuple[Experiment, list[str]]:
    """Return the experiment with the learners that were compared earlier on the same table and splits.

    A learner qualifies if it has results for exactly this table content, split rule and preprocessing. One with
    the same name as a new one is replaced by it.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    folder : Path
        The results folder.

    Returns
    -------
    experiment : Experiment
        The experiment to show, with earlier learners first.
    notes : list of str
        Which learners were added.
    """
    store = Store(folder)
    new = {spec.label for spec in experiment.learners}
    kept: list[LearnerSpec] = []
    for manifest in store.read_manifests():
        if manifest.experiment.name == experiment.name:
            candidates = [spec for spec in manifest.experiment.learners if spec.label not in new]
            kept += [spec for spec in candidates if has_results(experiment, spec, store)]
    if not kept:
        return experiment, []
    names = ", ".join(dict.fromkeys(spec.label for spec in kept))
    note = f"{folder} has results of {names} for the same table and splits, which are shown, too"
    return experiment.model_copy(update={"learners": (*kept, *experiment.learners)}), [note]


def has_results(experiment: Experiment, spec: LearnerSpec, store: Store) -> bool:
    """Return whether a learner has results in the cell that it would have in this experiment."""
    try:
        cells = plan(experiment.model_copy(update={"learners": (spec,)}))
        return all(store.read(cell.filename, cell.key).records for cell in cells)
    except ZolossError:  # from a package that is no longer installed, or another version of ours
        return False


OTHER_START = "seeding=fld"


def adapt_to_packages(evaluation: Evaluation) -> tuple[Evaluation, list[str]]:
    """Return an evaluation of the learners for which packages are installed, and a note about the changes.

    Parameters
    ----------
    evaluation : Evaluation
        A comparison of the usual learners, which the user did not choose.

    Returns
    -------
    evaluation : Evaluation
        The same if nothing is missing. Otherwise without the learners that need what is missing; those that
        need it only for their start begin from Fisher's linear discriminant, by one of their parameters.
    notes : list of str
        One sentence if something was changed.
    """
    left_out: list[str] = []
    restarted: list[str] = []
    packages: list[str] = []
    for spec in evaluation.to_experiment().learners:
        needs = find_missing_needs(spec)
        if not needs:
            continue
        packages += [find_install_name(need.module) for _, need in needs]
        only_start = all(inner == spec and need.instead for inner, need in needs)
        (restarted if only_start else left_out).append(spec.label)
    if not packages:
        return evaluation, []
    adapted = replace(
        evaluation,
        learners=[name for name in evaluation.learners if name not in left_out],
        assignments=[*evaluation.assignments, *(f"{name}.{OTHER_START}" for name in restarted)],
    )
    return adapted, [_describe_changes(left_out, restarted, list(dict.fromkeys(packages)))]


def _describe_changes(left_out: list[str], restarted: list[str], packages: list[str]) -> str:
    changes = []
    if left_out:
        changes.append(f"{_join(left_out)} {'is' if len(left_out) == 1 else 'are'} left out")
    if restarted:
        verb = "starts" if len(restarted) == 1 else "start"
        changes.append(f"{_join(restarted)} {verb} from Fisher's linear discriminant")
    missing = f"{_join(packages)} {'is' if len(packages) == 1 else 'are'} not installed"
    return f"{missing}, so {', and '.join(changes)}: pip install {' '.join(packages)}"


def _join(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
