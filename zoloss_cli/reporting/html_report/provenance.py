"""How a table was made: its config, seed, versions, machine and time, as HTML."""

from __future__ import annotations

from typing import Any

from zoloss_cli.config.models import Experiment
from zoloss_cli.reporting.render.html import escape
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.results.manifest import RunInfo


def provenance_html(run: RunResult) -> str:
    """Return what is known about how a run was made, with its resolved config, in a collapsed section."""
    runs = run.manifest.runs
    failed = f", {run.n_failed:,} failed" if run.n_failed else ""
    items: list[tuple[str, Any]] = [
        ("command", run.manifest.command()),
        ("seed", run.experiment.split.seed),
        ("tasks", f"{run.n_tasks:,}{failed}"),
    ]
    if runs:
        duration = _format_duration(sum(info.seconds for info in runs))
        items += [
            ("time", f"{duration} in {len(runs)} run{'s' * (len(runs) > 1)}, {_format_jobs(runs)}"),
            ("finished", runs[-1].finished),
            ("versions", _format_versions(runs[-1])),
        ]
    else:
        items.append(("time", "none: other runs had computed all of its tasks"))
    rows = "".join(f"<dt>{key}</dt><dd>{escape(str(value))}</dd>" for key, value in items)
    return (
        f'<details class="made"><summary>How it was made</summary><dl>{rows}</dl>'
        f"<pre>{escape(format_config(run.experiment))}</pre></details>"
    )


def format_config(experiment: Experiment) -> str:
    """Return the resolved config as YAML, without unset keys."""
    import yaml

    content = experiment.model_dump(mode="json", exclude={"name", "title", "citation"})
    content["datasets"] = {d["name"]: {k: v for k, v in d.items() if k != "name"} for d in content["datasets"]}
    kept = _drop_empty(content)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # libyaml's, if PyYAML has it: a tenth of the time
    return yaml.dump(
        kept, None, dumper, sort_keys=False, default_flow_style=None, width=100, allow_unicode=True
    )


def _drop_empty(value: Any) -> Any:
    """Return a value without empty keys; lists of pairs, as in settings, become mappings."""
    if isinstance(value, dict):
        return {k: _drop_empty(v) for k, v in value.items() if v not in (None, "", [], {})}
    if isinstance(value, list):
        if value and all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value):
            return {k: _drop_empty(v) for k, v in value}
        return [_drop_empty(v) for v in value]
    return value


def _format_duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _format_jobs(runs: list[RunInfo]) -> str:
    jobs = sorted({info.jobs for info in runs})
    return f"{' or '.join(map(str, jobs))} process{'es' * (jobs != [1])}"


def _format_versions(info: RunInfo) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in info.packages.items())
    return f"zoloss {info.zoloss}, Python {info.python} on {info.platform}; {packages}"
