"""A real Dask scheduler and real worker processes on loopback, started and ended by tests."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from processes import HANG_SECONDS, environment

# A scheduler that cannot import zoloss: its host need not have it.
SCHEDULER = (
    "import sys; sys.modules['zoloss_cli'] = None; from distributed.cli.dask_scheduler import main; main()"
)
WORKER = "from distributed.cli.dask_worker import main; main()"


@dataclass
class Cluster:
    folder: Path
    host: str = "127.0.0.1"
    port: int = 0
    settings: dict[str, str] = field(default_factory=dict)  # of Dask, as variables of the environment
    scheduler: subprocess.Popen | None = None
    workers: list[subprocess.Popen] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def start_scheduler(self) -> None:
        """Start a scheduler, the second time at the port of the first, and wait until it listens."""
        self.file.unlink(missing_ok=True)
        self.scheduler = self._start(
            SCHEDULER, "--host", self.host, "--port", self.port, "--no-dashboard",
            "--scheduler-file", self.file,
        )  # fmt: skip
        began = time.monotonic()
        address = ""
        while not address:
            assert self.scheduler.poll() is None, (self.folder / "log").read_text(encoding="utf-8")
            assert time.monotonic() - began < HANG_SECONDS
            time.sleep(0.02)
            with contextlib.suppress(OSError, ValueError):
                address = json.loads(self.file.read_text(encoding="utf-8"))["address"]
        self.port = int(address.rpartition(":")[2])

    def start_worker(self, *paths, nanny=False, environ=None, options=()) -> subprocess.Popen:
        process = self._start(
            WORKER, self.address, "--host", self.host, "--nthreads", 1, "--no-dashboard", "--death-timeout", 60,
            "--nanny" if nanny else "--no-nanny", "--local-directory", self.folder / "scratch", *options,
            paths=paths, environ=environ,
        )  # fmt: skip
        self.workers.append(process)
        return process

    def _start(self, code, *arguments, paths=(), environ=None) -> subprocess.Popen:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", code, *map(str, arguments)],
                env={**(environ or environment(*paths)), **self.settings, "OMP_NUM_THREADS": "1"},
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process is not None:
                end(process)


def end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
