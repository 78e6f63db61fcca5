"""The choice of a learner for a table if none is named, and its reason."""

from __future__ import annotations

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.workflows.learner_options import parse_learner

LEARNER_FOR_FEW, LEARNER_FOR_MANY, LEARNER_FOR_SEVERAL = "pivot", "rcd-bias", "one-vs-one"
# Settings of these learners that are not their defaults: starting from Fisher's discriminant, random coordinate
# descent needs far fewer epochs with many features.
SETTINGS: dict[str, dict[str, str]] = {
    LEARNER_FOR_FEW: {},
    LEARNER_FOR_MANY: {"seeding": "fld"},
    LEARNER_FOR_SEVERAL: {"base": "{learner: rcd-bias, seeding: fld}"},
}
BASELINE = "majority"
OTHERS_FOR_FEW: tuple[str, ...] = ("rcd-bias", "soft-svm", "lr", "sla")
OTHERS_FOR_MANY: tuple[str, ...] = ("fld",)  # the only other one that takes just a few seconds
OTHERS_FOR_SEVERAL: tuple[str, ...] = ("one-vs-one:soft-svm", "ecc:stump", "erp:stump")
VERY_MANY_VALUES = 1_000_000  # from here on, a hundred fits of the others take hours
MANY_VALUES = 50_000  # samples times features: from here on, the search of pivot takes more than seconds


def choose_learner(n_samples: int, n_features: int, n_classes: int) -> tuple[str, list[str], str]:
    """Choose a learner by the size of a table.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        The size of the table.

    Returns
    -------
    name : str
        The learner's name.
    assignments : list of str
        Its settings, as KEY=VALUE.
    reason : str
        Why it was chosen, as part of a sentence.
    """
    if n_classes > 2:
        name, reason = LEARNER_FOR_SEVERAL, f"{n_classes} classes"
    # If there are no more samples than weights, they can nearly always be separated, without a search.
    elif n_samples * (n_features + 1) <= MANY_VALUES or n_samples <= n_features + 1:
        name, reason = LEARNER_FOR_FEW, f"two classes, {n_samples:,} samples"
    else:
        name = LEARNER_FOR_MANY
        features = "" if n_samples > MANY_VALUES / 10 else f" of {n_features:,} features"
        reason = f"{n_samples:,} samples{features} are many for {LEARNER_FOR_FEW}"
    return name, [f"{key}={value}" for key, value in SETTINGS[name].items()], reason


def list_usual_learners(n_samples: int, n_features: int, n_classes: int) -> tuple[list[str], list[str]]:
    """Return the learners to compare on a table: the one that `fit` uses, others, and the majority class.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        The size of the table.

    Returns
    -------
    names : list of str
        The learners' names.
    assignments : list of str
        Settings of the first, as LEARNER.KEY=VALUE.
    """
    name, settings, _ = choose_learner(n_samples, n_features, n_classes)
    if n_classes > 2:
        others = OTHERS_FOR_SEVERAL
    elif n_samples * (n_features + 1) > VERY_MANY_VALUES and name == LEARNER_FOR_MANY:
        others = OTHERS_FOR_MANY
    else:
        others = OTHERS_FOR_FEW
    return list(dict.fromkeys([name, *others, BASELINE])), [f"{name}.{text}" for text in settings]


def parse_chosen_learner(
    size: tuple[int, int, int], assignments: list[str], time_limit: float | None
) -> tuple[LearnerSpec, str]:
    """Choose a learner by the size of a table, with parameters from options.

    Parameters
    ----------
    size : tuple of (int, int, int)
        The number of samples, features and classes.
    assignments : list of str
        Parameters as KEY=VALUE, which override those of the choice.
    time_limit : float or None
        The time limit in seconds, for a learner that has one.

    Returns
    -------
    spec : LearnerSpec
        The learner.
    reason : str
        Why it was chosen.
    """
    name, usual, reason = choose_learner(*size)
    given = {text.partition("=")[0].strip() for text in assignments}
    kept = [text for text in usual if text.partition("=")[0] not in given]
    limit = time_limit if name == LEARNER_FOR_FEW else None
    return parse_learner(name, [*kept, *assignments], limit), reason
