"""Benchmarks: how each is measured, and what a unit of work costs beside its reference."""

import pytest


@pytest.fixture
def measure(benchmark):
    """Time a call with so many units of work; a group's call with "_reference" in its name is 1.0 x."""

    def run(group, name, call, units=1, rounds=5):
        benchmark.group, benchmark.name = group, name
        benchmark.extra_info["units"] = units
        return benchmark.pedantic(call, rounds=rounds, warmup_rounds=1)

    return run


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    groups: dict[str, list] = {}
    for bench in getattr(session, "benchmarks", []):
        groups.setdefault(bench.group, []).append(bench)
    if not groups:
        return
    terminalreporter.section("cost per unit and ratio to the reference, fastest rounds of this run")
    for group, benches in groups.items():
        costs = {
            b.name: b.stats.min / b.extra_info["units"] for b in benches if b.stats and "units" in b.extra_info
        }
        reference = next((c for name, c in costs.items() if "_reference" in name), None)
        for name, cost in costs.items():
            ratio = f"{reference / cost:8.1f} x" if reference else ""
            terminalreporter.write_line(
                f"{group:<33} {name.removeprefix('test_'):<32} {_time(cost):>10} {ratio}"
            )
        for note in (b.extra_info["note"] for b in benches if "note" in b.extra_info):
            terminalreporter.write_line(f"{group:<33} {note}")


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e9 * seconds:.3g} ns"
