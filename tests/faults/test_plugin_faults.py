"""Packages whose entry points are wrong: named when they are used, and in nobody else's way."""

import pytest
from packages import write_distribution
from processes import environment, run_zoloss

MODULE = '''
from zoloss_cli import LinearLearner, Pool
class Good(LinearLearner):
    """Says yes."""
    def __init__(self): pass
    def learn(self, problem, start): return start + 1.0
class Loose(LinearLearner):
    """Its parameter has no type."""
    def __init__(self, rate=1.0): self.rate = rate
class Silent(LinearLearner):
    def __init__(self): pass
class Foreign:
    """Not a learner."""
number = 7
def table():
    """A table that is not there."""
    return __file__ + ".csv"
def one():
    """A table of one class."""
    import pathlib
    path = pathlib.Path(__file__).with_name("one.csv")
    path.write_text("a,label\\n1,x\\n2,x\\n")
    return path
def raises():
    """Knows no file."""
    raise OSError("disk on fire")
def nothing():
    """Returns nothing."""
def sizeless(rng):
    """A generator without a size."""
def untyped(rng, size: int = 5, width=3):
    """A generator with a setting of no type."""
def other(a):
    """Takes something else."""
def short(rng, size: int = 5):
    """A pool with too few classes."""
    return Pool(rng.uniform(0, 1, (size, 2)), [0, 1, 2, 0, 1], ["a", "b"], ["x", "y"])
def wrong(rng, size: int = 5):
    """No pool."""
    return 1, 2
'''

LEARNERS = {
    "good": "theirs:Good",
    "gone": "not_there:Good",
    "torn": "theirs_torn:Good",
    "absent": "theirs:Absent",
    "foreign": "theirs:Foreign",
    "number": "theirs:number",
    "loose": "theirs:Loose",
    "silent": "theirs:Silent",
    "svm": "theirs:Good",
}
DATASETS = {
    "table": "theirs:table",
    "one": "theirs:one",
    "raises": "theirs:raises",
    "nothing": "theirs:nothing",
    "sizeless": "theirs:sizeless",
    "untyped": "theirs:untyped",
    "other": "theirs:other",
    "short": "theirs:short",
    "wrong": "theirs:wrong",
    "heart": "theirs:table",
}
REASONS = {
    "gone": "cannot be imported: ModuleNotFoundError: No module named 'not_there'",
    "torn": "cannot be imported: ZeroDivisionError: division by zero",
    "absent": "cannot be imported: AttributeError: module 'theirs' has no attribute 'Absent'",
    "foreign": "is not a learner: it must be a class derived from zoloss_cli.BinaryLearner",
    "number": "is not a learner: it must be a class derived from zoloss_cli.BinaryLearner",
    "loose": "has parameters that cannot be checked: the parameter 'rate' has no type",
    "silent": "has no docstring",
    "svm": "conflicts with the same name in zoloss itself: its package must rename it",
    "table": "has a file that cannot be read: there is no file",
    "raises": "failed to return the path of its file: OSError: disk on fire",
    "nothing": "returned NoneType instead of the path of a CSV file",
    "sizeless": "must have a setting 'size', and a default for every setting",
    "untyped": "has settings that cannot be checked: the parameter 'width' has no type",
    "other": "must take no parameters, or 'rng' as its first",
    "short": "did not return a pool of N x m finite features, N class indices, and names of both",
    "wrong": "failed to return a pool: TypeError",
    "heart": "conflicts with the same name in zoloss itself: its package must rename it",
}


@pytest.fixture
def zoloss_with(tmp_path):
    """Run the command in a folder of its own, where broken packages are installed."""
    site = tmp_path / "site"
    write_distribution(site, "theirs", {"learners": LEARNERS, "datasets": DATASETS})
    write_distribution(site, "twin", {"learners": {"both": "theirs:Good"}})
    write_distribution(site, "twins", {"learners": {"both": "theirs:Good"}})
    (site / "theirs.py").write_text(MODULE, encoding="utf-8")
    (site / "theirs_torn.py").write_text("1 / 0\n", encoding="utf-8")
    return lambda *arguments: run_zoloss(*arguments, env=environment(site), cwd=tmp_path)


def test_lists_say_what_is_broken_and_go_on(zoloss_with):
    for command, kind, entries in (("learners", "learner", LEARNERS), ("datasets", "data set", DATASETS)):
        ended = zoloss_with(command)
        assert ended.code == 0, ended.err
        listed = " ".join(ended.out.split())  # long reasons go over several lines
        for name, target in entries.items():
            if name in REASONS:
                said = f"the {kind} '{name}' of the package theirs 1.0 (entry point {name} = {target}) "
                assert said in listed
                assert REASONS[name] in listed
        if command == "learners":
            assert "good two yes Says yes " in listed
            assert " svm two no " in listed
            assert listed.count("the same name in the package twin") == 2
    assert "Statlog (Heart)" in listed


def test_what_is_broken_is_one_sentence_when_used(zoloss_with, tmp_path):
    ended = zoloss_with("fit", "mine.csv", "--learner", "torn")
    assert ended.code == 2
    assert ended.err == (
        "zoloss: the learner 'torn' of the package theirs 1.0 (entry point torn = theirs_torn:Good) "
        "cannot be imported: ZeroDivisionError: division by zero\n"
    )
    (tmp_path / "wrong.yaml").write_text(
        "datasets: [table, short, one, heart]\n"
        "learners: {loose: , both: , b: {learner: adaboost, base: gone}}\n",
        encoding="utf-8",
    )
    ended = zoloss_with("validate", "wrong.yaml")
    assert ended.code == 2
    assert [line.partition(": the ")[0] for line in ended.err.splitlines()] == [
        "zoloss: wrong.yaml:1: datasets.table",
        "zoloss: wrong.yaml:2: learners.loose",
        "zoloss: wrong.yaml:2: learners.both",
        "zoloss: wrong.yaml:2: learners.b.base",
    ]


def test_broken_packages_are_not_in_the_way(zoloss_with, tmp_path):
    """Workers never import them, and a name of ours stays ours, with a note whose package claims it too."""
    (tmp_path / "small.yaml").write_text(
        "datasets: [heart]\nsplit: {repeats: 3}\nlearners: {good: , svm: {C: [1.0]}}\n", encoding="utf-8"
    )
    ended = zoloss_with("run", "small.yaml", "--jobs", 2)
    assert ended.code == 0, ended.err
    assert "6 tasks: 0 were done, 6 run" in ended.err
    note = "the learner 'svm' of the package theirs 1.0 (entry point svm = theirs:Good) conflicts with"
    assert ended.err.count(note) == 1
    assert f"zoloss: {note}" in ended.err
