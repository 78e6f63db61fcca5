"""What `zoloss fit` is asked for, and all of it done: a learner chosen, fitted and validated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from zoloss_cli.config.models import LearnerSpec
from zoloss_cli.datasets.csv_table import CsvTable
from zoloss_cli.workflows.fit import TableFit, fit_table, validate_fit
from zoloss_cli.workflows.learner_choice import parse_chosen_learner
from zoloss_cli.workflows.learner_options import parse_learner
from zoloss_cli.workflows.time_budget import SEARCH_SHARE, TimeBudget


@dataclass(frozen=True)
class FitRequest:
    """A fit as options say it.

    Attributes
    ----------
    learner : str or None
        The learner's name; None to choose one by the size of the table.
    assignments : list of str
        Its parameters as KEY=VALUE.
    time_limit : float or None
        Seconds for all of it.
    positive : str or None
        The class against the rest.
    scaling : str
        How to scale features.
    seed : int
        The seed of all random numbers.
    validate : bool
        Whether to estimate the error on other samples.
    """

    learner: str | None
    assignments: list[str] = field(default_factory=list)
    time_limit: float | None = None
    positive: str | None = None
    scaling: str = "standard"
    seed: int = 1
    validate: bool = True

    def parse(self) -> LearnerSpec | None:
        """Return the learner that is named, validated; None if none is."""
        if self.learner is None:
            return None
        return parse_learner(self.learner, self.assignments, self.time_limit)

    def run(self, table: CsvTable, budget: TimeBudget) -> TableFit:
        """Choose the learner where none is named, fit it, and estimate its error on other samples.

        Parameters
        ----------
        table : CsvTable
            The table.
        budget : TimeBudget
            The time limit, of which reading has taken its part.

        Returns
        -------
        TableFit
            The fit, with notes where something was left out.
        """
        spec, reason = self.parse(), ""
        if spec is None:
            _, classes = table.index_classes(self.positive)
            size = (*table.X.shape, len(classes))
            spec, reason = parse_chosen_learner(size, self.assignments, self.time_limit)
        share = SEARCH_SHARE if self.validate else 1.0
        fitted = fit_table(table, spec, self.positive, self.scaling, self.seed, budget, share)
        fitted = replace(fitted, reason=reason)
        if self.validate:
            fitted = validate_fit(fitted, budget)
        return replace(fitted, notes=[*fitted.notes, *budget.describe_excess()])
