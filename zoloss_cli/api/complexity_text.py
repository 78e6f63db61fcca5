"""The complexity of a table, as text for people and as one JSON object for programs."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING

import numpy as np

from zoloss_cli.api.complexity import MeasuredComplexity, TableSamples, describe_lookup, render_lookup
from zoloss_cli.api.fit_text import describe_classes, describe_table
from zoloss_cli.complexity.decomposition import NOISY_THRESHOLD, TYPICAL_THRESHOLD, Decomposition
from zoloss_cli.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CATEGORIES = ("typical", "critical", "noisy")
AGAINST = "against the rest"
MAX_SHOWN_ROWS = 10
MAX_SHOWN_POINTS = 20


def render_json(measured: MeasuredComplexity) -> str:
    """Return one JSON object with all measurements, for all samples."""
    samples, options = measured.samples, measured.options
    content = {
        "data": str(samples.table.path),
        "n": len(samples),
        "d": samples.X.shape[1],
        "dropped": samples.table.dropped,
        "contradicted": _describe_contradicted(samples),
        "sampled_from": samples.n_available if samples.is_subset else None,
        "features": samples.table.features,
        "label": samples.table.label,
        "classes": samples.classes,
        "positive": None if measured.problems else samples.classes[1],
        "scale": samples.scaling,
        "kernel": options.kernel,
        "gamma": options.gamma,
        "permutations": options.permutations,
        "seed": options.seed,
        "complexity": measured.complexity,
        "share": None if measured.problems else measured.complexity / len(samples),
        "one_vs_rest": _describe_problems(measured),
        "thresholds": {"typical": TYPICAL_THRESHOLD, "noisy": NOISY_THRESHOLD},
        "categories": _count_categories(measured),
        "rows": _describe_rows(measured),
        "growth": measured.growth.tolist(),
        "decomposition": _describe_decomposition(measured),
        "lookup": describe_lookup(measured),
        "notes": samples.list_notes(),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _describe_contradicted(samples: TableSamples) -> list[dict]:
    """Return the rows that were set apart, since others have equal features and another label."""
    lines, labels = samples.table.lines, samples.table.labels or []
    return [{"line": lines[row], "label": labels[row]} for row in samples.contradicted.tolist()]


def _describe_problems(measured: MeasuredComplexity) -> list[dict] | None:
    """Return, with several classes, the measurements of each against the rest; None with two."""
    if not measured.problems:
        return None
    return [
        {
            "class": name,
            "complexity": problem.complexity,
            "share": problem.complexity / len(measured.samples),
            "contributions": problem.contributions.tolist(),
            "growth": problem.growth.tolist(),
        }
        for name, problem in zip(measured.samples.classes, measured.problems, strict=True)
    ]


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
    if measured.problems:
        columns["largest_against"] = measured.worst_classes
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
    """Return the measurements as text: the complexity, categories, the rows most like noise, and points."""
    samples, n = measured.samples, len(measured.samples)
    lines = [f"data        {describe_table(samples.table)}", *_render_contradicted(samples)]
    if samples.is_subset:
        lines.append(f"sample      {n:,} of these, drawn at random by seed {measured.options.seed}")
    lines += [
        f"classes     {describe_classes(samples.classes, samples.y)}",
        f"complexity  {_describe_complexity(measured)}",
        *(f"levels      {text}" for text in samples.table.list_levels()),
        "",
        *_render_categories(measured),
        "",
        *_render_noise(measured),
    ]
    if measured.decomposition is not None:
        lines += ["", *_render_points(measured.decomposition, measured.options.clusters)]
    if measured.rightmost is not None:
        lines += ["", *render_lookup(measured)]
    return "\n".join(lines)


def _render_contradicted(samples: TableSamples) -> list[str]:
    count = len(samples.contradicted)
    if not count:
        return []
    rows = f"{count:,} row{'s' * (count != 1)}"
    return [
        f"set apart   {rows} with equal features and different labels, those of the rarer label or all: "
        "no rule fits them (--json lists them)"
    ]


def _describe_complexity(measured: MeasuredComplexity) -> str:
    n, count, kernel = len(measured.samples), len(measured.problems), _describe_kernel(measured)
    if count:
        vectors = f"{measured.complexity:,} support vectors with the {kernel}"
        return f"{vectors}, summed over {count} problems of one class against the rest"
    share = 100 * measured.complexity / n
    return f"{measured.complexity:,}: {share:.1f} % of {n:,} samples are support vectors with the {kernel}"


def _describe_kernel(measured: MeasuredComplexity) -> str:
    gamma = measured.options.gamma
    return f"{measured.options.kernel} kernel" + ("" if gamma is None else f", gamma {gamma:g}")


def _render_table(rows: list, header: list[str]) -> str:
    """Return a table with names on the left and numbers on the right."""
    from tabulate import tabulate

    sides = ["left" if name in ("class", "label", AGAINST) else "right" for name in header]
    return tabulate(rows, header, disable_numparse=True, colalign=sides)


def _render_categories(measured: MeasuredComplexity) -> list[str]:
    counts = _count_categories(measured)
    rows = [[name, *(f"{counts[name][c]:,}" for c in CATEGORIES)] for name in counts]
    rows.append(["all", *(f"{sum(counts[name][c] for name in counts):,}" for c in CATEGORIES)])
    header, of_several = ["class", *CATEGORIES], []
    if measured.problems:
        header.insert(1, "complexity")
        for row, problem in zip(rows, [*measured.problems, measured], strict=True):
            row.insert(1, f"{problem.complexity:,}")
        of_several = [f"(to one of the {len(measured.problems)} problems, that which it adds most to)"]
    return [
        _render_table(rows, header),
        f"(by what a sample adds to the complexity, on average over {measured.options.permutations:,} random "
        "orders: typical below 2/3, noisy above 1)",
        *of_several,
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
    header = ["line", "label", "contribution"]
    if measured.problems:  # the class for which, or if it is its own, in which the sample is noise
        header.append(AGAINST)
        rows = [[*row, measured.worst_classes[k]] for row, k in zip(rows, worst, strict=False)]
    return [_render_table(rows, header), f"(rows that look most like noise{more})"]


def _render_points(found: Decomposition, clusters: int) -> list[str]:
    points, total = found.points, len(found.points)
    if total > MAX_SHOWN_POINTS:  # the first, the last, and some in between
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


# Colour and marker each suffice to tell categories apart, as in Figure 1.13 of the thesis: dot, ring, square.
CATEGORY_STYLES = {
    "typical": (style.SKY, "."),
    "critical": (style.ORANGE, "o"),
    "noisy": (style.VERMILION, "s"),
}


def draw_complexity(measured: MeasuredComplexity) -> Figure:
    """Draw contributions and growth and, with a decomposition, its pairs of complexity and errors."""
    with style.apply_style():
        parts = [_draw_contributions, _draw_growth] + ([] if measured.decomposition is None else [_draw_pairs])
        figure = style.new_figure(style.PAGE, 2.9)
        axes = style.add_panels(figure, len(parts), len(parts))
        for panel, part, letter in zip(axes, parts, string.ascii_lowercase, strict=False):
            title = part(panel, measured)
            panel.set_title(f"({letter}) {title}", loc="left")
        style.add_legend_below(figure, axes, 4)
        return figure


def _draw_contributions(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw the largest first, as markers: a line would suggest that there is something between two samples."""
    order = np.argsort(-measured.contributions, kind="stable")
    values, categories = measured.contributions[order], measured.categories[order]
    for name, (colour, marker) in reversed(CATEGORY_STYLES.items()):
        at = np.flatnonzero(categories == name)
        filled = "none" if name == "critical" else colour
        axes.plot(
            at + 1,
            values[at],
            linestyle="none",
            marker=marker,
            color=colour,
            markerfacecolor=filled,
            label=f"{name} ({len(at):,})",
        )
    for threshold, legend in ((TYPICAL_THRESHOLD, "thresholds 2/3 and 1"), (NOISY_THRESHOLD, None)):
        axes.axhline(threshold, color=style.BLACK, linestyle=style.DASHED, linewidth=0.8, label=legend)
    axes.set(xlabel="samples, by contribution", ylabel="average contribution")
    return "what each sample adds"


def _draw_growth(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw how the complexity grows as samples join in random orders."""
    sizes = np.arange(len(measured.growth))
    orders = measured.options.permutations
    axes.plot(
        sizes, sizes, color=style.BLACK, linestyle=style.DOTTED, linewidth=0.8, label="as many as samples"
    )
    axes.plot(sizes, measured.growth, color=style.BLUE, label=f"mean of {orders:,} orders")
    axes.set(xlabel="samples", ylabel="complexity")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    return "growth with the samples"


def _draw_pairs(axes: Axes, measured: MeasuredComplexity) -> str:
    """Circle principal points; if all unions were examined, every pair is a dot."""
    found = measured.decomposition
    assert found is not None
    points = np.array([(point.complexity, point.error) for point in found.points])
    if found.all_pairs:
        axes.plot(
            *found.pairs.T,
            linestyle="none",
            marker=".",
            markersize=2,
            color=style.BLUE,
            label="unions of clusters",
        )
    axes.plot(
        *points.T,
        linestyle="none",
        marker="o",
        markersize=6,
        color=style.VERMILION,
        markerfacecolor="none",
        label="principal points" if found.exact else "principal points (heuristic)",
    )
    axes.set(xlabel="complexity", ylabel="errors")
    return "how far simpler rules go"
