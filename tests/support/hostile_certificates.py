"""Certificates and tables that are made to exhaust memory or time, and what a checker must do with them."""

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
    code: int
    out: str
    err: str
    seconds: float


def run_checker(certificate: Path, table: Path, memory: int = MEMORY_BYTES) -> Ended:
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
    return [[*[str(i)] * n_features, "np"[i % 2]] for i in range(n)]


def build_certificate(rows: list[list[str]], method: str, proof: Any, **changes: Any) -> dict[str, Any]:
    names = [f"x{j}" for j in range(len(rows[0]) - 1)]
    table = {"label": "label", "positive": "p", "features": [{"column": name} for name in names]}
    table["drop_missing"] = False
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
    certificate, table = folder / "proof.json", folder / "t.csv"
    names = [*(f"x{j}" for j in range(len(rows[0]) - 1)), "label"]
    table.write_text("".join(",".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    is_ready = isinstance(content, bytes)
    certificate.write_bytes(content if is_ready else json.dumps(content, separators=(",", ":")).encode())
    return certificate, table


def write_cones(folder: Path, rows: list[list[str]], tree: list[int], **changes: Any) -> tuple[Path, Path]:
    n_features = len(rows[0]) - 1
    sides = {"left": list(range(1, len(rows), 2)), "right": list(range(0, len(rows), 2))}
    proof = {"features": list(range(n_features)), "scales": [1] * n_features, "target": 1, "factor": 1}
    proof |= sides | {"tree": tree}
    certificate = build_certificate(rows, "cones of directions", proof)
    for key, value in changes.items():
        (certificate if key in certificate else proof)[key] = value
    return write_files(folder, rows, certificate)


def write_sets(folder: Path, rows: list[list[str]], sets: list[Any], tree: list[int]) -> tuple[Path, Path]:
    proof = {"sets": sets, "target": 1, "factor": 1, "grains": 1, "tree": tree}
    return write_files(folder, rows, build_certificate(rows, "impossible sets", proof))


# --- Cases


def build_tree(folder: Path, part: list[int], times: int, n: int = 500, start: tuple = ()) -> tuple[Path, Path]:
    """Write a proof by cones of two features whose tree has one part many times."""
    return write_cones(folder, build_rows(n, 2), [*start, *part * times])


def build_many_orthants(folder: Path, n_features: int) -> tuple[Path, Path]:
    """Write a true proof in which all features but one are constant: two pairs suffice for all cones."""
    rows = [[str(i), *["7"] * (n_features - 1), "np"[i % 2]] for i in range(4)]
    half = 2 ** (n_features - 1) - 1
    return write_cones(folder, rows, [0, 1, 0, 1, *[0, 0] * half, 0, 1, 0, 0, *[0, 0] * half])


def build_repeated_set(folder: Path, n_times: int) -> tuple[Path, Path]:
    rows = [[str(i), "p" if i % 4 in (0, 3) else "n"] for i in range(1000)]
    members = [list(range(1000)), [1] * 1000]  # of four neighbours, the outer two against the inner two
    return write_sets(folder, rows, [members], [0, n_times, *[0, 0] * n_times])


def build_deep_decisions(folder: Path, n: int) -> tuple[Path, Path]:
    sets = [[[i, i + 1, i + 2], [1, 2, 1]] for i in range(0, n - 2, 2)]
    return write_sets(folder, build_rows(n), sets, [entry for i in range(n - 1) for entry in (1, i)])


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
    names = {"features": list(range(n_features)), "scales": [1] * n_features}
    return write_cones(folder, rows, [0, 1, 0, 0], **names)


def build_repeated_features(folder: Path, n: int, n_features: int, digits: int) -> tuple[Path, Path]:
    rows = [[f"{i}.{'7' * digits}{i}", "np"[i % 2]] for i in range(n)]
    certificate = build_certificate(rows, "equal rows", {}, bound=0)
    certificate["table"]["features"] *= n_features
    return write_files(folder, rows, certificate)


def build_field(folder: Path, **changes: Any) -> tuple[Path, Path]:
    return write_cones(folder, build_rows(4), **{"tree": [0, 1, 0, 1, 2, 0, 1, 0, 0]} | changes)


NESTED: list[Any] = []
for _ in range(900):
    NESTED = [NESTED]


def build_raw(folder: Path, content: bytes) -> tuple[Path, Path]:
    return write_files(folder, build_rows(4), content)


def build_filled(folder: Path, unit: bytes, size: int) -> tuple[Path, Path]:
    """Write a certificate whose proof is a list of one thing, as often as it fits."""
    head, tail = HEAD + b'3,"proof":[', b"0]}"
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
    return (folder / certificate if certificate else paths[0]), (folder / table if table else paths[1])


Case = tuple[Callable[[Path], tuple[Path, Path]], str]
HEAD = b'{"format":"zoloss certificate","version":'


def case(words: str, build: Callable[..., tuple[Path, Path]], *arguments: Any, **changes: Any) -> Case:
    """Return what writes a case into a folder, and words of the answer that it must get."""
    return (lambda folder: build(folder, *arguments, **changes)), words


def give_rule(weight: str) -> dict[str, Any]:
    return {"weights": [weight], "centre": ["0"], "at_centre": "0"}


LONG, SPLIT = 10**4000, [1, 0, 1, 1, 1, 1]
FILL = {"label": "label", "positive": "p", "features": [{"column": "x0", "fill": "1e400000000"}]}
QUICK: dict[str, Case] = {
    "exponents in the rule": case("larger exponent|exponent", build_field, rule=give_rule("1e400000000")),
    "exponents in a fill": case("", build_field, table=FILL | {"drop_missing": False}),
    "growing factors": case("bits", build_tree, [1, 0, 1, 1, 2**4000, 1], 50),
    "factors of 4000 digits": case("bits", build_tree, [1, 0, 1, 1, LONG, 1], 50),
    "Fibonacci splits": case("bits|steps|at a time", build_tree, [*SPLIT, 1, 1, 0, 1, 1, 1], 20_000, 100),
    "a gzip bomb of blanks": case("unpacks to more than", build_bomb, b" ", 10**8),
    "a gzip bomb of mappings": case("unpacks to more than", build_bomb, b"[{},{},", 10**8),
    "mappings": case("mappings", build_filled, b"{},", 9_900_000),
    "lists": case("", build_filled, b"[],", 9_900_000),
    "mappings in a small gzip": case(
        "mappings", build_raw, gzip.compress(b'{"proof":[' + b"{}," * 3_000_000 + b"0]}")
    ),
    "brackets": case("lists and mappings", build_raw, b"[" * 10_000_000),
    "braces": case("lists and mappings", build_raw, b'{"a":' * 2_000_000),
    "an integer of a million digits": case("digits", build_raw, HEAD + b"1" * 10**6 + b"}"),
    "a bound of 4000 digits": case("bound|proves", build_field, bound=LONG),
    "a bound that is a long text": case("bound", build_field, bound="x" * 10**6),
    "a bound that clears the terminal": case("bound", build_field, bound="\x1b[2J"),
    "a rule that clears the terminal": case("", build_field, rule=give_rule("\x1b[2J")),
    "a field that clears the terminal": case("", build_field, left="\x1b[2J"),
    "a version of a million characters": case("version", build_raw, HEAD + b'"' + b"1" * 10**6 + b'"}'),
    "nested lists": case("", build_field, bound=NESTED),
    "a target of 4000 digits": case("", build_field, target=LONG),
    "a factor of 4000 digits": case("", build_field, factor=LONG),
    "scales of 4000 digits": case("", build_field, scales=[LONG]),
    "weights of 4000 digits": case("1,000,000", build_field, weights=[LONG, 1]),
    "a leaf longer than the tree": case("", build_field, tree=[0, 10**9, 0, 0]),
    "a leaf of negative length": case("", build_field, tree=[0, -(10**9), 0, 0]),
    "a sweep of large powers": case("", build_sweep_of_large_powers),
    "zeros as a certificate": case("regular file", build_special, "/dev/zero"),
    "zeros as a table": case("regular file", build_special, None, "/dev/zero"),
    "a FIFO as a certificate": case("regular file", build_special, "fifo"),
    "a FIFO as a table": case("regular file", build_special, None, "fifo"),
    "a folder": case("regular file", build_special, "."),
    "many orthants": case("", build_many_orthants, 12),
    "a huge leaf": case("", build_tree, [0, 1], 1_000_000, 4, (0, 1_000_000)),
    "a set named often": case("", build_repeated_set, 50_000),
    "deep decisions": case("", build_deep_decisions, 1001),
}
SLOW: dict[str, Case] = {
    "many shallow splits": case("at a time", build_tree, SPLIT, 700_000),
    "shallow splits of many samples": case("at a time", build_tree, SPLIT, 60_000, 3000),
    "lists up to the limit": case("", build_filled, b"[],", 49_900_000),
    "lists of lists up to the limit": case("", build_filled, b"[[],[]],", 49_900_000),
    "numbers up to the limit": case("", build_filled, b"999,", 49_900_000),
    "texts up to the limit": case("", build_filled, b'"",', 49_900_000),
    "twenty features, all orthants": case("", build_many_orthants, 20),
    "a leaf of ten million pairs": case("", build_tree, [0, 1], 10_000_000, 4, (0, 10_000_000)),
    "a set named two million times": case("steps", build_repeated_set, 2_000_000),
    "five thousand decisions": case("", build_deep_decisions, 5001),
    "a sweep in three dimensions": case("", build_slow_sweep, 181, 3),
    "a sweep in two dimensions": case("", build_slow_sweep, 2449, 2),
    "an elimination of long numbers": case("steps|bits", build_elimination, 40, 390),
    "an elimination of ordinary numbers": case("", build_elimination, 60, 15),
    "a feature a thousand times": case("a feature twice", build_repeated_features, 10_000, 999, 10),
    "a long feature often": case("a feature twice", build_repeated_features, 1000, 9999, 380),
}
CASES = QUICK | SLOW
