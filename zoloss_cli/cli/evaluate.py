"""The command `zoloss evaluate`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import DEFAULT_SCALING
from zoloss_cli.cli import _options as options
from zoloss_cli.errors import ConfigError, RunError


def evaluate(
    data: options.DataFile,
    learners: Annotated[
        str | None,
        options.learner_list_option(
            "The learners, separated by commas (default: that of `fit`, some others, and majority); "
            "see `zoloss learners`; also classes such as sklearn.svm.LinearSVC, or mine.py:MyClass.",
            "--learners",
            "-l",
        ),
    ] = None,
    splits: Annotated[
        int, typer.Option(min=1, help="Number of random splits into training and test samples.")
    ] = 50,
    train: Annotated[
        str, typer.Option(help="Training samples of a split: a fraction of all, or a number.")
    ] = "0.8",
    label: options.LabelColumn = None,
    positive: options.PositiveClass = None,
    scale: options.Scaling = DEFAULT_SCALING,
    missing: options.MissingPolicy = "error",
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits and of the learners.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="LEARNER.KEY=VALUE", help="Set a parameter of a learner; can be repeated."
        ),
    ] = None,
    allow_code: options.AllowCode = False,
    out: options.OutFolder = Path("results"),
    jobs: options.Jobs = options.ALL_CORES,
    format: options.Format = "text",
    standalone: options.Standalone = False,
    save_config: Annotated[
        Path | None,
        typer.Option("--save-config", help="Also save the experiment as a YAML config, for `zoloss run`."),
    ] = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
) -> None:
    """Compare learners on your data: test errors, and which differences are significant.

    Differences are tested for statistical significance on the splits that learners share. The table is read
    as in `zoloss fit`; scaling is fitted on the training samples of each split. A name such as ecc:stump is
    an ensemble with its base learner. Repeating an interrupted command continues it, and finished tasks are not
    rerun when splits or learners are added; all stored splits count. Learners compared earlier on the same
    table and splits are shown with the new ones.

    **Examples**

    `zoloss evaluate mine.csv`: the learner of `fit`, some others and the majority class, 50 splits

    `zoloss evaluate mine.csv --label outcome --learners rcd-bias,lr,pivot --splits 100`

    `zoloss evaluate mine.csv --learners rcd-bias,pocket --set pocket.epochs=500 --set rcd-bias.epochs=500`

    `zoloss evaluate iris --learners one-vs-one:fld,ecc:stump,erp:stump`: several classes

    `zoloss evaluate mine.csv --learners rcd-bias,sklearn.svm.SVC --set SVC.C=10`: with one of scikit-learn's

    `zoloss evaluate mine.csv --save-config mine.yaml --dry-run`: save the config and show the plan, without
    running
    """
    from zoloss_cli.utils.processes import limit_threads

    limit_threads()
    from zoloss_cli.api.evaluate import EvaluationRequest, load_evaluation
    from zoloss_cli.api.experiments import add_stored_learners
    from zoloss_cli.cli._progress import run_and_report, show_plan
    from zoloss_cli.experiment.runner import RunOptions
    from zoloss_cli.utils import imports

    options.validate_standalone(standalone, format)
    if data == Path("-"):
        raise ConfigError(
            "evaluate reads its table in every worker process: save standard input to a file and name it"
        )
    names, selection = options.parse_names(learners), options.select_columns(drop, features, id)
    table = (data, names, splits, train, label, positive, scale, missing, seed)
    request = EvaluationRequest(*table, settings or [], selection, allow_code)
    if learners is None:
        request, notes = request.choose_learners()
        options.show_notes(notes)
    with imports.allow_code(allow_code):
        experiment = request.prepare(out, save_config, force)
        if dry_run:
            show_plan(experiment, out, jobs)
            return
        whole, notes = add_stored_learners(experiment, out)
        options.show_notes(notes)
        command = [*request.to_command(), "--out", str(out)]
        failure = None
        try:
            run_and_report(whole, request.command_line, out, jobs, command, RunOptions(part=experiment))
        except RunError as error:  # the tasks that did not fail are shown first
            failure = error
    result = load_evaluation(out, experiment.name)
    typer.echo(result.table.render(format, terminal=sys.stdout.isatty(), standalone=standalone))
    if comparison := result.describe():
        options.show_beside_document(["", comparison], format)
    if failure is not None:
        raise failure
