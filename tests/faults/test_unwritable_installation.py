"""A package that another user installed, without a home and in a folder that cannot be written to."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from bare_user import BareUser
from places import REFERENCE, TOP
from processes import SEVERAL

RULE = "datasets: [sonar]\nsplit: {repeats: 2, seed: 5}\nlearners: {ave-perc: {epochs: 5}, fld: }\n"
TABLE = "a,b,label\n" + "".join(f"{i},{i * i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(30))
READERS = [
    *(f"{command} REFERENCE --table II" for command in ("table", "compare", "stats")),
    "status REFERENCE",
]
LISTS = ["datasets", "learners", "validate mine.yaml"]
COMPILED = "compiled kernels are not cached beyond this process"


@pytest.fixture(scope="module")
def user():
    """Somebody who may write into one folder only, and works in another."""
    user = BareUser({"mine.csv": TABLE, "mine.yaml": RULE})
    yield user
    user.remove()


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


def test_workers_share_what_was_compiled_and_leave_nothing_behind(user):
    writable = user.writable
    ended = user.run_python(
        "-c",
        SEVERAL,
        f"fit mine.csv --learner fld --model {writable}/m.json",
        f"predict {writable}/m.json mine.csv --out {writable}/p.csv",
        f"run mine.yaml --out {writable}/results --jobs 2",
        f"table {writable}/results",
        f"report {writable}/results -o {writable}/page.html",
    )
    assert ended.code == 0, ended.err
    assert ended.err.count(COMPILED) == 1
    assert "cached for the next run" not in ended.err
    assert "sonar" in ended.out
    left = {path.name for path in writable.iterdir()}  # and no folder of kernels
    assert left == {"m.json", "p.csv", "results", "page.html"}


@pytest.fixture(scope="module")
def reference():
    """A copy of the reference results: a checkout may lie in a folder that others cannot enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copytree(REFERENCE, Path(folder, "reference"))


def test_results_are_read_without_numba_and_lists_and_configs_compile_nothing(user, reference):
    lines = [line.replace("REFERENCE", str(reference)) for line in READERS]
    code = (
        f"{SEVERAL}\nprint(sorted({{'numba', 'zoloss_cli.kernels'}} & set(sys.modules)), file=sys.stderr)\n"
        f"for line in {LISTS}:\n    app(line.split(), standalone_mode=False)"
    )
    ended = user.run_python("-c", code, *lines)
    assert ended.code == 0, ended.err
    assert "[]\n" in ended.err
    assert "kernels" not in ended.err
    assert all(ended.out.split("====\n"))


def test_without_any_folder_kernels_stay_in_memory(user):
    fit = ("fit", "mine.csv", "--learner", "ave-perc", "--set", "epochs=5")
    ended = user.run(*fit, temporary=user.place / "work")
    assert ended.code == 0, ended.err
    assert ended.err.count(COMPILED) == 1


def test_a_folder_that_cannot_be_written_to_is_one_sentence(user):
    ended = user.run("run", "mine.yaml")
    assert ended.code == 4
    assert ended.err.splitlines()[-1].startswith("zoloss: ")
    assert "Traceback" not in ended.err
