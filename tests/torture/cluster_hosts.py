"""Hosts of a cluster, each in a network namespace of its own where that is permitted, else all on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from processes import environment

SUBNET = "10.213.77"
HOST = Path(__file__).with_name("cluster_host.py")


def find_obstacle() -> str:
    """Return why no network namespaces can be made; empty if they can."""
    name = f"zoloss-{os.getpid()}-try"
    try:
        made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    except OSError:
        return "there is no command ip (package iproute2)"
    if made.returncode:
        return f"ip netns add is not permitted: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", name], check=False)
    return ""


class Network:
    """A switch and hosts with an address each; nothing outside of them is changed.

    Parameters
    ----------
    count : int
        How many hosts.
    """

    def __init__(self, count: int):
        self.prefix = f"zl{os.getpid() % 100000}"
        self.names = [f"{self.prefix}h{i}" for i in range(count)]
        self.switch = f"{self.prefix}sw"

    def open(self) -> list[tuple[tuple[str, ...], str]]:
        """Make it; return how a program is started on each host, and the host's address."""
        _ip("netns", "add", self.switch)
        _ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", self.switch, "link", "set", "br0", "up")
        hosts = []
        for i, name in enumerate(self.names):
            address = f"{SUBNET}.{i + 1}"
            _ip("netns", "add", name)
            _ip("link", "add", f"{name}a", "netns", name, "type", "veth", "peer", "name", f"p{i}", "netns", self.switch)
            _ip("-n", self.switch, "link", "set", f"p{i}", "master", "br0", "up")
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", f"{name}a")
            _ip("-n", name, "link", "set", f"{name}a", "up")
            _ip("-n", name, "link", "set", "lo", "up")
            hosts.append((("ip", "netns", "exec", name), address))
        return hosts

    def close(self) -> None:
        """Remove all of it."""
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Host:
    """A program on a host that starts processes there."""

    def __init__(self, name: str, prefix: tuple[str, ...], address: str, folder: Path):
        self.address = address
        self.program = subprocess.Popen(
            [*prefix, sys.executable, str(HOST), name, address, str(folder)],
            env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip

    def wait_until_ready(self) -> None:
        """Wait until everything is imported."""
        assert self.program.stdout is not None
        assert self.program.stdout.readline().strip() == "ready"

    def start(self, what: str, *arguments: Any) -> int:
        """Start a process and return its id."""
        return self._ask([what, *arguments])

    def find_code(self, pid: int) -> int | None:
        """Return how a process of this host ended; None while it lives."""
        return self._ask(["wait", pid])

    def kill(self, pid: int) -> None:
        """Kill a process that was started here, and wait for its end."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while self.find_code(pid) is None:
            pass

    def close(self) -> None:
        """End the program; what it started was ended before."""
        self.program.kill()
        self.program.wait()

    def _ask(self, question: list[Any]) -> Any:
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(json.dumps(question) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())
