"""The command `zoloss predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _options as options


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `zoloss fit --model` saved.")],
    data: Annotated[Path, options.data_argument("The new samples: a CSV file with the model's columns.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this CSV file.")] = None,
    force: options.Force = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Use a model file that was changed after it was fitted.")
    ] = False,
) -> None:
    """Predict new samples by a saved model, as CSV with the columns prediction and score.

    Of more than two classes each has a score of its own, score=class: minus the distance to its code word.
    Columns are found by name, in any order. A label column may be there; then the errors are counted.

    **Examples**

    `zoloss predict mine.json new.csv`

    `zoloss predict mine.json new.csv --out predicted.csv`
    """
    from zoloss_cli.utils.atomic_io import check_target, write
    from zoloss_cli.workflows.model_io import read_model
    from zoloss_cli.workflows.predict import predict_table

    if out is not None:
        check_target(out, force, [model, data])
    saved = read_model(model, trust)
    predictions = predict_table(saved, data)
    options.show_notes([*saved.notes, *predictions.notes])
    if out is None:
        typer.echo(predictions.render_csv(), nl=False)
    else:
        write(out, predictions.render_csv(), force, [model, data])
