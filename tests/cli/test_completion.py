"""What a shell offers after TAB, through the protocol that bash speaks with the command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from places import TOP
from processes import environment, run_zoloss

from zoloss_cli.cli import _options as completion
from zoloss_cli.figures.figure_kinds import FIGURE_NAMES, FIGURE_NUMBERS
from zoloss_cli.registry import GENERATORS, LEARNERS
from zoloss_cli.utils.files import list_embedded_datasets

# Imported by commands that compute, never by a completion.
HEAVY = ("numpy", "matplotlib", "numba", "scipy", "sklearn", "pandas", "cvxpy", "zoloss_cli.config", "tabulate")


def ask(line: str) -> dict[str, str]:
    """The variables with which bash asks for the last word of a line; after a space it is empty."""
    words = line.split(" ")
    return {"_ZOLOSS_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


@pytest.fixture
def offered(zoloss, monkeypatch):
    """Return the completions of the last word of a line, in a folder."""

    def complete(line: str, folder: Path = TOP) -> list[str]:
        monkeypatch.chdir(folder)
        for name, value in ask(line).items():
            monkeypatch.setenv(name, value)
        ended = zoloss()
        assert ended.err == ""
        return ended.out.split()

    return complete


COMPLETED = {
    "zoloss fit mine.csv --learner rcd-c": [name for name in LEARNERS if name.startswith("rcd-c")],
    "zoloss fit mine.csv --scale ": ["standard", "minmax", "none"],
    "zoloss fit mine.csv --missing d": ["drop"],
    "zoloss complexity mine.csv --kernel ": ["perceptron", "stump", "rbf", "linear"],
    "zoloss learners rcd-grad": ["rcd-grad", "rcd-grad-batch"],
    "zoloss datasets show i": [name for name in list_embedded_datasets() if name.startswith("i")],
    "zoloss datasets fetch th": [],
    "zoloss table results/reference --format l": ["latex"],
    "zoloss table results/reference --table I": ["II", "III", "IV"],
    "zoloss compare results/reference -t nguyen-table4-c": ["nguyen-table4-clean"],
    "zoloss table nowhere --table ": [],
    "zoloss run configs/table2.yaml --datasets heart,s": ["heart,sonar"],
    "zoloss run table2.yaml --learners rcd-plain,rcd": ["rcd-plain,rcd-bias"],
    "zoloss evaluate mine.csv --learners svm,rcd-p": ["svm,rcd-plain"],
    "zoloss stats results/reference --table 2.": ["2.2", "2.3", "2.4"],
    "zoloss plot results/reference --figure r": [name for name in FIGURE_NAMES if name.startswith("r")],
    "zoloss plot --figure boundary --dataset yin": ["yinyang"],
    "zoloss val": ["validate"],
}


def test_values_are_completed(offered):
    figures = {"zoloss plot --figure ": list(dict.fromkeys((*FIGURE_NAMES, *FIGURE_NUMBERS)))}
    for line, values in (COMPLETED | figures).items():
        assert offered(line) == values, line


def test_lists_are_completed_after_the_last_comma_and_every_name_is_offered():
    assert completion.complete_learner("") == list(LEARNERS)
    assert set(completion.complete_dataset("")) == {*list_embedded_datasets(), *GENERATORS}
    assert completion.complete_learner_list("fld,svm,s") == [
        "fld,svm," + n for n in LEARNERS if n[0] == "s" != n and n != "svm"
    ]
    assert completion.complete_learner_list("pivot,pivo") == []


def test_names_of_a_users_own_files_are_offered_and_nothing_is_waited_for(offered, tmp_path):
    """Not for a pipe that nobody writes to, a device, or aliases that stand for 9^20 values."""
    own = "datasets: {a b: , c: {csv: c.csv}}\nlearners: [fld]\n"
    (tmp_path / "mine.yaml").write_text(own, encoding="utf-8")
    (tmp_path / "torn.yaml").write_text("datasets: {a", encoding="utf-8")
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
    (runs / "torn.json").write_text('{"experiment', encoding="utf-8")
    assert offered("zoloss table --table ", tmp_path) == ["mine"]
    (runs.parent / "reference").mkdir()
    runs.rename(runs.parent / "reference" / "runs")  # which is read if there are no others
    assert offered("zoloss table --table ", tmp_path) == ["mine"]
    assert offered("zoloss run mine.yaml --datasets c", tmp_path) == ["c"]
    for name in ("torn", "pipe"):
        assert offered(f"zoloss run {name}.yaml --datasets ", tmp_path) == []
    assert offered("zoloss run bomb.yaml --datasets ", tmp_path) == ["heart"]
    assert offered("zoloss run deep.yaml --learners l", tmp_path) == ["lr"]


def test_nothing_heavy_is_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"atexit.register(lambda: os.write(2, ','.join(m for m in {HEAVY} if m in sys.modules).encode()))\n",
        encoding="utf-8",
    )
    line = "zoloss run configs/table2.yaml --datasets "
    ended = run_zoloss(env=environment(tmp_path) | ask(line), cwd=TOP)
    assert ended.err == ""
    assert "heart" in ended.out.split()


def test_the_shell_script_calls_this_program(zoloss, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    ended = zoloss.ok("--show-completion", "bash")
    assert "_ZOLOSS_COMPLETE=complete_bash" in ended.out
