"""Fetching from the UCI archive, against a server on this machine that behaves well or badly on purpose.

The "original" files are rebuilt from the embedded ones in the form that the archive publishes. Most of them
come out byte for byte: their sha256 is the pinned one, so for them the real hash check is exercised too.
"""

import hashlib
from urllib.parse import quote

import pytest
from uci_archive import Reply, originals, zipped

from zoloss_cli.config.catalog import find_embedded_entry, load_catalog
from zoloss_cli.data import uci

CATALOG = load_catalog()
FETCHABLE = [n for n, e in CATALOG.items() if e.uci and not (e.uci.withdrawn or e.otherwise)]
REBUILT_ONLY_IN_VALUE = {"breast", "breast_id", "cleveland", "indian", "ionosphere", "vowel", "wine"}


@pytest.mark.parametrize("name", FETCHABLE)
def test_every_set_comes_out_of_its_zip_as_embedded(name, archive, folder, without_pins):
    files = originals(name)
    if name in REBUILT_ONLY_IN_VALUE:
        without_pins(name)
    url = archive.serve_zip(name, zipped({"Index": "listing", **{f"data/{f}": t for f, t in files.items()}}))

    report = uci.fetch(name, folder, archive.url + "/")

    assert (report.name, report.path, report.urls) == (name, folder / f"{name}.csv", [url])
    entry = find_embedded_entry(name)
    assert (report.rows, report.features) == (entry.rows, entry.features)
    assert report.sha256 == {f: hashlib.sha256(t.encode()).hexdigest() for f, t in files.items()}
    assert report.pinned == (set(files) == set(find_embedded_entry(name).uci.sha256))
    assert list(folder.iterdir()) == [report.path]
    if name == "dna":
        (only_the_order,) = report.differences
        assert "compared as multisets" in only_the_order
        assert "first 2000 rows are not the training set" in only_the_order
    else:
        assert report.differences == []
        assert report.path.read_bytes() == find_embedded_entry(name).path.read_bytes()


def test_a_set_that_is_not_embedded_has_0_for_a_missing_value(archive, folder, without_pins):
    without_pins("indian583")
    archive.serve_zip("indian583", zipped(originals("indian")))
    report = uci.fetch("indian583", folder, archive.url)
    assert report.differences == [
        "580 rows, the embedded copy has 579",
        "rows only in the fetched file: 1, the first is row 210",
    ]
    lines = report.path.read_text().splitlines()
    assert lines.pop(210) == "45,1,0.9,0.3,189,23,33,6.6,3.9,0,1"
    assert lines == find_embedded_entry("indian").path.read_text().splitlines()


@pytest.mark.parametrize("name", ["indian", "satimage"])
def test_single_files_are_read_where_the_zip_is_missing(name, archive, folder, without_pins):
    without_pins(name)
    urls = {}
    for published in find_embedded_entry(name).uci.files:
        for filename, content in originals(name).items():
            if published.endswith("/" + quote(filename, safe="()")):
                path = published.removeprefix(uci.ARCHIVE)
                archive.replies[path] = Reply(content.encode())
                urls[filename] = archive.url + path

    report = uci.fetch(name, folder, archive.url)

    assert report.differences == []
    assert report.urls == list(urls.values())
    assert list(report.sha256) == list(originals(name))
    assert archive.asked[0] == find_embedded_entry(name).uci.zip


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ZOLOSS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert uci.find_fetched_path("iris") == tmp_path / "home/.cache/zoloss/uci/iris.csv"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert uci.find_fetched_path("iris") == tmp_path / "xdg/zoloss/uci/iris.csv"
    monkeypatch.setenv("ZOLOSS_CACHE", str(tmp_path / "own"))
    assert uci.find_fetched_path("iris") == tmp_path / "own/uci/iris.csv"
    assert uci.find_fetched_path("iris", tmp_path) == tmp_path / "iris.csv"


def test_what_differs_from_the_embedded_copy_is_named(archive, folder, without_pins):
    without_pins("iris")
    whole = originals("iris")["iris.data"].splitlines()
    value = [*whole[:16], whole[16].replace("5.4,3.9,", "5.4,9.9,"), *whole[17:]]
    label = [whole[0].replace("setosa", "virginica"), *whole[1:]]
    labels = [line.replace("Iris-", "") for line in whole]

    def fetch(lines: list[str]) -> list[str]:
        archive.serve_zip("iris", zipped({"iris.data": "\n".join(lines)}))
        return uci.fetch("iris", folder, archive.url).differences

    assert fetch(value) == ["row 17, column sepal_width: 9.9, the embedded copy has 3.9"]
    assert "\n5.4,9.9,1.3,0.4,Iris-setosa\n" in (folder / "iris.csv").read_text()
    assert fetch(label) == ["row 1, column label: Iris-virginica, the embedded copy has Iris-setosa"]
    assert len(many := fetch(labels)) == 21
    assert many[-1] == "and 130 more values"
    assert fetch([*whole[:9], "9,9,9,9,Iris-new", *whole[9:]]) == [
        "151 rows, the embedded copy has 150",
        "rows only in the fetched file: 1, the first is row 10",
    ]
    assert fetch(whole[1:]) == [
        "149 rows, the embedded copy has 150",
        "rows only in the embedded copy: 1, the first is row 1",
    ]


def test_where_the_order_is_lost_a_changed_row_still_shows(archive, folder):
    splice = originals("dna")["splice.data"].splitlines()
    splice[1] = splice[1][:-1] + ("A" if splice[1][-1] != "A" else "C")
    archive.serve_zip("dna", zipped({"splice.data": "\n".join(splice)}))
    order, here, there = uci.fetch("dna", folder, archive.url).differences
    assert "compared as multisets" in order
    assert here == "rows only in the fetched file: 1, the first is row 1"
    assert there == "rows only in the embedded copy: 1, the first is row 3186"
