"""Downloads that are changed, cut, too large or something else, given to `datasets fetch` by a local server."""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from uci_archive import originals, zipped

from torture.children import Command
from torture.fuzzing import InputCampaign
from torture.mutations import edit

NAMES = ["iris", "wine", "sonar", "glass", "satimage"]
SMALL_NAMES = ["iris", "wine", "sonar", "glass"]


class DownloadInputs(InputCampaign):
    """What a server may answer."""

    name = "downloads"
    n_short = 15

    def prepare(self) -> None:
        """Start the server in a process of its own, which forks may not share threads with."""
        super().prepare()
        os.environ["no_proxy"] = "*"
        self.zips = {name: zipped(originals(name)) for name in SMALL_NAMES}
        self.texts = {name: originals(name) for name in SMALL_NAMES}
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._make_handler())
        self.port = server.server_port
        self.pid = os.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            server.serve_forever()
        server.server_close()

    def close(self) -> None:
        """End the server."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Name a data set and a server whose answers follow from the seed in its address."""
        name, seed = rng.choice(NAMES), rng.randrange(10**9)
        address = f"http://127.0.0.1:{self.port}/{seed}/{name}"
        return Command(["datasets", "fetch", name, "--into", "fetched", "--archive", address], folder)

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        campaign = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with contextlib.suppress(OSError, ValueError):
                    campaign.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a request by the seed in its path."""
        _, seed, name, *rest = request.path.split("/")
        rng = random.Random(f"{seed} {rest}")
        body = self._choose_body(rng, name if name in self.zips else "iris", request.path)
        if rng.random() < 0.03:
            request.wfile.write(edit(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", rng))
            return
        status = rng.choice([200] * 12 + [404, 410, 500, 302, 206, 999, 100])
        request.send_response(status, rng.choice([None, "\x1b[2J", "x" * 500]))
        if status == 302:
            target = [
                "file:///etc/passwd",
                request.path,
                "//",
                "http://[",
                "data:,x",
                "/\x1b[2J",
                "http://127.0.0.1:1/",
            ]
            request.send_header("Location", rng.choice(target))
        length = rng.choice([len(body)] * 8 + [0, len(body) + 9, 10**12, -1, "x"])
        if rng.random() < 0.9:
            request.send_header("Content-Length", str(length))
        if rng.random() < 0.05:
            request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        request.wfile.write(body)

    def _choose_body(self, rng: random.Random, name: str, path: str) -> bytes:
        how = rng.random()
        if not path.endswith(".zip"):
            return edit("".join(self.texts[name].values()).encode(), rng)
        if how < 0.5:
            return edit(self.zips[name], rng)
        buffer = io.BytesIO()
        with zipfile.ZipFile(
            buffer, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
        ) as made:
            for filename, text in self.texts[name].items():
                made.writestr(
                    rng.choice([filename] * 6 + ["../" + filename, "/x", "a\\b"]), edit(text.encode(), rng)
                )
            if how > 0.95:
                made.writestr("zeros", bytes(1 << 22))
        return buffer.getvalue() if how < 0.9 else edit(buffer.getvalue(), rng)
