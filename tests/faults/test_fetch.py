"""Fetching from the UCI archive, against a server on this machine that behaves well or badly on purpose.

The "original" files are rebuilt from the embedded ones in the form that the archive publishes. Most of them
come out byte for byte: their sha256 is the pinned one, so for them the real hash check is exercised too.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request

import pytest

from zoloss_cli.datasets import uci
from zoloss_cli.datasets.catalog import catalog, entry
from zoloss_cli.errors import DataError

FETCHABLE = [name for name in catalog() if name != "pima"]
REBUILT_ONLY_IN_VALUE = {"breast", "breast_id", "cleveland", "indian", "ionosphere", "vowel", "wine"}

Row = list[str]


# --- the archive's files, rebuilt ---------------------------------------------------------------------------


def embedded_rows(name: str) -> list[Row]:
    with entry(name).path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def text(rows: list[Row], separator: str = ",", line_end: str = "\n") -> str:
    return "".join(separator.join(row) + line_end for row in rows)


def with_decimals(digits: int, values: Row) -> Row:
    return [f"{float(value):.{digits}f}" for value in values]


def label_first(rows: list[Row]) -> list[Row]:
    return [[row[-1], *row[:-1]] for row in rows]


def splice_record(number: int, row: Row) -> Row:
    """One StatLog DNA row as the archive writes it: class, a name, 60 letters, with padding."""
    letter = {"100": "A", "010": "C", "001": "G", "000": "T"}
    sequence = "".join(letter["".join(row[i : i + 3])] for i in range(0, 180, 3))
    return [{"1": "EI", "2": "IE", "3": "N"}[row[-1]], f"     ATRINS-DONOR-{number}", f"    {sequence}"]


def originals(name: str) -> dict[str, str]:
    """File name to text, written by hand for each set and not from the recipe that is being tested."""
    rows = embedded_rows(name)
    match name:
        case "australian":
            return {"australian.dat": text(rows, " ")}
        case "breast" | "breast_id":
            rows = embedded_rows("breast_id")
            incomplete = ["1057013", "8", "4", "5", "1", "2", "?", "7", "3", "1", "4"]
            return {"breast-cancer-wisconsin.data": text([*rows[:23], incomplete, *rows[23:]])}
        case "cleveland":
            ill = ["1", "2", "3", "4"]
            rows = [
                with_decimals(1, row[:-1]) + [ill[i % 4] if row[-1] == "1" else "0"]
                for i, row in enumerate(rows)
            ]
            incomplete = [*rows[0][:11], "?", "3.0", "1"]
            return {"processed.cleveland.data": text([*rows[:87], incomplete, *rows[87:]])}
        case "cmc":
            return {"cmc.data": text(rows)}
        case "dna":
            records = [splice_record(number, row) for number, row in enumerate(reversed(rows))]
            ambiguous = ["N", "     HUMALPI1-NEG-1", "    " + "ACGTN" * 12]
            return {"splice.data": text([ambiguous, *records])}
        case "german":
            return {"german.data-numeric": text([[value.rjust(4) for value in row] for row in rows], "", " \n")}
        case "german20":
            return {"german.data": text(rows, " ")}
        case "glass":
            numbered = [
                [str(number), *with_decimals(5, row[:1]), *with_decimals(2, row[1:-1]), row[-1]]
                for number, row in enumerate(rows, start=1)
            ]
            return {"glass.data": text(numbered)}
        case "heart":
            return {"heart.dat": text([with_decimals(1, row[:-1]) + row[-1:] for row in rows], " ")}
        case "indian":
            rows = [[row[0], {"1": "Female", "2": "Male"}[row[1]], *row[2:]] for row in rows]
            incomplete = ["45", "Female", "0.9", "0.3", "189", "23", "33", "6.6", "3.9", "", "1"]
            return {"Indian Liver Patient Dataset (ILPD).csv": text([*rows[:209], incomplete, *rows[209:]])}
        case "ionosphere":
            rows = [
                [v if v in ("0", "1", "-1") else f"{float(v):.5f}" for v in row[:-1]] + row[-1:] for row in rows
            ]
            return {"ionosphere.data": text(rows)}
        case "iris":
            return {"iris.data": text([with_decimals(1, row[:-1]) + row[-1:] for row in rows]) + "\n"}
        case "letter":
            return {"letter-recognition.data": text(label_first(rows))}
        case "liver":
            return {"bupa.data": text([row[:5] + with_decimals(1, row[5:6]) + row[6:] for row in rows])}
        case "pendigits":
            rows = [[value.rjust(3) for value in row[:-1]] + [row[-1].rjust(2)] for row in rows]
            return {"pendigits.tra": text(rows[:7494]), "pendigits.tes": text(rows[7494:])}
        case "satimage":
            return {"sat.trn": text(rows[:4435], " "), "sat.tst": text(rows[4435:], " ")}
        case "segment":
            rows = [[*with_decimals(1, row[:2]), "9", *row[2:]] for row in rows]
            return {"segment.dat": text(rows, " ")}
        case "sonar":
            return {"sonar.all-data": text([with_decimals(4, row[:-1]) + row[-1:] for row in rows])}
        case "vehicle":
            return {
                f"xa{c}.dat": text(rows[94 * i : 94 * (i + 1)], " ", " \n") for i, c in enumerate("abcdefghi")
            }
        case "votes84" | "votes84_complete":
            vote = {"1": "y", "-1": "n", "0": "?"}
            rows = [[row[-1], *(vote[value] for value in row[:-1])] for row in embedded_rows("votes84")]
            return {"house-votes-84.data": text(rows)}
        case "vowel":
            rows = [
                [str(int(i >= 528)), str(i // 66), "0", *with_decimals(3, row[:-1]), row[-1]]
                for i, row in enumerate(rows)
            ]
            return {"vowel-context.data": text(rows, " ")}
        case "wine":
            rows = [[v[1:] if v.startswith("0.") else v for v in row] for row in label_first(rows)]
            return {"wine.data": text(rows)}
    raise AssertionError(f"no original is rebuilt for {name}")


def zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


# --- the server ---------------------------------------------------------------------------------------------


@dataclass
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    claimed_length: int | None = None
    with_length: bool = True
    delay: float = 0.0


class Archive:
    """A stand-in for the UCI archive: paths with replies, and 404 for every other path."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.asked: list[str] = []
        archive = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                archive.asked.append(self.path)
                reply = archive.replies.get(self.path, Reply(b"nothing here", status=404))
                time.sleep(reply.delay)
                self.send_response(reply.status)
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                if reply.with_length:
                    self.send_header("Content-Length", str(reply.claimed_length or len(reply.body)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(reply.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def serve_zip(self, name: str, content: bytes) -> str:
        self.replies[entry(name).uci["zip"]] = Reply(content)
        return self.url + entry(name).uci["zip"]


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    monkeypatch.setenv("no_proxy", "*")
    served = Archive()
    thread = threading.Thread(target=served.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.server.shutdown()
    thread.join()
    served.server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    into = tmp_path / "fetched"
    into.mkdir()
    return into


@pytest.fixture
def without_pins(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda name: monkeypatch.delitem(entry(name).uci, "sha256", raising=False)


def refusal(name: str, folder: Path, archive_url: str) -> str:
    """The message of a fetch that has to fail, after checking what every such message and folder owes."""
    with pytest.raises(DataError) as caught:
        uci.fetch(name, folder, archive_url)
    message = str(caught.value)
    assert f"'{name}'" in message
    assert message.endswith("the embedded copy still works")
    assert "\n" not in message
    assert list(folder.iterdir()) == []
    return message


# --- what works ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FETCHABLE)
def test_every_set_comes_out_of_its_zip_as_embedded(name, archive, folder, without_pins):
    files = originals(name)
    if name in REBUILT_ONLY_IN_VALUE:
        without_pins(name)
    url = archive.serve_zip(name, zipped({"Index": "listing", **{f"data/{f}": t for f, t in files.items()}}))

    report = uci.fetch(name, folder, archive.url + "/")

    assert (report.name, report.path, report.urls) == (name, folder / f"{name}.csv", [url])
    assert (report.rows, report.features) == (entry(name).rows, entry(name).features)
    assert report.sha256 == {f: hashlib.sha256(t.encode()).hexdigest() for f, t in files.items()}
    assert report.pinned == (set(files) == set(entry(name).uci.get("sha256", {})))
    assert list(folder.iterdir()) == [report.path]
    if name == "dna":
        (only_the_order,) = report.differences
        assert "compared as multisets" in only_the_order
        assert "first 2000 rows are not the training set" in only_the_order
    else:
        assert report.differences == []
        assert report.path.read_bytes() == entry(name).path.read_bytes()


@pytest.mark.parametrize("name", sorted(set(FETCHABLE) - REBUILT_ONLY_IN_VALUE))
def test_a_rebuilt_original_has_the_hash_that_is_pinned_for_it(name):
    rebuilt = {f: hashlib.sha256(t.encode()).hexdigest() for f, t in originals(name).items()}
    pinned = entry(name).uci.get("sha256", {})
    assert {filename: rebuilt[filename] for filename in pinned} == pinned


@pytest.mark.parametrize("name", ["indian", "satimage", "segment"])
def test_single_files_are_read_where_the_zip_is_missing(name, archive, folder, without_pins):
    without_pins(name)
    urls = {}
    for published in entry(name).uci["files"]:
        for filename, content in originals(name).items():
            if published.endswith("/" + quote(filename, safe="()")):
                path = published.removeprefix(uci.ARCHIVE)
                archive.replies[path] = Reply(content.encode())
                urls[filename] = archive.url + path

    report = uci.fetch(name, folder, archive.url)

    assert report.differences == []
    assert report.urls == list(urls.values())
    assert list(report.sha256) == list(originals(name))
    assert archive.asked[0] == entry(name).uci["zip"]


def test_pins_cover_all_files_or_the_report_is_not_pinned(archive, folder):
    archive.serve_zip("pendigits", zipped(originals("pendigits")))
    archive.serve_zip("letter", zipped(originals("letter")))
    assert not uci.fetch("pendigits", folder, archive.url).pinned
    assert uci.fetch("letter", folder, archive.url).pinned


def test_a_redirect_is_followed_and_reported(archive, folder):
    archive.replies[entry("iris").uci["zip"]] = Reply(status=301, headers={"Location": "/moved/iris.zip"})
    archive.replies["/moved/iris.zip"] = Reply(zipped(originals("iris")))
    report = uci.fetch("iris", folder, archive.url)
    assert report.urls == [archive.url + "/moved/iris.zip"]
    assert report.differences == []


def test_a_body_of_unannounced_length_is_read_to_its_end(archive, folder):
    archive.replies[entry("iris").uci["zip"]] = Reply(zipped(originals("iris")), with_length=False)
    assert uci.fetch("iris", folder, archive.url).rows == 150


def test_the_folder_is_made_and_an_older_file_replaced(archive, tmp_path):
    archive.serve_zip("iris", zipped(originals("iris")))
    target = uci.fetch("iris", tmp_path / "a" / "b", archive.url).path
    target.write_text("old")
    uci.fetch("iris", tmp_path / "a" / "b", archive.url)
    assert target.read_bytes() == entry("iris").path.read_bytes()


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ZOLOSS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert uci.fetched_path("iris") == tmp_path / "home/.cache/zoloss/uci/iris.csv"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert uci.fetched_path("iris") == tmp_path / "xdg/zoloss/uci/iris.csv"
    monkeypatch.setenv("ZOLOSS_CACHE", str(tmp_path / "own"))
    assert uci.fetched_path("iris") == tmp_path / "own/uci/iris.csv"
    assert uci.fetched_path("iris", tmp_path) == tmp_path / "iris.csv"


def test_without_a_folder_the_cache_is_used(archive, monkeypatch, tmp_path):
    monkeypatch.setenv("ZOLOSS_CACHE", str(tmp_path))
    archive.serve_zip("iris", zipped(originals("iris")))
    assert uci.fetch("iris", archive=archive.url).path == tmp_path / "uci" / "iris.csv"


# --- what differs -------------------------------------------------------------------------------------------


def fetch_iris_changed(change: Callable[[list[str]], object], archive: Archive, folder: Path) -> list[str]:
    lines = originals("iris")["iris.data"].splitlines()
    change(lines)
    archive.serve_zip("iris", zipped({"iris.data": "\n".join(lines)}))
    return uci.fetch("iris", folder, archive.url).differences


def test_a_changed_value_is_named_by_row_and_column(archive, folder, without_pins):
    without_pins("iris")

    def change(lines: list[str]) -> None:
        lines[16] = lines[16].replace("5.4,3.9,", "5.4,9.9,")

    assert fetch_iris_changed(change, archive, folder) == [
        "row 17, column sepal_width: 9.9, the embedded copy has 3.9"
    ]
    assert "\n5.4,9.9,1.3,0.4,Iris-setosa\n" in (folder / "iris.csv").read_text()


def test_a_changed_label_is_a_difference_too(archive, folder, without_pins):
    without_pins("iris")

    def change(lines: list[str]) -> None:
        lines[0] = lines[0].replace("setosa", "virginica")

    assert fetch_iris_changed(change, archive, folder) == [
        "row 1, column label: Iris-virginica, the embedded copy has Iris-setosa"
    ]


def test_a_long_list_of_differences_is_cut_and_counted(archive, folder, without_pins):
    without_pins("iris")

    def change(lines: list[str]) -> None:
        lines[:] = [line.replace("Iris-", "") for line in lines]

    found = fetch_iris_changed(change, archive, folder)
    assert len(found) == 21
    assert found[-1] == "and 130 more values"


def test_an_extra_and_a_lost_row_are_counted(archive, folder, without_pins):
    without_pins("iris")
    extra = fetch_iris_changed(lambda lines: lines.insert(9, "9,9,9,9,Iris-new"), archive, folder)
    assert extra == [
        "151 rows, the embedded copy has 150",
        "rows only in the fetched file: 1, the first is row 10",
    ]
    lost = fetch_iris_changed(lambda lines: lines.pop(0), archive, folder)
    assert lost == [
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


# --- what fails ---------------------------------------------------------------------------------------------


def test_pima_is_withdrawn_and_not_asked_for(archive, folder):
    message = refusal("pima", folder, archive.url)
    assert "withdrawn" in message
    assert "pima-indians-diabetes.data" in message
    assert archive.asked == []


def test_an_unknown_name_is_answered_with_the_nearest(archive, folder):
    with pytest.raises(DataError, match="did you mean 'iris'"):
        uci.fetch("irsi", folder, archive.url)
    with pytest.raises(DataError, match="no embedded data set"):
        uci.fetched_path("../iris")


def test_a_missing_zip_and_a_missing_file(archive, folder):
    message = refusal("iris", folder, archive.url)
    assert f"{archive.url}/ml/machine-learning-databases/iris/iris.data" in message
    assert "answered 404" in message


def test_one_missing_file_of_two(archive, folder):
    first = entry("satimage").uci["files"][0].removeprefix(uci.ARCHIVE)
    archive.replies[first] = Reply(originals("satimage")["sat.trn"].encode())
    assert "sat.tst: the server answered 404" in refusal("satimage", folder, archive.url)


def test_a_broken_server_is_not_taken_for_a_missing_zip(archive, folder):
    archive.replies[entry("iris").uci["zip"]] = Reply(status=503)
    assert "iris.zip: the server answered 503" in refusal("iris", folder, archive.url)
    assert len(archive.asked) == 1


@pytest.mark.parametrize("cut", [0, 1, 500])
def test_a_truncated_download(archive, folder, cut):
    whole = zipped(originals("iris"))
    archive.replies[entry("iris").uci["zip"]] = Reply(whole[:cut], claimed_length=len(whole))
    message = refusal("iris", folder, archive.url)
    assert f"iris.zip: the download broke off after {cut} bytes" in message


@pytest.mark.parametrize("as_zip", [True, False])
def test_a_file_with_another_hash(archive, folder, as_zip):
    forged = originals("iris")["iris.data"].replace("5.1,3.5", "5.1,3.6", 1)
    if as_zip:
        url = archive.serve_zip("iris", zipped({"iris.data": forged}))
    else:
        path = "/ml/machine-learning-databases/iris/iris.data"
        archive.replies[path] = Reply(forged.encode())
        url = archive.url + path
    message = refusal("iris", folder, archive.url)
    assert f"{url}: iris.data has sha256 {hashlib.sha256(forged.encode()).hexdigest()}" in message
    assert "the known one is 6f608b71" in message


def test_one_forged_file_of_two_spoils_the_set(archive, folder):
    files = originals("pendigits")
    files["pendigits.tra"] = files["pendigits.tra"].replace("100", " 99", 1)
    archive.serve_zip("pendigits", zipped(files))
    assert "pendigits.tra has sha256" in refusal("pendigits", folder, archive.url)


@pytest.mark.parametrize("scheme", ["file", "ftp", "data"])
def test_a_redirect_off_the_web(archive, folder, tmp_path, scheme):
    local = tmp_path / "iris.zip"
    local.write_bytes(zipped(originals("iris")))
    elsewhere = {"file": local.as_uri(), "ftp": "ftp://127.0.0.1/iris.zip", "data": "data:text/plain,5.1"}[
        scheme
    ]
    archive.replies[entry("iris").uci["zip"]] = Reply(status=302, headers={"Location": elsewhere})
    message = refusal("iris", folder, archive.url)
    assert elsewhere in message
    assert "not allowed" in message


def test_a_redirect_in_a_circle(archive, folder):
    path = entry("iris").uci["zip"]
    archive.replies[path] = Reply(status=302, headers={"Location": path})
    assert "redirect" in refusal("iris", folder, archive.url)


def test_a_redirect_from_https_to_http_is_refused():
    handler = uci._WebRedirects()
    with pytest.raises(uci._Failure, match="redirection to http://b/x is not allowed"):
        handler.redirect_request(Request("https://a/x"), None, 302, "Found", {}, "http://b/x")
    assert handler.redirect_request(Request("http://a/x"), None, 302, "Found", {}, "https://b/x") is not None


@pytest.mark.parametrize("address", ["file:///etc", "ftp://127.0.0.1", "archive.ics.uci.edu", ""])
def test_an_archive_off_the_web(folder, address):
    assert "only http and https" in refusal("iris", folder, address)


@pytest.mark.parametrize("address", ["http://[", "http://127.0.0.1:port", "http://127.0.0.1/a b"])
def test_a_malformed_address(folder, monkeypatch, address):
    monkeypatch.setenv("no_proxy", "*")
    assert f"fetched from {address}" in refusal("iris", folder, address)


@pytest.mark.parametrize(
    ("with_length", "reason"),
    [
        (True, "its 1001 bytes are more than the allowed 1000"),
        (False, "it is larger than the allowed 1000 bytes"),
    ],
)
def test_an_oversized_download(archive, folder, monkeypatch, with_length, reason):
    monkeypatch.setattr(uci, "SIZE_CAP", 1000)
    archive.replies[entry("iris").uci["zip"]] = Reply(b"x" * 1001, with_length=with_length)
    assert f"iris.zip: {reason};" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize("swollen", ["iris.data", "iris.names"])
def test_a_zip_that_unpacks_to_too_much(archive, folder, monkeypatch, swollen):
    monkeypatch.setattr(uci, "SIZE_CAP", 20_000)
    archive.serve_zip("iris", zipped(originals("iris") | {swollen: b"0" * 1_000_000}))
    assert "unpacks to more than the allowed 20000 bytes" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../iris.data", "a/../../b", "..", "C:/iris.txt", "c:iris", "a\\b", "..\\b"]
)
def test_a_zip_with_an_unsafe_path_anywhere(archive, folder, path):
    archive.serve_zip("iris", zipped(originals("iris") | {path: "x"}))
    message = refusal("iris", folder, archive.url)
    assert "unsafe path" in message
    assert repr(path) in message


def test_dots_inside_a_name_are_harmless(archive, folder):
    archive.serve_zip("iris", zipped({"Index..old": "x", "v1..2/iris.data": originals("iris")["iris.data"]}))
    assert uci.fetch("iris", folder, archive.url).differences == []


def test_a_zip_without_the_wanted_file(archive, folder):
    archive.serve_zip("iris", zipped({"bezdekIris.data": "x", "iris.data.Z": "x"}))
    assert "the zip holds 0 files called iris.data" in refusal("iris", folder, archive.url)


def test_a_zip_with_two_files_of_the_wanted_name(archive, folder):
    archive.serve_zip("iris", zipped({"a/iris.data": "x", "b/iris.data": "y"}))
    assert "the zip holds 2 files called iris.data" in refusal("iris", folder, archive.url)


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :]


@pytest.mark.parametrize("damage", ["no zip", "cut", "flipped", "encrypted", "understated"])
def test_a_damaged_zip(archive, folder, damage):
    good = zipped(originals("iris"))
    directory = good.rindex(b"PK\x01\x02")
    bad = {
        "no zip": b"5.1,3.5,1.4,0.2,Iris-setosa\n",
        "cut": good[: len(good) // 2],
        "flipped": flipped(good, 200),
        "encrypted": good[:6] + b"\1" + good[7 : directory + 8] + b"\1" + good[directory + 9 :],
        "understated": good[: directory + 24] + bytes([10, 0, 0, 0]) + good[directory + 28 :],
    }[damage]
    url = archive.serve_zip("iris", bad)
    assert f"{url}: the zip cannot be read" in refusal("iris", folder, archive.url)


def test_a_zip_with_an_unusual_compression(archive, folder):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as bz:
        bz.writestr("iris.data", originals("iris")["iris.data"])
    archive.serve_zip("iris", buffer.getvalue())
    assert "compressed in a way" in refusal("iris", folder, archive.url)


PAGE = b"\n<!DOCTYPE html><html><body>Please log in to the network</body></html>"


@pytest.mark.parametrize("path", ["zip", "file"])
def test_a_web_page_instead_of_data(archive, folder, path):
    paths = {"zip": entry("iris").uci["zip"], "file": "/ml/machine-learning-databases/iris/iris.data"}
    archive.replies[paths[path]] = Reply(PAGE, headers={"Content-Type": "text/html"})
    message = refusal("iris", folder, archive.url)
    assert f"{archive.url}{paths[path]}: a web page came" in message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"5.1,3.5,1.4,0.2,Iris-setosa\n5.1;3.5;1.4\n", "line 2 of iris.data has 1 fields, not 5"),
        (b"5.1,3.5,1.4,0.2,0.2,Iris-setosa\n", "line 1 of iris.data has 6 fields, not 5"),
        (b"\n \n", "iris.data holds no records"),
        (b"", "iris.data holds no records"),
        (b"\xff\xfe\x00\x01", "iris.data is not a text file"),
    ],
)
def test_an_unpinned_file_of_another_shape(archive, folder, without_pins, content, reason):
    without_pins("iris")
    url = archive.serve_zip("iris", zipped({"iris.data": content}))
    assert f"{url}: {reason};" in refusal("iris", folder, archive.url)


def test_a_sequence_of_another_length(archive, folder):
    archive.serve_zip("dna", zipped({"splice.data": "EI, A-1, ACGT\n"}))
    assert "line 1 of splice.data gives 12 features, not 180" in refusal("dna", folder, archive.url)


def test_no_server(folder, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        message = refusal("iris", folder, address)
    assert address in message
    assert "refused" in message


def test_a_silent_server(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "STALL_SECONDS", 0.1)
    archive.replies[entry("iris").uci["zip"]] = Reply(delay=0.5)
    assert "timed out" in refusal("iris", folder, archive.url)


def test_an_endless_download(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "DOWNLOAD_SECONDS", -1.0)
    archive.serve_zip("iris", zipped(originals("iris")))
    assert "took longer than" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_nothing(archive, folder, monkeypatch, stop):
    def fail(*_: object) -> None:
        raise stop

    archive.serve_zip("iris", zipped(originals("iris")))
    monkeypatch.setattr(uci.os, "replace", fail)
    with pytest.raises((DataError, KeyboardInterrupt)) as caught:
        uci.fetch("iris", folder, archive.url)
    if isinstance(stop, OSError):
        assert "'iris'" in str(caught.value)
        assert "No space left on device" in str(caught.value)
        assert caught.type is DataError
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_a_file(archive, tmp_path):
    archive.serve_zip("iris", zipped(originals("iris")))
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(DataError, match=r"'iris' was fetched from .* cannot be written to .*taken"):
        uci.fetch("iris", tmp_path / "taken", archive.url)
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_failed_fetch_keeps_the_older_file(archive, folder):
    archive.serve_zip("iris", zipped(originals("iris")))
    before = uci.fetch("iris", folder, archive.url).path.read_bytes()
    archive.serve_zip("iris", zipped({"iris.data": "forged"}))
    with pytest.raises(DataError, match="sha256"):
        uci.fetch("iris", folder, archive.url)
    assert (folder / "iris.csv").read_bytes() == before
    assert list(folder.iterdir()) == [folder / "iris.csv"]


def test_the_command_says_what_it_got_and_a_config_can_use_it(
    archive, zoloss, monkeypatch, tmp_path, write_config
):
    monkeypatch.setenv("ZOLOSS_CACHE", str(tmp_path / "cache"))
    config = write_config(
        "datasets: {iris: {source: uci, positive: Iris-setosa}}\nsplit: {repeats: 2}\nlearners: [fld]\n"
    )
    refused = zoloss("run", config, "--out", tmp_path / "results")
    assert refused.code == 3
    assert "run: zoloss datasets fetch iris" in refused.err
    archive.serve_zip("iris", zipped(originals("iris")))
    ended = zoloss("datasets", "fetch", "iris", "--archive", archive.url)
    assert ended.code == 0, ended.err
    assert "iris: 150 rows, 4 features (sha256 as pinned)" in ended.out
    assert "identical to the embedded copy" in ended.out
    # A process of its own, whose workers see the cache folder in their environment.
    command = [sys.executable, "-m", "zoloss_cli", "run", str(config), "--out", str(tmp_path / "results")]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 0
    missing = zoloss("datasets", "fetch", "wine", "--archive", archive.url)
    assert missing.code == 3
    assert missing.err.count("\n") == 1
