"""Where fit, predict and evaluate write to: nothing is lost, and what cannot be written is said at once."""

import os

import pytest
from own_rows import COLOURS, SEVERAL, refused


def test_evaluate_overwrites_no_config(zoloss, table, tmp_path):
    path, config = table(COLOURS), table("precious: true\n", "c.yaml")
    command = ["evaluate", path, "--learners", "fld", "--train", "0.5", "--out", tmp_path / "out", "--dry-run"]
    refused(zoloss(*command, "--save-config", config), 7, "c.yaml exists; --force overwrites it")
    assert config.read_text() == "precious: true\n"
    refused(zoloss(*command, "--save-config", path, "--force"), 7, "is also an input")
    refused(zoloss(*command, "--save-config", tmp_path / "no" / "c.yaml"), 7, "there is no folder")
    refused(zoloss(*command, "--save-config", tmp_path), 7, "is a folder")
    assert zoloss(*command, "--save-config", config, "--force").code == 0
    assert "csv: mine.csv" in config.read_text()


def test_nothing_is_overwritten_without_force(zoloss, table, model, tmp_path):
    path, before = table(COLOURS), model.read_bytes()
    again = ["fit", path, "--learner", "fld"]
    refused(zoloss(*again, "--model", model), 7, "m.json exists; --force overwrites it")
    assert model.read_bytes() == before
    assert zoloss(*again, "--scale", "none", "--model", model, "--force").code == 0
    assert model.read_bytes() != before
    out = table("precious\n", "p.csv")
    refused(zoloss("predict", model, path, "--out", out), 7, "p.csv exists")
    assert out.read_text() == "precious\n"
    assert zoloss("predict", model, path, "--out", out, "--force").code == 0
    assert out.read_text().startswith("prediction,score\n")
    before = model.read_bytes()  # and what is read is never written
    refused(zoloss("fit", path, "--model", path, "--force"), 7, "is also an input")
    refused(zoloss("predict", model, path, "--out", model, "--force"), 7, "is also an input")
    assert (path.read_text(), model.read_bytes()) == (COLOURS, before)


def test_targets_that_cannot_be_written_are_refused_before_training(zoloss, table, tmp_path, monkeypatch):
    path = table(COLOURS)
    monkeypatch.setattr("zoloss_cli.api.fit.fit_table", lambda *a: pytest.fail("it trained"))
    refused(zoloss("fit", path, "--model", tmp_path), 7, "is a folder; name a file")
    refused(zoloss("fit", path, "--model", tmp_path / "no" / "m.json"), 7, "there is no folder")
    refused(zoloss("fit", path, "--model", path / "m.json"), 7)
    os.mkfifo(tmp_path / "pipe")
    refused(zoloss("fit", path, "--model", tmp_path / "pipe", "--force"), 7, "is not a regular file")


def test_a_failed_write_leaves_the_old_file_and_no_other(zoloss, table, model, tmp_path, monkeypatch):
    path, before = table(COLOURS), model.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ended = zoloss("fit", path, "--learner", "fld", "--model", model, "--force")
    assert ended.code == 7
    assert "No space left on device" in ended.err
    assert "errors" in ended.out  # what was learned is not lost
    assert model.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "mine.csv"]


def test_what_cannot_be_saved_is_said_before_training(zoloss, table, tmp_path, monkeypatch):
    """As a learner of another package, of a kind that no part of a file is for."""
    from zoloss_cli.api.models import STATE_TYPES

    monkeypatch.setattr("zoloss_cli.api.fit.fit_table", lambda *a: pytest.fail("it trained"))
    monkeypatch.delitem(STATE_TYPES, "zoloss_cli.learners.kernel_svm:KernelSVMClassifier")
    for learner in ("svm-perceptron", "ecc:adaboost:svm-perceptron"):
        ended = zoloss("fit", table(SEVERAL), "--learner", learner, "--model", tmp_path / "m.json")
        refused(ended, 2, "--model: the estimator of 'svm-perceptron' cannot be saved")
