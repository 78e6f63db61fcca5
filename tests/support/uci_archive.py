"""A stand-in for the UCI archive: its files, rebuilt from the embedded ones, and a server that can fail."""

import contextlib
import csv
import io
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from processes import HANG_SECONDS

from zoloss_cli.config.catalog import find_embedded_entry

Row = list[str]


# --- the archive's files, rebuilt ---------------------------------------------------------------------------


def embedded_rows(name: str) -> list[Row]:
    with find_embedded_entry(name).path.open(encoding="utf-8", newline="") as file:
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


def zipped(files: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
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
    held_until: threading.Event | None = None


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
                if reply.held_until:
                    reply.held_until.wait(HANG_SECONDS)
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
        self.replies[find_embedded_entry(name).uci.zip] = Reply(content)
        return self.url + find_embedded_entry(name).uci.zip
