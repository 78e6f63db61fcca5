"""After the benchmarks: what a unit of work costs, and how many times faster than its reference it is."""

from __future__ import annotations


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
        reference = next((c for name, c in costs.items() if "reference" in name), None)
        for name, cost in costs.items():
            ratio = f"{reference / cost:8.1f} x" if reference else ""
            terminalreporter.write_line(f"{group:<34} {name:<34} {1e9 * cost:12.0f} ns {ratio}")
