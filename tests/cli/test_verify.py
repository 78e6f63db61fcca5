"""`zoloss fit --certificate` and `zoloss verify`, and what they say about bad input."""

from __future__ import annotations

import gzip
import json

import pytest

FIT = ("fit", "iris", "--positive", "Iris-versicolor", "--features", "sepal_width,petal_width", "--no-validate")
PROOF = "proof.json.gz"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_proof_is_written_and_accepted(zoloss, here):
    ended = zoloss(*FIT, "--learner", "certify", "--set", "steps=500", "--certificate", PROOF)
    assert ended.code == 0, ended.err
    assert "at least 36 errors, by cones of directions: proved optimal" in ended.out
    assert "zoloss verify proof.json.gz" in ended.err
    checked = zoloss("verify", PROOF, "iris")
    assert checked.code == 0, checked.err
    assert "at least 36 errors: proved" in checked.out
    assert "makes 36 errors: proved optimal" in checked.out
    refused = zoloss(*FIT, "--learner", "certify", "--certificate", PROOF)
    assert (refused.code, refused.out) == (7, "")
    assert "proof.json.gz exists" in refused.err


def test_a_changed_proof_is_refused_in_a_sentence(zoloss, here):
    assert zoloss(*FIT, "--learner", "certify", "--set", "steps=500", "--certificate", PROOF).code == 0
    content = json.loads(gzip.decompress((here / PROOF).read_bytes()))
    content["bound"] += 1
    (here / "changed.json").write_text(json.dumps(content))  # it need not be compressed
    ended = zoloss("verify", "changed.json", "iris")
    assert (ended.code, ended.out) == (6, "")
    assert ended.err == "zoloss: changed.json: does not prove its bound: it says 37, and proves 36\n"


def test_only_certify_gives_a_proof(zoloss, here):
    ended = zoloss(*FIT, "--learner", "pivot", "--certificate", PROOF)
    assert (ended.code, ended.out) == (2, "")
    assert "add --learner certify" in ended.err
    assert not (here / PROOF).exists()


def test_what_is_no_certificate(zoloss, here):
    (here / "bad.json.gz").write_bytes(b"nothing")
    for name, words in (("bad.json.gz", "is damaged, or no certificate"), ("none.json.gz", "cannot be read")):
        ended = zoloss("verify", name, "iris")
        assert (ended.code, ended.out) == (6, "")
        assert ended.err.startswith(f"zoloss: {name}: {words}")
        assert ended.err.count("\n") == 1
