"""Cells that a config leaves out."""

import pytest

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.report.runs import load_runs

CONFIG = """
published: {{paper: li-thesis-2006, table: "4.4"}}
datasets:
  vowel: {{train: predefined, repeats: 2}}
  iris: {{repeats: 2}}
split: {{train: 0.9, seed: 2006}}
learners:
  erp:max-2:LR:adaboost-stump:
    {{learner: erp, initial: max-2, schedule: LR, rounds: 3, base: {{learner: adaboost-stump, rounds: 2}}}}
  one-vs-one/one-vs-all:adaboost-stump:
    {{learner: one-vs-one, base: {{learner: adaboost-stump, rounds: 2}}, on: {on}}}
"""


def test_a_cell_that_is_false_is_neither_run_nor_waited_for(write_config, zoloss, tmp_path):
    path = write_config(CONFIG.format(on="{iris: false}"))
    places = [(c.data.name, c.learner.label.partition(":")[0]) for c in plan(load_config(path))]
    assert places == [("vowel", "erp"), ("vowel", "one-vs-one/one-vs-all"), ("iris", "erp")]
    zoloss("run", str(path), "--out", str(tmp_path / "r"))
    shown = zoloss("table", str(tmp_path / "r"), "--format", "text").out
    assert "incomplete" not in shown
    iris = next(line for line in shown.splitlines() if line.startswith("iris"))
    assert iris.split()[-1] == "–"
    (run,) = load_runs(tmp_path / "r")[0]
    assert f" {len(run.cells)}/{len(run.cells)} " in zoloss("status", tmp_path / "r").out
    assert len(run.cells) == run.n_cells < len(run.datasets) * len(run.learners)


def test_what_cannot_be_left_out(write_config):
    for on, reason in [
        ("{iris: true}", "or to false"),
        ("{iris: false, vowel: false}", "false for all data sets"),
        ("{iriss: false}", "did you mean 'iris'"),
    ]:
        with pytest.raises(ConfigError, match=reason):
            load_config(write_config(CONFIG.format(on=on)))
