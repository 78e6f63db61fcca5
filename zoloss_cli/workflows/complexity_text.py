"""What was measured of a table's complexity, as text for people and as one JSON object for programs."""

from __future__ import annotations

import json

import numpy as np

from zoloss_cli.complexity.growth import NOISY_THRESHOLD, TYPICAL_THRESHOLD
from zoloss_cli.workflows.complexity import Measured
from zoloss_cli.workflows.fit_text import classes_text, table_text

CATEGORIES = ("typical", "critical", "noisy")
SHOWN_ROWS = 10
SHOWN_POINTS = 20


def as_json(measured: Measured) -> str:
    """Everything, of all rows."""
    examples, asked = measured.examples, measured.asked
    content = {
        "data": str(examples.table.path),
        "n": len(examples),
        "d": examples.X.shape[1],
        "dropped": examples.table.dropped,
        "sampled_from": len(examples.table.lines) if examples.sampled else None,
        "features": examples.table.features,
        "label": examples.table.label,
        "classes": examples.classes,
        "positive": examples.classes[1],
        "scale": examples.scaling,
        "kernel": asked.kernel,
        "gamma": asked.gamma,
        "permutations": asked.permutations,
        "seed": asked.seed,
        "complexity": measured.complexity,
        "share": measured.complexity / len(examples),
        "thresholds": {"typical": TYPICAL_THRESHOLD, "noisy": NOISY_THRESHOLD},
        "categories": _counts(measured),
        "rows": _rows(measured),
        "growth": measured.growth.tolist(),
        "decomposition": _decomposition(measured),
        "notes": examples.table.notes,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _rows(measured: Measured) -> list[dict]:
    examples = measured.examples
    columns = {
        "line": examples.lines,
        "label": examples.labels,
        "contribution": measured.contributions.tolist(),
        "category": measured.categories.tolist(),
        "support": measured.support.tolist(),
    }
    if measured.decomposition is not None:
        columns["cluster"] = measured.decomposition.clusters.tolist()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _decomposition(measured: Measured) -> dict | None:
    found = measured.decomposition
    if found is None:
        return None
    return {
        "clusters": measured.asked.clusters,
        "exact": found.exact,
        "points": [{"complexity": p.complexity, "errors": p.error, "subsets": p.count} for p in found.points],
        "pairs": found.pairs.tolist() if found.all_pairs else None,
    }


def _counts(measured: Measured) -> dict[str, dict[str, int]]:
    """How many rows of each class are of each category."""
    return {
        name: {c: int(np.sum((measured.categories == c) & (measured.examples.y == k))) for c in CATEGORIES}
        for k, name in enumerate(measured.examples.classes)
    }


def as_text(measured: Measured) -> str:
    examples, n = measured.examples, len(measured.examples)
    lines = [f"data        {table_text(examples.table)}"]
    if examples.sampled:
        lines.append(f"sample      {n:,} of these rows, at random by seed {measured.asked.seed}")
    lines += [
        f"classes     {classes_text(examples.classes, examples.y)}",
        f"complexity  {measured.complexity:,}: {100 * measured.complexity / n:.1f} % of {n:,} rows are support "
        f"vectors with the {_kernel_text(measured)}",
        *(f"levels      {text}" for text in examples.table.level_texts()),
        "",
        *_category_lines(measured),
        "",
        *_noise_lines(measured),
    ]
    if measured.decomposition is not None:
        lines += ["", *_point_lines(measured)]
    return "\n".join(lines)


def _kernel_text(measured: Measured) -> str:
    gamma = measured.asked.gamma
    return f"{measured.asked.kernel} kernel" + ("" if gamma is None else f", gamma {gamma:g}")


def _table(rows: list, header: list[str]) -> str:
    """A table whose names are to the left and numbers to the right."""
    from tabulate import tabulate

    sides = ["left" if name in ("class", "label") else "right" for name in header]
    return tabulate(rows, header, disable_numparse=True, colalign=sides)


def _category_lines(measured: Measured) -> list[str]:
    counts = _counts(measured)
    rows = [[name, *(f"{counts[name][c]:,}" for c in CATEGORIES)] for name in counts]
    rows.append(["all", *(f"{sum(counts[name][c] for name in counts):,}" for c in CATEGORIES)])
    return [
        _table(rows, ["class", *CATEGORIES]),
        f"(by what a row adds to the complexity, on average over {measured.asked.permutations:,} random orders:"
        " typical below 2/3, noisy above 1)",
    ]


def _noise_lines(measured: Measured) -> list[str]:
    worst, examples = measured.by_noise(), measured.examples
    if not len(worst):
        return ["No row looks like noise."]
    lines, labels = examples.lines, examples.labels
    rows = [[f"{lines[row]}", labels[row], f"{measured.contributions[row]:.2f}"] for row in worst[:SHOWN_ROWS]]
    more = f", the first {SHOWN_ROWS} of {len(worst):,}; --json has all" if len(worst) > SHOWN_ROWS else ""
    return [_table(rows, ["line", "label", "contribution"]), f"(rows that look most like noise{more})"]


def _point_lines(measured: Measured) -> list[str]:
    found = measured.decomposition
    points, total = found.points, len(found.points)
    if total > SHOWN_POINTS:  # the first, the last, and some between
        points = [points[i] for i in np.linspace(0, total - 1, SHOWN_POINTS).round().astype(int)]
    rows = [[f"{p.complexity:,}", f"{p.error:,}", f"{p.count:,}"] for p in points]
    certainty = (
        "(exact: every union is accounted for)"
        if found.exact
        else "(heuristic: a point may be missed; --exact accounts for every union)"
    )
    some = [f"({SHOWN_POINTS} of {total} points; --json has all)"] if total > SHOWN_POINTS else []
    return [
        _table(rows, ["complexity", "errors", "subsets"]),
        "(how far a simpler rule goes: the fewest rows to leave out at each complexity, from unions of "
        f"{measured.asked.clusters} clusters)",
        certainty,
        *some,
    ]
