"""Types of parameters, each declared once, as an annotated argument of a learner's `__init__`.

Type, range, default and description are written there. The checks at fit and of configs, the text of `zoloss
learners`, the JSON schema for editors and the test of docstrings are derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, ValidationError

from zoloss_cli.utils.signature import RANDOM_STATE, Nested, learner_parameters

Epochs = Annotated[int, Field(ge=1, description="number of epochs")]
Seeding = Annotated[
    Literal["zero", "fld"] | list[float],
    Field(
        description="weights to start from: 'zero', those of Fisher's linear discriminant 'fld', or a list "
        "(bias first)"
    ),
]
RecordEvery = Annotated[
    int, Field(ge=0, description="keep the weights after every this many epochs (0: only the last)")
]
Weighting = Annotated[
    Literal["reweight", "resample"],
    Field(description="use sample weights as step sizes ('reweight') or to draw samples ('resample')"),
]
Order = Annotated[
    Literal["random", "permuted", "fixed"],
    Field(description="samples come at random, permuted anew each epoch, or in their fixed order"),
]
Rounds = Annotated[int, Field(ge=1, description="maximum number of rounds")]
RecordEveryRound = Annotated[
    int, Field(ge=0, description="keep scores and costs after every this many rounds (0: none)")
]
PerfectOdds = Annotated[
    float, Field(gt=1, description="odds to take for (1 - e) / e in a round without any error")
]


def _validate_learner(value: Any) -> Any:
    named = isinstance(value, str) or (isinstance(value, Mapping) and isinstance(value.get("learner"), str))
    if named or hasattr(value, "train"):
        return value
    raise ValueError("must be a learner's name, a mapping with the name under 'learner', or a learner")


BaseLearner = Annotated[
    Any,
    Nested(),
    AfterValidator(_validate_learner),
    Field(description="the base learner: its name, or {learner: its name, and its parameters}"),
]

PositiveList = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]


def check_parameters(estimator: Any) -> None:
    """Raise ValueError with one sentence for each wrong parameter.

    Parameters
    ----------
    estimator : estimator
        A learner or a measure whose `__init__` declares its parameters.
    """
    values = {k: _to_python(v) for k, v in estimator.get_params(deep=False).items() if k != RANDOM_STATE}
    try:
        learner_parameters(type(estimator)).model_validate(values)
    except ValidationError as mistake:
        lines = [
            f"{type(estimator).__name__}: {'.'.join(str(p) for p in e['loc'][:1])}={e['input']!r}: {e['msg']}"
            for e in mistake.errors()
        ]
        raise ValueError("\n".join(lines)) from None


def _to_python(value: Any) -> Any:
    """Return NumPy values and tuples as Python numbers and lists, so that a grid of NumPy values is valid."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
