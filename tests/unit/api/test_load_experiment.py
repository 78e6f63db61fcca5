"""Configs as commands take them."""

from __future__ import annotations

import pytest

from zoloss_cli.api.experiments import load_experiment
from zoloss_cli.errors import ConfigError

CONFIG = "datasets: [heart]\nlearners: [fld]\npublished: {{paper: someone-2020, figure: '3', drawn_as: {}}}\n"


def test_a_kind_of_figure_that_does_not_exist_is_found_before_anything_runs(write_config, zoloss):
    path = write_config(CONFIG.format("curvs"))
    with pytest.raises(
        ConfigError, match=r"small\.yaml: published\.drawn_as: .*'curvs'; did you mean 'curves'"
    ):
        load_experiment(path)
    assert zoloss("validate", path).code == 2
    assert zoloss("run", path, "--dry-run").code == 2


def test_a_kind_of_figure_that_exists_is_fine(write_config):
    assert load_experiment(write_config(CONFIG.format("curves"))).published.drawn_as == "curves"
