"""Configs of protocols: all rows, draws, tuning, improvement; their mistakes, and those that are shipped."""

from __future__ import annotations

from typing import get_args

import pytest

from zoloss_cli.choices import MISSING_POLICIES, NOISE_SCORES, SCALINGS
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.models import PREDEFINED, CsvData, EmbeddedData, Preprocess, Prune
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.utils.files import shipped_folder


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        (
            "datasets: [heart]\nlearners: [fld]\nsplit: {train: all}",
            3,
            ["split.train", "there is no test_error", "train_01_loss"],
        ),
        (
            "datasets:\n  heart:\n  sonar: {train: all}\nlearners: [fld]\nmetric: test_error",
            3,
            ["datasets.sonar.train", "there is no test_error"],
        ),
        (
            "datasets: [heart]\nlearners: [fld]\nmetric: train_error\nsplit: {train: all, test: 9}",
            4,
            ["split: with 'train: all' no sample is left to test"],
        ),
        (
            "datasets: {heart: {train: all, test: 9}}\nlearners: [fld]\nmetric: train_error",
            1,
            ["datasets.heart: with 'train: all' no sample is left to test"],
        ),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {train: al}", 3, ["split.train", "or 'all'", "got 'al'"]),
        ("datasets: [heart]\nlearners: [fld]\nsplit: {train: }", 3, ["split.train", "got None"]),
        (
            "datasets: {heart: {noise: {fraction: 0.1, draws: 0}}}\nlearners: [fld]",
            1,
            ["datasets.heart.noise", "greater than or equal to 1"],
        ),
        ("datasets: {ringnorm: {seed: []}}\nlearners: [fld]", 1, ["datasets.ringnorm.seed", "list of such"]),
        ("datasets: {ringnorm: {seed: [1, -2]}}\nlearners: [fld]", 1, ["datasets.ringnorm.seed", "at least 0"]),
        (
            "datasets: [heart]\nlearners: [fld]\npreprocess: {fit_on: test}",
            3,
            ["preprocess.fit_on", "'test' is not valid", "train, all"],
        ),
        ("datasets: [heart]\nlearners: [fld]\ntuning: {folds: 1}", 3, ["tuning.folds", "greater than"]),
        ("datasets: [heart]\nlearners: [fld]\ntuning: {on: tests}", 3, ["tuning.on", "'tests' is not valid"]),
        (
            "datasets: [heart]\nlearners:\n  svm:\n    tune: {C: [[1.0]]}",
            4,
            ["learners.svm.tune", "add the section tuning: {folds: 5}"],
        ),
        (
            "tuning: {}\ndatasets: [heart]\nlearners:\n  svm:\n    tune: {C: []}",
            5,
            ["learners.svm.tune", "list of values"],
        ),
        (
            "tuning: {}\ndatasets: [heart]\nlearners: {svm: {tune: }}",
            3,
            ["learners.svm.tune", "list of values"],
        ),
        ("tuning: {}\ndatasets: [heart]\nlearners: {svm: {tune: {c: [1]}}}", 3, ["unknown key 'c'", "'C'"]),
        (
            "tuning: {}\ndatasets: [heart]\nlearners: {svm: {tune: {base.C: [[1.0]]}}}",
            3,
            ["learners.svm.tune", "'base.C' leads nowhere"],
        ),
        (
            "tuning: {}\ndatasets: [heart]\nlearners: {svm: {while_tuning: {C: 1.0}}}",
            3,
            ["learners.svm.while_tuning", "is for learners with `tune`"],
        ),
        (
            "tuning: {}\ndatasets: [heart]\nlearners: {svm: {tune: {C: [[1.0]]}, while_tuning: 3}}",
            3,
            ["learners.svm.while_tuning", "must be a mapping"],
        ),
        (
            "tuning: {}\ndatasets: [heart]\nlearners: {svm: {tune: {C: [[1.0]]}, while_tuning: {base.C: 3}}}",
            3,
            ["learners.svm.while_tuning", "'base.C' leads nowhere"],
        ),
        (
            "datasets: [heart]\nlearners: [svm, sla]\nimprovement: {of: [slo], over: [svm]}",
            3,
            ["improvement.of.slo", "unknown column 'slo'", "'sla'"],
        ),
        (
            "datasets: [heart]\nlearners: [svm, sla]\nimprovement: {of: [], over: [svm]}",
            3,
            ["improvement.of", "at least 1 item"],
        ),
        ("datasets: [heart]\nlearners: [svm]\nimprovement: {of: [svm]}", 3, ["the key 'over' is missing"]),
        (
            "datasets: [heart]\nlearners: [fld]\npublished: {paper: x, table: '1', spread: sd}",
            3,
            ["published.spread", "'sd' is not valid", "error, deviation"],
        ),
        ("datasets: [heart]\nlearners: [fld]\nmetric: train_01_los", 3, ["'train_01_loss'"]),
        ("datasets: [heart]\nlearners: [fld]\nalso: time_to_bst", 3, ["did you mean 'time_to_best'?"]),
    ],
)
def test_each_mistake_is_named_with_its_place(write_config, text, line, parts):
    path = write_config(text + "\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert f"{path}:{line}: " in message
    for part in parts:
        assert part in message


def test_keys_are_names_whatever_yaml_makes_of_them(write_config):
    text = "tuning: {on: all}\ndatasets: {no: {dataset: heart}}\nlearners: {svm: {tune: {C: [[1.0]]}}}\n"
    experiment = load_config(write_config(text))
    assert experiment.tuning.on == "all"
    assert experiment.datasets[0].name == "no"


def test_tables_one_and_three_of_nguyen_share_every_cell():
    one, three = (
        {c.key for c in plan(load_config(shipped_folder("configs") / "nguyen" / f"table{n}.yaml"))}
        for n in (1, 3)
    )
    assert one == three


def test_the_two_protocols_of_table_four_share_draws_and_splits():
    own, clean = (
        load_config(shipped_folder("configs") / "nguyen" / name)
        for name in ("table4.yaml", "table4-clean.yaml")
    )
    assert own.datasets == clean.datasets
    assert own.split.model_copy(update={"repeats": 100}) == clean.split
    assert own.learners == clean.learners
    assert [len(x.tune) for x in own.learners] == [0, 18, 18, 26, 0]


def test_the_old_word_for_a_predefined_part_means_the_same(write_config):
    texts = (
        "datasets: {vowel: {train: %s}}\nlearners: [ecc]\n",
        "split: {train: %s}\ndatasets: [vowel]\nlearners: [ecc]\n",
    )
    for text in texts:
        old, new = (load_config(write_config(text % word)) for word in ("given", "predefined"))
        assert old == new
        (cell,) = plan(old)
        assert cell.key == plan(new)[0].key
        # Stored results have the old word in their identity.
        assert cell.identity["split"] == {"train": 528, "test": None, "seed": 1, "given": True}


def test_manifests_with_the_old_word_can_be_read():
    stored = {"name": "vowel", "dataset": "vowel", "train": "given"}
    assert EmbeddedData.model_validate(stored).train == PREDEFINED


def test_options_offer_what_configs_take():
    kinds = (
        (SCALINGS, Preprocess, "scale"),
        (MISSING_POLICIES, CsvData, "missing"),
        (NOISE_SCORES, Prune, "by"),
    )
    for choices, model, key in kinds:
        assert set(choices) == set(get_args(model.model_fields[key].annotation))
