"""Fetching from an archive that answers wrongly, slowly, too much or not at all: one sentence, nothing left."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
import zipfile
from pathlib import Path
from urllib.request import Request

import pytest
from processes import run_zoloss
from uci_archive import Reply, originals, zipped

from zoloss_cli.config.catalog import find_embedded_entry
from zoloss_cli.data import uci
from zoloss_cli.errors import DataError


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


def test_pima_is_withdrawn_and_not_asked_for(archive, folder):
    message = refusal("pima", folder, archive.url)
    assert "withdrawn" in message
    assert "pima-indians-diabetes.data" in message
    assert archive.asked == []


def test_an_unknown_name_is_answered_with_the_nearest(archive, folder):
    with pytest.raises(DataError, match="did you mean 'iris'"):
        uci.fetch("irsi", folder, archive.url)
    with pytest.raises(DataError, match="unknown embedded data set"):
        uci.find_fetched_path("../iris")


def test_a_missing_zip_and_a_missing_file(archive, folder):
    message = refusal("iris", folder, archive.url)
    assert f"{archive.url}/ml/machine-learning-databases/iris/iris.data" in message
    assert "answered 404" in message


def test_one_missing_file_of_two(archive, folder):
    first = find_embedded_entry("satimage").uci.files[0].removeprefix(uci.ARCHIVE)
    archive.replies[first] = Reply(originals("satimage")["sat.trn"].encode())
    assert "sat.tst: the server answered 404" in refusal("satimage", folder, archive.url)


def test_a_broken_server_is_not_taken_for_a_missing_zip(archive, folder):
    archive.replies[find_embedded_entry("iris").uci.zip] = Reply(status=503)
    assert "iris.zip: the server answered 503" in refusal("iris", folder, archive.url)
    assert len(archive.asked) == 1


@pytest.mark.parametrize("cut", [0, 1, 500])
def test_a_truncated_download(archive, folder, cut):
    whole = zipped(originals("iris"))
    archive.replies[find_embedded_entry("iris").uci.zip] = Reply(whole[:cut], claimed_length=len(whole))
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
    archive.replies[find_embedded_entry("iris").uci.zip] = Reply(status=302, headers={"Location": elsewhere})
    message = refusal("iris", folder, archive.url)
    assert elsewhere in message
    assert "not allowed" in message


def test_the_body_of_a_redirect_is_not_read(archive, folder):
    path = find_embedded_entry("iris").uci.zip
    archive.replies["/moved.zip"] = Reply(zipped(originals("iris")))
    elsewhere = {"Location": "/moved.zip"}
    archive.replies[path] = Reply(b"moved", status=302, headers=elsewhere, claimed_length=10**13)
    assert uci.fetch("iris", folder, archive.url).differences == []


def test_a_redirect_in_a_circle(archive, folder):
    path = find_embedded_entry("iris").uci.zip
    archive.replies[path] = Reply(status=302, headers={"Location": path})
    assert "redirect" in refusal("iris", folder, archive.url)


def test_a_redirect_from_https_to_http_is_refused():
    handler = uci._WebRedirects()
    with pytest.raises(uci._DownloadError, match="redirection to http://b/x is not allowed"):
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
    monkeypatch.setattr(uci, "MAX_BYTES", 1000)
    archive.replies[find_embedded_entry("iris").uci.zip] = Reply(b"x" * 1001, with_length=with_length)
    assert f"iris.zip: {reason};" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize("swollen", ["iris.data", "iris.names"])
def test_a_zip_that_unpacks_to_too_much(archive, folder, monkeypatch, swollen):
    monkeypatch.setattr(uci, "MAX_BYTES", 20_000)
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
    paths = {
        "zip": find_embedded_entry("iris").uci.zip,
        "file": "/ml/machine-learning-databases/iris/iris.data",
    }
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
    asked_in_vain = threading.Event()
    archive.replies[find_embedded_entry("iris").uci.zip] = Reply(held_until=asked_in_vain)
    try:
        assert "timed out" in refusal("iris", folder, archive.url)
    finally:
        asked_in_vain.set()


def test_an_endless_download(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "DOWNLOAD_SECONDS", -1.0)
    archive.serve_zip("iris", zipped(originals("iris")))
    assert "took longer than" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_nothing(archive, folder, monkeypatch, stop):
    def fail(*_: object) -> None:
        raise stop

    archive.serve_zip("iris", zipped(originals("iris")))
    monkeypatch.setattr(os, "replace", fail)
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
    assert run_zoloss("run", config, "--out", tmp_path / "results").code == 0
    missing = zoloss("datasets", "fetch", "wine", "--archive", archive.url)
    assert missing.code == 3
    assert missing.err.count("\n") == 1
