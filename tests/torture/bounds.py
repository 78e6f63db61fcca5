"""Tables that floating point holds badly: no bound of certify is above the fewest errors, by brute force."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import certificate_oracle as oracle
from exact_tables import KINDS, draw_table, render_table

from torture.campaign import Campaign

SCALINGS = ("none", "standard", "minmax")
SETTINGS = ([], [], ["programs=0"], ["cones=0"], ["cones=0", "programs=0"])
SWEEP_SHARE = 0.6  # of the fits: with a sweep of all hyperplanes, impossible sets are not needed
ORACLE_SHARE = 0.05  # of the certificates: the second checker takes longer than a fit
BEYOND_LIMITS = "bits"  # in the sentence about numbers that the checker does not compute with


class Bounds(Campaign):
    """Bounds and certificates of tiny tables."""

    name = "bounds"
    unit = "tables"
    batch = 100
    n_short = 100

    def attack(self, seed: int) -> list[str]:
        """Fit one table, and compare what is proved about it with brute force."""
        from zoloss_cli.errors import DataError

        rng = self.rng(seed)
        kind = rng.choice(list(KINDS))
        header, rows = draw_table(kind, rng)
        path = self.folder / f"{self.name}-{seed}.csv"
        path.write_text(render_table(header, rows), encoding="utf-8")
        try:
            fitted, certificate = fit_certifying(path, rng)
        except DataError as error:
            self.counts[f"refused: {kind}"] += 1
            path.unlink()
            return [] if "\n" not in str(error) else [f"a refusal in several lines: {error}"]
        except Exception as error:
            return [f"an error that nobody thought of: {error!r} [{kind}, {path}]"]
        faults = self._judge(fitted, certificate, header, rows, rng)
        self.counts[certificate["method"]] += 1
        if not faults:
            path.unlink()
        return [f"{fault} [{kind}, {fitted.scaling}, {path}]" for fault in faults]

    def _judge(
        self,
        fitted: Any,
        certificate: dict[str, Any],
        header: list[str],
        rows: list[list[str]],
        rng: random.Random,
    ) -> list[str]:
        """Return what is false about a fit and its certificate."""
        from zoloss_cli.proofs import check

        samples, positive = oracle.read_samples(certificate["table"], header, rows)
        integers, weights = oracle.count_samples_in_steps(samples), certificate["weights"]
        least = oracle.find_least_loss(integers, positive, [weights[label] for label in positive])
        loss, errors = (oracle.count_loss(certificate["rule"], samples, positive, w) for w in (weights, [1, 1]))
        self.counts["tight" if certificate["bound"] == least else "loose"] += 1
        faults = []
        if certificate["bound"] > least:
            faults.append(f"a certificate of {certificate['bound']}, but the least loss is {least}")
        if fitted.lower_bound is not None and fitted.lower_bound > least:
            faults.append(f"a bound of {fitted.lower_bound}, but {least} errors suffice")
        if fitted.errors != errors or loss < least:
            faults.append(f"{fitted.errors} errors of a rule that makes {errors} and loses {loss} of {least}")
        try:
            proved = check.check(certificate, header, rows)
            if (proved.bound, proved.loss, proved.errors) != (certificate["bound"], loss, errors):
                faults.append(f"another result of the check: {proved}")
            if rng.random() < ORACLE_SHARE:
                oracle.verify(certificate, header, rows)
                self.counts["checked by the oracle"] += 1
        except (check.RefusedError, oracle.RefusedError) as error:
            if BEYOND_LIMITS in str(error):
                self.counts["beyond the limits of the checker"] += 1
            else:
                faults.append(f"a certificate that is refused: {error}")
        return faults


def fit_certifying(path: Path, rng: random.Random, missing: str = "error") -> tuple[Any, dict[str, Any]]:
    """Fit certify to a table under any scaling, by any methods, with and without weights."""
    from zoloss_cli.api.certificate import build_certificate
    from zoloss_cli.api.choose import TimeBudget
    from zoloss_cli.api.fit import FitRequest, Weighting
    from zoloss_cli.data.user_table import read_for_training
    from zoloss_cli.proofs import certify

    costs = (float(rng.randint(1, 4)), float(rng.randint(1, 4))) if rng.random() < 0.2 else (None, None)
    request = FitRequest(
        "certify",
        ["steps=200", *rng.choice(SETTINGS)],
        validate=False,
        scaling=rng.choice(SCALINGS),
        seed=rng.randrange(100),
        keeps_proof=True,
        weighting=Weighting((), *costs),
    )
    can_sweep = certify.can_sweep_exactly if rng.random() < SWEEP_SHARE else lambda integers: False
    with warnings.catch_warnings(), mock.patch.object(certify, "can_sweep_exactly", can_sweep):
        warnings.simplefilter("ignore")
        fitted = request.run(read_for_training(path, None, missing, as_written=True), TimeBudget())
    return fitted, build_certificate(fitted, missing)
