"""The command `zoloss fit`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zoloss_cli.choices import CALIBRATIONS, DEFAULT_SCALING
from zoloss_cli.cli import _options as options

if TYPE_CHECKING:
    from zoloss_cli.api.fit import TableFit
    from zoloss_cli.config.models import LearnerSpec


def fit(
    data: options.DataFile,
    learner: Annotated[
        str | None,
        options.learner_option(
            "Learner to fit; see `zoloss learners` (default: chosen by the size of the table).",
            "--learner",
            "-l",
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
        typer.Option(
            "--time-limit", help="Time limit of the whole command in seconds, reading and validation included."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the learner's random numbers.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter of the learner; can be repeated."),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option("--validate/--no-validate", help="Estimate the error on new samples by cross-validation."),
    ] = True,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight",
            metavar="CLASS=WEIGHT",
            help="Class weights: balanced, or CLASS=WEIGHT; can be repeated.",
        ),
    ] = None,
    cost_fp: Annotated[float | None, typer.Option("--cost-fp", help="Cost of a false positive.")] = None,
    cost_fn: Annotated[float | None, typer.Option("--cost-fn", help="Cost of a false negative.")] = None,
    calibrate: Annotated[
        str | None,
        options.choice_option(
            "--calibrate", choices=CALIBRATIONS, help="Calibrate scores to probabilities: sigmoid or isotonic."
        ),
    ] = None,
    max_terms: options.MaxTerms = None,
    max_points: options.MaxPoints = None,
    monotone: options.Monotone = None,
    require: options.RequiredColumns = None,
    forbid: options.ForbiddenColumns = None,
    allow_code: options.AllowCode = False,
    model: options.ModelFile = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="For scoring: write the score card to this file, .html, .tex, .md, .png, .svg or .pdf.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            help="For certify: write the proof of its bound to this .json.gz file, for `zoloss verify`."
        ),
    ] = None,
    force: options.Force = False,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit a learner to your data: errors, a lower bound, and the rule in the table's own units.

    A text column becomes one indicator per level, named column=level. More than two classes need a
    multiclass learner, or --positive. On a terminal, a search shows its progress; Ctrl-C stops it and keeps
    the best rule so far.

    **Examples**

    `zoloss fit mine.csv`: learner chosen by the size of the table, with cross-validated error

    `zoloss fit mine.csv --learner certify --time-limit 60`: with a proof of how many errors are unavoidable

    `zoloss fit mine.csv --learner certify --certificate proof.json.gz`: a proof that others can check

    `zoloss fit mine.csv --label outcome --positive yes --model mine.json`: save the model

    `zoloss fit mine.csv --cost-fn 5 --calibrate sigmoid --model mine.json`: asymmetric costs, and probabilities

    `zoloss fit mine.csv --learner rcd-bias --set epochs=500 --json`: for another program

    `zoloss fit mine.csv --learner scoring --max-terms 4 --monotone age:+ --out card.html`: a scoring system,
    as a score card

    `zoloss fit iris --learner ecc:stump --set rounds=50 --model iris.json`: several classes
    """
    start = time.perf_counter()  # loading the program counts as well
    from zoloss_cli.api.choose import TimeBudget
    from zoloss_cli.api.fit import FitRequest, Weighting, render_json, render_text
    from zoloss_cli.data.user_table import read_for_training
    from zoloss_cli.utils import imports

    budget = TimeBudget(time_limit, start=start)
    weighting = Weighting(tuple(class_weight or ()), cost_fp, cost_fn)
    scoring = options.build_scoring_options(max_terms, max_points, monotone, require, forbid)
    basics = (learner, settings or [], time_limit, positive, scale, seed, validate, weighting, calibrate)
    request = FitRequest(*basics, keeps_proof=certificate is not None, scoring=scoring)
    files = _FitFiles(model, out, certificate, force, data)
    with imports.allow_code(allow_code):
        files.check(request.parse(), learner)
        with budget.measure("reading"):
            selection = options.select_columns(drop, features, id)
            table = read_for_training(
                data, label, missing, selection=selection, as_written=learner == "certify"
            )
        if certificate is not None:
            from zoloss_cli.api.certificate import check_provable

            check_provable(table, positive, weighting)
        fitted = request.run(table, budget)
    options.show_notes(fitted.notes)
    options.show(render_json(fitted) if as_json else render_text(fitted, show_all))
    files.write(fitted, missing)


@dataclass(frozen=True)
class _FitFiles:
    """The files to write a fit to, None if not requested, and the table that is read."""

    model: Path | None
    card: Path | None
    certificate: Path | None
    force: bool
    data: Path

    def check(self, spec: LearnerSpec | None, learner: str | None) -> None:
        """Reject what cannot be written, before computing anything."""
        from zoloss_cli.utils import files as atomic_io

        if self.model is not None and spec is not None:
            from zoloss_cli.api.models import check_serializable

            check_serializable(spec)
        if self.card is not None:
            from zoloss_cli.api.choose import check_has_card
            from zoloss_cli.api.rules import find_card_format

            check_has_card(learner)
            find_card_format(self.card)
        if self.certificate is not None:
            from zoloss_cli.api.certificate import check_certifying

            check_certifying(learner)
        for path in filter(None, (self.model, self.card, self.certificate)):
            atomic_io.check_target(path, self.force, [self.data])

    def write(self, fitted: TableFit, missing: str) -> None:
        """Write all of them, and report where they are."""
        if self.model is not None:
            from zoloss_cli.api.models import render_model

            self._write(self.model, render_model(fitted, missing))
            options.show_model_file(self.model)
        if self.card is not None:
            from zoloss_cli.api.fit import build_card
            from zoloss_cli.api.rules import find_card_format, render_card

            card = build_card(fitted)
            assert card is not None  # the learner has a card
            self._write(self.card, render_card(card, find_card_format(self.card)))
            options.show_notes([f"the card is in {self.card}"])
        if self.certificate is not None:
            from zoloss_cli.api.certificate import build_certificate, describe_certificate, render_certificate

            built = build_certificate(fitted, missing)
            self._write(self.certificate, render_certificate(built))
            found = (fitted.lower_bound, fitted.errors > 0)
            options.show_notes(describe_certificate(built, self.certificate, self.data, *found))

    def _write(self, path: Path, content: str | bytes) -> None:
        from zoloss_cli.utils.files import write

        write(path, content, self.force, [self.data])
