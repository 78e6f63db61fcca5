"""Type texts of numpydoc from annotated signatures."""

from __future__ import annotations

import doctest
from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from pydantic import Field

from zoloss_cli.learners.base import BaseLearner, PositiveList
from zoloss_cli.learners.boosting.anyboost import AnyBoostClassifier
from zoloss_cli.utils import signature as parameter_docs
from zoloss_cli.utils.signature import (
    describe_parameters,
    format_default,
    format_field_type,
    format_parameters_section,
    format_type,
    learner_parameters,
    remove_section,
)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (int, "int"),
        (bool, "bool"),
        (str | None, "str or None"),
        (Annotated[float, Field(gt=0, le=1)], "float in (0, 1]"),
        (Annotated[float, Field(ge=0, lt=1)], "float in [0, 1)"),
        (Annotated[float, Field(lt=0.5)], "float < 0.5"),
        (Annotated[float | None, Field(gt=0)], "float > 0 or None"),
        (Literal["a", "b"] | list[float] | None, "{'a', 'b'}, list of float or None"),
        (Annotated[PositiveList, Field(description="values")], "non-empty list of float > 0"),
        (Annotated[str, Field(pattern="^L+$")], "str matching '^L+$'"),
        (BaseLearner, "learner"),
        (Mapping, "mapping"),
        (Mapping[str, int], "mapping of str to int"),
    ],
)
def test_type_texts(annotation, text):
    assert format_type(annotation) == text


def test_a_type_without_a_text_is_refused():
    with pytest.raises(TypeError, match="no type text is known for <class 'complex'>"):
        format_type(complex)


def test_types_of_the_fields_of_a_parameter_model():
    fields = learner_parameters(AnyBoostClassifier).model_fields
    texts = {key: format_field_type(field) for key, field in fields.items()}
    assert texts["base"] == "learner"
    assert texts["tolerance"] == "float in (0, 1)"
    described = describe_parameters(AnyBoostClassifier)
    assert all(described[key][0].startswith(f"{text}, default=") for key, text in texts.items())


def test_a_section_is_removed():
    docstring = "Fit.\n\nParameters\n----------\nC : float\n    Cost.\n\nNotes\n-----\nNone."
    assert remove_section(docstring, "Parameters") == "Fit.\n\nNotes\n-----\nNone."
    assert remove_section(docstring, "Notes") == "Fit.\n\nParameters\n----------\nC : float\n    Cost."
    assert remove_section(docstring, "References") == docstring
    assert remove_section("Fit.", "Parameters") == "Fit."


def test_long_defaults_are_shortened():
    assert format_default((0.5, 1.0)) == "(0.5, 1.0)"
    assert format_default(tuple(range(1000))) == "(0, ..., 999)"


def test_the_section_of_a_class():
    class Walker:
        def __init__(
            self,
            steps: Annotated[int, Field(ge=1, description="how many steps to walk")] = 5,
            random_state=None,
            **more,
        ):
            pass

    assert describe_parameters(Walker)["**more"] == (None, "")
    assert format_parameters_section(Walker) == (
        "Parameters\n----------\n"
        "steps : int >= 1, default=5\n"
        "    How many steps to walk.\n"
        "random_state : int, Generator, RandomState or None, default=None\n"
        "    Seed of all random draws: the same seed gives the same result.\n"
        "**more : TYPE\n"
        "    TEXT."
    )


def test_examples_hold():
    assert doctest.testmod(parameter_docs).failed == 0
