"""The program as a whole: what it imports, its help, and options that several commands share."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

from places import TOP

from zoloss_cli import choices
from zoloss_cli.cli.app import COMMANDS, load_command
from zoloss_cli.complexity.hard_margin import Kernel
from zoloss_cli.config.models import CsvData, Preprocess, Prune

HEAVY = ("numpy", "matplotlib", "numba", "scipy", "sklearn", "pandas", "cvxpy", "yaml", "tabulate")


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


def test_every_file_of_a_command_is_registered():
    files = {path.stem for path in (TOP / "zoloss_cli" / "cli").glob("[a-z]*.py")}
    assert files - {"app"} == set(COMMANDS)


def test_help_lists_every_command_with_the_first_line_of_its_help(zoloss):
    listed = " ".join(zoloss("--help").out.replace("│", " ").split())
    for name in COMMANDS:
        command = load_command(name)
        assert command.name == name
        first = command.help.partition("\n")[0].replace("`", "")  # which mark code
        assert f"{name} {first}" in listed
    ended = zoloss("tabel")
    assert ended.code == 2
    assert "No such command 'tabel'" in ended.err


def test_help_imports_nothing_heavy():
    assert not imported_by(["--help"], *([name, "--help"] for name in COMMANDS)) & set(HEAVY)


def test_fit_imports_ensembles_only_to_save_or_fit_one(tmp_path):
    data, model = "datasets/heart.csv", tmp_path / "m.json"
    modules = imported_by(["fit", data, "--learner", "fld", "--model", model], ["predict", model, data])
    assert "zoloss_cli.api.models" in modules
    ensembles = ("zoloss_cli.learners.boosting", "zoloss_cli.learners.multiclass")
    assert not [name for name in modules if name.startswith(ensembles)]


def test_choices_are_those_of_configs_and_the_library():
    for name in ("fit", "evaluate", "complexity", "prune"):
        (scale,) = (option for option in load_command(name).params if option.name == "scale")
        assert scale.default == choices.DEFAULT_SCALING
    for names, model, key in (
        (choices.SCALINGS, Preprocess, "scale"),
        (choices.MISSING_POLICIES, CsvData, "missing"),
        (choices.NOISE_SCORES, Prune, "by"),
    ):
        assert set(names) == set(get_args(model.model_fields[key].annotation))
    assert set(choices.KERNELS) == set(get_args(Kernel)) - {"precomputed"}
