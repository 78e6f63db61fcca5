"""The base class of measures, and what their parameters and results share."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from zoloss_cli.complexity.hard_margin import HardMarginProblem, build_problem
from zoloss_cli.errors import DataError
from zoloss_cli.learners.parameters import check_parameters
from zoloss_cli.learners.problem import refuse_masked

KernelName = Annotated[
    Literal["perceptron", "stump", "rbf", "linear"], Field(description="kernel of the hard-margin SVM")
]
Gamma = Annotated[float | None, Field(gt=0, description="parameter of the rbf kernel, and of no other")]


class Measure:
    """Base class of measures; subclasses implement `compute`.

    A measure has parameters as scikit-learn's estimators do, and `sklearn.base.clone` copies it, but it is not
    an estimator: it fits nothing, and its result is that of one data set.
    """

    reports: ClassVar[tuple[str, ...]] = ()  # optional record fields that it provides

    multiclass = False
    version = 1  # raise when results change, so that stored ones are not reused
    kernel: KernelName = "perceptron"
    gamma: Gamma = None

    @property
    def deterministic(self) -> bool:
        """Whether the result is the same for any seed."""
        return "random_state" not in self.get_params(deep=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Has no effect: no parameter has parameters of its own.

        Returns
        -------
        dict
            The value of each parameter.
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Parameters
        ----------
        **params : object
            New values by name.

        Returns
        -------
        object
            The measure itself.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter '{name}'; valid: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    def check_classes(self, count: int) -> None:
        """Raise ValueError if there are more than two classes.

        Parameters
        ----------
        count : int
            Number of classes.
        """
        if count > 2:
            raise ValueError(f"{type(self).__name__} is for two classes, but y holds {count}")

    def measure(self, X: ArrayLike, y: ArrayLike, flipped: ArrayLike = ()) -> dict:
        """Measure a data set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        flipped : array-like of int, default=()
            Indices of the samples whose labels are known to be wrong.

        Returns
        -------
        dict
            Plain numbers and lists of them, as a record stores them.
        """
        check_parameters(self)
        refuse_masked(type(self).__name__, X=X, y=y, flipped=flipped)
        labels = np.asarray(y)
        if len(np.unique(labels)) < 2:
            raise DataError("there is only one class: its complexity is 0, and no sample is an outlier")
        is_flipped = np.isin(np.arange(len(labels)), np.asarray(flipped, dtype=np.int64))
        return self.compute(build_problem(X, labels, self.kernel, self.gamma), is_flipped)

    def compute(self, problem: HardMarginProblem, flipped: np.ndarray) -> dict:
        """Compute the result on checked data.

        Parameters
        ----------
        problem : HardMarginProblem
            The samples.
        flipped : ndarray of bool of shape (n_samples,)
            Whether the label of a sample is known to be wrong.

        Returns
        -------
        dict
            Plain numbers and lists of them, as a record stores them.
        """
        raise TypeError(f"{type(self).__name__} does not implement compute")


def round_all(values: np.ndarray, digits: int) -> list[float]:
    """Return the values rounded to this many significant digits, as records store them."""
    return [float(f"{value:.{digits}g}") for value in values]
