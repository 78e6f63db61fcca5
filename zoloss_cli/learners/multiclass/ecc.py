"""AdaBoost.ECC: boosting on an error-correcting code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from zoloss_cli.learners.multiclass.boosted_code import BoostedCode
from zoloss_cli.learners.parameters import BaseLearner, PerfectOdds, RecordEveryRound, Rounds


class AdaBoostECCClassifier(BoostedCode):
    """AdaBoost.ECC: boosting for several classes, with a new partition of the classes into two in each round.

    Every round appends a column to the coding matrix and a base classifier fitted to it, with most weight on
    the classes that are still confused. The column is the one that separates the most weight (max-cut, exact
    for up to 13 classes), one about as good (greedy), or a random half of the classes (rand-half). With two
    classes it is AdaBoost. Without `symmetric`, each of the two outputs of a base classifier has its own
    coefficient.

    Parameters
    ----------
    base : learner, default='rcd-bias'
        The base learner: its name, or {learner: its name, and its parameters}. It may also be an estimator of
        this package. Its `random_state` is not used: all rounds draw from this one's.
    partition : {'max-cut', 'greedy', 'rand-half'}, default='max-cut'
        How columns are chosen.
    rounds : int >= 1, default=200
        Maximum number of rounds.
    perfect_odds : float > 1, default=1000.0
        Odds to take for (1 - e) / e in a round without any error.
    record_every : int >= 0, default=0
        Keep scores and costs after every this many rounds (0: none).
    symmetric : bool, default=True
        One coefficient for both outputs of a base classifier. Algorithm 4.1 of [2]_ has one.
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
    estimator_weights_ : ndarray of shape (n_rounds,) or (n_rounds, 2)
        The coefficients alpha_t; if asymmetric, for the outputs -1 and +1.
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
        1 if no weight was left to separate, otherwise 0.

    Notes
    -----
    Rules that the thesis leaves out: e_t >= 1/2 (up to rounding) ends the fit; e_t = 0 takes the odds 1000 for
    (1 - e_t) / e_t; among equal cuts, the one that the Gray code reaches first is used; the greedy cut takes
    the heaviest pair of classes first.

    The thesis discusses the symmetric form and only mentions the asymmetric one (footnote 3 of section 4.2),
    which is that of [1]_: half the log odds, under D_t, that an output is right, separately for -1 and for +1.
    Both minimize the cost (4.2) along their base classifier, over one coefficient or two. An output that is
    never wrong takes the odds 1000, one that is never right 1/1000; a coefficient can be below 0. e_t >= 1/2
    ends both.

    References
    ----------
    .. [1] Guruswami, V. and Sahai, A. (1999). Multiclass learning, boosting, and error-correcting codes.
    .. [2] Li, L. (2006). Data complexity in machine learning and novel classification algorithms. PhD thesis,
       California Institute of Technology. Algorithm 4.1.

    Examples
    --------
    >>> from zoloss_cli import AdaBoostECCClassifier, load_dataset
    >>> X, y = load_dataset("iris")
    >>> model = AdaBoostECCClassifier(base="stump", partition="max-cut", rounds=20).fit(X, y)
    >>> model.coding_matrix_.shape, bool(model.costs_[-1] < model.costs_[0]), model.score(X, y) > 0.9
    ((3, 20), True, True)
    """

    def __init__(
        self,
        base: BaseLearner = "rcd-bias",
        partition: Annotated[
            Literal["max-cut", "greedy", "rand-half"], Field(description="how columns are chosen")
        ] = "max-cut",
        rounds: Rounds = 200,
        perfect_odds: PerfectOdds = 1000.0,
        record_every: RecordEveryRound = 0,
        symmetric: Annotated[
            bool, Field(description="one coefficient for both outputs of a base classifier")
        ] = True,
        random_state=None,
    ):
        self.base = base
        self.partition = partition
        self.rounds = rounds
        self.perfect_odds = perfect_odds
        self.record_every = record_every
        self.symmetric = symmetric
        self.random_state = random_state

    def _partition_and_schedule(self) -> tuple[str, str]:
        return self.partition, "L"
