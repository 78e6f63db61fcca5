"""Load a config for a command: checked by itself, and against the figures that can be drawn from it."""

from __future__ import annotations

from pathlib import Path

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import Experiment
from zoloss_cli.reporting.figures.registry import find_drawn_as


def load_experiment(path: Path) -> Experiment:
    """Return the experiment of a config; every mistake raises a ConfigError that names file and key."""
    experiment = load_config(path)
    if experiment.published and experiment.published.drawn_as:
        find_drawn_as(experiment.published.drawn_as, str(path))
    return experiment
