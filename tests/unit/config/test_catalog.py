"""The catalog of data sets: what its entries must have, how an error is named, and how a data set is added."""

from __future__ import annotations

import hashlib
import shutil

import pytest
import yaml

from zoloss_cli.config import catalog
from zoloss_cli.config.catalog import (
    find_embedded_entry,
    has_generator,
    list_catalog_errors,
    list_dataset_names,
    list_usable_datasets,
    load_catalog,
)
from zoloss_cli.config.loader import load_config
from zoloss_cli.config.messages import ErrorCollector, check_duplicate_keys, read_yaml
from zoloss_cli.config.models import EmbeddedData
from zoloss_cli.data.dataset import load_data, load_dataset
from zoloss_cli.errors import ConfigError, DataError
from zoloss_cli.registry import GENERATORS
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
    assert sorted(load_catalog()) == list_embedded_datasets()
    path = shipped_folder("datasets") / "catalog.yaml"
    _, root = read_yaml(path)
    errors = ErrorCollector(path, root)
    check_duplicate_keys(root, errors)
    assert errors.lines == []


def test_both_loaders_read_the_shipped_catalog_alike():
    text = (shipped_folder("datasets") / "catalog.yaml").read_text(encoding="utf-8")
    assert yaml.load(text, Loader=yaml.CSafeLoader) == yaml.safe_load(text)


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


def test_a_data_set_that_is_not_from_uci_cannot_be_fetched(shipped):
    from zoloss_cli.data.uci import fetch

    add_entry(shipped)
    with pytest.raises(DataError, match="'tiny' has no original in the UCI archive; use the embedded copy"):
        fetch("tiny")


@pytest.mark.parametrize(
    ("old", "new", "lines_below", "message"),
    [
        ("  rows: 5\n", "", 0, "tiny: the key 'rows' is missing"),
        ("rows: 5", "rows: five", 2, "tiny.rows: input should be a valid integer (got 'five')"),
        ("rows: 5", "rows: 0", 2, "tiny.rows: input should be greater than or equal to 1 (got 0)"),
        ("  licence:", "  license:", 7, "tiny.license: unknown key 'license'; did you mean 'licence'?"),
        ('positive: "yes"', "positive: yes", 5, "tiny.positive: input should be a valid string (got True)"),
        (
            'positive: "yes"',
            'positive: "yess"',
            0,
            "positive: 'yess' is not one of the classes; did you mean 'yes'?",
        ),
        ("rows: 5", "rows: 6", 0, "tiny: classes: 5 rows in all, but rows: 6"),
        (
            "  features: 2\n",
            "  features: 2\n  train_rows: 5\n",
            0,
            "train_rows: 5 leaves none of the 5 rows to test",
        ),
        ("sha256: ", "sha256: x", 6, "tiny.sha256: string should match pattern"),
        ("path: tiny", "paht: tiny", 9, "tiny.source.paht: unknown key 'paht'; did you mean 'path'?"),
        (ENTRY[6:], " [1]\n", 0, "tiny: must be a mapping of keys (got [1])"),
        (
            "  licence: CC0",
            "  uci: {files: [x], zip: /z, members: [x], label: lst}\n  licence: CC0",
            7,
            "tiny.uci.label: 'lst' is not valid; did you mean 'last'?",
        ),
        (
            "  licence: CC0",
            "  uci: {files: [x]}\n  licence: CC0",
            7,
            "tiny.uci: needs the keys 'zip' and 'members', or 'withdrawn' with a reason",
        ),
    ],
)
def test_an_error_names_file_entry_and_field(shipped, old, new, lines_below, message):
    text = ENTRY.replace(old, new)
    assert text != ENTRY
    add_entry(shipped, text)
    path = shipped / "catalog.yaml"
    begins = path.read_text(encoding="utf-8").splitlines().index(next(x for x in text.splitlines() if x)) + 1
    said = list_catalog_errors()["tiny"].splitlines()
    assert any(line.startswith(f"{path}:{begins + lines_below}: ") and message in line for line in said), said


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [1\n", r"catalog\.yaml:2: not valid YAML"),
        ("- a\n", r"catalog\.yaml:1: must be a mapping of keys, not list"),
        ("", r"catalog\.yaml is empty"),
        (None, r"catalog\.yaml cannot be read: No such file"),
    ],
)
def test_a_catalog_that_cannot_be_read_is_one_sentence(shipped, content, message):
    path = shipped / "catalog.yaml"
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    for call in (load_catalog, list_dataset_names, lambda: find_embedded_entry("heart")):
        with pytest.raises(DataError, match=message):
            call()


def test_commands_say_what_is_broken_and_go_on(shipped, zoloss):
    add_entry(shipped, ENTRY.replace("  licence:", "  license:"))
    listed = " ".join(zoloss("datasets").out.split())
    assert "tiny broken" in listed
    assert "tiny.license: unknown key 'license'; did you mean 'licence'?" in listed
    assert "Statlog (Heart)" in listed
    for arguments in (("show", "tiny"), ("verify",), ("fetch", "tiny")):
        ended = zoloss("datasets", *arguments)
        assert ended.code == 3
        assert "tiny.license: unknown key 'license'; did you mean 'licence'?" in ended.err
        assert "Traceback" not in ended.err
    assert zoloss("datasets", "show", "heart").code == 0


def test_generators_are_registered_once_and_typed():
    for name, entry in GENERATORS.items():
        assert has_generator(name)
        assert entry.loaded.__name__ == name
        assert entry.parameter_model.model_fields["size"].default >= 2
