"""A user who may write into one folder only: not into the package, the working folder or a home."""

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
# Kernels are not copied; byte code is, unless it is being written, and makes each start faster.
KERNELS = shutil.ignore_patterns("*.nb[ic]*", "*.pyc.*")
INHERITED = ("HOME", "PYTHONPATH", "TMPDIR", "USER", "LOGNAME")
PREFIXES = ("NUMBA_CACHE", "XDG_", "ZOLOSS_", "MPL")


class BareUser:
    """Runs commands of a copy of the package, in its folder `work`; only `writable` may be written to."""

    def __init__(self, files: Mapping[str, str]):
        self.top = Path(tempfile.mkdtemp(prefix="bare-"))
        self.place, self.writable = self.top / "installed", self.top / "writable"
        for name in ("zoloss_cli", "datasets", "configs"):
            shutil.copytree(TOP / name, self.place / name, ignore=KERNELS)
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
        for folder in self._list_folders():
            folder.chmod(0o755)
        shutil.rmtree(self.top)

    def run(self, *arguments: object, temporary: Path | None = None) -> Ended:
        return self.run_python("-m", "zoloss_cli", *arguments, temporary=temporary)

    def run_python(self, *arguments: object, temporary: Path | None = None) -> Ended:
        kept = {k: v for k, v in os.environ.items() if k not in INHERITED and not k.startswith(PREFIXES)}
        env = {**kept, "PYTHONPATH": str(self.place), "TMPDIR": str(temporary or self.writable)}
        becomes = AS_NOBODY if os.geteuid() == 0 else []
        ended = subprocess.run(
            [*becomes, sys.executable, "-B", *map(str, arguments)],
            cwd=self.place / "work", env=env, capture_output=True, text=True, timeout=HANG_SECONDS,
        )  # fmt: skip
        return Ended(ended.returncode, ended.stdout, ended.stderr)
