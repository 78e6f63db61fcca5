"""A package that another user installed, without a home and in a folder that cannot be written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bare_user import BareUser
from places import REFERENCE, TOP
from processes import HANG_SECONDS, environment

RULE = "datasets: [sonar]\nsplit: {repeats: 4, seed: 5}\nlearners: {ave-perc: {epochs: 5}, fld: }\n"
TABLE = "a,b,label\n" + "".join(f"{i},{i * i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(30))
READERS = ["table", "compare", "stats", "status"]
COMPILED = "kernels are compiled for this process alone"


@pytest.fixture(scope="module")
def user():
    """Somebody who may write into one folder only, and works in another."""
    user = BareUser({"mine.csv": TABLE, "mine.yaml": RULE})
    yield user
    user.remove()


@pytest.fixture
def installed(user):
    """Run `zoloss ARGS...` as that user."""
    return user.run


@pytest.fixture
def writable(user):
    """The folder that may be written into, empty."""
    for path in user.writable.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return user.writable


def test_the_user_may_write_nowhere_else(user):
    """Or the other tests would show nothing."""
    code = (
        "import os, sys\n"
        "print(os.geteuid(), [os.access(p, os.W_OK) for p in sys.argv[1:]], 'HOME' in os.environ)"
    )
    folders = [user.place, user.place / "zoloss_cli", user.place / "work", TOP, user.writable]
    ended = user.run_python("-c", code, *folders)
    allowed = [False, False, False, os.geteuid() != 0, True]
    assert ended.out.partition(" ")[2] == f"{allowed} False\n", ended.err
    assert int(ended.out.partition(" ")[0]) != 0


def test_a_rule_is_fitted_and_used_and_nothing_is_left_behind(installed, writable):
    model = writable / "m.json"
    ended = installed("fit", "mine.csv", "--learner", "fld", "--model", model)
    assert ended.code == 0, ended.err
    predicted = installed("predict", model, "mine.csv", "--out", writable / "p.csv")
    assert predicted.code == 0, predicted.err
    assert {path.name for path in writable.iterdir()} == {"m.json", "p.csv"}  # and no folder of kernels


def test_workers_share_what_was_compiled(installed, writable):
    results = writable / "results"
    ended = installed("run", "mine.yaml", "--out", results, "--jobs", "2")
    assert ended.code == 0, ended.err
    assert ended.err.count(COMPILED) == 1
    assert "kept for the next run" not in ended.err
    again = installed("run", "mine.yaml", "--out", results)
    assert "8 were done, 0 run" in again.err
    shown = installed("table", results)
    assert shown.code == 0, shown.err
    assert "sonar" in shown.out
    assert installed("report", results, "-o", writable / "page.html").code == 0
    assert {path.name for path in writable.iterdir()} == {"results", "page.html"}


@pytest.fixture(scope="module")
def reference():
    """A copy of the reference results: a checkout may lie in a folder that others cannot enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copytree(REFERENCE, Path(folder, "reference"))


@pytest.mark.parametrize("command", READERS)
def test_results_are_read(installed, command, reference):
    ended = installed(command, reference, *(["--table", "II"] if command != "status" else []))
    assert ended.code == 0, ended.err
    assert "kernels" not in ended.err


@pytest.mark.parametrize("arguments", [("datasets",), ("learners",), ("validate", "mine.yaml")])
def test_lists_and_configs_compile_nothing(installed, arguments):
    ended = installed(*arguments)
    assert ended.code == 0, ended.err
    assert ended.err == ""


def test_without_any_folder_kernels_stay_in_memory(installed, user):
    ended = installed(
        "fit", "mine.csv", "--learner", "ave-perc", "--set", "epochs=5", temporary=user.place / "work"
    )
    assert ended.code == 0, ended.err
    assert ended.err.count(COMPILED) == 1


@pytest.mark.parametrize(
    "arguments", [("run", "mine.yaml"), ("fit", "mine.csv", "--learner", "fld", "--model", "m.json")]
)
def test_a_folder_that_cannot_be_written_to_is_one_sentence(installed, arguments):
    ended = installed(*arguments)
    assert ended.code in (4, 7)
    assert ended.err.splitlines()[-1].startswith("zoloss: ")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["table", "compare", "status"])
def test_readers_do_not_import_numba(command):
    code = (
        "import sys; from zoloss_cli.cli.app import app\n"
        f"app([{command!r}, {str(REFERENCE)!r}], standalone_mode=False)\n"
        "print(sorted({'numba', 'zoloss_cli.kernels'} & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=TOP,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env=environment(),
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.endswith("[]\n")
