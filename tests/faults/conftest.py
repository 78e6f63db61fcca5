"""The archive that fetches are tested against, and where they write to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
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
