"""A user who may write into one folder only: not into the package, the working folder or a home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from places import TOP
from processes import HANG_SECONDS, Ended

NOBODY = 65534
# Root becomes nobody. The interpreter and the checkout may lie in folders that are root's alone, so reading
# stays allowed everywhere; writing does not.
CAPABILITIES = "-all,+dac_read_search"
AS_NOBODY = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={CAPABILITIES}"),
    *(f"--ambient-caps={CAPABILITIES}", f"--bounding-set={CAPABILITIES}"),
]
INHERITED = ("HOME", "PYTHONPATH", "TMPDIR", "USER", "LOGNAME")
PREFIXES = ("NUMBA_CACHE", "XDG_", "ZOLOSS_", "MPL")


class BareUser:
    """Runs commands of a copy of the package as somebody who may write into one folder only.

    Attributes
    ----------
    place : Path
        The copy; commands run in its folder `work`, which has the given files.
    writable : Path
        The folder that may be written to.
    """

    def __init__(self, files: Mapping[str, str]):
        self.top = Path(tempfile.mkdtemp(prefix="bare-"))
        self.place, self.writable = self.top / "installed", self.top / "writable"
        for name in ("zoloss_cli", "datasets", "configs"):
            shutil.copytree(TOP / name, self.place / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.place / "work").mkdir()
        for name, text in files.items():
            (self.place / "work" / name).write_text(text, encoding="utf-8")
        self.writable.mkdir()
        if os.geteuid() == 0:
            os.chown(self.writable, NOBODY, NOBODY)
        for folder in self._list_folders():
            folder.chmod(0o555)

    def _list_folders(self) -> list[Path]:
        return [self.top, self.place, *(path for path in self.place.rglob("*") if path.is_dir())]

    def remove(self) -> None:
        """Remove the copy and what was written."""
        for folder in self._list_folders():
            folder.chmod(0o755)
        shutil.rmtree(self.top)

    def run(self, *arguments: object, temporary: Path | None = None) -> Ended:
        """Run `zoloss ARGUMENTS...`."""
        return self.run_python("-m", "zoloss_cli", *arguments, temporary=temporary)

    def run_python(self, *arguments: object, temporary: Path | None = None) -> Ended:
        """Run Python with these arguments."""
        kept = {k: v for k, v in os.environ.items() if k not in INHERITED and not k.startswith(PREFIXES)}
        env = {**kept, "PYTHONPATH": str(self.place), "TMPDIR": str(temporary or self.writable)}
        becomes, drop = [], None
        if os.geteuid() == 0:
            becomes, drop = (AS_NOBODY, None) if shutil.which("setpriv") else ([], _become_nobody)
        ended = subprocess.run(
            [*becomes, sys.executable, "-B", *map(str, arguments)],
            cwd=self.place / "work", env=env, capture_output=True, text=True, timeout=HANG_SECONDS,
            preexec_fn=drop,
        )  # fmt: skip
        return Ended(ended.returncode, ended.stdout, ended.stderr)


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
