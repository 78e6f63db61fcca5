"""One declaration per parameter: an annotated argument of a learner's __init__.

Its type, range, default and description are written once, there. From them come the check at fit, the
check of a config, the text of `zoloss learners` and the JSON schema for editors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, ValidationError

from zoloss_cli.utils.signature import RANDOM_STATE, Nested, learner_parameters

Epochs = Annotated[int, Field(ge=1, description="how many epochs to run")]
Seeding = Annotated[
    Literal["zero", "fld"] | list[float],
    Field(
        description="start from 'zero', from Fisher's linear discriminant 'fld', or from these weights "
        "(bias first)"
    ),
]
RecordEvery = Annotated[
    int, Field(ge=0, description="keep the weights after every so many epochs (0: only the last)")
]
Weighting = Annotated[
    Literal["reweight", "resample"],
    Field(description="use sample weights as step sizes ('reweight') or to draw examples ('resample')"),
]
Order = Annotated[
    Literal["random", "permuted", "fixed"],
    Field(description="examples come at random, permuted anew each epoch, or in their fixed order"),
]


def _name_mapping_or_learner(value):
    named = isinstance(value, str) or (isinstance(value, Mapping) and isinstance(value.get("learner"), str))
    if named or hasattr(value, "train"):
        return value
    raise ValueError("must be a learner's name, a mapping with the name under 'learner', or a learner")


BaseLearner = Annotated[
    Any,
    Nested(),
    AfterValidator(_name_mapping_or_learner),
    Field(description="the learner to boost: its name, or {learner: its name, and its parameters}"),
]

PositiveList = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]

def check_parameters(estimator) -> None:
    """Raise ValueError with one sentence per wrong parameter."""
    values = {k: _plain(v) for k, v in estimator.get_params(deep=False).items() if k != RANDOM_STATE}
    try:
        learner_parameters(type(estimator)).model_validate(values)
    except ValidationError as mistake:
        lines = [
            f"{type(estimator).__name__}: {'.'.join(str(p) for p in e['loc'][:1])}={e['input']!r}: {e['msg']}"
            for e in mistake.errors()
        ]
        raise ValueError("\n".join(lines)) from None


def _plain(value):
    """NumPy values and tuples as Python numbers and lists, so that a grid of NumPy values is valid."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
