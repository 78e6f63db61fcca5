"""Downloads that are changed, cut, too large or something else, given to `datasets fetch` by a local server."""

import contextlib
import os
import signal
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from uci_archive import originals, zipped

from torture.campaign import InputCampaign
from torture.children import Command
from torture.mutations import edit

NAMES = ["iris", "wine", "sonar", "glass"]
TARGETS = ["file:///etc/passwd", "//", "http://[", "data:,x", "/\x1b[2J", "http://127.0.0.1:1/"]


class DownloadInputs(InputCampaign):
    name = "downloads"
    n_short = 6

    def prepare(self) -> None:
        super().prepare()
        os.environ["no_proxy"] = "*"
        self.texts = {name: originals(name) for name in NAMES}
        self.zips = {name: zipped(files) for name, files in self.texts.items()}
        answer = self.answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with contextlib.suppress(OSError, ValueError):
                    answer(self)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = server.server_port
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            server.serve_forever()
        server.server_close()

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def build(self, rng: Random, folder: Path) -> Command:
        name, seed = rng.choice([*NAMES, "satimage"]), rng.randrange(10**9)
        address = f"http://127.0.0.1:{self.port}/{seed}/{name}"
        return Command(["datasets", "fetch", name, "--into", "fetched", "--archive", address], folder)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        _, seed, name, *rest = request.path.split("/")
        rng = Random(f"{seed} {rest}")
        body = self._choose_body(rng, name if name in self.zips else "iris", request.path)
        if rng.random() < 0.03:
            request.wfile.write(edit(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", rng))
            return
        status = rng.choice([200] * 12 + [404, 410, 500, 302, 206, 999, 100])
        request.send_response(status, rng.choice([None, "\x1b[2J", "x" * 500]))
        if status == 302:
            request.send_header("Location", rng.choice([request.path, *TARGETS]))
        length = rng.choice([len(body)] * 8 + [0, len(body) + 9, 10**12, -1, "x"])
        if rng.random() < 0.9:
            request.send_header("Content-Length", str(length))
        if rng.random() < 0.05:
            request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        request.wfile.write(body)

    def _choose_body(self, rng: Random, name: str, path: str) -> bytes:
        how = rng.random()
        if not path.endswith(".zip"):
            return edit("".join(self.texts[name].values()).encode(), rng)
        if how < 0.5:
            return edit(self.zips[name], rng)
        files: dict[str, str | bytes] = {
            rng.choice([filename] * 6 + ["../" + filename, "/x", "a\\b"]): edit(text.encode(), rng)
            for filename, text in self.texts[name].items()
        }
        if how > 0.95:
            files["zeros"] = bytes(1 << 22)
        made = zipped(files, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]))
        return made if how < 0.9 else edit(made, rng)
