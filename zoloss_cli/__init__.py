"""Classifiers that minimize the 0/1 loss directly.

Every learner's class is exported under its own name, along with `make_learner`, `load_dataset`, the measures of
a data set's complexity, and functions that do what the commands do: `evaluate`, `run_experiment`,
`load_results`, `make_table`, `compare`, `load_model` and the `plot_` functions. All of them are imported
lazily, so importing the package is fast.

Examples
--------
>>> from zoloss_cli import PivotClassifier, load_dataset
>>> X, y = load_dataset("heart")
>>> PivotClassifier(random_state=0).fit(X, y).training_errors_ <= 30  # of 270; an SVM has 39
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the exported names; `_read_imports` parses these lines
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
    from zoloss_cli.learners.linear.fld import FLDClassifier
    from zoloss_cli.learners.linear.online import MarginSGDClassifier, progressive_errors
    from zoloss_cli.learners.linear.perceptrons import (
        AveragedPerceptronClassifier,
        BatchPerceptronClassifier,
        MarginPerceptronClassifier,
        PerceptronClassifier,
        PocketClassifier,
        ROMMAClassifier,
        VotedPerceptronClassifier,
    )
    from zoloss_cli.learners.linear.surrogates import (
        BayesPointClassifier,
        LibLinearClassifier,
        SoftSVMClassifier,
    )
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
    from zoloss_cli.learners.search.rcd import RCDBoundClassifier, RCDClassifier
    from zoloss_cli.learners.search.sla import SmoothLossClassifier
    from zoloss_cli.proofs.certify import CertifyingClassifier
    from zoloss_cli.registry import make_learner
    from zoloss_cli.report.frame import load_results
    from zoloss_cli.testing import check_learner

__version__ = "1.0.0"

_modules: dict[str, str] = {}  # the module of each exported name, filled on first use


def _read_imports() -> dict[str, str]:
    """Map each name that is imported for type checkers to its module."""
    import ast

    with open(__file__, encoding="utf-8") as source:
        (block,) = (node for node in ast.parse(source.read()).body if isinstance(node, ast.If))
    lines = [line for line in block.body if isinstance(line, ast.ImportFrom)]
    return {alias.name: str(line.module) for line in lines for alias in line.names}


def _find_modules() -> dict[str, str]:
    """Map each exported name to its module: imports for type checkers, learners and measures."""
    if not _modules:
        # A lazy import, so that a command handles Ctrl-C before it imports anything else.
        from zoloss_cli.registry import LEARNERS, MEASURES

        _modules.update(_read_imports())
        for entry in (*LEARNERS.builtin.values(), *MEASURES.values()):
            module, _, name = entry.target.partition(":")
            _modules[name] = module
    return _modules


def __getattr__(name: str) -> Any:
    """Import an exported name on first use."""
    if name == "__all__":
        return sorted(_find_modules())
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    modules = _find_modules()
    if name not in modules:
        from zoloss_cli.errors import suggest_nearest

        nearest = suggest_nearest(name, sorted(modules))
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'{nearest}")
    import importlib

    return getattr(importlib.import_module(modules[name]), name)


def __dir__() -> list[str]:
    """Return all names, including those not imported yet."""
    return sorted([*globals(), *_find_modules()])
