"""All registered learners, with budgets that end in a moment."""

from zoloss_cli.registry import LEARNERS, find_nested_learners, find_registration, make_learner

NAMES = sorted(LEARNERS)
EPOCHS = 60
# Counts, not seconds: what depends on the machine is not the same twice.
BUDGETS = {"epochs": EPOCHS, "steps": 500, "trials": 50, "lines": 500, "nodes": 500, "time_limit": None}
OWN_BUDGETS = {"mip": {"nodes": 1}, "certify": {"programs": 0, "cones": 300}}


def make(name, **settings):
    known = find_registration(name).parameter_model.model_fields
    settings = {k: v for k, v in BUDGETS.items() if k in known} | OWN_BUDGETS.get(name, {}) | settings
    if find_nested_learners(find_registration(name).parameter_model):
        settings |= {"base": {"learner": "rcd-bias", "epochs": EPOCHS}}
        settings |= {"rounds": 12} if "rounds" in known else {}
    return make_learner(name, settings, 0)
