"""The rule that fit prints: it answers as the fitted one, in one scale, largest effects first."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zoloss_cli.api.choose import parse_learner
from zoloss_cli.api.fit import fit_table
from zoloss_cli.api.rules import build_readable_rule
from zoloss_cli.data.user_table import read_for_training

ROW = re.compile(r"^(\S+) +(-?[\d.e+-]+) +([+-]\d+\.\d\d)$", re.M)


def mixed_table(n: int = 60, seed: int = 0, levels: str = "mf") -> str:
    """Numbers of very different units, and a column of text that matters."""
    rng = np.random.default_rng(seed)
    lines = ["tiny,huge,sex,label"]
    for _ in range(n):
        tiny, huge, sex = rng.normal() * 1e-5, 1e6 + 1e4 * rng.normal(), rng.integers(len(levels))
        score = 1e5 * tiny + (huge - 1e6) / 1e4 + 2 * sex + 0.5 * rng.normal() - 1
        lines.append(f"{tiny!r},{huge!r},{levels[sex]},{'yes' if score > 0 else 'no'}")
    return "\n".join(lines) + "\n"


def read_rule(text: str) -> tuple[dict[str, float], list[float], float]:
    threshold = float(re.search(r"at least (\S+)$", text, re.M)[1])
    rows = ROW.findall(text)
    return {name: float(weight) for name, weight, _ in rows}, [float(e) for *_, e in rows], threshold


def apply_by_hand(own, weights: dict[str, float], threshold: float) -> list[bool]:
    columns = dict(zip(own.features, own.X.T, strict=True))
    total = sum(weight * columns[name] for name, weight in weights.items())
    return (total >= threshold).tolist()


@pytest.mark.parametrize("learner", ["fld", "pivot", "stump"])
@pytest.mark.parametrize("levels", ["mf", "mfx"])
def test_what_is_printed_answers_as_the_fitted_rule(zoloss, table, learner, levels):
    path = table(mixed_table(levels=levels))
    text = zoloss("fit", path, "--learner", learner, "--no-validate").out
    own = read_for_training(path)
    fitted = fit_table(own, parse_learner(learner, [], None), None, "standard", 1)
    weights, effects, threshold = read_rule(text)
    assert apply_by_hand(own, weights, threshold) == (fitted.rule.score(own.X) >= 0).tolist()
    assert ("sex=m" in weights, "sex=f" in weights) == ((True, False) if levels == "mf" else (True, True))
    assert np.abs(effects).tolist() == sorted(np.abs(effects), reverse=True)
    assert max(np.abs(effects)) == 1.0


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, -1.0]))
def test_the_positive_class_is_always_the_upper_side(tmp_path_factory, seed, sign):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=30)
    rows = [f"{v!r},{'b' if sign * v > 0.1 else 'a'}" for v in x.tolist()]
    if len({row[-1] for row in rows}) < 2:
        return
    path = tmp_path_factory.mktemp("rule") / "t.csv"
    path.write_text("\n".join(["x,label", *rows]) + "\n", encoding="utf-8")
    for positive in ("a", "b"):
        own = read_for_training(path)
        fitted = fit_table(own, parse_learner("pivot", ["steps=200"], None), positive, "standard", 1)
        readable = build_readable_rule(fitted.rule, own)
        assert readable.names == ["x"]
        assert np.sign(float(readable.weights[0])) == (sign if positive == "b" else -sign)
        by_hand = apply_by_hand(own, {"x": float(readable.weights[0])}, float(readable.threshold))
        assert by_hand == [label == positive for label in own.labels]


def test_a_text_column_with_gaps_keeps_both_indicators(zoloss, table):
    text = mixed_table().replace(",m,", ",,", 3)
    shown = zoloss("fit", table(text), "--missing", "zero", "--no-validate", "--learner", "fld").out
    weights, _, _ = read_rule(shown)
    assert {"sex=m", "sex=f"} <= set(weights)
    whole = zoloss("fit", table(mixed_table()), "--no-validate", "--learner", "fld").out
    assert "levels    'sex' has one indicator: 1 for m, 0 for f" in whole


def test_many_features_are_cut_and_counted(zoloss, table):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 25))
    rows = [",".join([*map(repr, x.tolist()), "yn"[int(x.sum() > 0)]]) for x in X]
    path = table("\n".join([",".join([*(f"f{i}" for i in range(25)), "label"]), *rows]) + "\n")
    cut = zoloss("fit", path, "--learner", "fld", "--no-validate").out
    assert len(ROW.findall(cut)) == 20
    assert "(and 5 more features of smaller effect: --all)" in cut
    whole = zoloss("fit", path, "--learner", "fld", "--no-validate", "--all").out
    assert len(ROW.findall(whole)) == 25
    assert "more features" not in whole


def test_a_constant_prediction_has_a_threshold_and_no_effects(zoloss, table):
    text = zoloss("fit", table("a,c,label\n3,p,x\n3,p,y\n3,p,y\n")).out
    assert "errors    1 of 3 training samples" in text
    weights, effects, threshold = read_rule(text)
    assert set(weights.values()) == {0.0}
    assert set(effects) == {0.0}
    assert threshold == -1.0
