"""Names of learners: one line each. Classes are imported only when a learner is used.

A name stands for a class and the parameters that the name fixes; the rest can be set in a config. Other
packages add learners through the entry point group `zoloss.learners`: name = "module:Class", where the
class is a BinaryLearner whose parameters are annotated.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.plugins import Plugin, plugins


@dataclass(frozen=True)
class Registration:
    """Where a learner's class is, what its name fixes, and how the papers' tables call it."""

    target: str
    fixed: dict = field(default_factory=dict)
    title: str = ""
    package = ""  # whose it is, with its version, if it is not ours

    @property
    def learner_class(self) -> type:
        module, name = self.target.split(":")
        return getattr(importlib.import_module(module), name)

    @property
    def takes_many_classes(self) -> bool:
        return getattr(self.learner_class, "multiclass", False)

    @property
    def takes_weights(self) -> bool:
        return "sample_weight" in inspect.signature(self.learner_class.fit).parameters


@dataclass(frozen=True)
class PluginRegistration(Registration):
    """A learner of another package, which may be broken: then its class is a mistake to ask for."""

    plugin: Plugin | None = None

    @property
    def package(self) -> str:
        return self.plugin.package

    @functools.cached_property
    def learner_class(self) -> type:
        from zoloss_cli.learners.base import BinaryLearner
        from zoloss_cli.utils.signature import learner_parameters

        found = self.plugin.load()
        if not (isinstance(found, type) and issubclass(found, BinaryLearner)):
            raise self.plugin.mistake("is no learner: it must be a class derived from zoloss_cli.BinaryLearner")
        if not found.__doc__:
            raise self.plugin.mistake("has no docstring")
        try:
            learner_parameters(found)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise self.plugin.mistake(f"has parameters that cannot be checked: {reason}") from error
        return found


_RCD = "zoloss_cli.learners.search.rcd:RCDClassifier"
_PERCEPTRON = "zoloss_cli.learners.linear.perceptron:"
_LIBLINEAR = "zoloss_cli.learners.linear.liblinear:LibLinearClassifier"
_THEORY = "zoloss_cli.learners.bounds.classifiers:"
_SGD = "zoloss_cli.learners.linear.sgd:MarginSGDClassifier"

BUILT_IN = {
    "rcd-plain": Registration(_RCD, {"variant": "plain"}, "RCD-plain"),
    "rcd-bias": Registration(_RCD, {"variant": "bias"}, "RCD-bias"),
    "rcd-conj": Registration(_RCD, {"variant": "conj"}, "RCD-conj"),
    "rcd-conj-bias": Registration(_RCD, {"variant": "conj-bias"}, "RCD-conj-bias"),
    "rcd-grad": Registration(_RCD, {"variant": "grad"}, "RCD-grad"),
    "rcd-grad-batch": Registration(_RCD, {"variant": "grad-batch"}, "RCD-grad (batch)"),
    "ccd": Registration(_RCD, {"variant": "ccd"}, "CCD"),
    "pocket": Registration(_PERCEPTRON + "PocketClassifier", {"ratchet": True}, "pocket"),
    "pocket-plain": Registration(_PERCEPTRON + "PocketClassifier", {"ratchet": False}, "pocket (no ratchet)"),
    "ave-perc": Registration(_PERCEPTRON + "AveragedPerceptronClassifier", {}, "ave-perc"),
    "perceptron": Registration(_PERCEPTRON + "PerceptronClassifier", {}, "perceptron"),
    "batch-perceptron": Registration(_PERCEPTRON + "BatchPerceptronClassifier", {}, "batch perceptron"),
    "margin-perceptron": Registration(_PERCEPTRON + "MarginPerceptronClassifier", {}, "margin perceptron"),
    "romma": Registration(_PERCEPTRON + "ROMMAClassifier", {"aggressive": False}, "ROMMA"),
    "romma-aggressive": Registration(_PERCEPTRON + "ROMMAClassifier", {"aggressive": True}, "aggressive ROMMA"),
    "mistake-bound": Registration(_THEORY + "MistakeBoundClassifier", {}, "mistakes"),
    "margin-bound": Registration(_THEORY + "MarginBoundClassifier", {}, "margin mistakes"),
    "inseparable-bound": Registration(_THEORY + "InseparableBoundClassifier", {}, "inseparable"),
    "stopping-rule": Registration(_THEORY + "StoppingRuleClassifier", {}, "stopping rule"),
    "sgd-hinge": Registration(_SGD, {"cost": "hinge"}, "SGD-hinge"),
    "sgd-mls": Registration(_SGD, {"cost": "mls"}, "SGD-mls"),
    "sgd-ls": Registration(_SGD, {"cost": "ls"}, "SGD-ls"),
    "sgd-perceptron": Registration(_SGD, {"cost": "perceptron"}, "SGD-perceptron"),
    "fld": Registration("zoloss_cli.learners.linear.fld:FLDClassifier", {}, "FLD"),
    "soft-svm": Registration("zoloss_cli.learners.linear.soft_svm:SoftSVMClassifier", {}, "soft-SVM"),
    "svm-perceptron": Registration("zoloss_cli.learners.kernel_svm:KernelSVMClassifier", {}, "SVM-perceptron"),
    "svm": Registration(_LIBLINEAR, {"loss": "squared-hinge"}, "SVM"),
    "lr": Registration(_LIBLINEAR, {"loss": "logistic"}, "LR"),
    "bpm": Registration("zoloss_cli.learners.linear.bayes_point:BayesPointClassifier", {}, "BPM"),
    "sla": Registration("zoloss_cli.learners.search.sla:SmoothLossClassifier", {}, "SLA"),
    "bnb": Registration("zoloss_cli.learners.search.branch_and_bound:BranchAndBoundClassifier", {}, "BnB"),
    "pcs": Registration("zoloss_cli.learners.search.combinatorial:PrioritizedSearchClassifier", {}, "PCS"),
    "csa": Registration("zoloss_cli.learners.search.combinatorial:SwapSearchClassifier", {}, "CSA"),
    "mip": Registration("zoloss_cli.learners.search.mip:MixedIntegerClassifier", {}, "MIP"),
    "pivot": Registration("zoloss_cli.learners.search.pivot:PivotClassifier", {}, "pivot"),
    "certify": Registration("zoloss_cli.learners.search.certify:CertifyingClassifier", {}, "certify"),
    "adaboost": Registration("zoloss_cli.learners.boosting.adaboost:AdaBoostClassifier", {}, "AdaBoost"),
    "anyboost": Registration("zoloss_cli.learners.boosting.margin_boost:AnyBoostClassifier", {}, "AnyBoost"),
    "cgboost": Registration("zoloss_cli.learners.boosting.margin_boost:CGBoostClassifier", {}, "CGBoost"),
    "adaboost-stump": Registration(
        "zoloss_cli.learners.boosting.boosted_stumps:BoostedStumpsClassifier", {}, "AdaBoost (stumps)"
    ),
    "ecc": Registration("zoloss_cli.learners.multiclass.ecc:AdaBoostECCClassifier", {}, "AdaBoost.ECC"),
    "erp": Registration("zoloss_cli.learners.multiclass.ecc:AdaBoostERPClassifier", {}, "AdaBoost.ERP"),
    "one-vs-one": Registration("zoloss_cli.learners.multiclass.pairs:OneVsOneClassifier", {}, "one-vs-one"),
    "one-vs-all": Registration("zoloss_cli.learners.multiclass.pairs:OneVsAllClassifier", {}, "one-vs-all"),
    "stump": Registration("zoloss_cli.learners.boosting.stump:DecisionStumpClassifier", {}, "stump"),
}

_MEASURES = "zoloss_cli.complexity.measures:"

# What a config's section `measures` can have: no learners, but registered, checked and stored as they are.
MEASURES = {
    "complexity": Registration(_MEASURES + "ComplexityMeasure", {}, "complexity"),
    "decomposition": Registration(_MEASURES + "DecompositionMeasure", {}, "decomposition"),
    "contribution": Registration(_MEASURES + "ContributionMeasure", {}, "contribution"),
    "neighbours": Registration(_MEASURES + "NeighbourScore", {}, "neighbours"),
    "multipliers": Registration(_MEASURES + "MultiplierScore", {}, "multipliers"),
    "leave-one-out": Registration(_MEASURES + "LeaveOneOutScore", {}, "leave one out"),
    "cross-validation": Registration(_MEASURES + "CrossValidatedScore", {}, "cross-validation"),
}

# Metrics that a table can show, by their names in configs: classes derived from zoloss_cli.metrics.base.Metric.
METRICS = {
    "test_error": "zoloss_cli.metrics.test_error:TestError",
    "train_error": "zoloss_cli.metrics.train_error:TrainError",
    "train_01_loss": "zoloss_cli.metrics.train_01_loss:TrainZeroOneLoss",
    "train_01_loss_lenient": "zoloss_cli.metrics.train_01_loss_lenient:LenientTrainZeroOneLoss",
    "balanced_error": "zoloss_cli.metrics.balanced_error:BalancedError",
    "false_positive_rate": "zoloss_cli.metrics.false_positive_rate:FalsePositiveRate",
    "false_negative_rate": "zoloss_cli.metrics.false_negative_rate:FalseNegativeRate",
    "f1": "zoloss_cli.metrics.f1:F1",
    "roc_auc": "zoloss_cli.metrics.roc_auc:RocAuc",
    "fit_time": "zoloss_cli.metrics.fit_time:FitTime",
    "time_to_best": "zoloss_cli.metrics.time_to_best:TimeToBest",
    "lower_bound": "zoloss_cli.metrics.lower_bound:LowerBound",
    "iterations": "zoloss_cli.metrics.iterations:Iterations",
    "cost": "zoloss_cli.metrics.cost:Cost",
    "cost_ratio": "zoloss_cli.metrics.cost_ratio:CostRatio",
    "median_ratio": "zoloss_cli.metrics.median_ratio:MedianRatio",
    "bound_ratio": "zoloss_cli.metrics.bound_ratio:BoundRatio",
    "largest_ratio": "zoloss_cli.metrics.largest_ratio:LargestRatio",
    "complexity": "zoloss_cli.metrics.complexity:Complexity",
    "principal_points": "zoloss_cli.metrics.principal_points:PrincipalPoints",
    "principal_subsets": "zoloss_cli.metrics.principal_subsets:PrincipalSubsets",
    "auc": "zoloss_cli.metrics.auc:OutlierAuc",
    "auc_least_squares": "zoloss_cli.metrics.auc_least_squares:LeastSquaresAuc",
}
METRIC_ALIASES = {"seconds": "fit_time", "reached": "time_to_best"}  # as configs of zoloss 0.1 call them

# The generated data sets: functions in zoloss_cli/datasets/generators.py.
GENERATORS = (
    "ringnorm",
    "threenorm",
    "yinyang",
    "tangram",
    "disks",
    "gaussians",
    "outliers",
    "data_engine",
    "separable",
    "axes",
)


@functools.cache
def metric_plugins() -> dict[str, Plugin]:
    """Return the metrics of installed packages, of the entry point group `zoloss.metrics`, by name."""
    return {p.name: p for p in plugins("metric", METRICS) if p.name not in METRICS}


def list_metrics() -> list[str]:
    """Return the names of all metrics, those of installed packages last."""
    return [*METRICS, *metric_plugins()]


@functools.cache
def load_metric(name: str):
    """Return a metric by its name; an unknown name, or a plug-in that is no metric, is a ConfigError."""
    name = METRIC_ALIASES.get(name, name)
    if name in METRICS:
        module, _, class_name = METRICS[name].partition(":")
        return getattr(importlib.import_module(module), class_name)()
    plugin = metric_plugins().get(name)
    if plugin is None:
        raise ConfigError(f"no metric is called '{name}'{suggest_nearest(name, list_metrics())}")
    base = importlib.import_module("zoloss_cli.metrics.base").Metric
    found = plugin.load()
    if not (isinstance(found, type) and issubclass(found, base)):
        raise plugin.mistake("is no metric: it must be a class derived from zoloss_cli.metrics.base.Metric")
    if getattr(found, "name", None) != name:
        raise plugin.mistake(f"must have the name '{name}', as its entry point says")
    return found()


@functools.cache
def learner_plugins() -> list[Plugin]:
    """The learners of installed packages, also those that cannot be used."""
    return plugins("learner", BUILT_IN)


@functools.cache
def learners() -> dict[str, Registration]:
    """Every registered learner by name: the built-in ones and those of installed packages."""
    added = [p for p in learner_plugins() if p.name not in BUILT_IN]
    return BUILT_IN | {p.name: PluginRegistration(p.target, {}, p.name, p) for p in added}


def registration(name: str) -> Registration:
    """What is registered under this name, a learner or a measure."""
    if name in MEASURES:
        return MEASURES[name]
    try:
        found = learners()[name]
    except KeyError:
        raise ConfigError(
            f"no learner is called '{name}'{suggest_nearest(name, learners()) or '; zoloss learners lists them'}"
        ) from None
    if name in BUILT_IN:
        for plugin in learner_plugins():
            if plugin.name == name:
                # The place is always this one, so that Python says it once.
                warnings.warn(f"{plugin.clash}; '{name}' is zoloss's own", stacklevel=1)
    return found


def working_learners() -> dict[str, Registration]:
    """Those that can be used: a broken package must not keep the others from being listed."""
    return {name: entry for name, entry in learners().items() if not fault(entry)}


def learners_for_many() -> list[str]:
    """The names of ours that take more than two classes."""
    return [name for name, entry in BUILT_IN.items() if entry.takes_many_classes]


def broken_learners() -> list[tuple[Plugin, str]]:
    """The learners of other packages that cannot be used, and why."""
    return [(p, reason) for p in learner_plugins() if (reason := fault(PluginRegistration(p.target, plugin=p)))]


def fault(entry: Registration) -> str:
    """What is wrong with a learner of another package, in one sentence, or nothing."""
    try:
        _ = entry.learner_class
    except ConfigError as mistake:
        return str(mistake)
    return ""


def parameters(name: str):
    """A typed model of the parameters of a learner that a config may set."""
    from zoloss_cli.utils.signature import learner_parameters

    entry = registration(name)
    return learner_parameters(entry.learner_class, frozenset(entry.fixed))


def nested_learners(model) -> list[str]:
    """The parameters of a model from `parameters` that hold other learners."""
    from zoloss_cli.utils.signature import Nested

    return [
        name for name, fact in model.model_fields.items() if any(isinstance(m, Nested) for m in fact.metadata)
    ]


def make_learner(name: str, settings: Mapping | None = None, random_state=None, **more):
    """An estimator by its name. Parameters come as a mapping or as keywords; a wrong one is a ConfigError.

    A deterministic learner takes no random_state.

    >>> from zoloss_cli import make_learner
    >>> make_learner("rcd-bias", epochs=500, random_state=0)
    RCDClassifier(epochs=500, random_state=0)
    """
    entry = registration(name)
    known = parameters(name).model_fields
    settings = dict(settings or {}) | more
    for key in settings:
        if key not in known:
            raise ConfigError(f"the learner '{name}' has no parameter '{key}'{suggest_nearest(key, known)}")
    estimator = entry.learner_class(**entry.fixed, **settings)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=random_state)
    return estimator


def resolve(learner) -> tuple[str, object]:
    """(name, estimator) of a learner given by its name, by a mapping {learner: name, ...}, or as itself."""
    if isinstance(learner, str):
        return learner, make_learner(learner)
    if isinstance(learner, Mapping):
        settings = dict(learner)
        name = settings.pop("learner")
        return name, make_learner(name, settings)
    return type(learner).__name__, learner
