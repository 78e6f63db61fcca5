"""Shared helpers: a small problem, and the command run in this process."""

import os
import sys
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # as commands do: numba refuses to change it later

import pytest
from hypothesis import settings
from processes import Ended, drop_compilation_notice, hear_signals, keep_byte_code

from zoloss_cli.cli import app as cli

# How long an example takes is not a property of the code: on a busy machine anything takes long.
settings.register_profile("zoloss", deadline=None)
settings.load_profile("zoloss")
hear_signals()
keep_byte_code()


# What takes longest, and cannot be divided: begun last, it would leave one worker alone with it.
BEGUN_FIRST = (
    "cli/test_documents.py",
    "cli/test_notebook.py",
    "faults/test_cluster_kills.py",
    "faults/test_torture.py",
    "faults/test_interrupted_",
    "faults/test_run_faults.py",
    "faults/test_unwritable_installation.py",
    "oracle/test_exact_searches.py",
    "figures/test_drawings.py",
    "report/html_report/test_build.py",
    "browser/",
)


def pytest_collection_modifyitems(items):
    """Put the longest tests at the beginning, in the same order in every worker."""
    items.sort(key=lambda item: not any(part in item.nodeid for part in BEGUN_FIRST))


@pytest.fixture
def zoloss(monkeypatch, capsys):
    """Run `zoloss ARGS...` in this process, through the same entry point as the console script.

    `zoloss.ok` asserts that it ends without an error.
    """

    def run(*arguments) -> Ended:
        monkeypatch.setattr(sys, "argv", ["zoloss", *map(str, arguments)])
        monkeypatch.delenv("ZOLOSS_DEBUG", raising=False)
        monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)  # which the command sets
        # With a thread that an earlier test abandoned, the command would end this process by os._exit.
        monkeypatch.setattr("zoloss_cli.utils.processes.has_abandoned_threads", lambda: False)
        capsys.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        out, err = capsys.readouterr()
        return Ended(code, out, drop_compilation_notice(err))

    def run_well(*arguments) -> Ended:
        ended = run(*arguments)
        assert ended.code == 0, ended.err
        return ended

    run.ok = run_well
    return run


def build_once(tmp_path_factory, name: str, build):
    """Return the path of what `build(path)` makes, once for all workers."""
    from filelock import FileLock

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the workers share
    path = folder / name
    with FileLock(folder / f"{name}.lock"):
        if not path.exists():
            build(path)
    return path


@pytest.fixture(scope="session")
def reference_page(tmp_path_factory):
    """The page of `zoloss report results/reference`, which has every figure."""
    from reference_runs import build_reference_page

    return build_once(tmp_path_factory, "reference.html", build_reference_page)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the documentation site."""
    from site_pages import build_site

    return build_once(tmp_path_factory, "site", build_site)


@pytest.fixture
def noisy():
    """120 points, 4 features, about a tenth of the labels wrong."""
    from zoloss_cli.testing import build_noisy_problem

    return build_noisy_problem()


@pytest.fixture
def write_config(tmp_path):
    """Write a config file and return its path."""

    def write(text: str, name: str = "small.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def small_config(write_config):
    """Two data sets, two quick learners, six splits."""
    return write_config(
        "title: Small\n"
        "datasets: [heart, sonar]\n"
        "split: {train: 0.8, repeats: 6, seed: 3}\n"
        "learners:\n"
        "  rcd-bias: {epochs: 40}\n"
        "  ave-perc: {epochs: 10}\n"
    )


@pytest.fixture
def table(tmp_path):
    """Write a table of your own, as text or bytes, and return its path."""

    def write(text: str | bytes, name: str = "mine.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
