"""Names of learners: one line each. Classes are imported only when a learner is used.

A name stands for a class and the parameters that the name fixes; the rest can be set in a config. Other
packages add learners through the entry point group `zoloss.learners`: name = "module:Class".
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from zoloss_cli.errors import ConfigError, nearest


@dataclass(frozen=True)
class Registration:
    """Where a learner's class is, what its name fixes, and how the papers' tables call it."""

    target: str
    fixed: dict = field(default_factory=dict)
    title: str = ""

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


_RCD = "zoloss_cli.learners.rcd:RCDClassifier"
_PERCEPTRON = "zoloss_cli.learners.perceptron:"
_LIBLINEAR = "zoloss_cli.learners.convex:LibLinearClassifier"
_SGD = "zoloss_cli.learners.sgd:MarginSGDClassifier"

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
    "sgd-hinge": Registration(_SGD, {"cost": "hinge"}, "SGD-hinge"),
    "sgd-mls": Registration(_SGD, {"cost": "mls"}, "SGD-mls"),
    "sgd-ls": Registration(_SGD, {"cost": "ls"}, "SGD-ls"),
    "sgd-perceptron": Registration(_SGD, {"cost": "perceptron"}, "SGD-perceptron"),
    "fld": Registration("zoloss_cli.learners.fld:FLDClassifier", {}, "FLD"),
    "soft-svm": Registration("zoloss_cli.learners.svm:SoftSVMClassifier", {}, "soft-SVM"),
    "svm-perceptron": Registration("zoloss_cli.learners.kernel_svm:KernelSVMClassifier", {}, "SVM-perceptron"),
    "svm": Registration(_LIBLINEAR, {"loss": "squared-hinge"}, "SVM"),
    "lr": Registration(_LIBLINEAR, {"loss": "logistic"}, "LR"),
    "bpm": Registration("zoloss_cli.learners.bayes_point:BayesPointClassifier", {}, "BPM"),
    "sla": Registration("zoloss_cli.learners.sla:SmoothLossClassifier", {}, "SLA"),
    "bnb": Registration("zoloss_cli.learners.branch_and_bound:BranchAndBoundClassifier", {}, "BnB"),
    "pcs": Registration("zoloss_cli.learners.combinatorial:PrioritizedSearchClassifier", {}, "PCS"),
    "csa": Registration("zoloss_cli.learners.combinatorial:SwapSearchClassifier", {}, "CSA"),
    "mip": Registration("zoloss_cli.learners.mip:MixedIntegerClassifier", {}, "MIP"),
    "pivot": Registration("zoloss_cli.learners.pivot:PivotClassifier", {}, "pivot"),
    "certify": Registration("zoloss_cli.learners.certify:CertifyingClassifier", {}, "certify"),
    "adaboost": Registration("zoloss_cli.ensembles.adaboost:AdaBoostClassifier", {}, "AdaBoost"),
    "adaboost-stump": Registration(
        "zoloss_cli.ensembles.boosted_stumps:BoostedStumpsClassifier", {}, "AdaBoost (stumps)"
    ),
    "ecc": Registration("zoloss_cli.ensembles.ecc:AdaBoostECCClassifier", {}, "AdaBoost.ECC"),
    "erp": Registration("zoloss_cli.ensembles.ecc:AdaBoostERPClassifier", {}, "AdaBoost.ERP"),
    "one-vs-one": Registration("zoloss_cli.ensembles.pairs:OneVsOneClassifier", {}, "one-vs-one"),
    "one-vs-all": Registration("zoloss_cli.ensembles.pairs:OneVsAllClassifier", {}, "one-vs-all"),
    "stump": Registration("zoloss_cli.learners.stump:DecisionStumpClassifier", {}, "stump"),
}


@functools.cache
def learners() -> dict[str, Registration]:
    """Every registered learner by name: the built-in ones and those of installed plug-ins."""
    plugins = {e.name: Registration(e.value, {}, e.name) for e in entry_points(group="zoloss.learners")}
    return plugins | BUILT_IN


def registration(name: str) -> Registration:
    try:
        return learners()[name]
    except KeyError:
        raise ConfigError(f"no learner is called '{name}'{nearest(name, learners())}") from None


def parameters(name: str):
    """A typed model of the parameters of a learner that a config may set."""
    from zoloss_cli.learners.parameters import learner_parameters

    entry = registration(name)
    return learner_parameters(entry.learner_class, frozenset(entry.fixed))


def nested_learners(model) -> list[str]:
    """The parameters of a model from `parameters` that hold other learners."""
    from zoloss_cli.learners.parameters import Nested

    return [
        name for name, fact in model.model_fields.items() if any(isinstance(m, Nested) for m in fact.metadata)
    ]


def make_learner(name: str, settings: dict, random_state=None):
    """An estimator by its name; a deterministic one takes no random_state."""
    entry = registration(name)
    known = parameters(name).model_fields
    for key in settings:
        if key not in known:
            raise ConfigError(f"the learner '{name}' has no parameter '{key}'{nearest(key, known)}")
    estimator = entry.learner_class(**entry.fixed, **settings)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=random_state)
    return estimator


def resolve(learner) -> tuple[str, object]:
    """(name, estimator) of a learner given by its name, by a mapping {learner: name, ...}, or as itself."""
    if isinstance(learner, str):
        return learner, make_learner(learner, {})
    if isinstance(learner, Mapping):
        settings = dict(learner)
        name = settings.pop("learner")
        return name, make_learner(name, settings)
    return type(learner).__name__, learner
