"""AdaBoost.ERP: boosting on an error-correcting code with repartitioning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from zoloss_cli.learners.multiclass.boosted_code import BoostedCode
from zoloss_cli.learners.parameters import BaseLearner, PerfectOdds, RecordEveryRound, Rounds


class AdaBoostERPClassifier(BoostedCode):
    """AdaBoost.ERP: AdaBoost.ECC with repartitioning, which adapts the columns to the base learner.

    A round begins with an initial column, usually of two classes, and follows the schedule: L fits a base
    classifier to the column, R turns the column into the one that makes the most of that classifier (equation
    4.5). Both raise the negative gradient of the margin cost, if the base learner minimizes the weighted error.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all rounds draw from this one's.
    initial : {'max-2', 'rand-2', 'max-cut', 'greedy', 'rand-half'}, default='max-2'
        How a round's first column is chosen.
    schedule : str matching '^(LR)+L?$', default='LRLR'
        Learning and repartitioning by turns, such as LRL.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to take for (1 - e) / e in a round without any error.
    record_every : int >= 0, default=0
        Keep scores and costs after every this many rounds (0: none).
    random_state : int, Generator, RandomState or None, default=None
        Seed of all random draws: the same seed gives the same result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coding_matrix_ : ndarray of shape (n_classes, n_rounds)
        The code words, one row per class, of -1, 0 and +1.
    costs_ : ndarray of shape (n_rounds,)
        The margin cost (4.2) over N (K - 1) after each round.
    cuts_ : ndarray of shape (n_rounds,)
        The weight U_t that each column separates, as a share of the total.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted errors e_t.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The coefficients alpha_t.
    estimators_ : list of BinaryLearner
        The base classifiers f_t.
    n_features_in_ : int
        Number of features.
    n_rounds_ : int
        Number of base classifiers.
    recorded_costs_ : ndarray of shape (n_recorded,)
        With `record_every`, the cost after these rounds; a fit that ended earlier keeps its last value.
    recorded_epochs_ : ndarray of shape (n_recorded,)
        With `record_every`, the rounds whose costs and predictions were recorded.
    unsplit_ : int
        1 if all classes ended up on one side, which leaves nothing to fit and ends the fit, otherwise 0.

    Notes
    -----
    Rules that the thesis leaves out: those of AdaBoost.ECC; a class that does equally well on either side is
    +1. If all classes are on one side, nothing is left to fit: the ensemble ends with what it has, and
    `unsplit_` is 1.

    References
    ----------
    .. [1] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 4.2.

    Examples
    --------
    >>> from zoloss_cli import AdaBoostERPClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostERPClassifier(base="stump", initial="max-2", schedule="LRL", rounds=20).fit(X, y)
    >>> stages = list(model.staged_predict(X))
    >>> len(stages), bool((stages[-1] == model.predict(X)).all()), model.score(X, y) > 0.9
    (20, True, True)
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        initial: Annotated[
            Literal["max-2", "rand-2", "max-cut", "greedy", "rand-half"],
            Field(description="how a round's first column is chosen"),
        ] = "max-2",
        schedule: Annotated[
            str, Field(pattern="^(LR)+L?$", description="learning and repartitioning by turns, such as LRL")
        ] = "LRLR",
        rounds: Rounds = 200,
        perfect_odds: PerfectOdds = 1000.0,
        record_every: RecordEveryRound = 0,
        random_state=None,
    ):
        self.base = base
        self.initial = initial
        self.schedule = schedule
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.record_every = record_every
        self.random_state = random_state

    def _partition_and_schedule(self) -> tuple[str, str]:
        return self.initial, self.schedule
