"""Data sets of the UCI repository: download, conversion and the folder where they are kept."""

from __future__ import annotations

import csv
import functools
import hashlib
import http.client
import io
import posixpath
import re
import time
import urllib.request
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit

from zoloss_cli.config.catalog import CatalogEntry, UciRecipe, find_embedded_entry, find_fetched_path
from zoloss_cli.errors import DataError
from zoloss_cli.utils.files import write_bytes

# Every original is a headerless text file with one record per line; they differ in the separator, the place of
# the class, and a few columns and codes. The recipe lists those differences, so that readers can check them
# against the archive's description without reading code.

Row = list[str]

MAX_LISTED_DIFFERENCES = 20
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class UnexpectedFileError(ValueError):
    """A file does not have the shape that the recipe describes; the message says where."""


@functools.lru_cache(maxsize=2**16)
def shorten_number(value: str) -> str:
    """Return a number in its shortest spelling, as the embedded files write it; other text unchanged.

    Spellings are equal exactly when the numbers are equal as doubles, so rows can be compared as text.
    """
    if not NUMBER.fullmatch(value):
        return value
    return repr(float(value) + 0.0).removesuffix(".0")


def read_embedded_rows(entry: CatalogEntry) -> tuple[Row, list[Row]]:
    """Return header and rows of the embedded copy, which the fetched table must reproduce."""
    with entry.path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [[shorten_number(value) for value in row] for row in rows]


def convert_file(entry: CatalogEntry, recipe: UciRecipe, filename: str, content: bytes) -> list[Row]:
    """Return the rows of one original file: features in the order of the embedded table, then the label."""
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnexpectedFileError(f"{filename} is not a text file") from None
    rows = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            row = _convert_record(recipe, entry.features, f"line {number} of {filename}", line)
            if row is not None:
                rows.append(row)
    if not rows:
        raise UnexpectedFileError(f"{filename} holds no records")
    return rows


def _convert_record(recipe: UciRecipe, n_features: int, place: str, line: str) -> Row | None:
    """Return one record as a row of the embedded table, or None if the recipe drops it."""
    if recipe.separator == "whitespace":
        fields = line.split()
    else:
        fields = [field.strip() for field in line.split(recipe.separator)]
    expected = (1 if recipe.letters else n_features) + len(recipe.drop) + 1
    if len(fields) != expected:
        raise UnexpectedFileError(f"{place} has {len(fields)} fields, not {expected}")

    label_column = 0 if recipe.label == "first" else len(fields) - 1
    label = fields[label_column]
    features = [field for i, field in enumerate(fields) if i != label_column and i not in recipe.drop]
    if recipe.drop_rows_with in features:
        return None
    if recipe.letters:
        (sequence,) = features
        if not set(sequence) <= set(recipe.letters):
            return None
        features = [indicator for letter in sequence for indicator in recipe.letters[letter]]
        if len(features) != n_features:
            raise UnexpectedFileError(f"{place} gives {len(features)} features, not {n_features}")

    features = [recipe.recode.features.get(value, value) for value in features]
    label = recipe.recode.label.get(label, label)
    return [shorten_number(value) for value in (*features, label)]


def list_differences(entry: CatalogEntry, header: Row, fetched: list[Row], embedded: list[Row]) -> list[str]:
    """Return how the fetched rows differ from the embedded ones, one line each; empty if they do not."""
    if fetched == embedded:
        return []
    if entry.uci is not None and entry.uci.row_order == "lost":
        partition = ""
        if entry.train_rows:
            partition = f" and the first {entry.train_rows} rows are not the training set"
        order = f"the embedded row order is unknown to the archive: compared as multisets{partition}"
        return [order, *_count_unmatched_rows(fetched, embedded)]
    if len(fetched) != len(embedded):
        counts = f"{len(fetched)} rows, the embedded copy has {len(embedded)}"
        return [counts, *_count_unmatched_rows(fetched, embedded)]
    found = [
        f"row {number}, column {column}: {new}, the embedded copy has {old}"
        for number, (new_row, old_row) in enumerate(zip(fetched, embedded, strict=True), start=1)
        for column, new, old in zip(header, new_row, old_row, strict=True)
        if new != old
    ]
    unlisted = len(found) - MAX_LISTED_DIFFERENCES
    return found[:MAX_LISTED_DIFFERENCES] + ([f"and {unlisted} more values"] if unlisted > 0 else [])


def _count_unmatched_rows(fetched: list[Row], embedded: list[Row]) -> list[str]:
    """Return counts of the rows that only one side has, in any order, and where the first one is."""
    lines = []
    sides = (("fetched file", fetched, embedded), ("embedded copy", embedded, fetched))
    for side, rows, others in sides:
        surplus = Counter(map(tuple, rows)) - Counter(map(tuple, others))
        if surplus:
            first = next(number for number, row in enumerate(rows, start=1) if tuple(row) in surplus)
            lines.append(f"rows only in the {side}: {surplus.total()}, the first is row {first}")
    return lines


def format_rows(header: Row, rows: list[Row]) -> bytes:
    """Return a table in the CSV dialect of the embedded files, so that equal tables are equal files."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


# Everything received is untrusted: only http(s) is used, sizes are limited, archives stay in memory and are
# never extracted to paths they name, known files must have their known sha256, and the output file is written
# atomically.

ARCHIVE = "https://archive.ics.uci.edu"
MAX_BYTES = 64 * 2**20
STALL_SECONDS = 30.0
DOWNLOAD_SECONDS = 600.0
CHUNK_BYTES = 2**16


@dataclass(frozen=True)
class FetchReport:
    """What was fetched, what was written, and how it differs from the embedded copy."""

    name: str  # of the data set
    path: Path  # of the written CSV file
    urls: list[str]  # where the original files came from
    sha256: dict[str, str]  # of each original file
    rows: int
    features: int
    pinned: bool  # whether the hash of every original file was known and matches
    differences: list[str]  # between the table and the embedded copy


class _DownloadError(Exception):
    """One download failed; `fetch` adds the data set's name and what to do."""

    def __init__(self, url: str, reason: object) -> None:
        self.url = url
        self.reason = " ".join(str(reason).split())
        super().__init__(f"{url}: {self.reason}")


class _MissingFileError(_DownloadError):
    """The archive does not have the file, but another address may."""


def fetch(name: str, into: Path | None = None, archive: str = ARCHIVE) -> FetchReport:
    """Fetch a data set's original files, write them as one CSV like the embedded one, and compare the two.

    The folder `into` is the user's cache if it is None; `archive` may be the address of a mirror.
    """
    entry, target = find_embedded_entry(name), find_fetched_path(name, into)
    if entry.uci is None:
        raise DataError(f"data set '{name}' has no original in the UCI archive; use the embedded copy")
    try:
        if entry.uci.withdrawn:
            raise _DownloadError(entry.uci.files[0], entry.uci.withdrawn)
        originals = _fetch_originals(entry.uci, archive.rstrip("/"))
        hashes = {filename: hashlib.sha256(content).hexdigest() for filename, _, content in originals}
        rows: list[Row] = []
        for filename, url, content in originals:
            digest, known = hashes[filename], entry.uci.sha256.get(filename)
            if known not in (digest, None):
                raise _DownloadError(url, f"{filename} has sha256 {digest}, but {known} is expected")
            try:
                rows += convert_file(entry, entry.uci, filename, content)
            except UnexpectedFileError as error:
                raise _DownloadError(url, error) from error
    except _DownloadError as error:
        raise DataError(
            f"data set '{name}' cannot be fetched from {error.url}: {error.reason}; "
            "the embedded copy still works"
        ) from error

    urls = list(dict.fromkeys(url for _, url, _ in originals))
    header, embedded = read_embedded_rows(find_embedded_entry(entry.otherwise or name))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, format_rows(header, rows))
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
        pinned=hashes.keys() <= entry.uci.sha256.keys(),
        differences=list_differences(entry, header, rows, embedded),
    )


def _fetch_originals(recipe: UciRecipe, archive: str) -> list[tuple[str, str, bytes]]:
    """Return (name, address, content) of each file, in the recipe's order: from a zip, or one by one."""
    try:
        url, body = _download(archive + recipe.zip)
    except _MissingFileError:
        addresses = {unquote(posixpath.basename(urlsplit(url).path)): url for url in recipe.files}
        paths = {member: addresses[member].removeprefix(ARCHIVE) for member in recipe.members}
        return [(member, *_download(archive + path)) for member, path in paths.items()]
    return [(member, url, content) for member, content in _unzip(url, body, recipe.members)]


def _download(url: str) -> tuple[str, bytes]:
    """Return the final address that the body came from, and the body."""
    body = bytearray()
    deadline = time.monotonic() + DOWNLOAD_SECONDS
    try:
        if urlsplit(url).scheme not in ("http", "https"):
            raise _DownloadError(url, "only http and https addresses are fetched")
        request = urllib.request.Request(url, headers={"User-Agent": "zoloss"})
        with urllib.request.build_opener(_WebRedirects).open(request, timeout=STALL_SECONDS) as response:
            promised = response.length or 0
            if promised > MAX_BYTES:
                raise _DownloadError(url, f"its {promised} bytes are more than the allowed {MAX_BYTES}")
            while chunk := response.read1(CHUNK_BYTES):
                body += chunk
                if len(body) > MAX_BYTES:
                    raise _DownloadError(url, f"it is larger than the allowed {MAX_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise _DownloadError(url, f"it took longer than {DOWNLOAD_SECONDS:.0f} seconds")
            final_url = response.url
    except HTTPError as error:
        error.close()
        kind = _MissingFileError if error.code in (404, 410) else _DownloadError
        raise kind(url, f"the server answered {error.code} {error.reason}") from error
    except http.client.IncompleteRead as error:
        raise _DownloadError(url, f"the download was interrupted after {len(body)} bytes") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _DownloadError(url, str(getattr(error, "reason", error)) or type(error).__name__) from error
    if len(body) < promised:
        raise _DownloadError(url, f"the download was interrupted after {len(body)} bytes of {promised}")
    if body.lstrip()[:1] == b"<":
        raise _DownloadError(url, "the server returned a web page instead of the data")
    return final_url, bytes(body)


class _WebRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects only on the web, and never from an encrypted to an unencrypted connection."""

    def redirect_request(
        self, req: urllib.request.Request, fp, code: int, msg: str, headers, newurl: str
    ) -> urllib.request.Request | None:
        """Return the request for the new address, if it is allowed."""
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old, new) == ("https", "http"):
            raise _DownloadError(req.full_url, f"its redirection to {newurl} is not allowed")
        if fp is not None:
            fp.close()  # otherwise urllib would read all of it, whatever its size
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _unzip(url: str, body: bytes, wanted: list[str]) -> list[tuple[str, bytes]]:
    """Return the wanted members by base name; reject archives with unsafe paths.

    The declared sizes suffice against zip bombs, because no more than that is ever unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = archive.infolist()
            for member in members:
                if _is_unsafe(member.orig_filename):
                    raise _DownloadError(url, f"the zip holds the unsafe path {member.orig_filename!r}")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise _DownloadError(url, f"the zip unpacks to more than the allowed {MAX_BYTES} bytes")
            return [(name, _read_member(url, archive, name)) for name in wanted]
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError) as error:
        raise _DownloadError(url, f"the zip cannot be read ({error})") from error


def _is_unsafe(path: str) -> bool:
    absolute = path.startswith("/") or re.match("[A-Za-z]:", path)
    return bool(absolute) or "\\" in path or "\0" in path or ".." in path.split("/")


def _read_member(url: str, archive: zipfile.ZipFile, filename: str) -> bytes:
    found = [info for info in archive.infolist() if posixpath.basename(info.filename) == filename]
    if len(found) != 1:
        raise _DownloadError(url, f"the zip holds {len(found)} files called {filename} instead of one")
    if found[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _DownloadError(url, f"{filename} is compressed in a way that the archive does not use")
    return archive.read(found[0])
