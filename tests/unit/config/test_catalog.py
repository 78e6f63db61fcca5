"""The catalog of data sets: what its entries must have, how an error is named, and how a data set is added."""

import hashlib
import shutil
import warnings

import pytest
from stored_runs import store_run

from zoloss_cli.api.experiments import load_experiment
from zoloss_cli.config import catalog
from zoloss_cli.config.catalog import (
    find_embedded_entry,
    find_fetched_path,
    list_catalog_errors,
    list_dataset_names,
    list_usable_datasets,
    load_catalog,
)
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import ErrorCollector, check_duplicate_keys, read_yaml
from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data, load_dataset
from zoloss_cli.data.uci import fetch
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.experiment.plan import plan
from zoloss_cli.experiment.run_bundle import build_bundle
from zoloss_cli.experiment.task import run_tasks
from zoloss_cli.utils.files import list_embedded_datasets, shipped_folder

CSV = "a,b,label\n0,1,no\n1,0,no\n1,1,yes\n0,0,yes\n2,2,yes\n"
ENTRY = f"""
tiny:
  title: "A table of five rows"
  rows: 5
  features: 2
  classes: {{no: 2, yes: 3}}
  positive: "yes"
  sha256: {hashlib.sha256(CSV.encode()).hexdigest()}
  licence: CC0
  attribution: nobody
  source: {{registry: none, package: none, version: "1", path: tiny.csv}}
"""


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A copy of the shipped folder of data sets, which can be changed."""
    folder = tmp_path / "datasets"
    shutil.copytree(shipped_folder("datasets"), folder)
    monkeypatch.setattr(catalog, "shipped_folder", lambda name: folder)
    load_data.cache_clear()
    yield folder
    load_data.cache_clear()


def add_entry(folder, text: str = ENTRY) -> None:
    (folder / "tiny.csv").write_text(CSV, encoding="utf-8")
    with (folder / "catalog.yaml").open("a", encoding="utf-8") as file:
        file.write(text)


def test_the_shipped_catalog_is_valid_and_describes_every_file():
    assert list_catalog_errors() == {}
    embedded = {name for name, entry in load_catalog().items() if entry.otherwise is None}
    assert sorted(embedded) == list_embedded_datasets()
    assert {entry.otherwise for entry in load_catalog().values()} <= {None, *embedded}
    path = shipped_folder("datasets") / "catalog.yaml"
    _, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    assert errors.lines == []


def test_a_file_and_an_entry_make_a_data_set(shipped, write_config):
    add_entry(shipped)
    assert "tiny" in list_dataset_names()
    entry = find_embedded_entry("tiny")
    assert (entry.removed, entry.row_order, entry.uci, entry.train_rows) == (0, "as in the file", None, None)
    X, y = load_dataset("tiny")
    assert X.tolist() == [[0, 1], [1, 0], [1, 1], [0, 0], [2, 2]]
    assert y.tolist() == [0, 0, 1, 1, 1]
    (data,) = load_config(write_config("datasets: [tiny]\nlearners: [fld]\n")).datasets
    assert data == EmbeddedData(name="tiny", dataset="tiny")
    with pytest.raises(DataError, match="'tiny' has no original in the UCI archive; use the embedded copy"):
        fetch("tiny")


def test_a_set_that_is_only_fetched_is_replaced_where_it_is_not(
    shipped, zoloss, write_config, tmp_path, monkeypatch
):
    monkeypatch.setenv("ZOLOSS_CACHE", str(tmp_path / "cache"))
    add_entry(shipped, ENTRY.replace("  licence", "  otherwise: heart\n  licence"))
    path, out = find_fetched_path("tiny"), tmp_path / "results"
    path.parent.mkdir(parents=True)
    config = write_config(
        "metric: train_01_loss\ndatasets: {mine: {dataset: tiny}}\nsplit: {train: all, repeats: 1}\n"
        "learners: [fld, stump]\n"
    )
    dry_run = ("run", config, "--out", out, "--dry-run")
    note = r"^mine: 'heart' \(270 rows\) takes the place of 'tiny' \(5 rows\), .*: zoloss datasets fetch tiny$"
    with pytest.warns(UserWarning, match=note):
        assert zoloss.ok(*dry_run).out.count(" 270 ") == 2
    (shipped / "tiny.csv").rename(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert zoloss.ok(*dry_run).out.count(" 5 ") == 2
        experiment = load_experiment(config)
    assert experiment == load_config(config)
    assert [file.dataset for file in build_bundle(plan(experiment), None).files] == ["tiny"]
    store_run(out, experiment, lambda cell: run_tasks(cell, [0]), config=str(config), sizes=(5, 0))
    readers = [[*words, out] for words in (["table"], ["stats"], ["status"], ["export"], ["plot"])]
    shown = [zoloss.ok(*words).out for words in readers]
    zoloss.ok("show", "mine", "fld", 0, "--results", out)
    # Stored results are of the data, whether or not these are still there.
    path.unlink()
    load_data.cache_clear()
    assert [zoloss.ok(*words).out for words in readers] == shown
    zoloss.ok("report", out, "--out", tmp_path / "page.html")
    refused = zoloss("show", "mine", "fld", 0, "--results", out)
    assert (refused.code, "run: zoloss datasets fetch tiny" in refused.err) == (3, True)
    path.write_text(CSV.replace("2,2", "2,3"), encoding="utf-8")
    refused = zoloss(*dry_run)
    assert (refused.code, "its sha256 does not match catalog.yaml" in refused.err) == (3, True)


WRONG_ENTRIES = [  # what is replaced, by what, how many lines below the first the error is, and its message
    ("  rows: 5\n", "", 0, "tiny: the key 'rows' is missing"),
    ("rows: 5", "rows: five", 2, "tiny.rows: input should be a valid integer (got 'five')"),
    ("  licence:", "  license:", 7, "tiny.license: unknown key 'license'; did you mean 'licence'?"),
    ('"yes"\n', '"yess"\n', 0, "positive: 'yess' is not one of the classes; did you mean 'yes'?"),
    ("rows: 5", "rows: 6", 0, "tiny: classes: 5 rows in all, but rows: 6"),
    ("  rows: 5", "  train_rows: 5\n  rows: 5", 0, "train_rows: 5 leaves none of the 5 rows to test"),
    ("sha256: ", "sha256: x", 6, "tiny.sha256: string should match pattern"),
    ("path: tiny", "paht: tiny", 9, "tiny.source.paht: unknown key 'paht'; did you mean 'path'?"),
    (ENTRY[6:], " [1]\n", 0, "tiny: must be a mapping of keys (got [1])"),
    ("  licence", "  uci: {files: [x], label: lst}\n  licence", 7, "tiny.uci.label: 'lst' is not valid; did"),
    ("  licence", "  uci: {files: [x]}\n  licence", 7, "tiny.uci: needs the keys 'zip' and 'members'"),
]


def test_an_error_names_file_entry_and_field(shipped):
    path = shipped / "catalog.yaml"
    before = path.read_text(encoding="utf-8")
    for old, new, lines_below, message in WRONG_ENTRIES:
        path.write_text(before, encoding="utf-8")
        add_entry(shipped, ENTRY.replace(old, new))
        catalog._read_catalog.cache_clear()
        begins = len(before.splitlines()) + 2 + lines_below
        said = list_catalog_errors()["tiny"].splitlines()
        assert any(line.startswith(f"{path}:{begins}: ") and message in line for line in said), said


def test_a_broken_entry_is_in_nobody_s_way(shipped, write_config):
    add_entry(shipped, ENTRY.replace("rows: 5", "rows: five"))
    assert list(list_catalog_errors()) == ["tiny"]
    assert load_dataset("heart")[0].shape == (270, 13)
    assert "tiny" not in list_usable_datasets()
    with pytest.raises(DataError, match=r"catalog\.yaml:\d+: tiny\.rows: input should be a valid integer"):
        find_embedded_entry("tiny")
    path = write_config("datasets:\n  heart:\n  tiny:\nlearners: [fld]\n")
    with pytest.raises(ConfigError, match=r"3: datasets\.tiny: .*catalog\.yaml:\d+: tiny\.rows: ") as caught:
        load_config(path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_catalog_that_cannot_be_read_is_one_sentence(shipped):
    def refuse(message):
        for call in (load_catalog, list_dataset_names, lambda: find_embedded_entry("heart")):
            with pytest.raises(DataError, match=message):
                call()

    path = shipped / "catalog.yaml"
    path.write_text("- a\n", encoding="utf-8")
    refuse(r"catalog\.yaml:1: must be a mapping of keys, not list")
    path.unlink()
    refuse(r"catalog\.yaml cannot be read: No such file")


def test_commands_say_what_is_broken_and_go_on(shipped, zoloss):
    add_entry(shipped, ENTRY.replace("  licence:", "  license:"))
    words = "tiny.license: unknown key 'license'; did you mean 'licence'?"
    listed = " ".join(zoloss("datasets").out.split())
    assert all(part in listed for part in ("tiny broken", words, "Statlog (Heart)"))
    for arguments in (("show", "tiny"), ("verify",), ("fetch", "tiny")):
        ended = zoloss("datasets", *arguments)
        assert (ended.code, words in ended.err, "Traceback" in ended.err) == (3, True, False)
    assert zoloss("datasets", "show", "heart").code == 0
