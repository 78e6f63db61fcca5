"""What was measured of a table's complexity, as text for people and as one JSON object for programs."""

from __future__ import annotations

import json

import numpy as np

from zoloss_cli.complexity.decomposition import Decomposition
from zoloss_cli.complexity.growth import NOISY_THRESHOLD, TYPICAL_THRESHOLD
from zoloss_cli.workflows.complexity import MeasuredComplexity
from zoloss_cli.workflows.fit_text import describe_classes, describe_table

CATEGORIES = ("typical", "critical", "noisy")
MAX_SHOWN_ROWS = 10
MAX_SHOWN_POINTS = 20


def render_json(measured: MeasuredComplexity) -> str:
    """Return one JSON object with everything that was measured, of all samples."""
    samples, options = measured.samples, measured.options
    content = {
        "data": str(samples.table.path),
        "n": len(samples),
        "d": samples.X.shape[1],
        "dropped": samples.table.dropped,
        "sampled_from": len(samples.table.lines) if samples.is_subset else None,
        "features": samples.table.features,
        "label": samples.table.label,
        "classes": samples.classes,
        "positive": samples.classes[1],
        "scale": samples.scaling,
        "kernel": options.kernel,
        "gamma": options.gamma,
        "permutations": options.permutations,
        "seed": options.seed,
        "complexity": measured.complexity,
        "share": measured.complexity / len(samples),
        "thresholds": {"typical": TYPICAL_THRESHOLD, "noisy": NOISY_THRESHOLD},
        "categories": _count_categories(measured),
        "rows": _describe_rows(measured),
        "growth": measured.growth.tolist(),
        "decomposition": _describe_decomposition(measured),
        "notes": samples.table.notes,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _describe_rows(measured: MeasuredComplexity) -> list[dict]:
    samples = measured.samples
    columns = {
        "line": samples.lines,
        "label": samples.labels,
        "contribution": measured.contributions.tolist(),
        "category": measured.categories.tolist(),
        "support": measured.support.tolist(),
    }
    if measured.decomposition is not None:
        columns["cluster"] = measured.decomposition.clusters.tolist()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _describe_decomposition(measured: MeasuredComplexity) -> dict | None:
    found = measured.decomposition
    if found is None:
        return None
    return {
        "clusters": measured.options.clusters,
        "exact": found.exact,
        "points": [{"complexity": p.complexity, "errors": p.error, "subsets": p.count} for p in found.points],
        "pairs": found.pairs.tolist() if found.all_pairs else None,
    }


def _count_categories(measured: MeasuredComplexity) -> dict[str, dict[str, int]]:
    """Count the samples of each class and category."""
    return {
        name: {c: int(np.sum((measured.categories == c) & (measured.samples.y == k))) for c in CATEGORIES}
        for k, name in enumerate(measured.samples.classes)
    }


def render_text(measured: MeasuredComplexity) -> str:
    """Return what was measured as text: the complexity, categories, the rows most like noise, and points."""
    samples, n = measured.samples, len(measured.samples)
    lines = [f"data        {describe_table(samples.table)}"]
    if samples.is_subset:
        lines.append(f"sample      {n:,} of these, drawn at random by seed {measured.options.seed}")
    lines += [
        f"classes     {describe_classes(samples.classes, samples.y)}",
        f"complexity  {measured.complexity:,}: {100 * measured.complexity / n:.1f} % of {n:,} samples are "
        f"support vectors with the {_describe_kernel(measured)}",
        *(f"levels      {text}" for text in samples.table.list_levels()),
        "",
        *_render_categories(measured),
        "",
        *_render_noise(measured),
    ]
    if measured.decomposition is not None:
        lines += ["", *_render_points(measured.decomposition, measured.options.clusters)]
    return "\n".join(lines)


def _describe_kernel(measured: MeasuredComplexity) -> str:
    gamma = measured.options.gamma
    return f"{measured.options.kernel} kernel" + ("" if gamma is None else f", gamma {gamma:g}")


def _render_table(rows: list, header: list[str]) -> str:
    """Return a table whose names are to the left and numbers to the right."""
    from tabulate import tabulate

    sides = ["left" if name in ("class", "label") else "right" for name in header]
    return tabulate(rows, header, disable_numparse=True, colalign=sides)


def _render_categories(measured: MeasuredComplexity) -> list[str]:
    counts = _count_categories(measured)
    rows = [[name, *(f"{counts[name][c]:,}" for c in CATEGORIES)] for name in counts]
    rows.append(["all", *(f"{sum(counts[name][c] for name in counts):,}" for c in CATEGORIES)])
    return [
        _render_table(rows, ["class", *CATEGORIES]),
        f"(by what a sample adds to the complexity, on average over {measured.options.permutations:,} random "
        "orders: typical below 2/3, noisy above 1)",
    ]


def _render_noise(measured: MeasuredComplexity) -> list[str]:
    worst, samples = measured.rank_noisy(), measured.samples
    if not len(worst):
        return ["No row looks like noise."]
    lines, labels = samples.lines, samples.labels
    rows = [
        [f"{lines[row]}", labels[row], f"{measured.contributions[row]:.2f}"] for row in worst[:MAX_SHOWN_ROWS]
    ]
    more = (
        f", the first {MAX_SHOWN_ROWS} of {len(worst):,}; --json has all" if len(worst) > MAX_SHOWN_ROWS else ""
    )
    return [_render_table(rows, ["line", "label", "contribution"]), f"(rows that look most like noise{more})"]


def _render_points(found: Decomposition, clusters: int) -> list[str]:
    points, total = found.points, len(found.points)
    if total > MAX_SHOWN_POINTS:  # the first, the last, and some between
        points = [points[i] for i in np.linspace(0, total - 1, MAX_SHOWN_POINTS).round().astype(int)]
    rows = [[f"{p.complexity:,}", f"{p.error:,}", f"{p.count:,}"] for p in points]
    certainty = (
        "(exact: every union is accounted for)"
        if found.exact
        else "(heuristic: a point may be missed; --exact accounts for every union)"
    )
    some = [f"({MAX_SHOWN_POINTS} of {total} points; --json has all)"] if total > MAX_SHOWN_POINTS else []
    return [
        _render_table(rows, ["complexity", "errors", "subsets"]),
        "(how far a simpler rule goes: the fewest samples to leave out at each complexity, from unions of "
        f"{clusters} clusters)",
        certainty,
        *some,
    ]
