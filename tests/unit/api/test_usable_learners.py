"""The usual learners of evaluate where a package is missing for some of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoloss_cli.api.evaluate_table import Evaluation, adapt_to_packages
from zoloss_cli.experiment import fitting as packages
from zoloss_cli.utils.files import shipped_folder

HEART = shipped_folder("datasets") / "heart.csv"


def evaluate(*learners: str, assignments: tuple[str, ...] = ()) -> Evaluation:
    return Evaluation(Path(HEART), list(learners), 2, assignments=list(assignments))


@pytest.fixture
def bare(monkeypatch):
    monkeypatch.setattr(packages, "is_installed", lambda module: False)


def test_nothing_is_changed_where_nothing_is_missing():
    evaluation = evaluate("lr", "sla", "mip")
    assert adapt_to_packages(evaluation) == (evaluation, [])


@pytest.mark.parametrize(
    ("learners", "left", "assignments", "note"),
    [
        (["fld", "rcd-bias"], ["fld", "rcd-bias"], [], None),
        (["fld", "lr"], ["fld"], [], "liblinear-official is not installed, so lr is left out"),
        (
            ["fld", "lr", "svm", "sla", "pivot"],
            ["fld", "sla", "pivot"],
            ["sla.seeding=fld", "pivot.seeding=fld"],
            "liblinear-official is not installed, so lr and svm are left out, and sla and pivot start from "
            "Fisher's linear discriminant",
        ),
        (  # of a learner inside another no parameter is set
            ["fld", "adaboost:sla", "mip"],
            ["fld"],
            [],
            "liblinear-official and cvxpy are not installed, so adaboost:sla and mip are left out",
        ),
    ],
)
def test_learners_are_left_out_or_start_elsewhere(bare, learners, left, assignments, note):
    adapted, notes = adapt_to_packages(evaluate(*learners))
    assert (adapted.learners, adapted.assignments) == (left, assignments)
    install = f": pip install {'liblinear-official cvxpy' if 'mip' in learners else 'liblinear-official'}"
    assert notes == ([] if note is None else [note + install])
    assert adapt_to_packages(adapted) == (adapted, [])  # what is left can be fitted
    adapted.to_experiment()


def test_what_the_user_sets_is_kept(bare):
    evaluation = evaluate("sla", assignments=("sla.seeding=zero",))
    assert adapt_to_packages(evaluation) == (evaluation, [])
