"""Certificates: what certify proves is accepted by the checker, and what was changed is refused."""

from __future__ import annotations

import ast
import copy
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from problems import fewest_errors, tiny_problem

from zoloss_cli.api import certificate as certificates
from zoloss_cli.api.choose import TimeBudget
from zoloss_cli.api.fit import FitRequest, Weighting
from zoloss_cli.data.user_table import read_for_training
from zoloss_cli.errors import ModelError
from zoloss_cli.learners.search import hyperplanes, progress
from zoloss_cli.proofs import check as checker

KINDS = ("plain", "discrete", "collinear", "duplicates")
PROBLEMS_IN_SUITE, ALL_PROBLEMS = 40, 2000


def write_table(path, X, y):
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "label"])
    lines = [",".join([*map(repr, x), "np"[int(label)]]) for x, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


METHODS = {  # the settings that leave only one way to prove
    "cones of directions": ["programs=0"],
    "impossible sets": ["cones=0"],
    "all hyperplanes": ["cones=0", "programs=0"],
}


def certify(data, weighting=None, steps=200, method="cones of directions", scaling="standard"):
    table = read_for_training(data, "label", as_written=True)
    settings = [f"steps={steps}", *METHODS[method]]
    request = FitRequest(
        "certify",
        settings,
        scaling=scaling,
        validate=False,
        weighting=weighting or Weighting(),
        keeps_proof=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        if method != "all hyperplanes":
            patch.setattr(hyperplanes, "MAX_EXACT_STEPS", 0)
        fitted = request.run(table, TimeBudget())
    return certificates.build_certificate(fitted, "error"), fitted


def check(certificate, folder, data):
    path = folder / "proof.json.gz"
    path.write_bytes(certificates.render_certificate(certificate))
    return certificates.check_certificate(path, data)


def check_tiny_problem(seed, folder):
    rng = np.random.default_rng(seed)
    X, y = tiny_problem(seed, int(rng.integers(4, 11)), int(rng.integers(1, 4)), KINDS[seed % 4])
    if KINDS[seed % 4] == "collinear":  # in decimals, too
        X = (rng.integers(-9, 10, (len(y), 1)) @ rng.integers(-3, 4, (1, X.shape[1]))).astype(float)
    data = write_table(folder / "data.csv", X, y)
    costs = (float(rng.integers(1, 5)), float(rng.integers(1, 5))) if seed % 3 == 0 else (None, None)
    method = list(METHODS)[seed % 5 % 3]
    certificate, fitted = certify(data, Weighting((), *costs), method=method)
    checked = check(certificate, folder, data)
    assert checked.method in (method, "equal rows")
    copies = certificate["weights"]
    phi = np.where(y == 1, copies[1], copies[0]).astype(float)  # 'n' is the negative class
    assert checked.bound == checked.loss == round(fewest_errors(X, y, phi))
    assert checked.errors == fitted.errors
    return checked.method


def test_certificates_prove_what_brute_force_finds(tmp_path):
    methods = [check_tiny_problem(seed, tmp_path) for seed in range(PROBLEMS_IN_SUITE)]
    assert min(methods.count(method) for method in METHODS) > 3


@pytest.mark.long
def test_certificates_of_two_thousand_problems(tmp_path):
    for seed in range(PROBLEMS_IN_SUITE, ALL_PROBLEMS):
        check_tiny_problem(seed, tmp_path)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table that needs errors."""
    rng = np.random.default_rng(4)
    X = np.round(rng.standard_normal((30, 3)), 1)
    y = (X[:, 0] + 4.0 * rng.standard_normal(30) > 0).astype(int)
    return write_table(tmp_path_factory.mktemp("proved") / "data.csv", X, y)


@pytest.fixture(scope="module")
def certificate_of(data, tmp_path_factory):
    """The certificates of the table by each method, all of the same bound."""
    folder, found = tmp_path_factory.mktemp("certificates"), {}
    for method in METHODS:
        found[method], _ = certify(data, steps=2000, method=method)
        checked = check(found[method], folder, data)
        assert checked.method == method
        assert checked.bound == checked.loss > 3
        assert (checked.n_checked > 1) == (method != "all hyperplanes")
    assert len({certificate["bound"] for certificate in found.values()}) == 1
    return found


def test_a_certificate_cannot_be_multiplied(certificate_of, data, tmp_path):
    """With all weights times k, k times the errors would be the loss; but then it is no number of errors."""
    for certificate, factor in itertools.product(certificate_of.values(), (2, 1000)):
        forged = copy.deepcopy(certificate)
        forged["weights"] = [factor * weight for weight in forged["weights"]]
        forged["bound"] *= factor
        if forged["proof"]:
            forged["proof"]["factor"] *= factor
        with pytest.raises(ModelError, match="two weights without a common divisor"):
            check(forged, tmp_path, data)


def test_the_checker_runs_without_zoloss(certificate_of, data, tmp_path):
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
    certificate = certificate_of["cones of directions"]
    copied, path = tmp_path / "check.py", tmp_path / "proof.json.gz"
    copied.write_bytes(Path(checker.__file__).read_bytes())
    path.write_bytes(certificates.render_certificate(certificate))
    command = [sys.executable, "-I", "-S", str(copied), str(path), str(data)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert f"every linear rule makes at least {certificate['bound']} errors: proved" in answer.stdout


@pytest.mark.parametrize("method", ["cones of directions", "impossible sets"])
def test_what_is_proved_before_ctrl_c_has_a_certificate(method, tmp_path):
    rng = np.random.default_rng(7)
    X = np.round(rng.standard_normal((200, 4)), 2)
    data = write_table(tmp_path / "data.csv", X, rng.integers(0, 2, 200))

    def interrupt(search):
        if search.lower_bound >= 3:
            raise KeyboardInterrupt

    with progress.report_searches_to(interrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "REPORT_SECONDS", 0.0)
        certificate, fitted = certify(data, method=method)
    assert any("interrupted after" in note for note in fitted.notes)
    checked = check(certificate, tmp_path, data)
    assert checked.method == method
    assert 3 <= checked.bound == fitted.lower_bound < checked.loss
