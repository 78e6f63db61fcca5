"""The program as a whole: commands imported when they are called, their summaries, and shared options."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import get_args

import pytest
import typer
from places import TOP

from zoloss_cli import choices
from zoloss_cli.cli.app import COMMANDS, load_command
from zoloss_cli.complexity.hard_margin import Kernel
from zoloss_cli.config.models import Preprocess, Prune

HEAVY = ("numpy", "matplotlib", "numba", "scipy", "sklearn", "pandas", "cvxpy", "yaml", "tabulate")
OWN_DATA = ("fit", "evaluate", "complexity", "prune")


def imported_by(*commands: list) -> set[str]:
    """The modules that commands leave imported, which are run one after the other in a new process."""
    code = (
        "import contextlib, io, sys\n"
        "from zoloss_cli.cli.app import app\n"
        f"for words in {[[str(word) for word in words] for words in commands]}:\n"
        "    with contextlib.redirect_stdout(io.StringIO()):\n"
        "        app(words, standalone_mode=False)\n"
        "print(*sys.modules, sep='\\n')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=TOP, capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_the_first_line_of_the_command_s_docstring(name):
    found = getattr(importlib.import_module(f"zoloss_cli.cli.{name}"), name)
    function = found.registered_callback.callback if isinstance(found, typer.Typer) else found
    assert inspect.getdoc(function).partition("\n")[0] == COMMANDS[name]
    assert load_command(name).name == name


def test_every_file_of_a_command_is_registered():
    files = {path.stem for path in (TOP / "zoloss_cli" / "cli").glob("[a-z]*.py")}
    assert files - {"app"} == set(COMMANDS)


def test_help_imports_no_command_and_nothing_heavy():
    modules = imported_by(["--help"])
    assert not modules & set(HEAVY)
    assert not modules & {f"zoloss_cli.cli.{name}" for name in COMMANDS}


def test_the_help_of_a_command_imports_nothing_heavy():
    assert not imported_by(*([name, "--help"] for name in COMMANDS)) & set(HEAVY)


def test_fit_imports_ensembles_only_to_save_or_fit_one(tmp_path):
    data, model = "datasets/heart.csv", tmp_path / "m.json"
    modules = imported_by(["fit", data, "--learner", "fld", "--model", model], ["predict", model, data])
    assert "zoloss_cli.api.states" in modules
    ensembles = ("zoloss_cli.learners.boosting", "zoloss_cli.learners.multiclass")
    assert not [name for name in modules if name.startswith(ensembles)]


def test_an_unknown_command_is_refused_with_the_nearest_one(zoloss):
    ended = zoloss("tabel")
    assert ended.code == 2
    assert "No such command 'tabel'" in ended.err
    assert "table" in ended.err


def test_tables_of_one_s_own_are_scaled_alike():
    for name in OWN_DATA:
        (scale,) = (option for option in load_command(name).params if option.name == "scale")
        assert scale.default == choices.DEFAULT_SCALING


def test_choices_are_those_of_configs_and_the_library():
    assert set(choices.SCALINGS) == set(get_args(Preprocess.model_fields["scale"].annotation))
    assert set(choices.NOISE_SCORES) == set(get_args(Prune.model_fields["by"].annotation))
    assert set(choices.KERNELS) == set(get_args(Kernel)) - {"precomputed"}
