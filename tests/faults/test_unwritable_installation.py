"""A package that another user installed, without a home and in a folder that cannot be written to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from places import TOP
from processes import HANG_SECONDS, Ended

# Root may write anywhere, unless it gives that right up.
AS_NO_ROOT = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
RULE = "datasets: [sonar]\nsplit: {repeats: 4, seed: 5}\nlearners: {rcd-bias: {epochs: 5}}\n"
TABLE = "a,b,label\n" + "".join(f"{i},{i * i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(30))
READERS = ["table", "compare", "stats", "status"]

REFERENCE = TOP / "results" / "reference"

pytestmark = pytest.mark.skipif(
    bool(AS_NO_ROOT) and shutil.which("setpriv") is None,
    reason="root may write anywhere, and setpriv is missing",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A copy of the package and a working folder, neither of which can be written to."""
    top = tmp_path_factory.mktemp("installed")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("zoloss_cli", "datasets", "configs"):
        shutil.copytree(TOP / name, top / name, ignore=ignored)
    (top / "work").mkdir()
    (top / "work" / "mine.csv").write_text(TABLE, encoding="utf-8")
    (top / "work" / "mine.yaml").write_text(RULE, encoding="utf-8")
    folders = [top, *(path for path in top.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    yield top
    for folder in folders:
        folder.chmod(stat.S_IRWXU)


@pytest.fixture
def installed(place, tmp_path):
    """Run `zoloss ARGS...` there, without a home. It would be made in the read-only copy: root owns `/`."""

    def run(*arguments, temporary: Path = tmp_path) -> Ended:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_CACHE", "XDG_", "ZOLOSS_"))}
        env = {**kept, "HOME": str(place / "no" / "home"), "PYTHONPATH": str(place), "TMPDIR": str(temporary)}
        command = [*AS_NO_ROOT, sys.executable, "-B", "-m", "zoloss_cli", *map(str, arguments)]
        ended = subprocess.run(
            command, cwd=place / "work", env=env, capture_output=True, text=True, timeout=HANG_SECONDS
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    return run


def test_a_learner_is_fitted_and_nothing_is_left_behind(installed, tmp_path):
    ended = installed("fit", "mine.csv", "--learner", "rcd-bias", "--set", "epochs=5")
    assert ended.code == 0, ended.err
    assert ended.err.count("kernels are compiled for this process alone") == 1
    assert not list(tmp_path.glob("zoloss-kernels-*"))


def test_workers_share_what_was_compiled(installed, tmp_path):
    ended = installed("run", "mine.yaml", "--out", tmp_path / "results", "--jobs", "2")
    assert ended.code == 0, ended.err
    assert ended.err.count("kernels are compiled for this process alone") == 1
    shown = installed("table", tmp_path / "results")
    assert shown.code == 0, shown.err
    assert "sonar" in shown.out
    assert "kept for the next run" not in ended.err
    assert installed("report", tmp_path / "results", "-o", tmp_path / "page.html").code == 0


@pytest.mark.parametrize("command", READERS)
def test_results_are_read(installed, command):
    ended = (
        installed(command, REFERENCE, "--table", "II") if command != "status" else installed(command, REFERENCE)
    )
    assert ended.code == 0, ended.err
    assert "kernels" not in ended.err


@pytest.mark.parametrize("arguments", [("datasets",), ("learners",), ("validate", "mine.yaml")])
def test_lists_and_configs_compile_nothing(installed, arguments):
    ended = installed(*arguments)
    assert ended.code == 0, ended.err
    assert ended.err == ""


def test_without_any_folder_kernels_stay_in_memory(installed, place):
    ended = installed("fit", "mine.csv", "--learner", "ave-perc", "--set", "epochs=5", temporary=place / "work")
    assert ended.code == 0, ended.err
    assert ended.err.count("kernels are compiled for this process alone") == 1


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
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.endswith("[]\n")
