"""Results with other contents and check values that fit, given to every command that reads results."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from zlib import crc32

from torture.children import Command
from torture.damage import CONFIGS, READERS, make_results, read_files
from torture.fuzzing import InputCampaign
from torture.mutations import VALUES, change_value, edit

DEPTH = 100_000
COMMANDS = [
    *([READERS[name] for name in ("table", "compare", "stats", "status")] * 4),
    *(READERS["report"], READERS["plot"], ["plot", "results"]),
    *(["table", "results", "--format", name] for name in ("csv", "latex", "html", "markdown")),
    *(["stats", "results", "--format", name] for name in ("csv", "latex", "html")),
    ["run", "first.yaml", "--out", "results", "--dry-run"],
    *(["export", "results"], ["export", "results", "--out", "records.parquet"], ["diff", "results", "results"]),
    *(["merge", "results", "other", "--out", "merged"], ["show", "heart", "fld", "0", "--results", "results"]),
]


class ResultInputs(InputCampaign):
    """Files that claim to be results."""

    name = "result-inputs"

    def prepare(self) -> None:
        """Run small experiments."""
        super().prepare()
        self.files = read_files(make_results(self.folder / "made"))
        self.names = ["first", "second", "heart", "fld", "test_error", "train_error", "complexity", "pocket"]

    def build(self, rng: random.Random, folder: Path) -> Command:
        """Change one or two files, and make their check values right."""
        for part in ("results/runs", "results/cells", "other/runs", "other/cells"):
            (folder / part).mkdir(parents=True)
        files = dict(self.files)
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(list(files))
            files[name] = self._change(files[name], name, rng)
        for name, content in files.items():
            (folder / "results" / name).write_bytes(content)
            (folder / "other" / name).write_bytes(self.files[name])
        for name, text in CONFIGS.items():
            (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        if rng.random() < 0.03:
            self._put_oddity(rng, folder / "results" / rng.choice(list(files)))
        return Command(rng.choice(COMMANDS), folder)

    def _change(self, content: bytes, name: str, rng: random.Random) -> bytes:
        how = rng.random()
        if how < 0.1:
            return edit(content, rng)
        if how < 0.13:
            deep = b'{"a":' + b"[" * DEPTH + b"]" * DEPTH
            return b'%s,"check":"%08x"}\n' % (deep, crc32(deep)) + content
        values = [*VALUES, *self.names]
        try:
            if name.endswith(".json"):
                return self._change_json(content, rng, values)
            return self._change_lines(content, rng, values)
        except (ValueError, RecursionError):  # a second change of what is no JSON any more
            return edit(content, rng)

    @staticmethod
    def _change_json(content: bytes, rng: random.Random, values: list) -> bytes:
        from zoloss_cli.results.manifest import append_check

        value = json.loads(content)
        had_check = value.pop("check", None)
        change_value(value, rng, values)
        text = json.dumps(value, indent=1) + "\n"
        return (append_check(text) if had_check else text).encode()

    @staticmethod
    def _change_lines(content: bytes, rng: random.Random, values: list) -> bytes:
        lines = [json.loads(line) for line in content.splitlines()]
        change_value(rng.choice(lines), rng, values)
        bodies = [json.dumps({k: v for k, v in line.items() if k != "check"})[:-1].encode() for line in lines]
        return b"".join(b'%s,"check":"%08x"}\n' % (body, crc32(body)) for body in bodies)

    @staticmethod
    def _put_oddity(rng: random.Random, path: Path) -> None:
        """Put something in the place of a file that is not a regular one."""
        path.unlink()
        kind = rng.choice(["pipe", "folder", "zeros", "loop", "nothing"])
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to({"zeros": "/dev/zero", "loop": path.name, "nothing": "nowhere"}[kind])
