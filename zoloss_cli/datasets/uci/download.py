"""The original files of the embedded data sets, fetched from the UCI archive and compared with our copies.

Everything that arrives is untrusted: only http(s) is spoken, sizes are capped, archives stay in memory and
are never extracted to paths they name, known files must have their known sha256, and the one file that is
written appears only when it is complete.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import os
import posixpath
import re
import tempfile
import time
import urllib.request
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit

from zoloss_cli.datasets.catalog import find_entry
from zoloss_cli.datasets.uci.convert import (
    Row,
    UnexpectedFileError,
    convert,
    differences,
    embedded_table,
    write_table,
)
from zoloss_cli.errors import DataError

ARCHIVE = "https://archive.ics.uci.edu"
SIZE_CAP = 64 * 2**20
STALL_SECONDS = 30.0
DOWNLOAD_SECONDS = 600.0
CHUNK = 2**16


@dataclass(frozen=True)
class FetchReport:
    """What was read, what was written, and how it differs from the embedded copy."""

    name: str
    path: Path
    urls: list[str]
    sha256: dict[str, str]
    rows: int
    features: int
    pinned: bool
    differences: list[str]


@dataclass(frozen=True)
class _Original:
    filename: str
    url: str
    content: bytes


class _Failure(Exception):
    """One download went wrong; `fetch` adds the data set's name and what to do."""

    def __init__(self, url: str, reason: object) -> None:
        self.url = url
        self.reason = " ".join(str(reason).split())
        super().__init__(f"{url}: {self.reason}")


class _Missing(_Failure):
    """The archive does not have the file, so another address may."""


def fetched_path(name: str, into: Path | None = None) -> Path:
    """Where `fetch` puts a data set: in `into`, or else in the user's cache."""
    find_entry(name)
    if into is None:
        own = os.environ.get("ZOLOSS_CACHE")
        cache = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "zoloss"
        into = cache.expanduser() / "uci"
    return Path(into) / f"{name}.csv"


def fetch(name: str, into: Path | None = None, archive: str = ARCHIVE) -> FetchReport:
    """Get a data set's original files, write them as one CSV like the embedded one, and compare the two."""
    facts = find_entry(name)
    recipe = facts.uci
    target = fetched_path(name, into)
    if "withdrawn" in recipe:
        raise DataError(
            f"data set '{name}' cannot be fetched from {recipe['files'][0]}: {recipe['withdrawn']}; "
            "the embedded copy still works"
        )
    known_hashes = recipe.get("sha256", {})
    try:
        originals = _originals(recipe, archive.rstrip("/"))
        hashes = {original.filename: _verified_sha256(original, known_hashes) for original in originals}
        rows: list[Row] = []
        for original in originals:
            try:
                rows += convert(facts, original.filename, original.content)
            except UnexpectedFileError as error:
                raise _Failure(original.url, error) from error
    except _Failure as failure:
        raise DataError(
            f"data set '{name}' cannot be fetched from {failure.url}: {failure.reason}; "
            "the embedded copy still works"
        ) from failure

    urls = list(dict.fromkeys(original.url for original in originals))
    header, embedded = embedded_table(facts)
    try:
        _write_atomically(target, header, rows)
    except OSError as error:
        raise DataError(
            f"data set '{name}' was fetched from {urls[0]} but cannot be written to {target} "
            f"({error.strerror or error}); choose another folder, or use the embedded copy"
        ) from error
    return FetchReport(
        name=name,
        path=target,
        urls=urls,
        sha256=hashes,
        rows=len(rows),
        features=len(header) - 1,
        pinned=hashes.keys() <= known_hashes.keys(),
        differences=differences(facts, header, rows, embedded),
    )


def _originals(recipe: dict, archive: str) -> list[_Original]:
    """The data set's files, in the recipe's order: out of the zip, or one by one where there is no zip."""
    try:
        url, body = _download(archive + recipe["zip"])
    except _Missing:
        addresses = {unquote(posixpath.basename(urlsplit(url).path)): url for url in recipe["files"]}
        downloads = [
            (member, *_download(archive + addresses[member].removeprefix(ARCHIVE)))
            for member in recipe["members"]
        ]
        return [_Original(member, url, body) for member, url, body in downloads]
    return [_Original(member, url, content) for member, content in _unzipped(url, body, recipe["members"])]


def _verified_sha256(original: _Original, known_hashes: dict[str, str]) -> str:
    digest = hashlib.sha256(original.content).hexdigest()
    known = known_hashes.get(original.filename, digest)
    if digest != known:
        raise _Failure(original.url, f"{original.filename} has sha256 {digest}, the known one is {known}")
    return digest


def _download(url: str) -> tuple[str, bytes]:
    """The body at an address, and the address it came from in the end."""
    body = bytearray()
    deadline = time.monotonic() + DOWNLOAD_SECONDS
    try:
        if urlsplit(url).scheme not in ("http", "https"):
            raise _Failure(url, "only http and https addresses are fetched")
        request = urllib.request.Request(url, headers={"User-Agent": "zoloss"})
        with _web_opener().open(request, timeout=STALL_SECONDS) as response:
            promised = response.length or 0
            if promised > SIZE_CAP:
                raise _Failure(url, f"its {promised} bytes are more than the allowed {SIZE_CAP}")
            while chunk := response.read1(CHUNK):
                body += chunk
                if len(body) > SIZE_CAP:
                    raise _Failure(url, f"it is larger than the allowed {SIZE_CAP} bytes")
                if time.monotonic() > deadline:
                    raise _Failure(url, f"it took longer than {DOWNLOAD_SECONDS:.0f} seconds")
            final_url = response.url
    except HTTPError as error:
        error.close()
        kind = _Missing if error.code in (404, 410) else _Failure
        raise kind(url, f"the server answered {error.code} {error.reason}") from error
    except http.client.IncompleteRead as error:
        raise _Failure(url, f"the download broke off after {len(body)} bytes") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _Failure(url, str(getattr(error, "reason", error)) or type(error).__name__) from error
    if len(body) < promised:
        raise _Failure(url, f"the download broke off after {len(body)} bytes of {promised}")
    if body.lstrip()[:1] == b"<":
        raise _Failure(url, "a web page came instead of the data")
    return final_url, bytes(body)


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects on the web only, and never from an encrypted to an open connection."""

    def redirect_request(
        self, req: urllib.request.Request, fp, code: int, msg: str, headers, newurl: str
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old, new) == ("https", "http"):
            raise _Failure(req.full_url, f"its redirection to {newurl} is not allowed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _web_opener() -> urllib.request.OpenerDirector:
    """An opener without the handlers for file, ftp and data addresses that urllib adds by default."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        _WebRedirects(),
    ):
        opener.add_handler(handler)
    return opener


def _unzipped(url: str, body: bytes, wanted: list[str]) -> list[tuple[str, bytes]]:
    """The wanted members by base name. One unsafe name condemns the archive: an honest one has none.

    The declared sizes suffice against zip bombs, because no more than them is ever unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = archive.infolist()
            for member in members:
                if _is_unsafe(member.orig_filename):
                    raise _Failure(url, f"the zip holds the unsafe path {member.orig_filename!r}")
            if sum(member.file_size for member in members) > SIZE_CAP:
                raise _Failure(url, f"the zip unpacks to more than the allowed {SIZE_CAP} bytes")
            return [(name, _member_content(url, archive, name)) for name in wanted]
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError) as error:
        raise _Failure(url, f"the zip cannot be read ({error})") from error


def _is_unsafe(path: str) -> bool:
    absolute = path.startswith("/") or re.match("[A-Za-z]:", path)
    return bool(absolute) or "\\" in path or "\0" in path or ".." in path.split("/")


def _member_content(url: str, archive: zipfile.ZipFile, filename: str) -> bytes:
    found = [info for info in archive.infolist() if posixpath.basename(info.filename) == filename]
    if len(found) != 1:
        raise _Failure(url, f"the zip holds {len(found)} files called {filename} instead of one")
    if found[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Failure(url, f"{filename} is compressed in a way that zips of the archive are not")
    return archive.read(found[0])


def _write_atomically(target: Path, header: Row, rows: list[Row]) -> None:
    """A reader finds the whole file or none, also when the disk is full or the program is stopped."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, part_name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=".part")
    os.close(handle)
    part = Path(part_name)
    try:
        write_table(part, header, rows)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
