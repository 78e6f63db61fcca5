"""zoloss validate, schema, learners"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zoloss_cli.cli import _completion as completion
from zoloss_cli.errors import ConfigError


def validate(configs: Annotated[list[Path], typer.Argument(help="Config files.")]) -> None:
    """Check configs without running them; every mistake is named with file, line and key.

    **Example:** `zoloss validate configs/*.yaml`
    """
    from zoloss_cli.config.loader import load_config
    from zoloss_cli.experiment.plan import plan

    mistakes = []
    for path in configs:
        try:
            experiment = load_config(path)
        except ConfigError as error:
            mistakes.append(str(error))
            continue
        cells = plan(experiment)
        typer.echo(f"{path}: valid; {len(cells)} cells, {sum(cell.repeats for cell in cells):,} units")
    if mistakes:
        raise ConfigError("\n".join(mistakes))


def schema() -> None:
    """Print the JSON schema of configs, for editors.

    **Example:** `zoloss schema > configs/schema.json`
    """
    import json

    from zoloss_cli.config.schema import config_schema

    typer.echo(json.dumps(config_schema(), indent=1, ensure_ascii=False))


def learners(
    name: Annotated[
        str | None, typer.Argument(help="Describe this learner or measure.", autocompletion=completion.learner)
    ] = None,
) -> None:
    """List the learners and measures, or describe one with its parameters, defaults and source.

    **Example:** `zoloss learners rcd-bias`
    """
    from tabulate import tabulate

    from zoloss_cli.registry import MEASURES, broken_learners, parameters, registration, working_learners

    def call(entry) -> str:
        fixed = ", ".join(f"{k}={v!r}" for k, v in entry.fixed.items())
        return f"{entry.learner_class.__name__}({fixed})"

    if name is None:
        lines = [
            [key, call(e), e.learner_class.__doc__.splitlines()[0]] for key, e in working_learners().items()
        ]
        lines += [[plugin.name, "broken", reason] for plugin, reason in broken_learners()]
        header, widths = ["name", "estimator", "what it is"], [None, None, 80]
        typer.echo(tabulate(lines, header, tablefmt="simple", maxcolwidths=widths))
        lines = [[key, call(e), e.learner_class.__doc__.splitlines()[0]] for key, e in MEASURES.items()]
        header[0] = "measure"
        typer.echo(f"\n{tabulate(lines, header, tablefmt='simple', maxcolwidths=widths)}")
        return
    import inspect

    from zoloss_cli.config.schema import type_text

    entry = registration(name)
    typer.echo(f"{name}: {call(entry)}\n\n{inspect.getdoc(entry.learner_class)}\n")
    lines = [
        [key, type_text(fact), fact.default, fact.description or ""]
        for key, fact in parameters(name).model_fields.items()
    ]
    typer.echo(
        tabulate(
            lines,
            ["parameter", "values", "default", "meaning"],
            tablefmt="simple",
            maxcolwidths=[None, 32, 24, 50],
            disable_numparse=True,
        )
    )
