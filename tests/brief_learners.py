"""All registered learners, with budgets that end in a moment."""

from __future__ import annotations

from zoloss_cli.registry import LEARNERS, build_parameter_model, find_nested_learners, make_learner

NAMES = sorted(LEARNERS)
EPOCHS = 60
# Counts, not seconds: what depends on the machine is not the same twice.
BUDGETS = {"epochs": EPOCHS, "steps": 500, "trials": 50, "lines": 500, "nodes": 500, "time_limit": None}
OWN_BUDGETS = {"mip": {"nodes": 1}, "certify": {"programs": 0, "cones": 300}}


def make(name, **settings):
    """Return a learner with a small budget, unless settings say otherwise."""
    known = build_parameter_model(name).model_fields
    settings = {k: v for k, v in BUDGETS.items() if k in known} | OWN_BUDGETS.get(name, {}) | settings
    if find_nested_learners(build_parameter_model(name)):
        settings |= {"base": {"learner": "rcd-bias", "epochs": EPOCHS}}
        settings |= {"rounds": 12} if "rounds" in known else {}
    return make_learner(name, settings, 0)
