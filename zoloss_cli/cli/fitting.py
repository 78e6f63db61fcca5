"""zoloss fit, predict"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli._choices import POLICIES, SCALINGS
from zoloss_cli.errors import ConfigError, suggest_nearest

DATA = typer.Argument(help="The table: a CSV file with a header.")
LABEL = typer.Option(help="The label column: its name or index (default: the column `label`, else the last).")
POSITIVE = typer.Option(help="One class against the rest (default: all classes; of two the last is positive).")
SCALE = typer.Option(help="Scale features: standard, minmax or none.", autocompletion=completion.scaling)
MISSING = typer.Option(
    help="Missing values are an error, drop their row, or are read as zero.", autocompletion=completion.missing
)
FORCE = typer.Option("--force", help="Overwrite the file that is written.")


def fit(
    data: Annotated[Path, DATA],
    learner: Annotated[
        str, typer.Option("--learner", "-l", help="See `zoloss learners`.", autocompletion=completion.learner)
    ] = "pivot",
    label: Annotated[str | None, LABEL] = None,
    positive: Annotated[str | None, POSITIVE] = None,
    scale: Annotated[str, SCALE] = "standard",
    missing: Annotated[str, MISSING] = "error",
    time_limit: Annotated[
        float | None, typer.Option("--time-limit", help="End a search after so many seconds.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the learner's random numbers.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter of the learner; may be repeated."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="Save the model to this JSON file, for predict.")] = None,
    force: Annotated[bool, FORCE] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Learn from all rows of your own CSV: errors, bound, and the rule in the table's units.

    A column with text becomes one indicator per level, named column=level. More than two classes need a learner
    for several, or --positive. On a terminal a search shows its progress; Ctrl-C ends it with the best rule so
    far.

    **Examples**

    `zoloss fit mine.csv`: the fewest training errors that the pivot search finds

    `zoloss fit mine.csv --learner certify --time-limit 60`: with a proof of how many cannot be avoided

    `zoloss fit mine.csv --label outcome --positive yes --model mine.json`: a rule to keep

    `zoloss fit mine.csv --learner rcd-bias --set epochs=500 --json`: for another program

    `zoloss fit iris.csv --learner ecc:stump --set rounds=50 --model iris.json`: several classes
    """
    from zoloss_cli.datasets.csv_table import read_for_training
    from zoloss_cli.utils import atomic_io as output
    from zoloss_cli.workflows import fit_text as show
    from zoloss_cli.workflows import learner_options as options
    from zoloss_cli.workflows import model_io as model_file
    from zoloss_cli.workflows.estimator_state import cannot_be_kept
    from zoloss_cli.workflows.fit import train

    check_choice("--scale", scale, SCALINGS)
    check_choice("--missing", missing, POLICIES)
    spec = options.chosen_learner(learner, settings or [], time_limit)
    if model is not None:
        if name := cannot_be_kept(spec):
            raise ConfigError(
                f"--model: what '{name}' learns cannot be saved: it is no linear rule, nor made of such"
            )
        output.check_target(model, force, [data])
    table = read_for_training(data, label, missing)
    fitted = train(table, spec, positive, scale, seed)
    typer.echo(show.as_json(fitted) if as_json else show.as_text(fitted))
    show_notes(fitted.notes)
    if model is not None:
        output.write(model, model_file.model_text(fitted, missing), force, [data])
        show_notes([f"the model is in {model}; apply it with: zoloss predict {model} NEW.csv"])


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `zoloss fit --model` saved.")],
    data: Annotated[Path, typer.Argument(help="The new rows: a CSV file with the model's columns.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this CSV file.")] = None,
    force: Annotated[bool, FORCE] = False,
) -> None:
    """Predict new rows by a saved model, as CSV with the columns prediction and score.

    Of more than two classes each has a score of its own, score=class: minus the distance to its code word.
    Columns are found by name, in any order. A label column may be there; then the errors are counted.

    **Examples**

    `zoloss predict mine.json new.csv`

    `zoloss predict mine.json new.csv --out predicted.csv`
    """
    from zoloss_cli.utils.atomic_io import check_target, write
    from zoloss_cli.workflows.model_io import read_model
    from zoloss_cli.workflows.predict import apply

    if out is not None:
        check_target(out, force, [model, data])
    predicted = apply(read_model(model), data)
    show_notes(predicted.notes)
    if out is None:
        typer.echo(predicted.csv(), nl=False)
    else:
        write(out, predicted.csv(), force, [model, data])


def check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{option}: '{value}' is not valid{suggest_nearest(value, choices)}")


def show_notes(notes: list[str]) -> None:
    for note in notes:
        typer.echo(f"zoloss: {note}", err=True)
