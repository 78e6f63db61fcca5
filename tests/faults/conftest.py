"""The archive that fetches are tested against, where they write to, and saved models."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_rows import COLOURS, SEVERAL
from uci_archive import Archive

from zoloss_cli.config.catalog import find_embedded_entry


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    monkeypatch.setenv("no_proxy", "*")
    served = Archive()
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    into = tmp_path / "fetched"
    into.mkdir()
    return into


@pytest.fixture
def without_pins(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def remove(name: str) -> None:
        pins = find_embedded_entry(name).uci.sha256
        for filename in list(pins):
            monkeypatch.delitem(pins, filename)

    return remove


@pytest.fixture
def model(zoloss, table, tmp_path: Path) -> Path:
    """A saved rule of a small table, learned quickly."""
    path = tmp_path / "m.json"
    zoloss.ok("fit", table(COLOURS), "--learner", "fld", "--model", path)
    return path


@pytest.fixture
def classifier(zoloss, table, tmp_path: Path) -> Callable[[str], Path]:
    """A saved code of three classes over support vectors, stumps or whatever is named."""

    def fitted(learner: str) -> Path:
        path = tmp_path / "m.json"
        quick = ["--set", "rounds=4"] if learner.startswith("e") else []
        zoloss.ok("fit", table(SEVERAL), "--learner", learner, *quick, "--model", path, "--force")
        return path

    return fitted
