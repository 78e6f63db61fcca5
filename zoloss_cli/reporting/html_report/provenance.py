"""How a table was made: its config, seed, versions, machine and time, as HTML."""

from __future__ import annotations

from html import escape

from zoloss_cli.reporting.results import RunResult
from zoloss_cli.results.manifest import command_of


def made_html(run: RunResult) -> str:
    """The facts of a run, and its resolved config behind a fold."""
    runs = run.manifest["runs"]
    facts = [
        ("command", command_of(run.manifest)),
        ("seed", run.experiment["split"]["seed"]),
        ("units", f"{run.units:,}" + (f", {run.failed:,} failed" if run.failed else "")),
    ]
    if runs:
        seconds = sum(entry["seconds"] for entry in runs)
        facts += [
            ("time", f"{_duration(seconds)} in {len(runs)} run{'s' * (len(runs) > 1)}, {_jobs(runs)}"),
            ("finished", runs[-1]["finished"]),
            ("versions", _versions(runs[-1])),
        ]
    else:
        facts.append(("time", "none: other runs had computed all of its units"))
    rows = "".join(f"<dt>{key}</dt><dd>{escape(str(value))}</dd>" for key, value in facts)
    return (
        f'<details class="made"><summary>How it was made</summary><dl>{rows}</dl>'
        f"<pre>{escape(brief_config(run.experiment))}</pre></details>"
    )


def brief_config(experiment: dict) -> str:
    """The resolved config as YAML, without what was not set."""
    import yaml

    kept = {k: v for k, v in experiment.items() if k not in ("name", "title", "citation")}
    kept["datasets"] = {d["name"]: {k: v for k, v in d.items() if k != "name"} for d in kept["datasets"]}
    return yaml.safe_dump(_set(kept), sort_keys=False, default_flow_style=None, width=100, allow_unicode=True)


def _set(value):
    """Without keys that hold nothing; lists of pairs, as settings are stored, become mappings."""
    if isinstance(value, dict):
        return {k: _set(v) for k, v in value.items() if v not in (None, "", [], {})}
    if isinstance(value, list):
        if value and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value):
            return {k: _set(v) for k, v in value}
        return [_set(v) for v in value]
    return value


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _jobs(runs: list[dict]) -> str:
    jobs = sorted({entry["jobs"] for entry in runs})
    return f"{' or '.join(map(str, jobs))} process{'es' * (jobs != [1])}"


def _versions(entry: dict) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in entry["packages"].items())
    return f"zoloss {entry['zoloss']}, Python {entry['python']} on {entry['platform']}; {packages}"
