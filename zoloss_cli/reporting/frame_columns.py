"""The columns of the DataFrame of results: name, type and meaning of each, in order."""

from __future__ import annotations

from typing import Literal, NamedTuple

from zoloss_cli.results.record import FitRecord, Measurement, MeasureRecord

ColumnType = Literal["text", "count", "number", "truth"]
# Their names in pandas. Counts may be missing without becoming floats.
DTYPES: dict[ColumnType, str] = {
    "text": "category",
    "count": "Int64",
    "number": "float64",
    "truth": "boolean",
}


class FrameColumn(NamedTuple):
    """A column: its name, its type and its meaning."""

    name: str
    type: ColumnType
    meaning: str


# Of the cell, and so the same in all its records.
PLACE = (
    FrameColumn("run", "text", "name of the run, as in `zoloss status`"),
    FrameColumn("table", "text", "paper and number of the table or figure that the run mirrors"),
    FrameColumn("also_in", "text", "other runs that show the same record, separated by commas"),
    FrameColumn("dataset", "text", "name of the data set in that run"),
    FrameColumn("learner", "text", "label of the learner's or measure's column in that run"),
    FrameColumn("variant", "text", "settings of the cell, where the column shows the best of several"),
    FrameColumn("kind", "text", "`fit` for learners, `measure` for measures of data"),
)
SIZES = (
    FrameColumn("seed", "count", "master seed of splits and learners"),
    FrameColumn("n_train", "count", "training samples"),
    FrameColumn("n_test", "count", "test samples; 0 if all samples train"),
)
ORIGIN = (
    FrameColumn("data", "text", "what the data are, as JSON: sha256 or generator, noise, flipped labels"),
    FrameColumn("protocol", "text", "split rule, scaling, pruning and tuning, as JSON"),
    FrameColumn("learner_name", "text", "registered name or class of the learner or measure"),
    FrameColumn("learner_version", "text", "version of the algorithm"),
    FrameColumn("learner_package", "text", "package that it is from, or sha256 of its file; none if zoloss"),
    FrameColumn("parameters", "text", "all parameters, as JSON"),
    FrameColumn("key", "text", "key of the cell, a hash of all that its results depend on"),
    FrameColumn("zoloss", "text", "version of zoloss; several if runs of several added tasks"),
    FrameColumn("python", "text", "version of Python, likewise"),
    FrameColumn("numpy", "text", "version of NumPy, likewise"),
    FrameColumn("platform", "text", "operating system and processor, likewise"),
)
# Of the record.
SPLIT = (FrameColumn("split", "count", "number of the split"),)
ERRORS = (
    FrameColumn("train_errors", "count", "training errors; a margin of 0 is one"),
    FrameColumn("test_errors", "count", "misclassified test samples"),
)
RATES = (
    FrameColumn("train_error", "number", "training errors in % of the training samples"),
    FrameColumn("test_error", "number", "test errors in % of the test samples"),
)
CONFUSION = tuple(
    FrameColumn(f"{part}_{name}", "count", f"{part} samples: {meaning}")
    for part in ("train", "test")
    for name, meaning in (
        ("tn", "negative and predicted so (two classes; the last is positive)"),
        ("fp", "negative but predicted positive"),
        ("fn", "positive but predicted negative"),
        ("tp", "positive and predicted so"),
    )
)
MATRICES = tuple(
    FrameColumn(f"{part}_confusion", "text", f"{part} samples by true and predicted class, as JSON")
    for part in ("train", "test")
)
FIT = (
    FrameColumn("train_errors_lenient", "count", "those if a margin of 0 is right, where that differs"),
    FrameColumn("n_pruned", "count", "training samples left out as noise"),
    FrameColumn("n_flipped", "count", "training samples with flipped labels"),
    FrameColumn("n_flipped_pruned", "count", "training samples that are both"),
    FrameColumn("n_unseen", "count", "test samples of classes that no training sample has"),
    FrameColumn("choice", "text", "settings chosen by cross-validation"),
    FrameColumn("time_to_best", "number", "seconds of fitting until a search found its result"),
    FrameColumn("lower_bound", "number", "training errors that no linear rule can go below, as proved"),
    FrameColumn("time_to_bound", "number", "seconds of fitting until that was proved"),
    FrameColumn("proof", "text", "what the bound rests on"),
    FrameColumn("n_cones", "count", "cones of directions that were searched for the last bound"),
    FrameColumn("part_bound", "number", "the same bound for rules whose direction is in the split's part"),
    FrameColumn("n_parts", "count", "parts that all directions are divided into"),
    FrameColumn("iterations", "count", "rounds of boosting"),
    FrameColumn("error_counts", "count", "how often the pocket algorithm counted its training errors"),
    FrameColumn("cost", "number", "value of the cost that boosting minimizes"),
    FrameColumn("n_unsplit", "count", "1 if a code ended because no weight was left between the classes"),
    FrameColumn("counted", "number", "what a theorem bounds"),
    FrameColumn("bound", "number", "its bound"),
    FrameColumn("success_share", "number", "share of epochs that found as few errors as the best weights have"),
    FrameColumn("success_bound", "number", "lower bound on its expectation, by a theorem"),
)
TIMES = (
    FrameColumn("fit_time", "number", "seconds of fitting or measuring"),
    FrameColumn("wall_time", "number", "seconds of the whole task, with loading and counting"),
)
MEASURE = (FrameColumn("draw", "count", "number of the measured data set among several draws"),)
MEASURED = (
    FrameColumn("complexity", "count", "support vectors of the hard-margin SVM"),
    FrameColumn("principal_points", "count", "principal points"),
    FrameColumn("principal_subsets", "count", "principal subsets"),
    FrameColumn("exact", "truth", "whether every union of clusters was accounted for"),
    FrameColumn("solves", "count", "SVMs that were solved"),
    FrameColumn("permutations", "count", "random orders"),
)
FAILED = (FrameColumn("failed", "text", "why the task failed; such a record has no numbers"),)

COLUMNS = (
    *(*PLACE, *SPLIT, *SIZES, *ERRORS, *RATES),
    *(*CONFUSION, *MATRICES, *FIT, *TIMES, *MEASURE, *MEASURED, *FAILED, *ORIGIN),
)
# What does not fit into a cell of a frame: one value per sample, epoch or moment.
LISTS = {
    *("trace", "epochs", "train_curve", "test_curve", "cost_curve", "test_scores", "test_probabilities"),
    *("points", "pairs", "clusters", "growth", "times", "least_squares", "growth_by_size"),
    *("flipped_growth_by_size", "flipped_times_by_size", "scores", "flipped"),
}


def find_unlisted_fields() -> set[str]:
    """Return record fields that are neither a column nor a list: every new field must be one of them."""
    fields = {name for kind in (FitRecord, MeasureRecord, Measurement) for name in kind.__struct_fields__}
    return fields - LISTS - {"measured"} - {column.name for column in COLUMNS}
