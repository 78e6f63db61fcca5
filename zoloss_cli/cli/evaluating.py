"""zoloss evaluate"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli.fitting import DATA, FORCE, LABEL, MISSING, POSITIVE, SCALE
from zoloss_cli.cli.running import ALL_CORES, DRY_RUN, JOBS, OUT, carry_out, names, show_plan
from zoloss_cli.cli.showing import FORMAT
from zoloss_cli.errors import RunError

ALPHA = 0.05


def evaluate(
    data: Annotated[Path, DATA],
    learners: Annotated[
        str | None,
        typer.Option(
            "--learners",
            "-l",
            help="The learners, separated by commas (default: four that suit the number of classes); "
            "see `zoloss learners`.",
            autocompletion=completion.learner_list,
        ),
    ] = None,
    splits: Annotated[int, typer.Option(min=1, help="Random splits into training and test rows.")] = 50,
    train: Annotated[str, typer.Option(help="Training rows: a share of all, or a count.")] = "0.8",
    label: Annotated[str | None, LABEL] = None,
    positive: Annotated[str | None, POSITIVE] = None,
    scale: Annotated[str, SCALE] = "minmax",
    missing: Annotated[str, MISSING] = "error",
    seed: Annotated[int, typer.Option(min=0, help="The seed of the splits and of the learners.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="LEARNER.KEY=VALUE", help="Set a parameter of a learner; may be repeated."
        ),
    ] = None,
    out: Annotated[Path, OUT] = Path("results"),
    jobs: Annotated[int, JOBS] = ALL_CORES,
    format: Annotated[str, FORMAT] = "text",
    save_config: Annotated[
        Path | None, typer.Option("--save-config", help="Also write the experiment as YAML, for `zoloss run`.")
    ] = None,
    force: Annotated[bool, FORCE] = False,
    dry_run: Annotated[bool, DRY_RUN] = False,
) -> None:
    """Compare learners on your own CSV: test errors over random splits, and which differences could be luck.

    The table is read as by `zoloss fit`; scaling is fitted on each split's training rows. A name such as
    ecc:stump is a learner over another. What was interrupted continues, and what is done is not run again, also
    for more splits or learners; all splits that are stored count.

    **Examples**

    `zoloss evaluate mine.csv`: four learners, 50 splits

    `zoloss evaluate mine.csv --label outcome --learners rcd-bias,lr,pivot --splits 100`

    `zoloss evaluate mine.csv --learners rcd-bias,pocket --set pocket.epochs=500 --set rcd-bias.epochs=500`

    `zoloss evaluate iris.csv --learners one-vs-one:fld,ecc:stump,erp:stump`: several classes

    `zoloss evaluate mine.csv --save-config mine.yaml --dry-run`: only the experiment as YAML, and its plan
    """
    from zoloss_cli.experiment.execute import one_blas_thread

    one_blas_thread()
    from zoloss_cli.experiment.plan import plan
    from zoloss_cli.experiment.runner import sizes_of
    from zoloss_cli.reporting.formats import check_format
    from zoloss_cli.utils.atomic_io import check_target, write
    from zoloss_cli.workflows.evaluate import Evaluation, check_own_run, says_already

    check_format(format)
    chosen = names(learners or "")
    asked = Evaluation(data, chosen, splits, train, label, positive, scale, missing, seed, settings or [])
    if learners is None:
        asked, notes = asked.with_usual_learners()
        for note in notes:
            typer.echo(f"zoloss: {note}", err=True)
    experiment = asked.experiment()
    text = "" if save_config is None else asked.config_text(save_config.parent)
    to_save = save_config is not None and not says_already(save_config, text)
    if to_save:
        check_target(save_config, force, [data])
    check_own_run(out, experiment)
    sizes_of(plan(experiment), "--positive CLASS")  # a table that cannot be used leaves nothing behind
    if to_save:
        write(save_config, text, force, [data])
    if dry_run:
        show_plan(experiment, out, jobs)
        return
    command = asked.command()
    source = shlex.join(["zoloss", *command])
    try:
        carry_out(experiment, source, out, jobs, [*command, "--out", str(out)])
    except RunError:
        _show(out, experiment.name, data.stem, format)  # of what did not fail
        raise
    _show(out, experiment.name, data.stem, format)


def _show(out: Path, name: str, dataset: str, format: str) -> None:
    """The table of test errors, and below it the best learner against each other."""
    from zoloss_cli.reporting.formats import render_tables
    from zoloss_cli.reporting.results import choose, load_results
    from zoloss_cli.reporting.statistics_view import best_lines
    from zoloss_cli.reporting.tables import make_table

    runs, _ = load_results(out, name)
    (run,) = choose(runs, name)
    typer.echo(render_tables([make_table(run, runs)], format, bold_terminal=sys.stdout.isatty()))
    # A table format's output is a document of its own: the comparison must not get into it.
    to_stderr = format in ("csv", "latex", "html")
    lines = best_lines(run, dataset, ALPHA)
    if lines:
        typer.echo("", err=to_stderr)
    for line in lines:
        typer.echo(line, err=to_stderr)
