"""Hosts of a cluster, each in a network namespace of its own where that is permitted, else all on loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from processes import environment

SUBNET = "10.213.77"
PROGRAM = Path(__file__).with_name("cluster_host.py")
POLL_SECONDS = 0.002


def find_obstacle() -> str:
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
    """A switch and hosts with an address each; nothing outside of them is changed."""

    def __init__(self, count: int):
        self.prefix = f"zl{os.getpid() % 100000}"
        self.names = [f"{self.prefix}h{i}" for i in range(count)]
        self.switch = f"{self.prefix}sw"

    def open(self) -> list[dict[str, str]]:
        _ip(f"netns add {self.switch}")
        _ip(f"-n {self.switch} link add br0 type bridge")
        _ip(f"-n {self.switch} link set br0 up")
        hosts = []
        for i, name in enumerate(self.names):
            address = f"{SUBNET}.{i + 1}"
            _ip(f"netns add {name}")
            _ip(f"link add eth0 netns {name} type veth peer name p{i} netns {self.switch}")
            _ip(f"-n {self.switch} link set p{i} master br0 up")
            _ip(f"-n {name} addr add {address}/24 dev eth0")
            _ip(f"-n {name} link set eth0 up")
            _ip(f"-n {name} link set lo up")
            hosts.append({"name": f"host{i}", "address": address, "namespace": name})
        return hosts

    def close(self) -> None:
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True)


class Hosts:
    """A program that starts processes on hosts, each with a name, an address and a namespace."""

    def __init__(self, places: list[dict[str, str]], folder: Path):
        self.places = places
        self.program = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder)],
            env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip
        assert self.program.stdout is not None
        assert self.program.stdout.readline().strip() == "ready"

    def start(self, i: int, what: str, *arguments: Any) -> int:
        return self._ask([self.places[i], what, *arguments])

    def find_code(self, pid: int) -> int | None:
        return self._ask([None, "wait", pid])

    def kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while self.find_code(pid) is None:
            time.sleep(POLL_SECONDS)

    def close(self) -> None:
        self.program.kill()
        self.program.wait()

    def _ask(self, question: list[Any]) -> Any:
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(json.dumps(question) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())
