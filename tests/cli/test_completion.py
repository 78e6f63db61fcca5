"""What a shell offers after TAB, through the protocol that bash speaks with the command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from places import TOP
from processes import environment, run_zoloss

from zoloss_cli.cli import _completion as completion
from zoloss_cli.config.catalog import load_catalog
from zoloss_cli.figures.registry import FIGURE_NAMES, FIGURE_NUMBERS
from zoloss_cli.registry import GENERATORS, LEARNERS

# Imported by commands that compute, never by a completion.
HEAVY = ("numpy", "matplotlib", "numba", "scipy", "sklearn", "pandas", "cvxpy", "zoloss_cli.config", "tabulate")


def offered(line: str, folder: Path = TOP, more: str = "") -> list[str]:
    """The completions of the last word of a line; a line that ends in a space has an empty last word."""
    words = line.split(" ")
    asked = {"_ZOLOSS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    ended = run_zoloss(env=environment(more) | asked, cwd=folder)
    assert ended.err == ""
    return ended.out.split()


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("zoloss fit mine.csv --learner rcd-c", ["rcd-conj", "rcd-conj-bias"]),
        ("zoloss fit mine.csv -l certi", ["certify"]),
        ("zoloss fit mine.csv --scale ", ["standard", "minmax", "none"]),
        ("zoloss fit mine.csv --missing d", ["drop"]),
        ("zoloss complexity mine.csv --kernel ", ["perceptron", "stump", "rbf", "linear"]),
        ("zoloss prune mine.csv --by n", ["neighbours"]),
        ("zoloss learners rcd-grad", ["rcd-grad", "rcd-grad-batch"]),
        ("zoloss datasets show i", ["indian", "ionosphere", "iris"]),
        ("zoloss datasets show th", ["threenorm"]),
        ("zoloss datasets fetch th", []),
        ("zoloss table results/reference --format l", ["latex"]),
        ("zoloss table results/reference --table I", ["II", "III", "IV"]),
        ("zoloss compare results/reference -t nguyen-table4-c", ["nguyen-table4-clean"]),
        ("zoloss table nowhere --table ", []),
        ("zoloss run configs/table2.yaml --datasets heart,s", ["heart,sonar"]),
        ("zoloss run table2.yaml --learners rcd-plain,rcd", ["rcd-plain,rcd-bias"]),
        ("zoloss run nowhere.yaml --learners ", []),
        ("zoloss evaluate mine.csv --learners svm,rcd-p", ["svm,rcd-plain"]),
        ("zoloss stats results/reference --table 2.", ["2.2", "2.3", "2.4"]),
        ("zoloss plot results/reference --figure r", ["rcd-steps", "ranks"]),
        ("zoloss plot --figure boundary --dataset yin", ["yinyang"]),
        ("zoloss val", ["validate"]),
    ],
)
def test_values_are_completed(line, lines):
    assert offered(line) == lines


def test_every_figure_is_offered():
    assert offered("zoloss plot --figure ") == list(dict.fromkeys((*FIGURE_NAMES, *FIGURE_NUMBERS)))


def test_every_learner_and_data_set_is_offered():
    assert completion.complete_learner("") == list(LEARNERS)
    assert set(completion.complete_dataset("")) == {*load_catalog(), *GENERATORS}
    assert set(completion.complete_embedded_dataset("")) == set(load_catalog())


def test_lists_are_completed_after_the_last_comma():
    assert completion.complete_learner_list("fld,svm,s") == [
        "fld,svm," + n for n in LEARNERS if n[0] == "s" != n and n != "svm"
    ]
    assert completion.complete_learner_list("pivo") == ["pivot"]
    assert completion.complete_learner_list("pivot,pivo") == []


def test_names_of_a_users_own_config_and_results(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "datasets: {a b: , c: {csv: c.csv}}\nlearners: [fld]\n", encoding="utf-8"
    )
    assert offered("zoloss run mine.yaml --datasets c", tmp_path) == ["c"]
    (tmp_path / "torn.yaml").write_text("datasets: {a", encoding="utf-8")
    assert offered("zoloss run torn.yaml --datasets ", tmp_path) == []
    runs = tmp_path / "results" / "runs"
    runs.mkdir(parents=True)
    (runs / "torn.json").write_text('{"experiment', encoding="utf-8")
    (runs / "list.json").write_text("[]", encoding="utf-8")
    (runs / "mine.json").write_text(json.dumps({"experiment": {"name": "mine"}}), encoding="utf-8")
    assert offered("zoloss table --table ", tmp_path) == ["mine"]


def test_nothing_is_waited_for_or_read_without_end(tmp_path):
    """A pipe that nobody writes to, a device, and aliases that stand for 9^20 values."""
    runs = tmp_path / "results" / "runs"
    runs.mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe.yaml")
    os.mkfifo(runs / "pipe.json")
    (runs / "zeros.json").symlink_to("/dev/zero")
    (runs / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    (runs / "odd.json").write_text(
        '{"experiment": {"name": ["a"], "published": {"table": 5}}}', encoding="utf-8"
    )
    (runs / "mine.json").write_text('{"experiment": {"name": "mine"}}', encoding="utf-8")
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 21))
    bomb = f"a0: &a0 [x]\n{levels}datasets: [*a20, heart, [sonar]]\n"
    (tmp_path / "bomb.yaml").write_text(bomb, encoding="utf-8")
    deep = "learners: {fld: " + "[" * 5000 + "]" * 5000 + ", lr: }\n"
    (tmp_path / "deep.yaml").write_text(deep, encoding="utf-8")
    assert offered("zoloss table --table ", tmp_path) == ["mine"]
    assert offered("zoloss run pipe.yaml --datasets ", tmp_path) == []
    assert offered("zoloss run bomb.yaml --datasets ", tmp_path) == ["heart"]
    assert offered("zoloss run deep.yaml --learners l", tmp_path) == ["lr"]


@pytest.mark.parametrize(
    "line",
    [
        "zoloss fit --learner ",
        "zoloss datasets show ",
        "zoloss table results/reference --table ",
        "zoloss run configs/table2.yaml --datasets ",
    ],
)
def test_nothing_heavy_is_imported(line, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"atexit.register(lambda: os.write(2, ','.join(m for m in {HEAVY} if m in sys.modules).encode()))\n",
        encoding="utf-8",
    )
    assert offered(line, more=str(tmp_path))


def test_the_shell_script_calls_this_program():
    known_shell = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    ended = run_zoloss("--show-completion", "bash", env=environment() | known_shell)
    assert ended.code == 0, ended.err
    assert "_ZOLOSS_COMPLETE=complete_bash" in ended.out
    assert "complete -o default -F _zoloss_completion zoloss" in ended.out
