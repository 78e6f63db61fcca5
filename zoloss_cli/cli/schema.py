"""The command `zoloss schema`."""

from __future__ import annotations

import json

import typer


def schema() -> None:
    """Show the JSON schema of configs, for editors.

    **Example:** `zoloss schema > configs/schema.json`
    """
    from zoloss_cli.config.schema import build_config_schema

    typer.echo(json.dumps(build_config_schema(), indent=1, ensure_ascii=False))
