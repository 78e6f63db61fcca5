"""Fetching from an archive that answers wrongly, slowly, too much or not at all: one sentence, nothing left."""

import hashlib
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

IRIS_ZIP, IRIS_FILE = find_embedded_entry("iris").uci.zip, "/ml/machine-learning-databases/iris/iris.data"


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


def test_missing_files(archive, folder):
    message = refusal("iris", folder, archive.url)
    assert f"{archive.url}{IRIS_FILE}" in message
    assert "answered 404" in message
    first = find_embedded_entry("satimage").uci.files[0].removeprefix(uci.ARCHIVE)
    archive.replies[first] = Reply(originals("satimage")["sat.trn"].encode())
    assert "sat.tst: the server answered 404" in refusal("satimage", folder, archive.url)


PAGE = b"\n<!DOCTYPE html><html><body>Please log in to the network</body></html>"
IRIS = originals("iris")
GOOD = zipped(IRIS)
DIRECTORY = GOOD.rindex(b"PK\x01\x02")
ENCRYPTED = GOOD[:6] + b"\1" + GOOD[7 : DIRECTORY + 8] + b"\1" + GOOD[DIRECTORY + 9 :]
UNDERSTATED = GOOD[: DIRECTORY + 24] + bytes([10, 0, 0, 0]) + GOOD[DIRECTORY + 28 :]
FLIPPED = GOOD[:200] + bytes([GOOD[200] ^ 0xFF]) + GOOD[201:]
UNREADABLE = "iris.zip: the zip cannot be read"
UNSAFE_PATHS = ["/etc/passwd", "../iris.data", "a/../../b", "..", "C:/iris.txt", "c:iris", "a\\b", "..\\b"]
# What comes for the zip, and a part of what is said.
FAULTY_ANSWERS = [
    (Reply(status=503), "iris.zip: the server answered 503"),
    *(
        (Reply(GOOD[:cut], claimed_length=len(GOOD)), f"the download was interrupted after {cut} bytes")
        for cut in (0, 1, 500)
    ),
    (Reply(status=302, headers={"Location": IRIS_ZIP}), "redirect"),
    (Reply(PAGE, headers={"Content-Type": "text/html"}), "iris.zip: the server returned a web page"),
    *((Reply(bad), UNREADABLE) for bad in (b"5.1,3.5,1.4,0.2,Iris-setosa\n", GOOD[: len(GOOD) // 2])),
    *((Reply(bad), UNREADABLE) for bad in (FLIPPED, ENCRYPTED, UNDERSTATED)),
    (Reply(zipped(IRIS, zipfile.ZIP_BZIP2)), "iris.data is compressed in a way"),
    (Reply(zipped({"bezdekIris.data": "x", "iris.data.Z": "x"})), "the zip holds 0 files called iris.data"),
    (Reply(zipped({"a/iris.data": "x", "b/iris.data": "y"})), "the zip holds 2 files called iris.data"),
    *((Reply(zipped(IRIS | {path: "x"})), f"the zip holds the unsafe path {path!r}") for path in UNSAFE_PATHS),
]


def test_a_faulty_answer(archive, folder):
    for reply, part in FAULTY_ANSWERS:
        archive.asked.clear()
        archive.replies[IRIS_ZIP] = reply
        assert part in refusal("iris", folder, archive.url)
        assert set(archive.asked) == {IRIS_ZIP}  # and no single file, as after a missing zip
    del archive.replies[IRIS_ZIP]
    archive.replies[IRIS_FILE] = Reply(PAGE, headers={"Content-Type": "text/html"})
    assert f"{archive.url}{IRIS_FILE}: the server returned a web page" in refusal("iris", folder, archive.url)


def test_a_file_with_another_hash(archive, folder):
    forged = originals("iris")["iris.data"].replace("5.1,3.5", "5.1,3.6", 1)
    archive.replies[IRIS_FILE] = Reply(forged.encode())
    message = refusal("iris", folder, archive.url)
    assert f"{IRIS_FILE}: iris.data has sha256 {hashlib.sha256(forged.encode()).hexdigest()}" in message
    assert "but 6f608b71" in message
    files = originals("pendigits")  # of which one is forged
    files["pendigits.tra"] = files["pendigits.tra"].replace("100", " 99", 1)
    archive.serve_zip("pendigits", zipped(files))
    assert "pendigits.tra has sha256" in refusal("pendigits", folder, archive.url)


def test_a_redirect_off_the_web(archive, folder, tmp_path):
    local = tmp_path / "iris.zip"
    local.write_bytes(GOOD)
    for elsewhere in (local.as_uri(), "ftp://127.0.0.1/iris.zip", "data:text/plain,5.1"):
        archive.replies[IRIS_ZIP] = Reply(status=302, headers={"Location": elsewhere})
        message = refusal("iris", folder, archive.url)
        assert elsewhere in message
        assert "not allowed" in message


def test_a_redirect_is_reported_and_its_body_is_not_read(archive, folder):
    archive.replies["/moved.zip"] = Reply(GOOD, with_length=False)
    elsewhere = {"Location": "/moved.zip"}
    archive.replies[IRIS_ZIP] = Reply(b"moved", status=302, headers=elsewhere, claimed_length=10**13)
    report = uci.fetch("iris", folder, archive.url)
    assert (report.urls, report.differences) == ([archive.url + "/moved.zip"], [])


def test_a_redirect_from_https_to_http_is_refused():
    handler = uci._WebRedirects()
    with pytest.raises(uci._DownloadError, match="redirection to http://b/x is not allowed"):
        handler.redirect_request(Request("https://a/x"), None, 302, "Found", {}, "http://b/x")
    assert handler.redirect_request(Request("http://a/x"), None, 302, "Found", {}, "https://b/x") is not None


def test_an_address_off_the_web_or_malformed(folder, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    for address in ("file:///etc", "ftp://127.0.0.1", "archive.ics.uci.edu", ""):
        assert "only http and https" in refusal("iris", folder, address)
    for address in ("http://[", "http://127.0.0.1:port", "http://127.0.0.1/a b"):
        assert f"fetched from {address}" in refusal("iris", folder, address)


def test_an_oversized_download(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "MAX_BYTES", 1000)
    for with_length, reason in (
        (True, "its 1001 bytes are more than the allowed 1000"),
        (False, "it is larger than the allowed 1000 bytes"),
    ):
        archive.replies[IRIS_ZIP] = Reply(b"x" * 1001, with_length=with_length)
        assert f"iris.zip: {reason};" in refusal("iris", folder, archive.url)


def test_a_zip_that_unpacks_to_too_much(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "MAX_BYTES", 20_000)
    for swollen in ("iris.data", "iris.names"):
        archive.serve_zip("iris", zipped(IRIS | {swollen: b"0" * 1_000_000}))
        assert "unpacks to more than the allowed 20000 bytes" in refusal("iris", folder, archive.url)


def test_dots_inside_a_name_are_harmless(archive, folder):
    archive.serve_zip("iris", zipped({"Index..old": "x", "v1..2/iris.data": originals("iris")["iris.data"]}))
    assert uci.fetch("iris", folder, archive.url).differences == []


def test_an_unpinned_file_of_another_shape(archive, folder, without_pins):
    without_pins("iris")
    for content, reason in (
        (b"5.1,3.5,1.4,0.2,Iris-setosa\n5.1;3.5;1.4\n", "line 2 of iris.data has 1 fields, not 5"),
        (b"\n \n", "iris.data holds no records"),
        (b"\xff\xfe\x00\x01", "iris.data is not a text file"),
    ):
        url = archive.serve_zip("iris", zipped({"iris.data": content}))
        assert f"{url}: {reason};" in refusal("iris", folder, archive.url)
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
    archive.replies[IRIS_ZIP] = Reply(held_until=asked_in_vain)
    try:
        assert "timed out" in refusal("iris", folder, archive.url)
    finally:
        asked_in_vain.set()


def test_an_endless_download(archive, folder, monkeypatch):
    monkeypatch.setattr(uci, "DOWNLOAD_SECONDS", -1.0)
    archive.serve_zip("iris", GOOD)
    assert "took longer than" in refusal("iris", folder, archive.url)


@pytest.mark.parametrize("stop", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_older_file_alone(archive, folder, monkeypatch, stop):
    def fail(*_: object) -> None:
        raise stop

    archive.serve_zip("iris", GOOD)
    before = uci.fetch("iris", folder, archive.url).path.read_bytes()
    error = DataError if isinstance(stop, OSError) else KeyboardInterrupt
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(error, match="No space left on device" if error is DataError else None):
            uci.fetch("iris", folder, archive.url)
    archive.serve_zip("iris", zipped({"iris.data": "forged"}))
    with pytest.raises(DataError, match="sha256"):
        uci.fetch("iris", folder, archive.url)
    assert (folder / "iris.csv").read_bytes() == before
    assert list(folder.iterdir()) == [folder / "iris.csv"]


def test_a_folder_that_is_a_file(archive, tmp_path):
    archive.serve_zip("iris", GOOD)
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(DataError, match=r"'iris' was fetched from .* cannot be written to .*taken"):
        uci.fetch("iris", tmp_path / "taken", archive.url)
    assert (tmp_path / "taken").read_text() == "mine"


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
    archive.serve_zip("iris", GOOD)
    ended = zoloss.ok("datasets", "fetch", "iris", "--archive", archive.url)
    assert "iris: 150 rows, 4 features (sha256 as pinned)" in ended.out
    assert "identical to the embedded copy" in ended.out
    # A process of its own, whose workers see the cache folder in their environment.
    assert run_zoloss("run", config, "--out", tmp_path / "results").code == 0
    missing = zoloss("datasets", "fetch", "wine", "--archive", archive.url)
    assert missing.code == 3
    assert missing.err.count("\n") == 1
