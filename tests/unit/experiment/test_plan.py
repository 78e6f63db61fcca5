"""Plans: what makes two tasks the same, and what makes them different."""

from zoloss_cli.config.loader import load_config
from zoloss_cli.experiment.plan import plan
from zoloss_cli.learners.linear.perceptrons import PocketClassifier

BASE = "datasets: [heart]\nsplit: {repeats: 5, seed: 1}\nlearners: {pocket: {epochs: 9}}\n"
WHOLE = "metric: train_error\nsplit: {train: all, "
TUNED = (
    "{pocket: {tune: {epochs: [8, 9]}}}\ntuning: {folds: 5}",
    "{pocket: {tune: {epochs: [8, 9]}}}\ntuning: {folds: 4}",
    "{pocket: {tune: {epochs: [8, 9]}}}\ntuning: {folds: 5, on: all}",
    "{pocket: {tune: {epochs: [7, 9]}}}\ntuning: {folds: 5}",
)


def only_cell(write_config, text):
    (cell,) = plan(load_config(write_config(text)))
    return cell


def test_what_is_shown_does_not_change_a_cell(write_config):
    cell = only_cell(write_config, BASE)
    for same in (
        BASE + "title: Other\nmetric: train_error\n",
        BASE.replace("repeats: 5", "repeats: 500"),
        BASE.replace("{pocket: {epochs: 9}}", "{mine: {learner: pocket, epochs: 9}}"),
        BASE.replace("[heart]", "{renamed: {dataset: heart}}"),
    ):
        assert only_cell(write_config, same).key == cell.key
        assert only_cell(write_config, same).filename == cell.filename


def test_what_changes_numbers_changes_the_cell(write_config, monkeypatch):
    changes = (
        ("", ""),
        ("epochs: 9", "epochs: 8"),
        ("seed: 1", "seed: 2"),
        ("[heart]", "[sonar]"),
        ("pocket", "ave-perc"),
        ("repeats: 5", "repeats: 5, train: 0.7"),
        ("repeats: 5", "repeats: 5, folds: 5"),
        ("repeats: 5", "repeats: 5, folds: 4"),
        ("split:", "preprocess: {scale: none}\nsplit:"),
        ("[heart]", "{heart: {noise: {fraction: 0.1}}}"),
        ("[heart]", "{heart: {positive: 1}}"),
        ("[heart]", "{heart: {noise: {fraction: 0.1, draws: 2}}}"),
        ("split:", "preprocess: {fit_on: all}\nsplit:"),
        ("split: {", WHOLE),
        *(("{pocket: {epochs: 9}}", tuned) for tuned in TUNED),
    )
    keys = {only_cell(write_config, BASE.replace(*change)).key for change in changes}
    monkeypatch.setattr(PocketClassifier, "version", 99)
    assert len(keys | {only_cell(write_config, BASE).key}) == len(changes) + 1
    for same, scaling in (
        (BASE.replace("split: {", WHOLE), "minmax"),
        (BASE, "none"),
    ):  # fit_on changes nothing
        ways = {f"preprocess: {{scale: {scaling}{more}}}\n" for more in ("", ", fit_on: all")}
        assert len({only_cell(write_config, way + same).key for way in ways}) == 1


def test_a_base_learner_is_part_of_an_ensembles_cells(write_config, monkeypatch):
    def cell(base):
        return only_cell(
            write_config,
            f"datasets: [heart]\nlearners:\n  x: {{learner: adaboost, rounds: 3, base: {base}}}\n",
        )

    by_name = cell("pocket")
    assert by_name.learner.name == "adaboost:pocket"
    assert by_name.key == cell("{learner: pocket, epochs: 2000}").key  # its default
    assert by_name.key != cell("{learner: pocket, epochs: 200}").key
    assert by_name.key != cell("rcd-bias").key
    monkeypatch.setattr(PocketClassifier, "version", 99)
    assert by_name.key != cell("pocket").key


def test_a_base_learner_takes_the_configs_seeding(write_config):
    text = (
        "datasets: [heart]\npreprocess: {seeding: fld}\nlearners:\n  x: {learner: adaboost, base: rcd-bias}\n"
    )
    assert only_cell(write_config, text).learner.parameters["base"]["seeding"] == "fld"


def test_a_data_sets_own_counts_override_the_split(write_config):
    text = "datasets: {ringnorm: {size: 5000, train: 600}, heart: }\nlearners: [fld]\n"
    ring, heart = plan(load_config(write_config(text)))
    assert ring.rule.compute_sizes(5000, "") == (600, 4400)
    assert heart.rule.compute_sizes(270, "") == (216, 54)
    own = text.replace("heart: ", "heart: {folds: 4}")
    assert only_cell(write_config, own.replace("ringnorm: {size: 5000, train: 600}, ", "")).rule.folds == 4
    ring, heart = plan(load_config(write_config("split: {folds: 7, seed: 3}\n" + text)))
    assert ring.identity["split"] == {"train": 600, "test": None, "seed": 3}
    assert heart.identity["split"] == {"train": None, "test": None, "seed": 3, "folds": 7}
