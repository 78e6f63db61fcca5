"""Certificates and tables that are made to take all memory or time, and what a checker owes when given them."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import certificate_oracle as oracle
from places import TOP

CHECKER = TOP / "zoloss_cli" / "proofs" / "check.py"
MEMORY_BYTES, CPU_SECONDS = 10**9, 20
MAX_MESSAGE_CHARACTERS = 1000


class Ended(NamedTuple):
    """How a check ended."""

    code: int
    out: str
    err: str
    seconds: float


def run_checker(certificate: Path, table: Path, memory: int = MEMORY_BYTES) -> Ended:
    """Check a certificate in a process of its own, with limits on memory and time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-I", CHECKER, certificate, table],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        preexec_fn=limit, timeout=10 * CPU_SECONDS,
    )  # fmt: skip
    return Ended(ended.returncode, ended.stdout, ended.stderr, time.monotonic() - began)


def find_faults(ended: Ended) -> list[str]:
    """Return what a checker owes and did not do: an answer, within limits, in one sentence."""
    faults = []
    if ended.code not in (0, 1):
        faults.append(f"exit code {ended.code} after {ended.seconds:.1f} s")
    if "Traceback" in ended.err or "unexpected" in ended.err:
        faults.append("a traceback: " + ended.err.strip().splitlines()[-1][:200])
    elif ended.code == 1 and (ended.err.count("\n") != 1 or len(ended.err) > MAX_MESSAGE_CHARACTERS):
        faults.append(f"a message of {ended.err.count(chr(10))} lines and {len(ended.err):,} characters")
    if any(not c.isprintable() for c in (ended.err + ended.out).replace("\n", "")):
        faults.append("a control character for the terminal")
    return faults


# --- What honest parts are made of


def build_rows(n: int, n_features: int = 1) -> list[list[str]]:
    """Return rows in which the classes alternate along each feature."""
    return [[*[str(i)] * n_features, "np"[i % 2]] for i in range(n)]


def build_certificate(rows: list[list[str]], method: str, proof: Any, **changes: Any) -> dict[str, Any]:
    """Return a certificate about rows whose hash and rule are right."""
    names = [f"x{j}" for j in range(len(rows[0]) - 1)]
    table = {
        "label": "label",
        "positive": "p",
        "features": [{"column": name} for name in names],
        "drop_missing": False,
    }
    samples, positive = oracle.read_samples(table, [*names, "label"], rows)
    return {
        "format": "zoloss certificate",
        "version": 3,
        "table": table,
        "sha256": oracle.hash_samples(oracle.count_samples_in_steps(samples), positive),
        "weights": [1, 1],
        "bound": 1,
        "rule": {"weights": ["0"] * len(names), "centre": ["0"] * len(names), "at_centre": "0"},
        "method": method,
        "proof": proof,
        **changes,
    }


def write_files(folder: Path, rows: list[list[str]], content: bytes | dict[str, Any]) -> tuple[Path, Path]:
    """Write a table, and a certificate as given or as JSON; return their paths."""
    certificate, table = folder / "proof.json", folder / "t.csv"
    names = [*(f"x{j}" for j in range(len(rows[0]) - 1)), "label"]
    table.write_text("".join(",".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    is_ready = isinstance(content, bytes)
    certificate.write_bytes(content if is_ready else json.dumps(content, separators=(",", ":")).encode())
    return certificate, table


def describe_cones(n: int, n_features: int, tree: list[int], **changes: Any) -> dict[str, Any]:
    """Return a proof by cones of `build_rows(n, n_features)`."""
    return {
        "left": list(range(1, n, 2)),
        "right": list(range(0, n, 2)),
        "features": list(range(n_features)),
        "scales": [1] * n_features,
        "target": 1,
        "factor": 1,
        "tree": tree,
        **changes,
    }


def describe_sets(sets: list[Any], tree: list[int], **changes: Any) -> dict[str, Any]:
    """Return a proof by impossible sets."""
    return {"sets": sets, "target": 1, "factor": 1, "grains": 1, "tree": tree, **changes}


# --- Cases


def build_splits(folder: Path, factor: int, n_splits: int, n: int = 500) -> tuple[Path, Path]:
    rows, tree = build_rows(n, 2), [1, 0, 1, 1, factor, 1] * n_splits
    proof = describe_cones(n, 2, tree)
    return write_files(folder, rows, build_certificate(rows, "cones of directions", proof))


def build_fibonacci_splits(folder: Path) -> tuple[Path, Path]:
    rows = build_rows(100, 2)
    tree = [1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1] * 20_000
    return write_files(
        folder, rows, build_certificate(rows, "cones of directions", describe_cones(100, 2, tree))
    )


def build_many_orthants(folder: Path, n_features: int) -> tuple[Path, Path]:
    """Write a true proof in which all features but one are constant: two pairs suffice for all cones."""
    rows = [[str(i), *["7"] * (n_features - 1), "np"[i % 2]] for i in range(4)]
    half = 2 ** (n_features - 1) - 1
    tree = [0, 1, 0, 1, *[0, 0] * half, 0, 1, 0, 0, *[0, 0] * half]
    return write_files(
        folder, rows, build_certificate(rows, "cones of directions", describe_cones(4, n_features, tree))
    )


def build_huge_leaf(folder: Path, n_pairs: int) -> tuple[Path, Path]:
    rows = build_rows(4)
    tree = [0, n_pairs, *[0, 1] * n_pairs]
    return write_files(folder, rows, build_certificate(rows, "cones of directions", describe_cones(4, 1, tree)))


def build_repeated_set(folder: Path, n_times: int) -> tuple[Path, Path]:
    """Write a leaf that names one large set many times."""
    rows = [[str(i), "p" if i % 4 in (0, 3) else "n"] for i in range(1000)]
    members = [list(range(1000)), [1] * 1000]  # of four neighbours, the outer two against the inner two
    tree = [0, n_times, *[0, 0] * n_times]
    return write_files(folder, rows, build_certificate(rows, "impossible sets", describe_sets([members], tree)))


def build_deep_decisions(folder: Path, n: int) -> tuple[Path, Path]:
    rows = build_rows(n)
    sets = [[[i, i + 1, i + 2], [1, 2, 1]] for i in range(0, n - 2, 2)]
    tree = [entry for i in range(n - 1) for entry in (1, i)]
    return write_files(folder, rows, build_certificate(rows, "impossible sets", describe_sets(sets, tree)))


def build_sweep_of_large_powers(folder: Path) -> tuple[Path, Path]:
    """Write a table with one place of net weight, for which no power is too many hyperplanes."""
    rows = [
        [*[value] * 60, label] for value, label in (("0", "n"), ("0", "p"), ("1", "n"), ("1", "p"), ("3", "p"))
    ]
    return write_files(folder, rows, build_certificate(rows, "all hyperplanes", {}, bound=2))


def build_slow_sweep(folder: Path, n: int, n_features: int) -> tuple[Path, Path]:
    numbers = [[i, i * i % 1009, i * i * i % 1013] for i in range(n)]
    rows = [[*map(str, x[:n_features]), "np"[x[2] % 7 % 2]] for x in numbers]
    return write_files(folder, rows, build_certificate(rows, "all hyperplanes", {}))


def build_elimination(folder: Path, n_features: int, digits: int) -> tuple[Path, Path]:
    """Write a proof whose features determine one more, with numbers that grow while this is checked."""
    rng = random.Random(1)
    rows = []
    for i in range(n_features + 3):
        numbers = [str(rng.randrange(10**digits)) for _ in range(n_features)]
        rows.append([*numbers, numbers[0], "np"[i % 2]])
    proof = describe_cones(len(rows), n_features, [0, 1, 0, 0])
    return write_files(folder, rows, build_certificate(rows, "cones of directions", proof))


def build_repeated_features(folder: Path, n: int, n_features: int, digits: int) -> tuple[Path, Path]:
    rows = [[f"{i}.{'7' * digits}{i}", "np"[i % 2]] for i in range(n)]
    certificate = build_certificate(rows, "equal rows", {}, bound=0)
    certificate["table"]["features"] *= n_features
    return write_files(folder, rows, certificate)


def build_field(folder: Path, **changes: Any) -> tuple[Path, Path]:
    rows = build_rows(4)
    proof = describe_cones(4, 1, [0, 1, 0, 1, 2, 0, 1, 0, 0])
    certificate = build_certificate(rows, "cones of directions", proof)
    for key, value in changes.items():
        (certificate if key in certificate else certificate["proof"])[key] = value
    return write_files(folder, rows, certificate)


def nest(depth: int) -> list[Any]:
    """Return lists in lists."""
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


def build_raw(folder: Path, content: bytes) -> tuple[Path, Path]:
    return write_files(folder, build_rows(4), content)


def build_filled(folder: Path, unit: bytes, size: int) -> tuple[Path, Path]:
    """Write a certificate whose proof is a list of one thing, as often as it fits."""
    head, tail = b'{"format":"zoloss certificate","version":3,"proof":[', b"0]}"
    return build_raw(folder, head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail)


def build_bomb(folder: Path, unit: bytes, size: int) -> tuple[Path, Path]:
    certificate, table = build_raw(folder, b"")
    with gzip.open(certificate, "wb") as file:
        for _ in range(size // 10**6):
            file.write(unit * (10**6 // len(unit)))
    return certificate, table


def build_special(folder: Path, certificate: str | None = None, table: str | None = None) -> tuple[Path, Path]:
    """Name what is not a regular file; `fifo` makes one."""
    paths = build_field(folder)
    if "fifo" in (certificate, table):
        os.mkfifo(folder / "fifo")
    named = (
        path if name is None else folder / name for name, path in zip((certificate, table), paths, strict=True)
    )
    one, other = named
    return one, other


Build = Callable[[Path], tuple[Path, Path]]
QUICK: dict[str, tuple[Build, str]] = {
    "exponents in the rule": (
        lambda folder: build_field(
            folder, rule={"weights": ["1e400000000"], "centre": ["0"], "at_centre": "0"}
        ),
        "larger exponent|exponent",
    ),
    "exponents in a fill": (
        lambda folder: build_field(
            folder,
            table={
                "label": "label",
                "positive": "p",
                "features": [{"column": "x0", "fill": "1e400000000"}],
                "drop_missing": False,
            },
        ),
        "",
    ),
    "growing factors": (lambda folder: build_splits(folder, 2**4000, 50), "bits"),
    "factors of 4000 digits": (lambda folder: build_splits(folder, 10**4000, 50), "bits"),
    "Fibonacci splits": (build_fibonacci_splits, "bits|steps|at a time"),
    "a gzip bomb of blanks": (lambda folder: build_bomb(folder, b" ", 10**8), "unpacks to more than"),
    "a gzip bomb of mappings": (lambda folder: build_bomb(folder, b"[{},{},", 10**8), "unpacks to more than"),
    "mappings": (lambda folder: build_filled(folder, b"{},", 9_900_000), "mappings"),
    "lists": (lambda folder: build_filled(folder, b"[],", 9_900_000), ""),
    "mappings in a small gzip": (
        lambda folder: build_raw(folder, gzip.compress(b'{"proof":[' + b"{}," * 3_000_000 + b"0]}")),
        "mappings",
    ),
    "brackets": (lambda folder: build_raw(folder, b"[" * 10_000_000), "lists and mappings"),
    "braces": (lambda folder: build_raw(folder, b'{"a":' * 2_000_000), "lists and mappings"),
    "an integer of a million digits": (
        lambda folder: build_raw(folder, b'{"format":"zoloss certificate","version":' + b"1" * 10**6 + b"}"),
        "digits",
    ),
    "a bound of 4000 digits": (lambda folder: build_field(folder, bound=10**4000), "bound|proves"),
    "a bound that is a long text": (lambda folder: build_field(folder, bound="x" * 10**6), "bound"),
    "a bound that clears the terminal": (lambda folder: build_field(folder, bound="\x1b[2J"), "bound"),
    "a rule that clears the terminal": (
        lambda folder: build_field(folder, rule={"weights": ["\x1b[2J"], "centre": ["0"], "at_centre": "0"}),
        "",
    ),
    "a field that clears the terminal": (lambda folder: build_field(folder, left="\x1b[2J"), ""),
    "a version of a million characters": (
        lambda folder: build_raw(folder, b'{"format":"zoloss certificate","version":"' + b"1" * 10**6 + b'"}'),
        "version",
    ),
    "nested lists": (lambda folder: build_field(folder, bound=nest(900)), ""),
    "a target of 4000 digits": (lambda folder: build_field(folder, target=10**4000), ""),
    "a factor of 4000 digits": (lambda folder: build_field(folder, factor=10**4000), ""),
    "scales of 4000 digits": (lambda folder: build_field(folder, scales=[10**4000]), ""),
    "weights of 4000 digits": (lambda folder: build_field(folder, weights=[10**4000, 1]), "1,000,000"),
    "a leaf longer than the tree": (lambda folder: build_field(folder, tree=[0, 10**9, 0, 0]), ""),
    "a leaf of negative length": (lambda folder: build_field(folder, tree=[0, -(10**9), 0, 0]), ""),
    "a sweep of large powers": (build_sweep_of_large_powers, ""),
    "zeros as a certificate": (lambda folder: build_special(folder, "/dev/zero"), "regular file"),
    "zeros as a table": (lambda folder: build_special(folder, None, "/dev/zero"), "regular file"),
    "a FIFO as a certificate": (lambda folder: build_special(folder, "fifo"), "regular file"),
    "a FIFO as a table": (lambda folder: build_special(folder, None, "fifo"), "regular file"),
    "a folder": (lambda folder: build_special(folder, "."), "regular file"),
    "many orthants": (lambda folder: build_many_orthants(folder, 12), ""),
    "a huge leaf": (lambda folder: build_huge_leaf(folder, 1_000_000), ""),
    "a set named often": (lambda folder: build_repeated_set(folder, 50_000), ""),
    "deep decisions": (lambda folder: build_deep_decisions(folder, 1001), ""),
}
SLOW: dict[str, tuple[Build, str]] = {
    "many shallow splits": (lambda folder: build_splits(folder, 1, 700_000), "at a time"),
    "shallow splits of many samples": (lambda folder: build_splits(folder, 1, 60_000, 3000), "at a time"),
    "lists up to the limit": (lambda folder: build_filled(folder, b"[],", 49_900_000), ""),
    "lists of lists up to the limit": (lambda folder: build_filled(folder, b"[[],[]],", 49_900_000), ""),
    "numbers up to the limit": (lambda folder: build_filled(folder, b"999,", 49_900_000), ""),
    "texts up to the limit": (lambda folder: build_filled(folder, b'"",', 49_900_000), ""),
    "twenty features, all orthants": (lambda folder: build_many_orthants(folder, 20), ""),
    "a leaf of ten million pairs": (lambda folder: build_huge_leaf(folder, 10_000_000), ""),
    "a set named two million times": (lambda folder: build_repeated_set(folder, 2_000_000), "steps"),
    "five thousand decisions": (lambda folder: build_deep_decisions(folder, 5001), ""),
    "a sweep in three dimensions": (lambda folder: build_slow_sweep(folder, 181, 3), ""),
    "a sweep in two dimensions": (lambda folder: build_slow_sweep(folder, 2449, 2), ""),
    "an elimination of long numbers": (lambda folder: build_elimination(folder, 40, 390), "steps|bits"),
    "an elimination of ordinary numbers": (lambda folder: build_elimination(folder, 60, 15), ""),
    "a feature a thousand times": (
        lambda folder: build_repeated_features(folder, 10_000, 999, 10),
        "a feature twice",
    ),
    "a long feature often": (
        lambda folder: build_repeated_features(folder, 1000, 9999, 380),
        "a feature twice",
    ),
}
CASES = QUICK | SLOW
