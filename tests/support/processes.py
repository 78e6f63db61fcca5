"""Child processes of tests: with the signals that a shell gives them, and waits that end when the work does.

A busy machine takes its time, so no test waits for a number of seconds: it waits as long as the child makes
progress. HANG_SECONDS only ends a test whose child never would.
"""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from places import TOP

HANG_SECONDS = 600.0  # without any progress
POLL_SECONDS = 0.01
INHERITED_SIGNALS = signal.SIGINT, signal.SIGTERM


# A program that runs several commands, one after the other, in one process: each imports for a second.
SEVERAL = """
import sys
from zoloss_cli.cli.app import app
for line in sys.argv[1:]:
    app(line.split(), standalone_mode=False)
    print("====")
"""


# The same with the exit code and the outputs of each, and real streams.
COMMANDS = """
import contextlib, io, json, sys
from zoloss_cli.cli.app import main

ended = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["zoloss", *words]
    options = {"encoding": "utf-8", "errors": "backslashreplace", "write_through": True}
    streams = [io.TextIOWrapper(io.BytesIO(), **options) for _ in range(2)]
    code = 0
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    ended.append([code, *(stream.buffer.getvalue().decode() for stream in streams)])
print(json.dumps(ended))
"""


@dataclass
class Ended:
    """How a command ended: exit code and what it printed."""

    code: int
    out: str
    err: str


def keep_byte_code() -> None:
    """Let all processes of a session share compiled modules, where the environment says to keep none.

    Compiling what a command imports takes three times as long as importing it, and the suite starts hundreds of
    them. The folder is a temporary one: nothing is written beside the sources.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        folder = tempfile.mkdtemp(prefix="zoloss-byte-code-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder
        sys.dont_write_bytecode = False


def hear_signals() -> None:
    """Let children hear Ctrl-C where the tests themselves were started deaf to it.

    `nohup`, background jobs of a script and some CI runners start a program with SIGINT ignored, and all its
    children would ignore it too. A signal that is caught instead is reset when a child starts; what catches
    it does nothing, so that the tests go on ignoring it.
    """
    if threading.current_thread() is threading.main_thread():
        for number in INHERITED_SIGNALS:
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INHERITED_SIGNALS)


def environment(*paths: Path | str) -> dict[str, str]:
    found = filter(None, [*map(str, paths), str(TOP), os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)}


def drop_compilation_notice(err: str) -> str:
    """Leave out that kernels are compiled, which is said by whichever test needs them first."""
    return "".join(
        line for line in err.splitlines(keepends=True) if not line.startswith("zoloss: compiling kernels")
    )


def start_zoloss(*arguments, **more) -> subprocess.Popen[str]:
    """Start `zoloss ARGUMENTS...` in a process of its own; `more` is that of Popen."""
    command = [sys.executable, "-m", "zoloss_cli", *map(str, arguments)]
    more.setdefault("env", environment())
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def run_zoloss(*arguments, **more) -> Ended:
    return finish(start_zoloss(*arguments, **more))


def run_python(*arguments, **more) -> Ended:
    more.setdefault("env", environment())
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=HANG_SECONDS, **more
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def run_commands(commands, **more) -> list[list]:
    """Return [exit code, standard output, standard error] of each command."""
    ended = run_python("-c", COMMANDS, json.dumps(commands), **more)
    assert ended.code == 0, ended.err
    return json.loads(ended.out.splitlines()[-1])


def finish(process: subprocess.Popen[str]) -> Ended:
    try:
        out, err = process.communicate(timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Ended(process.returncode, out, err)


def wait_until(
    condition: Callable[[], bool], process: subprocess.Popen[str], progress: Callable[[], object] | None = None
) -> None:
    progress = progress or (lambda: cpu_seconds(process.pid))
    seen, since = None, time.monotonic()
    while not condition():
        if process.poll() is not None and not condition():
            raise AssertionError(f"it ended before: {finish(process)}")
        if (now := progress()) != seen:
            seen, since = now, time.monotonic()
        if time.monotonic() - since > HANG_SECONDS:
            process.kill()
            raise AssertionError(f"no progress in {HANG_SECONDS:.0f} s: {finish(process)}")
        time.sleep(POLL_SECONDS)


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process: how far it is, whatever else the machine does."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
