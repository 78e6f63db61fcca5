"""The command `zoloss predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.choices import UNKNOWN_POLICIES
from zoloss_cli.cli import _options as options


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `zoloss fit --model` saved.")],
    data: Annotated[
        Path, options.data_argument("The new samples: a table with the model's columns; - for standard input.")
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this CSV file.")] = None,
    force: options.Force = False,
    unknown: Annotated[
        str | None,
        options.choice_option(
            "--unknown",
            choices=UNKNOWN_POLICIES,
            help="Levels unseen in training: error rejects the table (also for any other row that cannot be "
            "predicted), ignore sets all indicators to zero (default: treat as missing).",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="Columns to copy to the output, such as an id, separated by commas.",
        ),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Accept a model file that was changed after it was saved.")
    ] = False,
) -> None:
    """Predict new samples with a saved model: CSV with the columns prediction and score.

    With more than two classes, each has its own column score=class: minus the distance to its code word.
    Columns are matched by name, in any order. If the label column is present, errors are counted. Missing
    values are filled as the model says; a row that cannot be predicted is left blank, and the column reason
    says why.

    **Examples**

    `zoloss predict mine.json new.csv`

    `zoloss predict mine.json new.csv --out predicted.csv`

    `zoloss predict mine.json new.csv --keep patient,date --unknown ignore`: with columns copied from the table
    """
    from zoloss_cli.api.models import read_model
    from zoloss_cli.api.predict import predict_table
    from zoloss_cli.utils.files import check_target, write

    if out is not None:
        check_target(out, force, [model, data])
    saved = read_model(model, trust)
    predictions = predict_table(saved, data, unknown, keep or [])
    text = predictions.render_csv()
    options.show_notes([*saved.notes, *predictions.notes])
    if out is None:
        typer.echo(text, nl=False)
    else:
        write(out, text, force, [model, data])
