"""Configs: what is accepted, what the defaults are, and that every mistake is named with its place."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from cases import parse_cases

from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import NameLoader
from zoloss_cli.config.models import PREDEFINED, EmbeddedData
from zoloss_cli.config.schema import build_config_schema
from zoloss_cli.errors import ConfigError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.utils.files import find_shipped_config, list_shipped_configs, shipped_folder

SHIPPED = sorted(shipped_folder("configs").rglob("*.yaml"))


def mistakes_of(path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return str(caught.value)


def test_defaults(write_config):
    experiment = load_config(write_config("datasets: [heart]\nlearners: [rcd-bias]\n", "mine.yaml"))
    assert (experiment.name, experiment.metric, experiment.preprocess.scale) == ("mine", "test_error", "minmax")
    assert (experiment.split.train, experiment.split.repeats) == (0.8, 500)
    parameters = experiment.learners[0].parameters
    assert (parameters["epochs"], parameters["seeding"]) == (2000, "zero")


def test_the_preprocessing_seed_reaches_learners_that_can_be_seeded(write_config):
    text = "preprocess: {seeding: fld}\nlearners: {pocket: , rcd-bias: {seeding: zero}, svm: }\n"
    learners = load_config(write_config(f"datasets: [heart]\n{text}")).learners
    assert [spec.parameters.get("seeding") for spec in learners] == ["fld", "zero", None]


MISTAKES = r"""
datasets: [hart]\nlearners: [fld] | 1 | datasets.hart | did you mean 'heart'?
datasets: [heart]\nlearners:\n  rcd-bais: | 3 | learners.rcd-bais | did you mean 'rcd-bias'?
@[fld]\nsplt: {} | 3 | unknown key 'splt' | 'split'
@[fld]\nsplit:\n  repeats: 0 | 4 | split.repeats | greater than or equal to 1
@[fld]\nsplit: {train: 0.0} | 3 | split.train | share between 0 and 1
@[fld]\nsplit: {train: 1} | 3 | split.train | count of at least 2
datasets: [heart]\nlearners:\n  adaboost:\n    base:\n      learner: rcd-bais | 5
  | learners.adaboost.base | 'rcd-bais' | did you mean 'rcd-bias'?
datasets: [heart]\nlearners:\n  adaboost:\n    base:\n      learner: pocket\n      epoch: 5 | 6
  | learners.adaboost.base.epoch | unknown key 'epoch' | 'epochs'
datasets: [heart]\nlearners:\n  adaboost:\n    base: romma | 4 | learners.adaboost.base
  | 'romma' takes no sample weights
@{adaboost: {base: {epochs: 7}}} | 2 | learner's name
@{pocket: {best_of: {epochs: 3}}} | 2 | list of values
@{pocket: {best_of: {bas.C: [3]}}} | 2 | 'bas.C' is not a parameter
@[fld]\nalso: test_eror | 3 | also | did you mean 'test_error'?
@{rcd-bias: {update: '2.5'}} | 2 | learners.rcd-bias.update | '2.5' is not valid; did you mean
@{soft-svm: {C: [1, -1]}} | 2 | learners.soft-svm.C | greater than 0
@[fld]\nmetric: test_eror | 3 | 'test_error'
@[fld]\npublished: {paper: x} | 3 | either a table or a figure
datasets: {ringnorm: {size: 1}}\nlearners: [fld] | 1 | datasets.ringnorm.size
datasets: {x: {generator: ringnrm}}\nlearners: [fld] | 1 | datasets.x.generator | 'ringnorm'
datasets: {heart: {noise: {fraction: 0}}}\nlearners: [fld] | 1 | datasets.heart.noise | greater than 0
datasets: {mine: {csv: a.csv, lable: y}}\nlearners: [fld] | 1 | unknown key 'lable' | 'label'
datasets: []\nlearners: [fld] | 1 | 'datasets' must name at least one entry
datasets: {heart: , heart: }\nlearners: [fld] | 1 | given more than once
@[fld]\nsplit: {train: all} | 3 | split.train | there is no test_error | train_01_loss
datasets:\n  heart:\n  sonar: {train: all}\nlearners: [fld]\nmetric: test_error | 3
  | datasets.sonar.train | there is no test_error
@[fld]\nmetric: train_error\nsplit: {train: all, test: 9} | 4
  | split: with 'train: all' no sample is left to test
@[fld]\nsplit: {folds: 1} | 3 | split.folds | greater than or equal to 2
@[fld]\nsplit: {folds: 5, train: 0.8} | 3 | split: 'folds' determines both parts: leave 'train' out
datasets: {heart: {folds: 5, test: 9}}\nlearners: [fld] | 1 | datasets.heart: | leave 'test' out
datasets: {ringnorm: {seed: [1, 2], folds: 5}}\nlearners: [fld] | 1 | datasets.ringnorm.folds | 2 draws
@[fld]\nsplit: {folds: 5}\npublished: {paper: x, figure: '1', alternative: true} | 4 | only to tables
@[fld]\nsplit: {train: al} | 3 | split.train | or 'all' | got 'al'
datasets: {ringnorm: {seed: [1, -2]}}\nlearners: [fld] | 1 | datasets.ringnorm.seed | at least 0
@[fld]\ntuning: {folds: 1} | 3 | tuning.folds | greater than
datasets: [heart]\nlearners:\n  svm:\n    tune: {C: [[1.0]]} | 4 | learners.svm.tune
  | requires the section tuning
tuning: {}\ndatasets: [heart]\nlearners:\n  svm:\n    tune: {C: []} | 5 | learners.svm.tune | list of values
tuning: {}\n@{svm: {while_tuning: {C: 1.0}}} | 3 | learners.svm.while_tuning | requires `tune`
tuning: {}\n@{svm: {tune: {C: [[1.0]]}, while_tuning: {base.C: 3}}} | 3 | learners.svm.while_tuning
  | 'base.C' is not a parameter
@[svm, sla]\nimprovement: {of: [slo], over: [svm]} | 3 | improvement.of.slo | unknown column 'slo' | 'sla'
@[svm]\nimprovement: {of: [svm]} | 3 | the key 'over' is missing
"""


def test_each_mistake_is_named_with_its_place(write_config):
    for text, line, *parts in parse_cases(MISTAKES):
        path = write_config(text + "\n")
        message = mistakes_of(path)
        assert f"{path}:{line}: " in message, text
        assert [part for part in parts if part not in message] == [], message
    message = mistakes_of(write_config("datasets: [hart, wien]\nlearners: [fdl]\nsplit: {repeats: 0}\n"))
    assert len(message.splitlines()) == 4  # all mistakes at once


NO_CONFIGS = {
    b"": "is empty",
    b"\x00\xff\xfe\x93binary": "not a text file",
    b"- a\n- b\n": "must be a mapping of keys",
    b"datasets: [heart\nlearners: [x]\n": ":2: not valid YAML",
    b"datasets: !!python/object/apply:os.system ['true']\n": "not valid YAML",
}


def test_files_that_are_no_config(tmp_path):
    path = tmp_path / "odd.yaml"
    for content, part in NO_CONFIGS.items():
        path.write_bytes(content)
        message = mistakes_of(path)
        assert str(path) in message
        assert part in message


def test_shipped_configs_are_found_without_a_checkout(tmp_path, monkeypatch, write_config):
    monkeypatch.chdir(tmp_path)
    for name, table in (
        ("configs/table2.yaml", "II"),
        ("thesis/table2.3.yaml", "2.3"),
        ("table2", "II"),
        ("configs/thesis/table2.3", "2.3"),
    ):
        assert load_config(Path(name)).published.table == table
    (tmp_path / "table2").mkdir()  # a folder is not a config
    assert load_config(Path("table2")).published.table == "II"
    write_config("title: Mine\ndatasets: [heart]\nlearners: [fld]\n", "table3")
    assert load_config(Path("table3")).title == "Mine"
    for wrong in ("tabel2", "configs/tabel2.yaml"):
        assert mistakes_of(Path(wrong)) == f"there is no config {wrong}; did you mean 'table2'?"
    write_config("x: 1", "own.yaml")
    assert "there is no config" in (said := mistakes_of(tmp_path / "onw.yaml"))
    assert "did you mean 'own.yaml'?" in said
    assert find_shipped_config(Path("configs/../datasets/catalog.yaml")) is None
    assert find_shipped_config(shipped_folder("configs") / "table2") is None  # an absolute path is a file's
    assert find_shipped_config(Path()) is None
    assert sorted(find_shipped_config(Path(name)) for name in list_shipped_configs()) == SHIPPED


def is_part(part, whole):
    """Return whether a schema says nothing that another one does not say, too."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return all(any(is_part(value, other) for other in whole) for value in part)
    return part == whole


def test_shipped_configs_are_valid_and_fit_the_shipped_schema():
    """It may lack a new name, which `make release-check` demands."""
    schema = shipped_folder("configs") / "schema.json"
    built = build_config_schema()
    assert is_part(json.loads(schema.read_text(encoding="utf-8")), built), "run `make schema`"
    validator = jsonschema.Draft202012Validator(built)
    for path in SHIPPED:
        assert load_config(path).title, path
        text = path.read_text(encoding="utf-8")
        assert list(validator.iter_errors(yaml.load(text, Loader=NameLoader))) == [], path
        target = text.partition("\n")[0].partition("$schema=")[2]
        assert (path.parent / target).resolve() == schema.resolve(), path


def test_the_schema_refuses_what_the_checks_refuse():
    validator = jsonschema.Draft202012Validator(build_config_schema())
    good = {"datasets": ["heart"], "learners": ["fld"]}
    assert validator.is_valid(good)
    wrong_learner = {"learners": {"pocket": {"epochs": 0}}}
    for wrong in ({"datasets": ["hart"]}, wrong_learner, {"split": {"repeats": 0}}, {"odd": 1}):
        assert not validator.is_valid(good | wrong)


def test_every_published_table_has_the_cells_of_its_config():
    from zoloss_cli.report.compare import DATA
    from zoloss_cli.report.papers import read_published_tables
    from zoloss_cli.report.tables import IMPROVEMENT

    for path in SHIPPED:
        experiment = load_config(path)
        if experiment.published and experiment.published.table:
            published = read_published_tables()[experiment.published.paper, experiment.published.table]
            labels = experiment.ratios or [x.label for x in experiment.learners]
            ours = {(d.name, label) for d in experiment.datasets for label in labels}
            # Besides its columns a table may say how large data sets are, and what is between columns.
            cells = [cell for cell in published if cell[1] not in (DATA, IMPROVEMENT)]
            theirs = {(dataset, learner) for dataset, learner, _ in cells}
            if experiment.published.alternative:  # which may have fewer data sets
                theirs = {place for place in theirs if place[0] in [d.name for d in experiment.datasets]}
            columns = {learner for _, learner in theirs}
            assert theirs <= ours
            own = {"pivot", "csa:points", "pcs:points"}  # columns of our own
            assert {learner for _, learner in ours} - columns <= own
            assert {metric for *_, metric in cells} <= {experiment.metric, experiment.also}
            improved = {dataset for dataset, learner, _ in published if learner == IMPROVEMENT}
            assert improved == ({d.name for d in experiment.datasets} if experiment.improvement else set())


def test_best_of_makes_one_learner_for_each_combination(write_config):
    best_of = "best_of: {base.epochs: [10, 20], rounds: [3, 4, 5]}"
    text = f"datasets: [heart]\nlearners: {{x: {{learner: adaboost, base: rcd-bias, {best_of}}}}}\n"
    specs = load_config(write_config(text)).learners
    assert [s.label for s in specs] == ["x"] * 6
    assert specs[1].choice == "base.epochs=10, rounds=4"
    assert (specs[1].parameters["rounds"], specs[1].parameters["base"]["epochs"]) == (4, 10)
    assert len({s.settings for s in specs}) == 6


def test_keys_are_names_whatever_yaml_makes_of_them(write_config):
    text = "tuning: {on: all}\ndatasets: {no: {dataset: heart}}\nlearners: {svm: {tune: {C: [[1.0]]}}}\n"
    experiment = load_config(write_config(text))
    assert experiment.tuning.on == "all"
    assert experiment.datasets[0].name == "no"


def test_nguyens_tables_share_cells_draws_and_splits():
    one, three, own, clean = (
        load_config(shipped_folder("configs") / "nguyen" / f"table{name}.yaml")
        for name in ("1", "3", "4", "4-clean")
    )
    assert {cell.key for cell in plan(one)} == {cell.key for cell in plan(three)}
    assert own.datasets == clean.datasets
    assert own.split.model_copy(update={"repeats": 100}) == clean.split
    assert own.learners == clean.learners
    assert [len(x.tune) for x in own.learners] == [0, 18, 18, 26, 0]


def test_the_old_word_for_a_predefined_part_means_the_same(write_config):
    stored = {"name": "vowel", "dataset": "vowel", "train": "given"}
    assert EmbeddedData.model_validate(stored).train == PREDEFINED
    for text in ("datasets: {vowel: {train: %s}}", "split: {train: %s}\ndatasets: [vowel]"):
        config = text + "\nlearners: [ecc]\n"
        old, new = (load_config(write_config(config % word)) for word in ("given", "predefined"))
        assert old == new
        (cell,) = plan(old)
        assert cell.key == plan(new)[0].key
        # Stored results have the old word in their identity.
        assert cell.identity["split"] == {"train": 528, "test": None, "seed": 1, "given": True}
