"""Type texts of numpydoc from annotated signatures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from pydantic import Field

from zoloss_cli.learners.base import BaseLearner, PositiveList
from zoloss_cli.learners.boosting.anyboost import AnyBoostClassifier
from zoloss_cli.utils.signature import format_field_type, format_type, learner_parameters, remove_section


def test_type_texts():
    for annotation, text in (
        (bool, "bool"),
        (str | None, "str or None"),
        (Annotated[float, Field(gt=0, le=1)], "float in (0, 1]"),
        (Annotated[float, Field(lt=0.5)], "float < 0.5"),
        (Annotated[float | None, Field(gt=0)], "float > 0 or None"),
        (Literal["a", "b"] | list[float] | None, "{'a', 'b'}, list of float or None"),
        (Annotated[PositiveList, Field(description="values")], "non-empty list of float > 0"),
        (Annotated[str, Field(pattern="^L+$")], "str matching '^L+$'"),
        (BaseLearner, "learner"),
        (Mapping, "mapping"),
        (Mapping[str, int], "mapping of str to int"),
    ):
        assert format_type(annotation) == text
    with pytest.raises(TypeError, match="no type text is known for <class 'complex'>"):
        format_type(complex)


def test_types_of_the_fields_of_a_parameter_model():
    fields = learner_parameters(AnyBoostClassifier).model_fields
    texts = {key: format_field_type(field) for key, field in fields.items()}
    assert (texts["base"], texts["tolerance"]) == ("learner", "float in (0, 1)")


def test_a_section_is_removed():
    docstring = "Fit.\n\nParameters\n----------\nC : float\n    Cost.\n\nNotes\n-----\nNone."
    assert remove_section(docstring, "Parameters") == "Fit.\n\nNotes\n-----\nNone."
    assert remove_section(docstring, "Notes") == "Fit.\n\nParameters\n----------\nC : float\n    Cost."
    assert remove_section(docstring, "References") == docstring
    assert remove_section("Fit.", "Parameters") == "Fit."
