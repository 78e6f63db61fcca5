"""AdaBoost.ERP (max-2, LR) over SVM-perceptrons, against variants of what the thesis leaves out.

Cells of Table 4.5 of Li's thesis (2006) on data with a predefined test part have no randomness but the choice
of C. Each variant changes one rule; its line has the wrong test samples for every C, beside the published mean.
Run it with: python tests/support/erp_svm_variants.py --datasets vowel,satimage
"""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from unittest.mock import patch

import numpy as np

from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import find_entry, load_data
from zoloss_cli.data.splits import scale_parts
from zoloss_cli.kernels.codes import compute_class_preferences
from zoloss_cli.learners import kernel_svm
from zoloss_cli.learners.kernel_svm import KernelSVMClassifier
from zoloss_cli.learners.multiclass.codes import PARTITIONS, JointWeights
from zoloss_cli.learners.multiclass.ecc import AdaBoostERPClassifier

GRID = (0.125, 1.0, 8.0, 64.0, 512.0)
PUBLISHED = {"vowel": 36.44, "satimage": 7.71, "pendigits": 2.34}


def with_tolerance(tolerance: float) -> contextlib.AbstractContextManager:
    solve = kernel_svm.solve_dual
    return patch.object(kernel_svm, "solve_dual", lambda K, m, y, upper, _: solve(K, m, y, upper, tolerance))


def with_single_precision() -> contextlib.AbstractContextManager:
    """LIBSVM's kernel, which it keeps in single precision."""
    compute = KernelSVMClassifier._compute_kernel_once
    rounded = lambda self, X: compute(self, X).astype(np.float32).astype(np.float64)  # noqa: E731
    return patch.object(KernelSVMClassifier, "_compute_kernel_once", rounded)


draw = PARTITIONS["max-2"]


def with_other_ties() -> contextlib.AbstractContextManager:
    def find(self, outputs):
        return np.where(compute_class_preferences(self.D, self.codes, outputs) > 0.0, 1, -1).astype(np.int8)

    return patch.object(JointWeights, "find_best_column", find)


@contextlib.contextmanager
def with_all_samples_counted() -> Iterator[None]:
    """C_i = C N D_i with all N training samples, not the n of the round's two classes."""
    train = KernelSVMClassifier.train

    def scaled(self, problem):
        C = self.C
        self.C = C * len(problem.all_samples[0].X) / problem.phi.size
        train(self, problem)
        self.C = C

    with patch.object(KernelSVMClassifier, "train", scaled):
        yield


VARIANTS: dict[str, Callable[[], contextlib.AbstractContextManager]] = {
    "as in the table": contextlib.nullcontext,
    **{f"tolerance {text}": partial(with_tolerance, float(text)) for text in ("1e-2", "1e-4", "1e-6")},
    "kernel in single precision": with_single_precision,
    "the higher class +1": lambda: patch.dict(PARTITIONS, {"max-2": lambda *given: -draw(*given)}),
    "ties to -1": with_other_ties,
    "C by all N samples": with_all_samples_counted,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="vowel")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--orders", type=int, default=0, help="also so many random orders of the classes")
    options = parser.parse_args()
    for name in options.datasets.split(","):
        data, n_train = load_data(EmbeddedData(name=name, dataset=name)), find_entry(name).train_rows
        X, X_test = scale_parts(data.X[:n_train], data.X[n_train:], "minmax", None)
        mean = PUBLISHED[name] * len(X_test) / 100
        print(f"{name}: wrong of {len(X_test)} test samples, by C = {GRID}; published {mean:.1f} on average")

        def count(y: np.ndarray, C: float, X=X, X_test=X_test, n=n_train) -> int:
            base = {"learner": "svm-perceptron", "C": C}
            model = AdaBoostERPClassifier(base, "max-2", "LR", rounds=200, random_state=0).fit(X, y[:n])
            return int(np.count_nonzero(model.predict(X_test) != y[n:]))

        for variant in options.variants.split(","):
            with VARIANTS[variant]():
                print(f"  {variant:28}", *(f"{count(data.y, C):5}" for C in GRID), flush=True)
        for k in range(options.orders):
            order = np.random.default_rng(k).permutation(len(data.classes))
            counts = [f"{count(order[data.y], C):5}" for C in GRID]
            print(f"  classes in random order {k:4}", *counts, flush=True)


if __name__ == "__main__":
    main()
