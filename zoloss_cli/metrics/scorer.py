"""Metrics that are scorers of scikit-learn, computed from what records hold of the test samples."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from zoloss_cli.errors import ConfigError
from zoloss_cli.metrics.base import Metric, Sizes, expect
from zoloss_cli.results.record import FitRecord
from zoloss_cli.utils.scorer_names import OF_PREDICTIONS, OF_SCORES, OF_TWO_CLASSES

if TYPE_CHECKING:
    from zoloss_cli.metrics.stored_responses import StoredResponses

MAX_REMEMBERED_SCORES = 100_000


class ScorerMetric(Metric):
    """A scorer of scikit-learn, which is called with the stored predictions, scores or probabilities.

    Attributes
    ----------
    response : {'test_confusion', 'test_scores', 'test_probabilities'}
        The field of the record that the scorer is computed from.
    """

    part = "test"
    direction = "higher"
    decimals = 4
    response: ClassVar[str]

    def explain_missing(self, records: Sequence[Any]) -> str:
        """Return why records cannot give the metric; nothing if all can."""
        reason = super().explain_missing(records)
        if not reason and self.n_classes == 2 and len(records[0].test_confusion or ()) > 2:
            return "it is for two classes"
        return reason

    def compute(self, record: FitRecord, sizes: Sizes) -> float:
        """Return the value of one record; NaN where the scorer is not defined."""
        if self.response == "test_confusion":
            counts = tuple(map(tuple, expect(record.test_confusion)))
            return _score_counts(self.name, counts)
        from zoloss_cli.metrics.stored_responses import build_from_probabilities, build_from_scores

        if self.response == "test_scores":
            return _call_scorer(self.name, *build_from_scores(expect(record.test_scores)))
        return _call_scorer(self.name, *build_from_probabilities(expect(record.test_probabilities)))


def build_scorer(name: str) -> ScorerMetric:
    """Return the metric of a scorer's name; nothing of scikit-learn is imported before a value is computed."""
    if name in OF_PREDICTIONS:
        response = "test_confusion"
    else:
        response = "test_scores" if name in OF_SCORES else "test_probabilities"
    attributes = {
        "__doc__": f"The scorer `{name}` of scikit-learn.",
        "name": name,
        "requires": (response,),
        "response": response,
        "n_classes": 2 if name in OF_TWO_CLASSES else 0,
    }
    return type("ScorerMetric", (ScorerMetric,), attributes)()


@functools.lru_cache(MAX_REMEMBERED_SCORES)
def _score_counts(name: str, counts: tuple[tuple[int, ...], ...]) -> float:
    """Return a scorer's value of confusion counts, which many splits share."""
    from zoloss_cli.metrics.stored_responses import build_from_counts

    return _call_scorer(name, *build_from_counts(counts))


def _call_scorer(name: str, responses: StoredResponses, y: Any) -> float:
    """Return the value that a scorer gives of stored responses; NaN where it has none.

    Its warnings are of values that it sets by convention, such as a precision of 0 where nothing is predicted.
    """
    scorer = _find_scorer(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(scorer(responses, y, y))
        except ValueError:  # of classes without a test sample
            return math.nan


@functools.cache
def _find_scorer(name: str) -> Any:
    import sklearn
    from sklearn.metrics import get_scorer

    try:
        return get_scorer(name)
    except ValueError:
        raise ConfigError(
            f"scikit-learn {sklearn.__version__} has no scorer '{name}'; install a newer one"
        ) from None
