"""Registries of learners, measures, metrics and generators, one line per name.

A name refers to a class or function, and fixes some of its parameters; the others can be set in a config.
The classes and functions are imported on first use.
Other packages register names through three entry point groups:

- `zoloss.learners`: name = "module:Class", a BinaryLearner whose parameters are annotated;
- `zoloss.metrics`: name = "module:Class", a Metric of that name;
- `zoloss.datasets`: name = "module:function", a generator, whose first parameter is `rng`, or a function
  without parameters that returns the path of a CSV file; its docstring describes the data set.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from zoloss_cli.errors import ConfigError, suggest_nearest
from zoloss_cli.external import (
    EXTERNAL_VERSION,
    check_allowed,
    check_is_classifier,
    format_error,
    is_trusted,
    load_external,
    name_package,
)
from zoloss_cli.utils.files import list_embedded_datasets
from zoloss_cli.utils.imports import find_code_policy, is_code_name, is_dotted_name, name_class

if TYPE_CHECKING:
    from pydantic import BaseModel

ANY_LEARNER = "zoloss_cli.learners.base:Learner"
BASE_LEARNER = "zoloss_cli.learners.base:BinaryLearner"
BASE_METRIC = "zoloss_cli.metrics.base:Metric"
EXTERNAL_LEARNER = "zoloss_cli.learners.external:ExternalLearner"
RNG = "rng"  # the first parameter of generators, and only of these


@dataclass(frozen=True)
class Plugin:
    """An entry point of an installed package; errors in it are reported only when it is used."""

    kind: str  # of what it registers, such as 'learner' or 'data set'
    name: str
    target: str
    package: str  # with its version
    rival: str = ""  # what else has this name

    def build_error(self, reason: str) -> ConfigError:
        """Return an error that names the plug-in and its package."""
        return ConfigError(
            f"the {self.kind} '{self.name}' of the package {self.package} "
            f"(entry point {self.name} = {self.target}) {reason}"
        )

    @property
    def name_error(self) -> ConfigError:
        """The error about a name conflict."""
        return self.build_error(f"conflicts with the same name in {self.rival}: its package must rename it")

    def load(self) -> Any:
        """Import the object that the entry point names."""
        if self.rival:
            raise self.name_error
        try:
            return pkgutil.resolve_name(self.target)
        except Exception as error:
            raise self.build_error(f"cannot be imported: {format_error(error)}") from error


@dataclass(frozen=True)
class Registration:
    """A registered class or function, and the parameters that its name fixes."""

    target: str  # package.module:name
    fixed: dict[str, Any] = field(default_factory=dict)  # the other parameters can be set in a config
    title: str = ""  # in tables and figures
    plugin: Plugin | None = None  # the entry point that registers it; None if built in

    @property
    def package(self) -> str:
        """The name and version of the package that registers it; empty if built in."""
        return self.plugin.package if self.plugin else ""

    @functools.cached_property
    def loaded(self) -> Any:
        """The class or function itself; ConfigError if it is a plug-in that cannot be used."""
        if self.plugin is None:
            return pkgutil.resolve_name(self.target)
        found = self.plugin.load()
        self.check_plugin(self.plugin, found)
        return found

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError if a plug-in is not a valid entry of the registry."""

    def find_fault(self) -> str:
        """Return why it cannot be used, in one sentence; empty if it can."""
        try:
            _ = self.loaded
        except ConfigError as error:
            return str(error)
        return ""


R = TypeVar("R", bound=Registration)


class Registry(Mapping[str, R]):
    """The names of one kind: built-in ones, then those that installed packages register in `group`.

    The registration type validates plug-ins, `reserved` returns further names that they cannot use, and `hint`
    ends the message about an unknown name if no name is similar.
    """

    def __init__(
        self,
        kind: str,
        builtin: dict[str, R],
        group: str = "",
        registration_type: type[R] | None = None,
        reserved: Callable[[], Collection[str]] = tuple,
        hint: str = "",
    ) -> None:
        self.kind, self.builtin, self.group, self.hint = kind, builtin, group, hint
        self._registration_type, self._reserved = registration_type, reserved

    def __getitem__(self, name: str) -> R:
        return self._registrations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._registrations)

    def __len__(self) -> int:
        return len(self._registrations)

    def find(self, name: str) -> R:
        """Return a registration by name; raise ConfigError with the nearest name if it is unknown."""
        if name not in self:
            raise ConfigError(f"unknown {self.kind} '{name}'{suggest_nearest(name, self) or self.hint}")
        for plugin in self.plugins:
            if plugin.name == name and name in self.builtin:
                # From one location, so that Python shows the warning only once.
                warnings.warn(f"{plugin.name_error}; '{name}' is zoloss's own", stacklevel=1)
        return self[name]

    @functools.cached_property
    def plugins(self) -> list[Plugin]:
        """The plug-ins of installed packages, sorted by name, including unusable ones."""
        if not self.group:
            return []
        from importlib.metadata import entry_points  # slow to import, and few commands need it

        found = sorted(
            (entry.name, f"{entry.dist.name} {entry.dist.version}" if entry.dist else "?", entry.value)
            for entry in entry_points(group=self.group)
        )
        reserved = {*self.builtin, *self._reserved()} if found else set()
        plugins = []
        for name, package, target in found:
            claims = [other for claimed, other, _ in found if claimed == name]
            others = [other for other in claims if other != package] or claims[1:]
            rival = "zoloss itself" if name in reserved else f"the package {others[0]}" if others else ""
            plugins.append(Plugin(self.kind, name, target, package, rival))
        return plugins

    @functools.cached_property
    def _registrations(self) -> dict[str, R]:
        taken = {*self.builtin, *self._reserved()} if self.plugins else self.builtin
        return self.builtin | {p.name: self._register(p) for p in self.plugins if p.name not in taken}

    def _register(self, plugin: Plugin) -> R:
        assert self._registration_type is not None, f"the registry of {self.kind}s takes no plug-ins"
        return self._registration_type(plugin.target, title=plugin.name, plugin=plugin)

    def list_usable(self) -> dict[str, R]:
        """Return the usable entries: a broken package must not hide the others."""
        return {name: entry for name, entry in self.items() if not entry.find_fault()}

    def list_broken(self) -> list[tuple[Plugin, str]]:
        """Return the plug-ins that cannot be used, and why."""
        return [(plugin, fault) for plugin in self.plugins if (fault := self._register(plugin).find_fault())]


class DatasetRegistration(Registration):
    """A function that generates a pool of samples, or that returns the path of a CSV file."""

    @property
    def is_generator(self) -> bool:
        """Whether the function generates a pool."""
        return _is_generator(self.loaded)

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A typed model of the generator's parameters that a config may set."""
        return _model_settings(self.loaded)

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a documented function of one of the two kinds."""
        if not inspect.isfunction(found):
            raise plugin.build_error("is not a function")
        if not found.__doc__:
            raise plugin.build_error("has no docstring")
        if not _is_generator(found):
            if inspect.signature(found).parameters:
                raise plugin.build_error(f"must take no parameters, or '{RNG}' as its first")
            return
        try:
            settings = _model_settings(found).model_fields
        except Exception as error:
            reason = " ".join(str(error).split())
            raise plugin.build_error(f"has settings that cannot be checked: {reason}") from error
        if "size" not in settings or any(setting.is_required() for setting in settings.values()):
            raise plugin.build_error("must have a setting 'size', and a default for every setting")


def _is_generator(function: Any) -> bool:
    return next(iter(inspect.signature(function).parameters), None) == RNG


def _model_settings(generator: Any) -> type[BaseModel]:
    from zoloss_cli.utils.signature import parameter_model

    return parameter_model(generator, frozenset({RNG}))


class MetricRegistration(Registration):
    """A metric's class."""

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a metric of the plug-in's name."""
        if not (isinstance(found, type) and issubclass(found, pkgutil.resolve_name(BASE_METRIC))):
            raise plugin.build_error(
                "is not a metric: it must be a class derived from zoloss_cli.metrics.base.Metric"
            )
        if getattr(found, "name", None) != plugin.name:
            raise plugin.build_error(f"must have the name '{plugin.name}', as its entry point says")
        if inspect.isabstract(found):
            raise plugin.build_error("has no method compute")
        if getattr(found, "direction", None) not in ("lower", "higher", None):
            raise plugin.build_error("must have the direction 'lower', 'higher', or None if no value is better")


class LearnerRegistration(Registration):
    """A learner's or measure's class, and the parameters that its name fixes."""

    is_external = False  # whether the class is not derived from zoloss's base classes

    @property
    def learner_class(self) -> Any:
        """The class, imported at first use."""
        return self.loaded

    @property
    def is_multiclass(self) -> bool:
        """Whether the learner supports more than two classes."""
        return getattr(self.learner_class, "multiclass", False)

    @property
    def accepts_sample_weight(self) -> bool:
        """Whether the learner's fit takes sample weights."""
        return "sample_weight" in inspect.signature(self.learner_class.fit).parameters

    @property
    def reports(self) -> tuple[str, ...]:
        """The optional record fields that a fitted learner provides."""
        return tuple(getattr(self.learner_class, "reports", ()))

    @property
    def version(self) -> int:
        """The version of the algorithm, on which results depend."""
        return self.learner_class.version

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A typed model of the parameters that a config may set."""
        from zoloss_cli.utils.signature import learner_parameters

        return learner_parameters(self.learner_class, frozenset(self.fixed))

    def build(self, settings: Mapping[str, Any], random_state: Any) -> Any:
        """Return the unfitted estimator, with a seed if it has the parameter random_state."""
        estimator = self.learner_class(**self.fixed, **settings)
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=random_state)
        return estimator

    def check_plugin(self, plugin: Plugin, found: Any) -> None:
        """Raise ConfigError unless `found` is a documented learner whose parameters can be checked."""
        if not (isinstance(found, type) and issubclass(found, pkgutil.resolve_name(BASE_LEARNER))):
            raise plugin.build_error(
                "is not a learner: it must be a class derived from zoloss_cli.BinaryLearner"
            )
        if not found.__doc__:
            raise plugin.build_error("has no docstring")
        _check_parameters(found, plugin.build_error)


def _check_parameters(found: type, build_error: Callable[[str], ConfigError]) -> None:
    from zoloss_cli.utils.signature import learner_parameters

    try:
        learner_parameters(found)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise build_error(f"has parameters that cannot be checked: {reason}") from error


@dataclass(frozen=True)
class FoundRegistration(LearnerRegistration):
    """A class derived from zoloss's base classes, in another package or a file."""

    found: Any = None

    @property
    def loaded(self) -> Any:
        """The class."""
        return self.found

    @property
    def package(self) -> str:
        """The name and version of the package; empty if the class is in a file."""
        return name_package(self.target)


class ExternalRegistration(FoundRegistration):
    """An estimator class of another package or in a file, used through an adapter."""

    is_external = True

    @property
    def is_multiclass(self) -> bool:
        """Whether it supports more than two classes, according to its tags or its attribute `multiclass`."""
        try:
            return pkgutil.resolve_name(EXTERNAL_LEARNER)(self.found()).multiclass
        except Exception:  # it requires parameters; each task checks again
            return True

    @property
    def version(self) -> int:
        """The version of the adapter; its package's version or its file's content identifies the class."""
        return EXTERNAL_VERSION

    @property
    def parameter_model(self) -> type[BaseModel]:
        """A model of the parameters by name; only the estimator knows which values are valid."""
        from zoloss_cli.utils.signature import untyped_parameters

        return untyped_parameters(self.found)

    def build(self, settings: Mapping[str, Any], random_state: Any) -> Any:
        """Return the adapter around an estimator with these parameters."""
        inner = {k: getattr(v, "wrapped_estimator", v) for k, v in settings.items()}
        try:
            estimator = self.found(**inner)
        except Exception as error:
            raise ConfigError(
                f"'{self.title}' cannot be constructed with these parameters: {format_error(error)}"
            ) from error
        return pkgutil.resolve_name(EXTERNAL_LEARNER)(estimator, random_state)


def _learner(target: str, title: str, **fixed: Any) -> LearnerRegistration:
    return LearnerRegistration(f"zoloss_cli.learners.{target}", fixed, title)


def _measure(target: str, title: str) -> LearnerRegistration:
    return LearnerRegistration(f"zoloss_cli.complexity.{target}", {}, title)


LEARNERS = Registry(
    "learner",
    {
        "rcd-plain": _learner("search.rcd:RCDClassifier", "RCD-plain", variant="plain"),
        "rcd-bias": _learner("search.rcd:RCDClassifier", "RCD-bias", variant="bias"),
        "rcd-conj": _learner("search.rcd:RCDClassifier", "RCD-conj", variant="conj"),
        "rcd-conj-bias": _learner("search.rcd:RCDClassifier", "RCD-conj-bias", variant="conj-bias"),
        "rcd-grad": _learner("search.rcd:RCDClassifier", "RCD-grad", variant="grad"),
        "rcd-grad-batch": _learner("search.rcd:RCDClassifier", "RCD-grad (batch)", variant="grad-batch"),
        "ccd": _learner("search.rcd:RCDClassifier", "CCD", variant="ccd"),
        "pocket": _learner("linear.perceptrons:PocketClassifier", "pocket", ratchet=True),
        "pocket-plain": _learner("linear.perceptrons:PocketClassifier", "pocket (no ratchet)", ratchet=False),
        "ave-perc": _learner("linear.perceptrons:AveragedPerceptronClassifier", "ave-perc"),
        "voted-perc": _learner("linear.perceptrons:VotedPerceptronClassifier", "voted-perc"),
        "perceptron": _learner("linear.perceptrons:PerceptronClassifier", "perceptron"),
        "batch-perceptron": _learner("linear.perceptrons:BatchPerceptronClassifier", "batch perceptron"),
        "margin-perceptron": _learner("linear.perceptrons:MarginPerceptronClassifier", "margin perceptron"),
        "romma": _learner("linear.perceptrons:ROMMAClassifier", "ROMMA", aggressive=False),
        "romma-aggressive": _learner("linear.perceptrons:ROMMAClassifier", "aggressive ROMMA", aggressive=True),
        "mistake-bound": _learner("mistake_bounds:MistakeBoundClassifier", "mistakes"),
        "margin-bound": _learner("mistake_bounds:MarginBoundClassifier", "margin mistakes"),
        "inseparable-bound": _learner("mistake_bounds:InseparableBoundClassifier", "inseparable"),
        "stopping-rule": _learner("mistake_bounds:StoppingRuleClassifier", "stopping rule"),
        "rcd-bound": _learner("search.rcd:RCDBoundClassifier", "RCD bound"),
        "sgd-hinge": _learner("linear.online:MarginSGDClassifier", "SGD-hinge", cost="hinge"),
        "sgd-mls": _learner("linear.online:MarginSGDClassifier", "SGD-mls", cost="mls"),
        "sgd-ls": _learner("linear.online:MarginSGDClassifier", "SGD-ls", cost="ls"),
        "sgd-perceptron": _learner("linear.online:MarginSGDClassifier", "SGD-perceptron", cost="perceptron"),
        "fld": _learner("linear.fld:FLDClassifier", "FLD"),
        "soft-svm": _learner("linear.surrogates:SoftSVMClassifier", "soft-SVM"),
        "svm-perceptron": _learner("kernel_svm:KernelSVMClassifier", "SVM-perceptron"),
        "svm": _learner("linear.surrogates:LibLinearClassifier", "SVM", loss="squared-hinge"),
        "lr": _learner("linear.surrogates:LibLinearClassifier", "LR", loss="logistic"),
        "bpm": _learner("linear.surrogates:BayesPointClassifier", "BPM"),
        "sla": _learner("search.sla:SmoothLossClassifier", "SLA"),
        "bnb": _learner("search.branch_and_bound:BranchAndBoundClassifier", "BnB"),
        "pcs": _learner("search.combinatorial:PrioritizedSearchClassifier", "PCS"),
        "csa": _learner("search.combinatorial:SwapSearchClassifier", "CSA"),
        "mip": _learner("search.mip:MixedIntegerClassifier", "MIP"),
        "pivot": _learner("search.pivot:PivotClassifier", "pivot"),
        "certify": LearnerRegistration("zoloss_cli.proofs.certify:CertifyingClassifier", {}, "certify"),
        "adaboost": _learner("boosting.adaboost:AdaBoostClassifier", "AdaBoost"),
        "anyboost": _learner("boosting.anyboost:AnyBoostClassifier", "AnyBoost"),
        "cgboost": _learner("boosting.anyboost:CGBoostClassifier", "CGBoost"),
        "adaboost-stump": _learner("boosting.stumps:BoostedStumpsClassifier", "AdaBoost (stumps)"),
        "ecc": _learner("multiclass.ecc:AdaBoostECCClassifier", "AdaBoost.ECC", symmetric=True),
        "ecc-asymmetric": _learner(
            "multiclass.ecc:AdaBoostECCClassifier", "asymmetric AdaBoost.ECC", symmetric=False
        ),
        "erp": _learner("multiclass.ecc:AdaBoostERPClassifier", "AdaBoost.ERP"),
        "one-vs-one": _learner("multiclass.pairs:OneVsOneClassifier", "one-vs-one"),
        "one-vs-all": _learner("multiclass.pairs:OneVsAllClassifier", "one-vs-all"),
        "ecoc": _learner("multiclass.pairs:OutputCodeClassifier", "output code"),
        "stump": _learner("boosting.stumps:DecisionStumpClassifier", "stump"),
        "scoring": _learner("scoring.classifier:ScoringSystemClassifier", "scoring system"),
        "majority": _learner("majority:MajorityClassifier", "majority"),
    },
    group="zoloss.learners",
    registration_type=LearnerRegistration,
    hint="; zoloss learners lists them",
)

# The measures of a config's section `measures`, registered, validated and stored like learners.
MEASURES = Registry(
    "measure",
    {
        "complexity": _measure("measures:ComplexityMeasure", "complexity"),
        "decomposition": _measure("measures:DecompositionMeasure", "decomposition"),
        "contribution": _measure("measures:ContributionMeasure", "contribution"),
        "neighbours": _measure("outliers:NeighbourScore", "neighbours"),
        "multipliers": _measure("outliers:MultiplierScore", "multipliers"),
        "leave-one-out": _measure("outliers:LeaveOneOutScore", "leave one out"),
        "cross-validation": _measure("outliers:CrossValidatedScore", "cross-validation"),
    },
)

# scikit-learn's scorers by what they need from a record; f1 and roc_auc are zoloss's own, in METRICS.
OF_PREDICTIONS = (
    *("accuracy", "balanced_accuracy", "matthews_corrcoef", "f1_macro", "f1_micro", "f1_weighted"),
    *("precision", "precision_macro", "precision_micro", "precision_weighted"),
    *("recall", "recall_macro", "recall_micro", "recall_weighted"),
    *("jaccard", "jaccard_macro", "jaccard_micro", "jaccard_weighted"),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)
OF_SCORES = ("average_precision",)  # for two classes, since only their scores are stored
OF_PROBABILITIES = (
    *("neg_log_loss", "neg_brier_score", "d2_log_loss_score", "d2_brier_score"),
    *("roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_ovo", "roc_auc_ovo_weighted", "top_k_accuracy"),
)
OF_TWO_CLASSES = (
    *("precision", "recall", "jaccard", "average_precision"),
    *("positive_likelihood_ratio", "neg_negative_likelihood_ratio"),
)
SCORERS = Registry(
    "scorer",
    {
        name: MetricRegistration("zoloss_cli.metrics.sklearn:build_scorer", {"name": name})
        for name in (*OF_PREDICTIONS, *OF_SCORES, *OF_PROBABILITIES)
    }
    | {"accuracy": MetricRegistration("zoloss_cli.metrics.errors:Accuracy")},
)

_METRICS = {  # classes derived from zoloss_cli.metrics.base.Metric, by the names used in configs
    "test_error": "errors:TestError",
    "train_error": "errors:TrainError",
    "train_01_loss": "errors:TrainZeroOneLoss",
    "train_01_loss_lenient": "errors:LenientTrainZeroOneLoss",
    "balanced_error": "errors:BalancedError",
    "false_positive_rate": "errors:FalsePositiveRate",
    "false_negative_rate": "errors:FalseNegativeRate",
    "f1": "errors:F1",
    "roc_auc": "scores:RocAuc",
    "fit_time": "timing:FitTime",
    "time_to_best": "timing:TimeToBest",
    "lower_bound": "bounds:LowerBound",
    "time_to_bound": "timing:TimeToBound",
    "joint_bound": "bounds:JointBound",
    "cones": "bounds:Cones",
    "iterations": "timing:Iterations",
    "error_counts": "errors:ErrorCounts",
    "cost": "errors:Cost",
    "cost_ratio": "scores:CostRatio",
    "median_ratio": "scores:MedianRatio",
    "bound_ratio": "bounds:BoundRatio",
    "largest_ratio": "bounds:LargestRatio",
    "success_share": "bounds:SuccessShare",
    "success_bound": "bounds:SuccessBound",
    "complexity": "bounds:Complexity",
    "principal_points": "bounds:PrincipalPoints",
    "principal_subsets": "bounds:PrincipalSubsets",
    "auc": "scores:OutlierAuc",
    "auc_least_squares": "scores:LeastSquaresAuc",
}
METRICS = Registry(
    "metric",
    {name: MetricRegistration(f"zoloss_cli.metrics.{target}") for name, target in _METRICS.items()},
    group="zoloss.metrics",
    registration_type=MetricRegistration,
    reserved=lambda: SCORERS,
)
METRIC_ALIASES = {"seconds": "fit_time", "reached": "time_to_best"}  # names in configs of zoloss 0.1

_GENERATORS = (  # each a function of a random Generator and annotated parameters that returns a pool of samples
    *("ringnorm", "threenorm", "yinyang", "tangram", "disks", "gaussians", "outliers", "data_engine"),
    *("separable", "axes", "nested"),
)
GENERATORS = Registry(
    "generator", {name: DatasetRegistration(f"zoloss_cli.data.generators:{name}") for name in _GENERATORS}
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
    """Return the names of all metrics: built-in ones, scikit-learn's scorers, and those of plug-ins."""
    return [*METRICS.builtin, *SCORERS, *(name for name in METRICS if name not in METRICS.builtin)]


def _find_scorer_purpose(name: str) -> str:
    """Return the purpose of a scorer that does not apply to classifiers; empty for any other name."""
    from sklearn.metrics import get_scorer, get_scorer_names  # needed only for an error message

    if name not in get_scorer_names():
        return ""
    module = get_scorer(name)._score_func.__module__
    purposes = {"sklearn.metrics.cluster": "clustering", "sklearn.metrics._regression": "regression"}
    if name.endswith("_samples"):
        return "multilabel classification"
    return next((purpose for prefix, purpose in purposes.items() if module.startswith(prefix)), "")


def explain_unknown_metric(name: object) -> str:
    """Return why a name is not a metric, with the nearest valid one."""
    if purpose := _find_scorer_purpose(str(name)):
        return f"the scikit-learn scorer '{name}' is for {purpose}, which zoloss does not support"
    return f"unknown metric '{name}'{suggest_nearest(name, list_metrics())}"


@functools.cache
def load_metric(name: str) -> Any:
    """Return a metric by name; raise ConfigError for an unknown name or an invalid plug-in."""
    name = METRIC_ALIASES.get(name, name)
    # Built-in names first: searching installed packages takes longer than building a table.
    entry = METRICS.builtin.get(name) or SCORERS.builtin.get(name) or METRICS.get(name)
    if entry is None:
        raise ConfigError(explain_unknown_metric(name))
    return entry.loaded(**entry.fixed)


def is_external(name: str) -> bool:
    """Return whether a learner's name refers to an unregistered class in a package or a file."""
    if name in LEARNERS.builtin:
        return False
    return (is_dotted_name(name) or is_code_name(name)) and name not in LEARNERS


def is_unchecked(name: str) -> bool:
    """Return whether a learner's name refers to a class that is neither trusted nor allowed to run."""
    return is_external(name) and not is_trusted(name) and find_code_policy() != "run"


def find_registration(name: str) -> LearnerRegistration:
    """Return the registration of a learner, a measure, or a class in a package or in a file that was read.

    The name of a class in a file ends with the file's hash: mine.py:MyClass@SHA256.
    """
    if name in MEASURES:
        return MEASURES[name]
    if is_external(name):
        check_allowed(name)
        return _register_external(name)
    return LEARNERS.find(name)


@functools.lru_cache(maxsize=256)
def _register_external(name: str) -> LearnerRegistration:
    return register_class(load_external(name), name.partition("@")[0])


def list_multiclass_learners() -> list[str]:
    """Return the names of the built-in multiclass learners."""
    return [name for name, entry in LEARNERS.builtin.items() if entry.is_multiclass]


def find_nested_learners(model: type[BaseModel]) -> list[str]:
    """Return the parameters of a learner's parameter model that hold other learners."""
    from zoloss_cli.utils.signature import Nested

    return [
        name for name, info in model.model_fields.items() if any(isinstance(m, Nested) for m in info.metadata)
    ]


def register_class(found: Any, name: str = "") -> LearnerRegistration:
    """Return a registration of a classifier class, under its own name by default."""
    name = name or getattr(found, "__name__", repr(found))
    check_is_classifier(found, name)
    if not issubclass(found, pkgutil.resolve_name(ANY_LEARNER)):
        return ExternalRegistration(name, title=name_class(name), found=found)
    _check_parameters(found, lambda reason: ConfigError(f"'{name}' {reason}"))
    return FoundRegistration(name, title=name_class(name), found=found)


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
    known = entry.parameter_model.model_fields
    settings = dict(settings or {}) | more
    for key in settings:
        if key not in known:
            raise ConfigError(f"the learner '{name}' has no parameter '{key}'{suggest_nearest(key, known)}")
    if entry.is_external:  # a parameter that names a learner becomes that learner
        settings = {
            key: resolve_learner(value)[1]
            if isinstance(value, Mapping) and isinstance(value.get("learner"), str)
            else value
            for key, value in settings.items()
        }
    return entry.build(settings, random_state)


def resolve_learner(learner: Any) -> tuple[str, Any]:
    """Return (name, estimator) of a learner: a name, a mapping {learner: name, ...}, or the learner itself."""
    if isinstance(learner, str):
        return learner, make_learner(learner)
    if isinstance(learner, Mapping):
        settings = dict(learner)
        name = settings.pop("learner")
        return name, make_learner(name, settings)
    return type(learner).__name__, learner
