"""Commands in forked children that have imported everything, each within limits of time and memory.

A command that starts Python takes a second to import; a fork of a process that has done so takes milliseconds.
The children run the real entry point. Several commands share a child until one ends it.
"""

import contextlib
import gc
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from places import TOP

CPU_SECONDS = 10
MEMORY_BYTES = 1 << 30
WALL_SECONDS = 120  # against a wait that takes no CPU, on a busy machine
NO_OUTCOME = 255  # a child that ended without a word although its command did not ask for it
MAX_OUTPUT_CHARACTERS = 1 << 20
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# What Python calls before it changes files, and which of the arguments are paths.
CHANGES = dict.fromkeys(("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.mkfifo"), (0,))
CHANGES |= {"os.rename": (0, 1), "os.link": (1,), "os.symlink": (1,)}


@dataclass(frozen=True)
class Command:
    """What follows `zoloss`, the folder that it runs in and that alone may be written to, its environment."""

    arguments: list[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    about: Any = None  # what its campaign wants to know when it judges
    shows_progress: bool = False


@dataclass
class Outcome:
    """How a command ended; a negative code is the signal that ended it."""

    code: int
    out: str
    err: str
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    outside: list[str] = field(default_factory=list)


def run_commands(commands: list[Command]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while len(outcomes) < len(commands):
        outcomes += _run_in_child(commands[len(outcomes) :])
    return outcomes


def warm_up(commands: list[Command]) -> None:
    """Run commands in this process, so that its children have what they read, build and keep the first time."""
    kept = os.dup(1), os.dup(2), sys.stdout, sys.stderr, os.getcwd()
    for command in commands:
        _run_here(command, limited=False)
    os.dup2(kept[0], 1)
    os.dup2(kept[1], 2)
    sys.stdout, sys.stderr = kept[2:4]
    os.chdir(kept[4])
    tempfile.tempdir = None
    gc.collect()
    gc.freeze()  # what is there stays shared with the children


def _run_in_child(commands: list[Command]) -> list[Outcome]:
    """Run commands in one child and return the outcomes of those that it got to, at least one."""
    receiver, sender = Pipe(duplex=False)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        receiver.close()
        try:
            _serve(commands, sender)
        finally:
            os._exit(0)
    sender.close()
    outcomes: list[Outcome] = []
    with contextlib.suppress(EOFError, OSError):  # the child is gone
        while len(outcomes) < len(commands):
            if not receiver.poll(WALL_SECONDS):
                os.kill(pid, signal.SIGKILL)
            outcomes.append(receiver.recv())
        os.kill(pid, signal.SIGKILL)  # it has nothing left to do
    receiver.close()
    _, status, usage = os.wait4(pid, 0)
    if len(outcomes) < len(commands):
        code = os.waitstatus_to_exitcode(status) or NO_OUTCOME
        out, err = (_read_output(commands[len(outcomes)].folder, name) for name in ("out", "err"))
        outcomes.append(Outcome(code, out, err, usage.ru_utime + usage.ru_stime))
    for outcome in outcomes:
        outcome.peak_bytes = max(outcome.peak_bytes, usage.ru_maxrss * 1024 if len(outcomes) == 1 else 0)
    return outcomes


def _serve(commands: list[Command], sender: Connection) -> None:
    os.setpgid(0, 0)
    forget_main()
    share_server()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    outside: list[str] = []
    allowed: list[str] = []
    drawing = sys.modules.get("matplotlib")
    caches = [drawing.get_cachedir(), drawing.get_configdir()] if drawing else []  # as for every user
    _watch_files(outside, allowed)
    _limit_memory()
    for command in commands:
        outside.clear()
        allowed[:] = [os.path.realpath(command.folder), str(TOP / "zoloss_cli"), "/dev/null", *caches]
        outcome = _run_here(command)
        outcome.outside = list(outside)
        sender.send(outcome)


def forget_main() -> None:
    """Let no worker process import the program that attacks, which is the main one here."""
    main = sys.modules["__main__"]
    main.__spec__ = None
    vars(main).pop("__file__", None)


def share_server() -> None:
    """Use the parent's server of workers, if there is one; Python would look for it among its own children."""
    from multiprocessing import forkserver

    if forkserver._forkserver._forkserver_pid is not None:  # type: ignore[attr-defined]
        forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined]
        forkserver.ensure_running = lambda: None


def _run_here(command: Command, limited: bool = True) -> Outcome:
    """Run one command in this process, with files for its outputs."""
    from zoloss_cli.__main__ import main

    before = time.process_time()
    if limited:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(before) + CPU_SECONDS + 1, hard))
    (command.folder / "tmp").mkdir(exist_ok=True)
    os.chdir(command.folder)
    tempfile.tempdir = str(command.folder / "tmp")
    kept = dict(os.environ)
    os.environ.update(command.environment, TMPDIR=tempfile.tempdir, COLUMNS="80")
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(command.folder / f".{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    options = {"encoding": "utf-8", "errors": "backslashreplace", "buffering": 1, "closefd": False}
    sys.stderr = open(2, "w", **options)  # type: ignore[call-overload]  # noqa: SIM115
    sys.argv = ["zoloss", *command.arguments]
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ.clear()
    os.environ.update(kept)
    texts = [_read_output(command.folder, name) for name in ("out", "err")]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Outcome(code, *texts, time.process_time() - before, peak)


def _read_output(folder: Path, name: str) -> str:
    try:
        with open(folder / f".{name}", encoding="utf-8", errors="replace") as file:
            return file.read(MAX_OUTPUT_CHARACTERS)
    except FileNotFoundError:
        return ""


def _limit_memory() -> None:
    """Allow so much more than what importing everything has taken; libraries reserve more than they use."""
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watch_files(outside: list[str], allowed: list[str]) -> None:
    def watch(event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            paths = [path] if isinstance(flags, int) and flags & WRITING else []
        elif event in CHANGES:
            paths = [arguments[i] for i in CHANGES[event]]
        else:
            return
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                name = os.fsdecode(path)
                where = os.path.join(os.path.realpath(os.path.dirname(name) or "."), os.path.basename(name))
                if not any(where == top or where.startswith(top + "/") for top in allowed):
                    outside.append(f"{event} {where}")

    sys.addaudithook(watch)


def remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
