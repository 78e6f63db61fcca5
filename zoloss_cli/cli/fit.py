"""The command `zoloss fit`."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.cli import _options as options
from zoloss_cli.workflows.choices import CALIBRATIONS, DEFAULT_SCALING


def fit(
    data: options.DataFile,
    learner: Annotated[
        str | None,
        typer.Option(
            "--learner",
            "-l",
            help="See `zoloss learners` (default: one that suits the size of the table).",
            autocompletion=completion.complete_learner,
        ),
    ] = None,
    label: options.LabelColumn = None,
    positive: options.PositiveClass = None,
    scale: options.Scaling = DEFAULT_SCALING,
    missing: options.MissingPolicy = "error",
    drop: options.DropColumns = None,
    features: options.FeatureColumns = None,
    id: options.IdColumn = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="End after so many seconds, reading and validation included."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the learner's random numbers.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter of the learner; may be repeated."),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option("--validate/--no-validate", help="Estimate the error on new samples by cross-validation."),
    ] = True,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight", metavar="CLASS=WEIGHT", help="Weigh classes: balanced, or CLASS=WEIGHT, repeated."
        ),
    ] = None,
    cost_fp: Annotated[
        float | None, typer.Option("--cost-fp", help="The cost of a negative sample taken for positive.")
    ] = None,
    cost_fn: Annotated[
        float | None, typer.Option("--cost-fn", help="The cost of a positive sample taken for negative.")
    ] = None,
    calibrate: Annotated[
        str | None,
        options.choice_option(
            "--calibrate", choices=CALIBRATIONS, help="Make probabilities of scores: sigmoid or isotonic."
        ),
    ] = None,
    allow_code: options.AllowCode = False,
    model: Annotated[Path | None, typer.Option(help="Save the model to this JSON file, for predict.")] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the proof of the bound of certify to this .json.gz file, for verify."),
    ] = None,
    force: options.Force = False,
    show_all: Annotated[bool, typer.Option("--all", help="Show the weights of all features.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> None:
    """Fit a learner to all samples of your own CSV: errors, bound, and the rule in the table's units.

    A column with text becomes one indicator per level, named column=level. More than two classes need a learner
    for several, or --positive. On a terminal a search shows its progress; Ctrl-C ends it with the best rule so
    far.

    **Examples**

    `zoloss fit mine.csv`: a learner that suits its size, training errors, and errors on samples left out

    `zoloss fit mine.csv --learner certify --time-limit 60`: with a proof of how many cannot be avoided

    `zoloss fit mine.csv --learner certify --certificate proof.json.gz`: a proof that others can check

    `zoloss fit mine.csv --label outcome --positive yes --model mine.json`: a rule to keep

    `zoloss fit mine.csv --cost-fn 5 --calibrate sigmoid --model mine.json`: dear errors, and probabilities

    `zoloss fit mine.csv --learner rcd-bias --set epochs=500 --json`: for another program

    `zoloss fit iris --learner ecc:stump --set rounds=50 --model iris.json`: several classes
    """
    start = time.perf_counter()  # loading the program counts, too
    from zoloss_cli.datasets.csv_table import read_for_training
    from zoloss_cli.utils import atomic_io, code_files
    from zoloss_cli.workflows import fit_text
    from zoloss_cli.workflows.class_weights import Weighting
    from zoloss_cli.workflows.fit_request import FitRequest
    from zoloss_cli.workflows.time_budget import TimeBudget

    budget = TimeBudget(time_limit, start=start)
    weighting = Weighting(tuple(class_weight or ()), cost_fp, cost_fn)
    request = FitRequest(
        learner, settings or [], time_limit, positive, scale, seed, validate, weighting, calibrate
    )
    with code_files.allow_code(allow_code):
        spec = request.parse()
        if model is not None:
            from zoloss_cli.workflows.model_io import check_serializable

            if spec is not None:
                check_serializable(spec)
            atomic_io.check_target(model, force, [data])
        if certificate is not None:
            from zoloss_cli.workflows.certificate import check_certifying, prepare_features

            check_certifying(learner)
            atomic_io.check_target(certificate, force, [data])
        with budget.measure("reading"):
            selection = options.select_columns(drop, features, id)
            table = read_for_training(data, label, missing, selection=selection)
        if certificate is not None:
            request = replace(request, exact=prepare_features(table, positive, weighting))
        fitted = request.run(table, budget)
    options.show(fit_text.render_json(fitted) if as_json else fit_text.render_text(fitted, show_all))
    options.show_notes(fitted.notes)
    if model is not None:
        from zoloss_cli.workflows.model_io import render_model

        atomic_io.write(model, render_model(fitted, missing), force, [data])
        options.show_notes([f"the model is in {model}; apply it with: zoloss predict {model} NEW.csv"])
    if certificate is not None and request.exact is not None:
        from zoloss_cli.workflows.certificate import build_certificate, describe_certificate, render_certificate

        reading = {
            "label": table.label,
            "positive": positive,
            "missing": missing,
            "drop": drop or [],
            "features": features or [],
            "id": id,
        }
        built = build_certificate(fitted, request.exact, reading)
        atomic_io.write(certificate, render_certificate(built), force, [data])
        options.show_notes(
            describe_certificate(built, certificate, data, fitted.lower_bound, fitted.errors > 0)
        )
