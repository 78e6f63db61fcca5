"""Classifiers that minimize the 0/1 loss directly.

Every learner's class is exported under its own name, along with `make_learner`, `load_dataset`, the measures of
a data set's complexity, and functions that do what the commands do: `evaluate`, `run_experiment`,
`load_results`, `make_table`, `compare`, `load_model` and the `plot_` functions. All of them are imported when
first used, so that importing the package is quick.

Examples
--------
>>> from zoloss_cli import PivotClassifier, load_dataset
>>> X, y = load_dataset("heart")
>>> PivotClassifier(random_state=0).fit(X, y).training_errors_ <= 30  # of 270; an SVM has 39
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which do not run what is below
    from zoloss_cli.api.evaluate import evaluate
    from zoloss_cli.api.experiments import run_experiment
    from zoloss_cli.api.plots import (
        plot_boundary,
        plot_boxes,
        plot_curves,
        plot_differences,
        plot_ranks,
        plot_time,
    )
    from zoloss_cli.api.predict import load_model
    from zoloss_cli.api.tables import compare, make_table
    from zoloss_cli.complexity.hard_margin import data_complexity
    from zoloss_cli.complexity.measures import ComplexityMeasure, ContributionMeasure, DecompositionMeasure
    from zoloss_cli.complexity.outliers import (
        CrossValidatedScore,
        LeaveOneOutScore,
        MultiplierScore,
        NeighbourScore,
    )
    from zoloss_cli.data.dataset import load_dataset
    from zoloss_cli.data.generators import Pool
    from zoloss_cli.learners.base import BinaryLearner
    from zoloss_cli.learners.boosting.adaboost import AdaBoostClassifier
    from zoloss_cli.learners.boosting.anyboost import AnyBoostClassifier, CGBoostClassifier
    from zoloss_cli.learners.boosting.stumps import BoostedStumpsClassifier, DecisionStumpClassifier
    from zoloss_cli.learners.kernel_svm import KernelSVMClassifier
    from zoloss_cli.learners.linear.bayes_point import BayesPointClassifier
    from zoloss_cli.learners.linear.fld import FLDClassifier
    from zoloss_cli.learners.linear.liblinear import LibLinearClassifier
    from zoloss_cli.learners.linear.online import progressive_errors
    from zoloss_cli.learners.linear.perceptrons import (
        AveragedPerceptronClassifier,
        BatchPerceptronClassifier,
        MarginPerceptronClassifier,
        PerceptronClassifier,
        ROMMAClassifier,
        VotedPerceptronClassifier,
    )
    from zoloss_cli.learners.linear.pocket import PocketClassifier
    from zoloss_cli.learners.linear.sgd import MarginSGDClassifier
    from zoloss_cli.learners.linear.soft_svm import SoftSVMClassifier
    from zoloss_cli.learners.linear_base import LinearLearner
    from zoloss_cli.learners.majority import MajorityClassifier
    from zoloss_cli.learners.mistake_bounds import (
        InseparableBoundClassifier,
        MarginBoundClassifier,
        MistakeBoundClassifier,
        StoppingRuleClassifier,
    )
    from zoloss_cli.learners.multiclass.ecc import AdaBoostECCClassifier, AdaBoostERPClassifier
    from zoloss_cli.learners.multiclass.pairs import (
        OneVsAllClassifier,
        OneVsOneClassifier,
        OutputCodeClassifier,
    )
    from zoloss_cli.learners.scoring.classifier import ScoringSystemClassifier
    from zoloss_cli.learners.search.base import SearchLearner
    from zoloss_cli.learners.search.branch_and_bound import BranchAndBoundClassifier
    from zoloss_cli.learners.search.combinatorial import PrioritizedSearchClassifier, SwapSearchClassifier
    from zoloss_cli.learners.search.mip import MixedIntegerClassifier
    from zoloss_cli.learners.search.pivot import PivotClassifier
    from zoloss_cli.learners.search.progress import SearchProgress, progress_line
    from zoloss_cli.learners.search.rcd import RCDClassifier
    from zoloss_cli.learners.search.rcd_bound import RCDBoundClassifier
    from zoloss_cli.learners.search.sla import SmoothLossClassifier
    from zoloss_cli.proofs.certify import CertifyingClassifier
    from zoloss_cli.registry import make_learner
    from zoloss_cli.report.frame import load_results
    from zoloss_cli.testing import check_learner

__version__ = "1.0.0"

_TARGETS = (
    "zoloss_cli.api.tables:compare",
    "zoloss_cli.api.evaluate:evaluate",
    "zoloss_cli.api.experiments:run_experiment",
    "zoloss_cli.api.plots:plot_boundary",
    "zoloss_cli.api.plots:plot_curves",
    "zoloss_cli.api.plots:plot_time",
    "zoloss_cli.api.predict:load_model",
    "zoloss_cli.api.plots:plot_boxes",
    "zoloss_cli.api.plots:plot_differences",
    "zoloss_cli.api.plots:plot_ranks",
    "zoloss_cli.api.tables:make_table",
    "zoloss_cli.complexity.hard_margin:data_complexity",
    "zoloss_cli.data.generators:Pool",
    "zoloss_cli.data.dataset:load_dataset",
    "zoloss_cli.learners.base:BinaryLearner",
    "zoloss_cli.learners.linear_base:LinearLearner",
    "zoloss_cli.learners.search.progress:SearchProgress",
    "zoloss_cli.learners.search.progress:progress_line",
    "zoloss_cli.learners.search.base:SearchLearner",
    "zoloss_cli.learners.linear.online:progressive_errors",
    "zoloss_cli.registry:make_learner",
    "zoloss_cli.report.frame:load_results",
    "zoloss_cli.testing:check_learner",
)
_modules: dict[str, str] = {}  # the module of each exported name, filled at the first use of one


def _find_modules() -> dict[str, str]:
    """Return the module of each exported name: those above, and all learners and measures."""
    if not _modules:
        # Imported here, so that a command reacts to Ctrl-C before it has imported anything.
        from zoloss_cli.registry import LEARNERS, MEASURES

        entries = [*LEARNERS.builtin.values(), *MEASURES.values()]
        for target in (*_TARGETS, *(entry.target for entry in entries)):
            module, _, name = target.partition(":")
            _modules[name] = module
    return _modules


def __getattr__(name: str) -> Any:
    """Import an exported name when it is first used."""
    if name == "__all__":
        return sorted(_find_modules())
    if name.startswith("__") or name not in (modules := _find_modules()):
        from zoloss_cli.errors import suggest_nearest

        nearest = "" if name.startswith("__") else suggest_nearest(name, sorted(_find_modules()))
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'{nearest}")
    import importlib

    return getattr(importlib.import_module(modules[name]), name)


def __dir__() -> list[str]:
    """Return all names, including those not imported yet."""
    return sorted([*globals(), *_find_modules()])
