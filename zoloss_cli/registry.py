"""Names of scikit-learn's scorers, by what they need from a task; light, since shells and schemas list them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.registrations import (
    DatasetRegistration,
    LearnerRegistration,
    MetricRegistration,
    Registry,
    find_foreign,
    is_foreign_name,
    is_trusted,
)
from zoloss_cli.utils.code_files import find_code_policy
from zoloss_cli.utils.files import list_embedded_datasets

if TYPE_CHECKING:
    from pydantic import BaseModel

_AVERAGES = ("macro", "micro", "weighted")

OF_PREDICTIONS = (
    *("accuracy", "balanced_accuracy", "matthews_corrcoef"),
    *(f"f1_{average}" for average in _AVERAGES),
    *("precision", *(f"precision_{average}" for average in _AVERAGES)),
    *("recall", *(f"recall_{average}" for average in _AVERAGES)),
    *("jaccard", *(f"jaccard_{average}" for average in _AVERAGES)),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)
OF_SCORES = ("average_precision",)  # for two classes, since only their scores are stored
OF_PROBABILITIES = (
    *("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score"),
    *("roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted", "top_k_accuracy"),
)
SCORER_NAMES = (*OF_PREDICTIONS, *OF_SCORES, *OF_PROBABILITIES)
OF_TWO_CLASSES = (
    *("precision", "recall", "jaccard", "average_precision"),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)

_OF_CLUSTERS = (
    *("adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score"),
    *("homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score"),
    "v_measure_score",
)
_OF_NUMBERS = (
    *("d2_absolute_error_score", "explained_variance", "r2", "max_error", "neg_max_error"),
    *("neg_mean_absolute_error", "neg_mean_absolute_percentage_error", "neg_mean_gamma_deviance"),
    *("neg_mean_poisson_deviance", "neg_mean_squared_error", "neg_mean_squared_log_error"),
    *("neg_median_absolute_error", "neg_root_mean_squared_error", "neg_root_mean_squared_log_error"),
)
_OF_SEVERAL_LABELS = ("f1_samples", "jaccard_samples", "precision_samples", "recall_samples")
# The purposes of the scorers that no record of a classifier can provide.
OTHER_PURPOSES = (
    dict.fromkeys(_OF_CLUSTERS, "clusters")
    | dict.fromkeys(_OF_NUMBERS, "regression")
    | dict.fromkeys(_OF_SEVERAL_LABELS, "samples of several labels each")
)


# A name stands for a class or function and the parameters that the name fixes; the rest can be set in a config.
# Other packages add to three entry point groups:
#
# - `zoloss.learners`: name = "module:Class", a BinaryLearner whose parameters are annotated;
# - `zoloss.metrics`: name = "module:Class", a Metric of that name;
# - `zoloss.datasets`: name = "module:function", a generator, whose first parameter is `rng`, or a function
#   without parameters that returns the path of a CSV file; its docstring says what the data set is.

_RCD = "zoloss_cli.learners.search.rcd:RCDClassifier"
_PERCEPTRON = "zoloss_cli.learners.linear.perceptrons:"
_POCKET = "zoloss_cli.learners.linear.pocket:PocketClassifier"
_ROMMA = "zoloss_cli.learners.linear.perceptrons:ROMMAClassifier"
_LIBLINEAR = "zoloss_cli.learners.linear.liblinear:LibLinearClassifier"
_THEORY = "zoloss_cli.learners.mistake_bounds:"
_ECC = "zoloss_cli.learners.multiclass.ecc:AdaBoostECCClassifier"
_SGD = "zoloss_cli.learners.linear.sgd:MarginSGDClassifier"

LEARNERS = Registry(
    "learner",
    {
        "rcd-plain": LearnerRegistration(_RCD, {"variant": "plain"}, "RCD-plain"),
        "rcd-bias": LearnerRegistration(_RCD, {"variant": "bias"}, "RCD-bias"),
        "rcd-conj": LearnerRegistration(_RCD, {"variant": "conj"}, "RCD-conj"),
        "rcd-conj-bias": LearnerRegistration(_RCD, {"variant": "conj-bias"}, "RCD-conj-bias"),
        "rcd-grad": LearnerRegistration(_RCD, {"variant": "grad"}, "RCD-grad"),
        "rcd-grad-batch": LearnerRegistration(_RCD, {"variant": "grad-batch"}, "RCD-grad (batch)"),
        "ccd": LearnerRegistration(_RCD, {"variant": "ccd"}, "CCD"),
        "pocket": LearnerRegistration(_POCKET, {"ratchet": True}, "pocket"),
        "pocket-plain": LearnerRegistration(_POCKET, {"ratchet": False}, "pocket (no ratchet)"),
        "ave-perc": LearnerRegistration(_PERCEPTRON + "AveragedPerceptronClassifier", {}, "ave-perc"),
        "voted-perc": LearnerRegistration(
            "zoloss_cli.learners.linear.perceptrons:VotedPerceptronClassifier", {}, "voted-perc"
        ),
        "perceptron": LearnerRegistration(_PERCEPTRON + "PerceptronClassifier", {}, "perceptron"),
        "batch-perceptron": LearnerRegistration(
            _PERCEPTRON + "BatchPerceptronClassifier", {}, "batch perceptron"
        ),
        "margin-perceptron": LearnerRegistration(
            "zoloss_cli.learners.linear.perceptrons:MarginPerceptronClassifier", {}, "margin perceptron"
        ),
        "romma": LearnerRegistration(_ROMMA, {"aggressive": False}, "ROMMA"),
        "romma-aggressive": LearnerRegistration(_ROMMA, {"aggressive": True}, "aggressive ROMMA"),
        "mistake-bound": LearnerRegistration(_THEORY + "MistakeBoundClassifier", {}, "mistakes"),
        "margin-bound": LearnerRegistration(_THEORY + "MarginBoundClassifier", {}, "margin mistakes"),
        "inseparable-bound": LearnerRegistration(_THEORY + "InseparableBoundClassifier", {}, "inseparable"),
        "stopping-rule": LearnerRegistration(_THEORY + "StoppingRuleClassifier", {}, "stopping rule"),
        "rcd-bound": LearnerRegistration(
            "zoloss_cli.learners.search.rcd_bound:RCDBoundClassifier", {}, "RCD bound"
        ),
        "sgd-hinge": LearnerRegistration(_SGD, {"cost": "hinge"}, "SGD-hinge"),
        "sgd-mls": LearnerRegistration(_SGD, {"cost": "mls"}, "SGD-mls"),
        "sgd-ls": LearnerRegistration(_SGD, {"cost": "ls"}, "SGD-ls"),
        "sgd-perceptron": LearnerRegistration(_SGD, {"cost": "perceptron"}, "SGD-perceptron"),
        "fld": LearnerRegistration("zoloss_cli.learners.linear.fld:FLDClassifier", {}, "FLD"),
        "soft-svm": LearnerRegistration(
            "zoloss_cli.learners.linear.soft_svm:SoftSVMClassifier", {}, "soft-SVM"
        ),
        "svm-perceptron": LearnerRegistration(
            "zoloss_cli.learners.kernel_svm:KernelSVMClassifier", {}, "SVM-perceptron"
        ),
        "svm": LearnerRegistration(_LIBLINEAR, {"loss": "squared-hinge"}, "SVM"),
        "lr": LearnerRegistration(_LIBLINEAR, {"loss": "logistic"}, "LR"),
        "bpm": LearnerRegistration("zoloss_cli.learners.linear.bayes_point:BayesPointClassifier", {}, "BPM"),
        "sla": LearnerRegistration("zoloss_cli.learners.search.sla:SmoothLossClassifier", {}, "SLA"),
        "bnb": LearnerRegistration(
            "zoloss_cli.learners.search.branch_and_bound:BranchAndBoundClassifier", {}, "BnB"
        ),
        "pcs": LearnerRegistration(
            "zoloss_cli.learners.search.combinatorial:PrioritizedSearchClassifier", {}, "PCS"
        ),
        "csa": LearnerRegistration("zoloss_cli.learners.search.combinatorial:SwapSearchClassifier", {}, "CSA"),
        "mip": LearnerRegistration("zoloss_cli.learners.search.mip:MixedIntegerClassifier", {}, "MIP"),
        "pivot": LearnerRegistration("zoloss_cli.learners.search.pivot:PivotClassifier", {}, "pivot"),
        "certify": LearnerRegistration("zoloss_cli.proofs.certify:CertifyingClassifier", {}, "certify"),
        "adaboost": LearnerRegistration(
            "zoloss_cli.learners.boosting.adaboost:AdaBoostClassifier", {}, "AdaBoost"
        ),
        "anyboost": LearnerRegistration(
            "zoloss_cli.learners.boosting.anyboost:AnyBoostClassifier", {}, "AnyBoost"
        ),
        "cgboost": LearnerRegistration(
            "zoloss_cli.learners.boosting.anyboost:CGBoostClassifier", {}, "CGBoost"
        ),
        "adaboost-stump": LearnerRegistration(
            "zoloss_cli.learners.boosting.stumps:BoostedStumpsClassifier", {}, "AdaBoost (stumps)"
        ),
        "ecc": LearnerRegistration(_ECC, {"symmetric": True}, "AdaBoost.ECC"),
        "ecc-asymmetric": LearnerRegistration(_ECC, {"symmetric": False}, "asymmetric AdaBoost.ECC"),
        "erp": LearnerRegistration(
            "zoloss_cli.learners.multiclass.ecc:AdaBoostERPClassifier", {}, "AdaBoost.ERP"
        ),
        "one-vs-one": LearnerRegistration(
            "zoloss_cli.learners.multiclass.pairs:OneVsOneClassifier", {}, "one-vs-one"
        ),
        "one-vs-all": LearnerRegistration(
            "zoloss_cli.learners.multiclass.pairs:OneVsAllClassifier", {}, "one-vs-all"
        ),
        "ecoc": LearnerRegistration(
            "zoloss_cli.learners.multiclass.pairs:OutputCodeClassifier", {}, "output code"
        ),
        "stump": LearnerRegistration(
            "zoloss_cli.learners.boosting.stumps:DecisionStumpClassifier", {}, "stump"
        ),
        "scoring": LearnerRegistration(
            "zoloss_cli.learners.scoring.classifier:ScoringSystemClassifier", {}, "scoring system"
        ),
        "majority": LearnerRegistration("zoloss_cli.learners.majority:MajorityClassifier", {}, "majority"),
    },
    group="zoloss.learners",
    registration_type=LearnerRegistration,
    hint="; zoloss learners lists them",
)

_MEASURES = "zoloss_cli.complexity.measures:"
_SCORES = "zoloss_cli.complexity.outliers:"

# What a config's section `measures` can have: not learners, but registered, checked and stored like them.
MEASURES = Registry(
    "measure",
    {
        "complexity": LearnerRegistration(_MEASURES + "ComplexityMeasure", {}, "complexity"),
        "decomposition": LearnerRegistration(_MEASURES + "DecompositionMeasure", {}, "decomposition"),
        "contribution": LearnerRegistration(_MEASURES + "ContributionMeasure", {}, "contribution"),
        "neighbours": LearnerRegistration(_SCORES + "NeighbourScore", {}, "neighbours"),
        "multipliers": LearnerRegistration(_SCORES + "MultiplierScore", {}, "multipliers"),
        "leave-one-out": LearnerRegistration(_SCORES + "LeaveOneOutScore", {}, "leave one out"),
        "cross-validation": LearnerRegistration(_SCORES + "CrossValidatedScore", {}, "cross-validation"),
    },
)

# scikit-learn's scorers, by its names; those that are also in METRICS (f1, roc_auc) are zoloss's own.
SCORERS = Registry(
    "scorer",
    {
        name: MetricRegistration("zoloss_cli.metrics.sklearn:build_scorer", {"name": name})
        for name in SCORER_NAMES
    }
    | {"accuracy": MetricRegistration("zoloss_cli.metrics.errors:Accuracy")},
)

# What a table can show, by the names used in configs: classes derived from zoloss_cli.metrics.base.Metric.
METRICS = Registry(
    "metric",
    {
        "test_error": MetricRegistration("zoloss_cli.metrics.errors:TestError"),
        "train_error": MetricRegistration("zoloss_cli.metrics.errors:TrainError"),
        "train_01_loss": MetricRegistration("zoloss_cli.metrics.errors:TrainZeroOneLoss"),
        "train_01_loss_lenient": MetricRegistration("zoloss_cli.metrics.errors:LenientTrainZeroOneLoss"),
        "balanced_error": MetricRegistration("zoloss_cli.metrics.errors:BalancedError"),
        "false_positive_rate": MetricRegistration("zoloss_cli.metrics.errors:FalsePositiveRate"),
        "false_negative_rate": MetricRegistration("zoloss_cli.metrics.errors:FalseNegativeRate"),
        "f1": MetricRegistration("zoloss_cli.metrics.errors:F1"),
        "roc_auc": MetricRegistration("zoloss_cli.metrics.scores:RocAuc"),
        "fit_time": MetricRegistration("zoloss_cli.metrics.timing:FitTime"),
        "time_to_best": MetricRegistration("zoloss_cli.metrics.timing:TimeToBest"),
        "lower_bound": MetricRegistration("zoloss_cli.metrics.bounds:LowerBound"),
        "time_to_bound": MetricRegistration("zoloss_cli.metrics.timing:TimeToBound"),
        "joint_bound": MetricRegistration("zoloss_cli.metrics.bounds:JointBound"),
        "cones": MetricRegistration("zoloss_cli.metrics.bounds:Cones"),
        "iterations": MetricRegistration("zoloss_cli.metrics.timing:Iterations"),
        "error_counts": MetricRegistration("zoloss_cli.metrics.errors:ErrorCounts"),
        "cost": MetricRegistration("zoloss_cli.metrics.errors:Cost"),
        "cost_ratio": MetricRegistration("zoloss_cli.metrics.scores:CostRatio"),
        "median_ratio": MetricRegistration("zoloss_cli.metrics.scores:MedianRatio"),
        "bound_ratio": MetricRegistration("zoloss_cli.metrics.bounds:BoundRatio"),
        "largest_ratio": MetricRegistration("zoloss_cli.metrics.bounds:LargestRatio"),
        "success_share": MetricRegistration("zoloss_cli.metrics.bounds:SuccessShare"),
        "success_bound": MetricRegistration("zoloss_cli.metrics.bounds:SuccessBound"),
        "complexity": MetricRegistration("zoloss_cli.metrics.bounds:Complexity"),
        "principal_points": MetricRegistration("zoloss_cli.metrics.bounds:PrincipalPoints"),
        "principal_subsets": MetricRegistration("zoloss_cli.metrics.bounds:PrincipalSubsets"),
        "auc": MetricRegistration("zoloss_cli.metrics.scores:OutlierAuc"),
        "auc_least_squares": MetricRegistration("zoloss_cli.metrics.scores:LeastSquaresAuc"),
    },
    group="zoloss.metrics",
    registration_type=MetricRegistration,
    reserved=lambda: SCORERS,
)
METRIC_ALIASES = {"seconds": "fit_time", "reached": "time_to_best"}  # as in configs of zoloss 0.1

_GENERATORS = "zoloss_cli.data.generators:"

# A generator is a function of a random Generator and annotated parameters that returns a pool of samples.
GENERATORS = Registry(
    "generator",
    {
        "ringnorm": DatasetRegistration(_GENERATORS + "ringnorm"),
        "threenorm": DatasetRegistration(_GENERATORS + "threenorm"),
        "yinyang": DatasetRegistration(_GENERATORS + "yinyang"),
        "tangram": DatasetRegistration(_GENERATORS + "tangram"),
        "disks": DatasetRegistration(_GENERATORS + "disks"),
        "gaussians": DatasetRegistration(_GENERATORS + "gaussians"),
        "outliers": DatasetRegistration(_GENERATORS + "outliers"),
        "data_engine": DatasetRegistration(_GENERATORS + "data_engine"),
        "separable": DatasetRegistration(_GENERATORS + "separable"),
        "axes": DatasetRegistration(_GENERATORS + "axes"),
        "nested": DatasetRegistration(_GENERATORS + "nested"),
    },
)

# The data sets of installed packages; their names must differ from those of generators and embedded data sets.
DATASET_PLUGINS: Registry[DatasetRegistration] = Registry(
    "data set",
    {},
    group="zoloss.datasets",
    registration_type=DatasetRegistration,
    reserved=lambda: {*GENERATORS, *list_embedded_datasets()},
)


def list_metrics() -> list[str]:
    """Return the names of all metrics: zoloss's own, scikit-learn's scorers, those of installed packages."""
    return [*METRICS.builtin, *SCORERS, *(name for name in METRICS if name not in METRICS.builtin)]


def explain_unknown_metric(name: object) -> str:
    """Return why a name is not a metric, with the nearest valid one."""
    if purpose := OTHER_PURPOSES.get(str(name)):
        return f"the scorer '{name}' of scikit-learn is for {purpose}, and these are errors of classifiers"
    return f"unknown metric '{name}'{suggest_nearest(name, list_metrics())}"


@functools.cache
def load_metric(name: str) -> Any:
    """Return a metric by its name; an unknown name, or a plug-in that is not a metric, is a ConfigError."""
    name = METRIC_ALIASES.get(name, name)
    # Our own come first: looking for installed packages takes longer than a table.
    entry = METRICS.builtin.get(name) or SCORERS.builtin.get(name) or METRICS.get(name)
    if entry is None:
        raise ConfigError(explain_unknown_metric(name))
    return entry.loaded(**entry.fixed)


def is_foreign(name: str) -> bool:
    """Return whether a learner's name refers to a class of a package or in a file, not to a registered one."""
    return is_foreign_name(name) and name not in LEARNERS


def is_unchecked(name: str) -> bool:
    """Return whether a learner's name refers to a class that is not trusted and may not be run here."""
    return is_foreign(name) and not is_trusted(name) and find_code_policy() != "run"


def find_registration(name: str) -> LearnerRegistration:
    """Return what a name stands for: a learner, a measure, or a class of a package or a file.

    Parameters
    ----------
    name : str
        A registered name, a dotted one such as sklearn.svm.LinearSVC, or that of a class in a file that was
        read, with its content: mine.py:MyClass@SHA256. ConfigError if nothing is there.
    """
    if name in MEASURES:
        return MEASURES[name]
    if is_foreign(name):
        return find_foreign(name)
    return LEARNERS.find(name)


def list_multiclass_learners() -> list[str]:
    """Return the names of the built-in learners that take more than two classes."""
    return [name for name, entry in LEARNERS.builtin.items() if entry.is_multiclass]


def build_parameter_model(name: str) -> type[BaseModel]:
    """Return a typed model of the parameters of a learner or measure that a config may set."""
    return find_registration(name).parameter_model


def find_nested_learners(model: type[BaseModel]) -> list[str]:
    """Return the parameters of a model from `build_parameter_model` that hold other learners."""
    from zoloss_cli.utils.signature import Nested

    return [
        name for name, info in model.model_fields.items() if any(isinstance(m, Nested) for m in info.metadata)
    ]


def make_learner(name: str, settings: Mapping | None = None, random_state=None, **more):
    """Return an estimator by its registered name.

    Parameters are given as a mapping or as keywords; a wrong name or parameter raises ConfigError.

    Parameters
    ----------
    name : str
        A name that `zoloss learners` lists, or the dotted one of a classifier such as sklearn.svm.LinearSVC.
    settings : mapping or None, default=None
        Parameters of the learner.
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result. A deterministic learner ignores it.
    **more
        More parameters of the learner.

    Returns
    -------
    estimator
        The unfitted estimator.

    Examples
    --------
    >>> from zoloss_cli import make_learner
    >>> make_learner("rcd-bias", epochs=500, random_state=0)
    RCDClassifier(epochs=500, random_state=0)
    """
    entry = find_registration(name)
    known = build_parameter_model(name).model_fields
    settings = dict(settings or {}) | more
    for key in settings:
        if key not in known:
            raise ConfigError(f"the learner '{name}' has no parameter '{key}'{suggest_nearest(key, known)}")
    if entry.is_foreign:
        settings = {key: _resolve_inner(value) for key, value in settings.items()}
    return entry.build(settings, random_state)


def _resolve_inner(value: Any) -> Any:
    """Return a parameter of another package's estimator; one that names a learner becomes that learner."""
    if isinstance(value, Mapping) and isinstance(value.get("learner"), str):
        return resolve_learner(value)[1]
    return value


def resolve_learner(learner: Any) -> tuple[str, Any]:
    """Return (name, estimator) of a learner: a name, a mapping {learner: name, ...}, or the learner itself."""
    if isinstance(learner, str):
        return learner, make_learner(learner)
    if isinstance(learner, Mapping):
        settings = dict(learner)
        name = settings.pop("learner")
        return name, make_learner(name, settings)
    return type(learner).__name__, learner
