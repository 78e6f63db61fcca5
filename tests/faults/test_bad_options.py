"""Options of fit and evaluate that are wrong: one sentence each, nothing written."""

from own_rows import COLOURS, SEVERAL, refused


def test_options_of_evaluate_that_are_wrong(zoloss, table, tmp_path):
    command = ["evaluate", table(COLOURS), "--learners", "pivot,rcd-bias", "--out", tmp_path / "out"]
    for options, part in (
        (["--learners", "lr,,fld"], "'lr,,fld' is not a list of names separated by commas"),
        (["--learners", "lr,fld,lr"], "--learners: 'lr' is listed more than once"),
        (["--train", "1.5"], "--train: must be a share between 0 and 1 (both excluded) or a count"),
        (["--train", "1"], "or a count of at least 2 (got 1)"),
        (["--splits", "2000000"], "--splits: input should be less than or equal to 1000000"),
        (["--set", "pivot.steps=0"], "--set pivot.steps: input should be greater than or equal to 1 (got 0)"),
        (["--set", "pocket.epochs=5"], "'pocket' is not one of the learners here; valid: pivot, rcd-bias"),
        (["--set", "stepz=5"], "no learner here has a parameter 'stepz'; did you mean 'steps'?"),
        (
            ["--set", "seeding=zero"],
            "pivot, rcd-bias have a parameter 'seeding'; name one, as in pivot.seeding=zero",
        ),
        (["--set", "steps=5", "--set", "pivot.steps=6"], "'steps' is set more than once"),
    ):
        refused(zoloss(*command, *options), 2, part)
    assert not (tmp_path / "out").exists()


def test_options_that_are_wrong(zoloss, table):
    path = table(COLOURS)
    for options, part in (
        (["--learner", "pivto"], "unknown learner 'pivto'; did you mean 'pivot'?"),
        (["--set", "stepz=5"], "the learner 'pivot' has no parameter 'stepz'; did you mean 'steps'?"),
        (["--set", "steps=many"], "--set steps: input should be a valid integer"),
        (["--set", "steps=0"], "--set steps: input should be greater than or equal to 1 (got 0)"),
        (["--set", "steps"], "write it as KEY=VALUE, such as steps=500"),
        (["--set", "time_limit=.nan"], "is not a finite number"),
        (["--set", "steps=!!python/object:os.system {}"], "in YAML"),
        (["--set", "steps=5", "--set", "steps=6"], "'steps' is set more than once"),
        (["--learner", "adaboost", "--set", "base={learner: pocket, epoch: 2}"], "did you mean 'epochs'?"),
        (["--learner", "pocket", "--time-limit", "5"], "--time-limit: the learner 'pocket' has no time limit"),
        (["--time-limit", "0"], "--time-limit: must be a number of seconds above 0 (got 0)"),
        (["--time-limit", "5", "--set", "time_limit=5"], "give one of them"),
        (["--scale", "standrad"], "--scale: 'standrad' is not valid; did you mean 'standard'?"),
        (["--learner", "adaboost:ecc"], "'ecc' is a multiclass learner, but a base must be binary"),
        (["--learner", "ecc:romma"], "'romma' takes no sample weights, so it cannot be boosted"),
        (["--learner", "lr:stump"], "unknown key 'base'"),
        (["--learner", "ecc:stump", "--set", "base=fld"], "'base' is set more than once"),
    ):
        refused(zoloss("fit", path, *options), 2, part)


def test_what_a_learner_refuses_is_one_sentence(zoloss, table):
    ended = zoloss("fit", table(COLOURS), "--set", "seeding=[1, 2]")
    refused(ended, 3, "'pivot' cannot be fitted on", "seeding has 2 weights, but 4 are needed")


def test_the_usual_learners_need_right_options_all_the_same(zoloss, table, tmp_path):
    command = ["evaluate", table(SEVERAL), "--out", tmp_path / "out"]
    refused(zoloss(*command, "--missing", "0"), 2, "--missing: '0' is not valid; valid: error, drop, zero")
    refused(zoloss(*command, "--train", "1.5"), 2, "--train: must be a share between 0 and 1", faults=None)
    refused(zoloss(*command, "--set", "lr.C=[1]"), 2, "'lr' is not one of the learners here", faults=None)
    assert not (tmp_path / "out").exists()
