"""Fit one learner to the samples of one split; its tuning, and the packages that it needs."""

from __future__ import annotations

import contextlib
import functools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from zoloss_cli.config.models import ALL, CsvData, LearnerSpec, Tuning
from zoloss_cli.data.columns import join_names, refill
from zoloss_cli.data.dataset import DataSet, compute_fingerprint, describe_change, find_draw, load_data
from zoloss_cli.data.splits import derive_seed, scale_parts
from zoloss_cli.data.user_table import merge_long_numbers
from zoloss_cli.errors import DataError, MissingPackageError
from zoloss_cli.experiment.plan import Cell, find_pending
from zoloss_cli.experiment.warming import warm_up
from zoloss_cli.learners.base import NeededPackage
from zoloss_cli.learners.search.samples import ExactFeatures, use_exact_features
from zoloss_cli.registry import MEASURES, find_registration, is_external, list_multiclass_learners, make_learner
from zoloss_cli.results.store import Store
from zoloss_cli.utils.imports import allow_code, build_missing_error, is_installed, remember_code


@contextlib.contextmanager
def allow_planned_code(spec: LearnerSpec) -> Iterator[None]:
    """Allow the classes that a learner names within this block: they were allowed when its task was planned.

    Worker processes and other hosts run the text that is sent with the task, not the current content of its
    file.
    """
    found = [each for each in walk_learners(spec) if is_external(each.learner)]
    for each in found:
        if each.code is not None:
            remember_code(each.code)
    with allow_code() if found else contextlib.nullcontext():
        yield


def walk_learners(spec: LearnerSpec) -> Iterator[LearnerSpec]:
    """Yield a learner, its candidates, and the learners nested in them."""
    yield spec
    nested = [value for _, value in spec.settings if isinstance(value, LearnerSpec)]
    for inner in (*spec.tune, *spec.trials, *nested):
        yield from walk_learners(inner)


def check_classes(spec: LearnerSpec, classes: list[str], where: str, how: str) -> None:
    """Raise DataError if the learner, or one of its candidates, does not support this many classes.

    `where` names the data set, and `how` the setting that selects one class, such as "positive: CLASS".
    """
    for candidate in spec.tune or (spec,):
        if len(classes) > 2 and not find_registration(candidate.source).is_multiclass:
            several = f", or a multiclass learner ({', '.join(list_multiclass_learners())})"
            raise DataError(
                f"{where} has {len(classes)} classes ({join_names(classes)}), but '{candidate.learner}' "
                f"supports only two: use {how} for one class against the rest"
                f"{several * (candidate.learner not in MEASURES)}"
            )
        try:
            make_learner(candidate.source, candidate.parameters).check_classes(len(classes))
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None


def assign_part(spec: LearnerSpec, split: int) -> LearnerSpec:
    """Return a learner whose search is divided into parts with the split's part, any other unchanged."""
    settings = dict(spec.settings)
    if settings.get("parts", 1) == 1 or settings.get("part", 0) is not None:
        return spec
    settings["part"] = split % settings["parts"]
    return spec.model_copy(update={"settings": tuple(settings.items())})


def fit(
    spec: LearnerSpec,
    X: np.ndarray,
    y: np.ndarray,
    seed: np.random.SeedSequence,
    *,
    quiet: bool = True,
    sample_weight: np.ndarray | None = None,
    exact: Callable[[], ExactFeatures] | None = None,
) -> tuple[Any, float]:
    """Fit the learner that a specification names; return it and the seconds that it took.

    `exact` returns the unscaled values, to which the bounds of some learners refer.
    """
    warm_up(spec)
    with warnings.catch_warnings():
        # What a learner warns about, such as an empty ensemble, shows in the record; thousands of tasks would
        # repeat the warning.
        if quiet:
            warnings.simplefilter("ignore", UserWarning)
        learner = make_learner(spec.source, spec.parameters, np.random.default_rng(seed))
        start = time.perf_counter()
        has_bound = "lower_bound" in getattr(learner, "reports", ())
        with use_exact_features(exact() if exact is not None and has_bound else None):
            learner.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return learner, getattr(learner, "seconds_", time.perf_counter() - start)


PRUNING = "pruning"  # in place of a learner's name, so that no learner shares its seed


class SplitData(NamedTuple):
    """The data of one split."""

    data: DataSet  # all of it
    train: np.ndarray  # indices of the training and test samples
    test: np.ndarray
    scaling: str
    scaling_samples: np.ndarray | None  # that the scaling is fitted to, if not the training samples
    pruned: np.ndarray = np.empty(0, np.int64)  # training samples that no learner sees

    def scale(self, X: np.ndarray) -> np.ndarray:
        """Return samples scaled as the learner of this split sees them."""
        return scale_parts(self.data.X[self.train], X, self.scaling, self.scaling_samples)[1]

    def get_exact_features(self) -> ExactFeatures:
        """Return the unscaled training samples that a learner sees, for proofs."""
        data = self.data
        values = merge_long_numbers(data.X, data.long_numbers, data.features)
        return ExactFeatures(values[self.fit_indices])

    @property
    def fit_indices(self) -> np.ndarray:
        """Return the training samples that a learner sees, in order."""
        return self.train[~np.isin(self.train, self.pruned)] if self.pruned.size else self.train


def load_split(cell: Cell, split: int) -> SplitData:
    """Return the data of a split of a cell."""
    data = _load_unpruned(cell, split)
    if cell.prune is None:
        return data
    # Pruning is cached for all learners, which share it like splits: it depends on the rest of the cell.
    shared = replace(cell, learner=None, repeats=0, tuning=None, keep=frozenset())  # type: ignore[arg-type]
    return data._replace(pruned=_find_pruned(shared, split))


def _load_unpruned(cell: Cell, split: int) -> SplitData:
    if isinstance(cell.data, CsvData) and compute_fingerprint(cell.data) != cell.identity["data"]:
        raise DataError(describe_change(cell.data.csv))  # otherwise its records would get another cell's key
    data = load_data(cell.data, find_draw(cell.data, split))
    train, test = cell.rule.select_indices(len(data.y), cell.seed_name, split)
    if data.gaps and cell.fit_on != ALL:
        data = replace(data, X=refill(data.X, data.gaps, train), gaps=())
    return SplitData(data, train, test, cell.scale, data.X if cell.fit_on == ALL else None)


@functools.lru_cache(maxsize=4096)
def _find_pruned(cell: Cell, split: int) -> np.ndarray:
    from zoloss_cli.complexity.outliers import prune

    assert cell.prune is not None
    data = _load_unpruned(cell, split)
    seed = derive_seed(cell.rule.seed, cell.seed_name, split, PRUNING).generate_state(4)
    X, y = data.scale(data.data.X[data.train]), data.data.y[data.train]
    return data.train[prune(X, y, cell.prune, seed).dropped]


# Folds are seeded like splits: the same for every learner and any order of execution.

# Scaled X and y of the training and of the held-out part.
Fold = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
FOLDS = "folds of the tuning"  # likewise


def tune(cell: Cell, split: int) -> LearnerSpec:
    """Return the candidate that a split of this cell uses."""
    assert cell.tuning is not None
    if cell.tuning.on == ALL:
        return _choose_on_all(cell, find_draw(cell.data, split))
    data = load_split(cell, split)
    return _choose(cell, data.data, data.fit_indices, split)


@functools.lru_cache(maxsize=256)
def _choose_on_all(cell: Cell, draw: int) -> LearnerSpec:
    """Return the choice for all splits of a draw, with leakage of test samples, as in Nguyen & Sanner."""
    data = load_data(cell.data, draw)
    return _choose(cell, data, np.arange(len(data.y)), draw)


def _choose(cell: Cell, data: DataSet, indices: np.ndarray, coordinate: int) -> LearnerSpec:
    """Return the first of the candidates with the fewest wrong predictions over all folds.

    The one with the fewest so far is evaluated on its next fold: once it has seen all, no other can be better.
    """
    from zoloss_cli.learners.kernel_svm import share_kernels
    from zoloss_cli.learners.search.base import share_starts

    folds = _build_folds(cell, data, indices, coordinate)
    seeds = derive_seed(cell.rule.seed, cell.seed_name, coordinate, cell.learner.name).spawn(len(folds))
    trials = cell.learner.trials or cell.learner.tune
    errors, seen = [0] * len(trials), [0] * len(trials)
    with share_starts(), share_kernels():
        while seen[best := errors.index(min(errors))] < len(folds):
            X, y, X_held_out, y_held_out = folds[seen[best]]
            learner, _ = fit(trials[best], X, y, seeds[seen[best]])
            errors[best] += int(np.count_nonzero(learner.predict(X_held_out) != y_held_out))
            seen[best] += 1
    return cell.learner.tune[best]


def _build_folds(cell: Cell, data: DataSet, indices: np.ndarray, coordinate: int) -> list[Fold]:
    """Return the folds of a cell's tuning; scaling is fitted to their training parts, or to all samples."""
    assert cell.tuning is not None
    rng = np.random.default_rng(derive_seed(cell.rule.seed, cell.seed_name, coordinate, FOLDS))
    folds = []
    for kept, out in _draw_folds(cell.tuning, indices, rng):
        seen = data.X if cell.fit_on == ALL else None
        X, X_held_out = scale_parts(data.X[kept], data.X[out], cell.scale, seen)
        folds.append((X, data.y[kept], X_held_out, data.y[out]))
    return folds


def _draw_folds(
    tuning: Tuning, indices: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield training and held-out indices: random folds of nearly equal size, or held-out shares."""
    if tuning.held_out is not None:
        for _ in range(tuning.folds):
            order, size = rng.permutation(indices), round(tuning.held_out * len(indices))
            yield order[size:], order[:size]
        return
    parts = np.array_split(rng.permutation(indices), tuning.folds)
    for i, out in enumerate(parts):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), out


def find_missing_needs(spec: LearnerSpec) -> list[tuple[LearnerSpec, NeededPackage]]:
    """Return the missing packages, each with the learner that needs it: this one, or a nested one."""
    return [
        (each, need)
        for each in walk_learners(spec)
        if each.learner not in MEASURES  # which need no package
        for need in make_learner(each.source, each.parameters).list_needed_packages()
        if not is_installed(need.module)
    ]


def check_packages(cells: Iterable[Cell], store: Store, fresh: bool) -> None:
    """Raise MissingPackageError if a pending task needs a package that is not installed.

    Complete cells need none, unless all tasks run again (`fresh`).
    """
    lines: dict[str, None] = {}
    found = Store(store.folder)  # a separate one, since the run's own reads add the notes again
    for cell in cells:
        missing = find_missing_needs(cell.learner)
        if missing and (fresh or find_pending(cell, found.read(cell.filename, cell.key)).splits):
            for spec, need in missing:
                who = f"the learner '{spec.learner}'"
                lines[str(build_missing_error(need.module, who, need.purpose, need.instead))] = None
    if lines:
        raise MissingPackageError("\n".join(lines))
