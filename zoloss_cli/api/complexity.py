"""Measure the complexity of a table, sample by sample, and show it as text, JSON or a figure."""

from __future__ import annotations

import contextlib
import json
import math
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from zoloss_cli.api.fit import describe_classes, describe_table
from zoloss_cli.complexity.contribution import (
    RightmostSegment,
    average_contributions,
    descend_rightmost_segment,
    list_one_vs_rest,
    share_progress,
    sum_paths_in_blocks,
)
from zoloss_cli.complexity.decomposition import (
    MAX_CLUSTERS,
    MAX_EXACT_CLUSTERS,
    NOISY_THRESHOLD,
    TYPICAL_THRESHOLD,
    Decomposition,
    categorize_contributions,
    cluster_samples,
    decompose,
    describe_expected_time,
)
from zoloss_cli.complexity.hard_margin import (
    InseparableError,
    Kernel,
    build_problem,
    find_opposite_pair,
    fit_hard_margin_svm,
)
from zoloss_cli.complexity.measures import LookupComplexity, compute_entry_cost, find_lookup_complexity
from zoloss_cli.complexity.outliers import find_contradicted
from zoloss_cli.data.columns import join_names
from zoloss_cli.data.splits import apply_scaling, compute_finite_scaling
from zoloss_cli.data.user_table import CsvTable
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.warming import COMPLEXITY_COMPILE_SECONDS, announce_compilation
from zoloss_cli.figures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SAMPLES = 20_000  # a kernel matrix of this size takes 3 GB, and several are needed
CATEGORIES = ("typical", "critical", "noisy")
AGAINST = "against the rest"
MAX_SHOWN_ROWS, MAX_SHOWN_POINTS, MAX_SHOWN_REMOVED = 10, 20, 20
ADVICE = {
    "perceptron": "rows of different classes are nearly identical; remove some of them or use another --scale",
    "rbf": "use a larger --gamma, or --kernel perceptron",
}


@dataclass(frozen=True)
class TableSamples:
    """Samples of a table, scaled."""

    table: CsvTable  # the whole table
    rows: np.ndarray  # the selected rows of the table
    X: np.ndarray  # scaled
    y: np.ndarray  # indices of classes
    classes: list[str]  # the classes that occur; with two, the negative one first
    scaling: str
    contradicted: np.ndarray  # rows that were set aside: duplicates have another label at least as often
    absent: list[str]  # the classes of the table that no sample has

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lines(self) -> list[int]:
        """The line of the file where each sample begins."""
        return [self.table.lines[row] for row in self.rows]

    @cached_property
    def labels(self) -> list[str]:
        """The labels as in the file; the negative class may combine several."""
        labels = self.table.labels or []
        return [labels[row] for row in self.rows]

    @property
    def sampled_from(self) -> int | None:
        """Number of rows that these were drawn from; None if these are all."""
        n_available = len(self.table.lines) - len(self.contradicted)
        return n_available if len(self.rows) < n_available else None

    def list_notes(self) -> list[str]:
        """Return notes about the table, and about classes without samples."""
        if not self.absent:
            return list(self.table.notes)
        noun = "class" if len(self.absent) == 1 else "classes"
        return [*self.table.notes, f"{self.table.path}: no rows remain of the {noun} {join_names(self.absent)}"]


def load_samples(
    table: CsvTable, positive: str | None, scaling: str, sample: int | None = None, seed: int = 1
) -> TableSamples:
    """Select the samples of a table that contradict no others, or a random subset of `sample` of them.

    They are scaled by the statistics of all such samples, whether drawn or not.
    """
    y, classes = table.index_classes(positive)
    contradicted = find_contradicted(table.X, y)
    rows = np.setdiff1d(np.arange(len(y)), contradicted)
    if len(np.unique(y[rows])) < 2:
        raise DataError(
            f"{table.path}: {len(contradicted)} of {len(y)} samples have equal features and different labels, "
            "and without them fewer than two classes remain"
        )
    centre, spread = compute_finite_scaling(table.X[rows], scaling, table.features, str(table.path))
    if sample is not None and sample < len(rows):
        rows = np.sort(rows[np.random.default_rng(seed).choice(len(rows), sample, replace=False)])
        if len(np.unique(y[rows])) < 2:
            raise DataError(
                f"{table.path}: the label column '{table.label}' holds only one class in a --sample of "
                f"{sample} rows; draw more, or all"
            )
    present, codes = np.unique(y[rows], return_inverse=True)
    absent = [name for k, name in enumerate(classes) if k not in present]
    names = [classes[k] for k in present]
    X = apply_scaling(table.X[rows], centre, spread)
    return TableSamples(table, rows, X, codes.ravel(), names, scaling, contradicted, absent)


@contextlib.contextmanager
def explain_errors(samples: TableSamples) -> Iterator[None]:
    """Add the file and line to errors about these samples."""
    path = samples.table.path
    try:
        yield
    except InseparableError as error:
        advice = ADVICE.get(error.kernel, "use --kernel perceptron, which separates any rows")
        raise DataError(f"{path}:{samples.lines[error.sample]}: {error.what}: {advice}") from None
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except MemoryError:
        raise DataError(
            f"{path}: there is not enough memory for the kernel matrix of {len(samples):,} samples; use fewer"
        ) from None


@dataclass(frozen=True)
class ComplexityOptions:
    """How to measure complexity."""

    kernel: str = "perceptron"
    gamma: float | None = None  # of the rbf kernel
    permutations: int = 200  # random orders that contributions are averaged over
    seed: int = 1  # of the random orders
    clusters: int = 0  # clusters whose unions are searched for principal points; 0 for no decomposition
    exact: bool = False  # whether to account for every union
    all_pairs: bool = False  # whether an exact search also keeps the pairs of unions that are not principal
    cost: float | None = None  # of memorizing a sample, for the rightmost segment and the lookup table

    def validate(self) -> None:
        """Reject contradictory options, before a table is read."""
        if self.kernel == "rbf" and self.gamma is None:
            raise ConfigError("--gamma: the rbf kernel needs one, such as --gamma 1")
        if self.kernel != "rbf" and self.gamma is not None:
            raise ConfigError(f"--gamma belongs to --kernel rbf; the {self.kernel} kernel has none")
        for option, value in (("--gamma", self.gamma), ("--cost", self.cost)):
            if value is not None and not 0.0 < value < math.inf:
                raise ConfigError(f"{option}: must be a number above 0 (got {value:g})")
        if self.exact and not self.clusters:
            raise ConfigError("--exact is for principal points: set the number of --clusters")
        if self.clusters > MAX_CLUSTERS:
            raise ConfigError(
                f"--clusters: {self.clusters} are too many to enumerate their unions; there can be "
                f"{MAX_EXACT_CLUSTERS} with --exact, {MAX_CLUSTERS} without"
            )


@dataclass(frozen=True)
class MeasuredComplexity:
    """Measurements of the samples, in order."""

    samples: TableSamples
    options: ComplexityOptions
    support: np.ndarray  # whether a sample is a support vector; with several classes, of any problem
    contributions: np.ndarray  # to the complexity, over random orders; with several classes, the largest
    growth: np.ndarray  # the mean complexity of the first 0, 1, ... all samples along random orders
    decomposition: Decomposition | None  # the principal points of unions of clusters, if requested
    rightmost: RightmostSegment | None = None  # what the greedy method removes, if requested
    problems: tuple[MeasuredComplexity, ...] = ()  # with several classes, each against the rest

    @property
    def complexity(self) -> int:
        """The number of support vectors; with several classes, summed over the problems."""
        if self.problems:
            return sum(problem.complexity for problem in self.problems)
        return int(self.support.sum())

    @cached_property
    def categories(self) -> np.ndarray:
        """The category of each sample: typical, critical or noisy."""
        return categorize_contributions(self.contributions)

    @cached_property
    def worst_classes(self) -> list[str]:
        """For each sample, the one-vs-rest class whose complexity it increases most; empty for two classes."""
        if not self.problems:
            return []
        worst = np.argmax([problem.contributions for problem in self.problems], axis=0)
        return [self.samples.classes[k] for k in worst]

    @property
    def shortest(self) -> LookupComplexity | None:
        """The principal point whose rule and table of errors are shortest, if requested."""
        if self.options.cost is None or self.decomposition is None:
            return None
        points = [(point.complexity, point.error) for point in self.decomposition.points]
        return find_lookup_complexity(points, self.options.cost)


def choose_cost(cost: float | None, noise: float | None) -> float | None:
    """Return the cost of memorizing a row, given directly or by the label noise; None without either."""
    if noise is None:
        return cost
    if cost is not None:
        raise ConfigError("--cost and --noise set the same cost: leave out one of them")
    try:
        return compute_entry_cost(noise)
    except ConfigError as error:
        raise ConfigError(f"--noise: {error}") from None


def measure_complexity(
    samples: TableSamples, options: ComplexityOptions, start_orders: Callable, start_unions: Callable
) -> MeasuredComplexity:
    """Measure the complexity as the options request."""
    _check_samples(samples, options)
    labels = list_one_vs_rest(samples.y)
    with announce_compilation(COMPLEXITY_COMPILE_SECONDS):
        progress, problems = start_orders(), []
        for k, one in enumerate(labels):
            report = progress
            if progress is not None and len(labels) > 1:
                report = share_progress(progress, k, len(labels))
            problems.append(_measure_two_classes(samples, one, options, report, start_unions))
    if len(problems) == 1:
        return problems[0]
    support, contributions, growth = zip(
        *((p.support, p.contributions, p.growth) for p in problems), strict=True
    )
    both = (np.any(support, axis=0), np.max(contributions, axis=0), np.sum(growth, axis=0))
    return MeasuredComplexity(samples, options, *both, None, problems=tuple(problems))


def _measure_two_classes(
    samples: TableSamples, y: np.ndarray, options: ComplexityOptions, report: Any, start_unions: Callable
) -> MeasuredComplexity:
    with explain_errors(samples):
        problem = build_problem(samples.X, y, cast(Kernel, options.kernel), options.gamma)
        support = np.zeros(len(problem), bool)
        support[fit_hard_margin_svm(problem).support] = True
        groups = cluster_samples(problem, options.clusters) if options.clusters else None
        if groups is not None and options.exact and options.clusters > MAX_EXACT_CLUSTERS:
            raise ConfigError(
                f"--clusters: accounting for all unions of {options.clusters} would take about "
                f"{describe_expected_time(problem, groups)}; the limit with --exact is {MAX_EXACT_CLUSTERS}: "
                "use fewer, or omit --exact"
            )
        sums = sum_paths_in_blocks(problem, options.permutations, options.seed, progress=report)
        growth = np.concatenate([[0], np.cumsum(sums.by_size[0, :, 0])]) / sums.permutations
        decomposition = None
        if groups is not None:
            all_pairs = options.exact and options.all_pairs
            decomposition = decompose(problem, groups, options.exact, all_pairs, start_unions())
        rightmost = None if options.cost is None else descend_rightmost_segment(problem, options.cost)
    contributions = average_contributions(sums)
    return MeasuredComplexity(samples, options, support, contributions, growth, decomposition, rightmost)


def _check_samples(samples: TableSamples, options: ComplexityOptions) -> None:
    path, n, lines = samples.table.path, len(samples), samples.lines
    if n > MAX_SAMPLES:
        raise DataError(
            f"{path} has {n:,} rows, but a kernel matrix is limited to {MAX_SAMPLES:,}: draw "
            "rows at random with --sample N, such as --sample 1000"
        )
    for option, what in (
        ("--clusters" * bool(options.clusters), "principal points need"),
        ("--cost" * (options.cost is not None), "the rightmost segment needs"),
    ):
        if option and len(samples.classes) > 2:
            raise ConfigError(
                f"{option}: {what} two classes, and {path} has {len(samples.classes)}: use --positive CLASS "
                "for one class against the rest"
            )
    if options.clusters and not 2 <= options.clusters <= n:
        raise ConfigError(
            f"--clusters: there can be 2 to {n} clusters of the {n} rows of {path}, not {options.clusters}"
        )
    pair = find_opposite_pair(samples.X, samples.y)
    if pair is not None:  # the features differ in the file, but not once scaled
        first, second = (lines[row] for row in pair)
        raise DataError(
            f"{path}: lines {first} and {second} have features that are equal once scaled, and different "
            "labels, so no rule fits both: use --scale none, or remove one of them"
        )


def render_json(measured: MeasuredComplexity) -> str:
    """Return one JSON object with all measurements, for all samples."""
    samples, options, table = measured.samples, measured.options, measured.samples.table
    rows = {
        "line": samples.lines,
        "label": samples.labels,
        "contribution": measured.contributions.tolist(),
        "category": measured.categories.tolist(),
        "support": measured.support.tolist(),
    }
    if measured.decomposition is not None:
        rows["cluster"] = measured.decomposition.clusters.tolist()
    if measured.problems:
        rows["largest_against"] = measured.worst_classes
    labels = table.labels or []
    content = {
        "data": str(table.path),
        "n": len(samples),
        "d": samples.X.shape[1],
        "dropped": table.dropped,
        "contradicted": [{"line": table.lines[i], "label": labels[i]} for i in samples.contradicted.tolist()],
        "sampled_from": samples.sampled_from,
        "features": table.features,
        "label": table.label,
        "classes": samples.classes,
        "positive": None if measured.problems else samples.classes[1],
        "scale": samples.scaling,
        "kernel": options.kernel,
        "gamma": options.gamma,
        "permutations": options.permutations,
        "seed": options.seed,
        "complexity": measured.complexity,
        "share": None if measured.problems else measured.complexity / len(samples),
        "one_vs_rest": _describe_problems(measured) if measured.problems else None,
        "thresholds": {"typical": TYPICAL_THRESHOLD, "noisy": NOISY_THRESHOLD},
        "categories": _count_categories(measured),
        "rows": [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)],
        "growth": measured.growth.tolist(),
        "decomposition": _describe_decomposition(measured.decomposition, options.clusters),
        "lookup": _describe_lookup(measured),
        "notes": samples.list_notes(),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _describe_problems(measured: MeasuredComplexity) -> list[dict]:
    """Return the measurements of each class against the rest."""
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


def _describe_decomposition(found: Decomposition | None, clusters: int) -> dict | None:
    if found is None:
        return None
    points = [{"complexity": p.complexity, "errors": p.error, "subsets": p.count} for p in found.points]
    pairs = found.pairs.tolist() if found.all_pairs else None
    return {"clusters": clusters, "exact": found.exact, "points": points, "pairs": pairs}


def _describe_lookup(measured: MeasuredComplexity) -> dict | None:
    removed, shortest = measured.rightmost, measured.shortest
    if removed is None:
        return None
    return {
        "cost": measured.options.cost,
        "removed_lines": [measured.samples.lines[row] for row in removed.removed.tolist()],
        "complexities": removed.complexities.tolist(),
        "shortest": None if shortest is None else shortest._asdict(),
    }


def _count_categories(measured: MeasuredComplexity) -> dict[str, dict[str, int]]:
    """Count the samples of each class and category."""
    return {
        name: {c: int(np.sum((measured.categories == c) & (measured.samples.y == k))) for c in CATEGORIES}
        for k, name in enumerate(measured.samples.classes)
    }


def render_text(measured: MeasuredComplexity) -> str:
    """Return the measurements as text: complexity, categories, noise-like rows, and principal points."""
    samples, options, n = measured.samples, measured.options, len(measured.samples)
    lines = [f"data        {describe_table(samples.table)}"]
    if count := len(samples.contradicted):
        lines.append(
            f"set aside   {count:,} row{'s' * (count != 1)} with equal features and different labels, those of "
            "the rarer label or all: no rule fits them (--json lists them)"
        )
    if samples.sampled_from is not None:
        lines.append(f"sample      {n:,} of these, drawn at random by seed {options.seed}")
    kernel = f"{options.kernel} kernel" + ("" if options.gamma is None else f", gamma {options.gamma:g}")
    share = f"{100 * measured.complexity / n:.1f} % of {n:,} samples are support vectors with the {kernel}"
    complexity = f"{measured.complexity:,}: {share}"
    if measured.problems:
        complexity = (
            f"{measured.complexity:,} support vectors with the {kernel}, summed over "
            f"{len(measured.problems)} problems of one class against the rest"
        )
    lines += [
        f"classes     {describe_classes(samples.classes, samples.y)}",
        f"complexity  {complexity}",
        *(f"levels      {text}" for text in samples.table.list_levels()),
        "",
        *_render_categories(measured),
        "",
        *_render_noise(measured),
    ]
    if measured.decomposition is not None:
        lines += ["", *_render_points(measured.decomposition, options.clusters)]
    if measured.rightmost is not None:
        lines += ["", *_render_lookup(measured, measured.rightmost)]
    return "\n".join(lines)


def _render_table(rows: list, header: list[str]) -> str:
    """Return a table with names on the left and numbers on the right."""
    from tabulate import tabulate

    sides = ["left" if name in ("class", "label", AGAINST) else "right" for name in header]
    return tabulate(rows, header, disable_numparse=True, colalign=sides)


def _render_categories(measured: MeasuredComplexity) -> list[str]:
    counts = _count_categories(measured)
    rows = [[name, *(f"{counts[name][c]:,}" for c in CATEGORIES)] for name in counts]
    rows.append(["all", *(f"{sum(counts[name][c] for name in counts):,}" for c in CATEGORIES)])
    header, notes = ["class", *CATEGORIES], []
    if measured.problems:
        header.insert(1, "complexity")
        for row, problem in zip(rows, [*measured.problems, measured], strict=True):
            row.insert(1, f"{problem.complexity:,}")
        notes = [
            f"(of the {len(measured.problems)} one-vs-rest problems, the one with the largest contribution)"
        ]
    return [
        _render_table(rows, header),
        f"(by the contribution of a sample to the complexity, averaged over {measured.options.permutations:,} "
        "random orders: typical below 2/3, noisy above 1)",
        *notes,
    ]


def _render_noise(measured: MeasuredComplexity) -> list[str]:
    """Return the samples that look most like noise, by descending contribution."""
    worst = np.argsort(-measured.contributions, kind="stable")
    worst = worst[measured.categories[worst] == "noisy"]
    if not len(worst):
        return ["No row looks like noise."]
    header, lines, labels = ["line", "label", "contribution"], measured.samples.lines, measured.samples.labels
    shown = worst[:MAX_SHOWN_ROWS]
    rows = [[f"{lines[row]}", labels[row], f"{measured.contributions[row]:.2f}"] for row in shown]
    if measured.problems:  # the class of the problem in which the sample is noise
        header.append(AGAINST)
        rows = [[*row, measured.worst_classes[k]] for row, k in zip(rows, shown, strict=True)]
    more = f", the first {MAX_SHOWN_ROWS} of {len(worst):,}; --json has all" if len(worst) > len(shown) else ""
    return [_render_table(rows, header), f"(rows that look most like noise{more})"]


def _render_points(found: Decomposition, clusters: int) -> list[str]:
    points, total, some = found.points, len(found.points), []
    if total > MAX_SHOWN_POINTS:  # the first, the last, and some in between
        points = [points[i] for i in np.linspace(0, total - 1, MAX_SHOWN_POINTS).round().astype(int)]
        some = [f"({MAX_SHOWN_POINTS} of {total} points; --json has all)"]
    rows = [[f"{p.complexity:,}", f"{p.error:,}", f"{p.count:,}"] for p in points]
    return [
        _render_table(rows, ["complexity", "errors", "subsets"]),
        "(principal points: the fewest samples to leave out at each complexity, from unions of "
        f"{clusters} clusters)",
        "(exact: every union is accounted for)"
        if found.exact
        else "(heuristic: a point may be missed; --exact accounts for every union)",
        *some,
    ]


def _render_lookup(measured: MeasuredComplexity, removed: RightmostSegment) -> list[str]:
    """Return which rows are memorized, and the shortest rule with a table of its errors."""
    cost, shortest, count = measured.options.cost, measured.shortest, len(removed.removed)
    text = [f"No row lowers the complexity by {cost:.3g} or more, the cost of memorizing it."]
    if count:
        before, after = int(removed.complexities[0]), int(removed.complexities[-1])
        lines = [str(measured.samples.lines[row]) for row in removed.removed[:MAX_SHOWN_REMOVED]]
        more = f" and {count - MAX_SHOWN_REMOVED} more (--json has all)" if count > MAX_SHOWN_REMOVED else ""
        rows = f"{count} row{'s' * (count != 1)}"
        text = [
            f"memorized   {rows}, at a cost of {cost:.3g} each: the complexity falls from {before} to {after}",
            f"            lines {', '.join(lines)}{more}",
            "(greedy: the row that lowers it most is removed first; single contributions are noisy)",
        ]
    if shortest is not None:
        text.append(
            f"shortest    {shortest.value:.4g}: a rule of complexity {shortest.complexity} and "
            f"{shortest.error} rows in a lookup table"
        )
    return text


# Colour and marker each suffice to distinguish categories, as in Figure 1.13 of the thesis: dot, ring, square.
CATEGORY_STYLES = {
    "typical": (style.SKY, "."),
    "critical": (style.ORANGE, "o"),
    "noisy": (style.VERMILION, "s"),
}


def draw_complexity(measured: MeasuredComplexity) -> Figure:
    """Draw contributions and growth and, with a decomposition, its pairs of complexity and errors."""
    with style.apply_style():
        parts = [_draw_contributions, _draw_growth] + ([] if measured.decomposition is None else [_draw_pairs])
        figure, axes = style.new_grid(style.PAGE, 2.9, len(parts), len(parts))
        for panel, part, letter in zip(axes, parts, string.ascii_lowercase, strict=False):
            title = part(panel, measured)
            panel.set_title(f"({letter}) {title}", loc="left")
        style.add_legend_below(figure, axes, 4)
        return figure


def _draw_contributions(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw contributions in descending order, as markers: a line would suggest values between samples."""
    order = np.argsort(-measured.contributions, kind="stable")
    values, categories = measured.contributions[order], measured.categories[order]
    for name, (colour, marker) in reversed(CATEGORY_STYLES.items()):
        at, face = np.flatnonzero(categories == name), "none" if name == "critical" else colour
        label = f"{name} ({len(at):,})"
        axes.plot(at + 1, values[at], marker, color=colour, markerfacecolor=face, label=label)
    for threshold, legend in ((TYPICAL_THRESHOLD, "thresholds 2/3 and 1"), (NOISY_THRESHOLD, None)):
        axes.axhline(threshold, color=style.BLACK, linestyle=style.DASHED, linewidth=0.8, label=legend)
    axes.set(xlabel="samples, by contribution", ylabel="average contribution")
    return "what each sample adds"


def _draw_growth(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw how the complexity grows as samples are added in random orders."""
    sizes, mean = np.arange(len(measured.growth)), f"mean of {measured.options.permutations:,} orders"
    dotted: dict[str, Any] = {"color": style.BLACK, "linestyle": style.DOTTED, "linewidth": 0.8}
    axes.plot(sizes, sizes, label="as many as samples", **dotted)
    axes.plot(sizes, measured.growth, color=style.BLUE, label=mean)
    axes.set(xlabel="samples", ylabel="complexity")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    return "growth with the samples"


def _draw_pairs(axes: Axes, measured: MeasuredComplexity) -> str:
    """Draw principal points as circles and, if all unions were examined, all pairs as dots."""
    found = measured.decomposition
    assert found is not None
    points = np.array([(point.complexity, point.error) for point in found.points])
    if found.all_pairs:
        axes.plot(*found.pairs.T, ".", markersize=2, color=style.BLUE, label="unions of clusters")
    label = "principal points" if found.exact else "principal points (heuristic)"
    axes.plot(*points.T, "o", markersize=6, color=style.VERMILION, markerfacecolor="none", label=label)
    axes.set(xlabel="complexity", ylabel="errors")
    return "how far simpler rules go"
