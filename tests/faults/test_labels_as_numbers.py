"""Labels that are one number but two texts."""

from __future__ import annotations

import pytest


def build_rows(*labels: str) -> str:
    return "a,label\n" + "".join(f"{i * 7 % 5},{labels[i % len(labels)]}\n" for i in range(12))


@pytest.mark.parametrize(
    "pair", [("1", "1.0"), ("1", "01"), ("-1", "-1.00"), ("100", "1e2"), ("0", "-0"), ("1", "+1")]
)
@pytest.mark.parametrize("command", ["fit", "evaluate", "run"])
def test_labels_that_are_the_same_number_are_refused(zoloss, table, write_config, tmp_path, pair, command):
    path = table(build_rows(pair[0], "2", pair[1]))
    arguments = {
        "fit": [path, "--learner", "fld"],
        "evaluate": [path, "--learners", "fld", "--out", tmp_path / "results", "--jobs", "1"],
        "run": [
            write_config("datasets: {mine: {csv: mine.csv, positive: '2'}}\nlearners: [fld]\n"),
            *("--out", tmp_path / "results", "--jobs", "1"),
        ],
    }
    ended = zoloss(command, *arguments[command])
    assert ended.code == 3
    said = f"mine.csv:4: the label column 'label' holds '{pair[1]}' and, in line 2, '{pair[0]}', which are the"
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize(
    "labels",
    [
        ("1", "2"),
        ("1.0", "2"),
        ("-1", "1"),
        ("1", "one"),
        ("90071992547409930", "90071992547409931"),
        ("1_0", "10"),
    ],
)
def test_labels_that_are_different_numbers_are_classes(zoloss, table, labels):
    ended = zoloss("fit", table(build_rows(*labels)), "--learner", "fld")
    assert ended.code == 0, ended.err
