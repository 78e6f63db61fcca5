"""An installation without cvxpy, matplotlib and liblinear-official: all that needs none of them works."""

import json

import pytest
from places import TOP
from processes import environment, run_commands

# Python imports this at its start, in worker processes, too.
HIDE_PACKAGES = """
import sys

class HiddenPackages:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"cvxpy", "matplotlib", "liblinear"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, HiddenPackages())
"""
HEART, SMALL = str(TOP / "datasets" / "heart.csv"), "small.yaml"
USUAL = ["evaluate", HEART, "--splits", "2", "--out", "usual", "--dry-run"]
WORK = [
    ["learners"],
    ["datasets"],
    ["validate", SMALL, "lr.yaml"],
    ["run", SMALL, "--out", "done", "--jobs", "1"],
    ["table", "done"],
    ["compare", str(TOP / "results" / "reference"), "--table", "II"],
    ["plot", "done"],
    ["report", "done", "--out", "page.html"],
    ["run", "lr.yaml", "--dry-run"],
    ["fit", HEART, "--learner", "rcd-bias", "--set", "epochs=5", "--model", "rule.json"],
    ["predict", "rule.json", HEART, "--out", "predicted.csv"],
    ["fit", HEART, "--learner", "pivot", "--set", "steps=50", "--json"],
    ["evaluate", HEART, "--learners", "fld", "--splits", "2", "--out", "own", "--jobs", "1"],
    USUAL,
    ["complexity", HEART, "--sample", "40", "--permutations", "2"],
    ["prune", HEART, "--by", "neighbours", "--dry-run"],
]
LIBLINEAR = "the package liblinear-official{}, which is not installed: pip install liblinear-official{}"
DRAWING = "drawing a figure needs the package matplotlib, which is not installed: pip install matplotlib"
START = LIBLINEAR.format(" for its start 'lr'", ", or set its parameter seeding to fld")
REFUSE = [
    (["fit", HEART, "--learner", "lr"], f"the learner 'lr' needs {LIBLINEAR.format('', '')}"),
    (
        ["fit", HEART, "--learner", "mip", "--time-limit", "1"],
        "the learner 'mip' needs the package cvxpy, which is not installed: pip install cvxpy",
    ),
    (["run", "lr.yaml", "--out", "none"], f"the learner 'lr' needs {LIBLINEAR.format('', '')}"),
    (["run", "inside.yaml", "--out", "none"], f"the learner 'sla' needs {START}"),
    (["evaluate", HEART, "--learners", "pivot", "--out", "none"], f"the learner 'pivot' needs {START}"),
    (["plot", "--figure", "boundary", "--dataset", "yinyang", "--learners", "fld"], DRAWING),
    (["complexity", HEART, "--plot", "figure.png"], DRAWING),
]
DATA = "datasets: [heart]\nsplit: {repeats: 2, seed: 3}\n"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A working folder, and what each command printed and how it ended there, by its words."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "hide").mkdir()
    (folder / "hide" / "sitecustomize.py").write_text(HIDE_PACKAGES, encoding="utf-8")
    (folder / SMALL).write_text(DATA + "learners: {rcd-bias: {epochs: 5}, fld: {}}\n", encoding="utf-8")
    (folder / "lr.yaml").write_text(DATA + "learners: {fld: {}, lr: {}}\n", encoding="utf-8")
    inside = "learners: {adaboost: {base: {learner: sla}, rounds: 2}}\n"
    (folder / "inside.yaml").write_text(DATA + inside, encoding="utf-8")
    commands = [*WORK, *(words for words, _ in REFUSE)]
    results = run_commands(commands, cwd=folder, env=environment(folder / "hide"))
    return folder, {tuple(words): result for words, result in zip(commands, results, strict=True)}


def test_what_needs_none_of_them_works(bare):
    for words in WORK:
        code, out, err = bare[1][tuple(words)]
        assert code == 0, (words, err)
        assert out or "--out" in words
        assert "unexpected" not in err


def test_what_needs_one_says_so_in_one_sentence_and_leaves_nothing_behind(bare):
    folder, ended = bare
    for words, sentence in REFUSE:
        assert ended[tuple(words)] == [8, "", f"zoloss: {sentence}\n"]
    assert not (folder / "none").exists()
    assert not (folder / "figure.png").exists()


def test_what_starts_elsewhere_or_is_left_out_says_so(bare):
    folder, ended = bare
    _, out, err = ended["fit", HEART, "--learner", "pivot", "--set", "steps=50", "--json"]
    assert json.loads(out)["errors"] <= 39  # those of an SVM
    assert "liblinear-official is not installed, so the search starts from scikit-learn's weights" in err
    _, out, err = ended[tuple(USUAL)]
    planned = {line.split()[1] for line in out.splitlines() if line.startswith("heart")}
    assert {"rcd-bias", "soft-svm", "sla"} <= planned
    assert "lr" not in planned
    assert "liblinear-official is not installed, so lr is left out, and" in err
    assert " from Fisher's linear discriminant: pip install liblinear-official\n" in err
    _, _, err = ended["report", "done", "--out", "page.html"]
    assert f"figures are left out: {DRAWING}" in err
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "figures are left out" in page
    assert "<figure>" not in page
