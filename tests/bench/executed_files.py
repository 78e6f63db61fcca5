"""Count the files of zoloss that each command executes: `python tests/bench/executed_files.py`.

A file is called if one of its functions runs, and loaded if it is imported; `__init__.py` does not count. The
fewer there are, the shorter is the way that a reader of one command has to follow.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = str(ROOT / "results" / "reference")
COMMANDS = {
    "table": ["table", REFERENCE, "--table", "II"],
    "run": ["run", str(ROOT / "configs/table2.yaml"), "--splits", "1", "--datasets", "heart", "--jobs", "1"],
    "fit": ["fit", "heart", "--learner", "pivot", "--set", "steps=200", "--no-validate"],
    "report": ["report", REFERENCE, "--out", "page.html"],
    "compare": ["compare", REFERENCE, "--summary"],
    "evaluate": ["evaluate", "heart", "--learners", "fld,lr", "--splits", "2", "--jobs", "1"],
}
TRACE = """
import inspect, json, sys
from pathlib import Path
import zoloss_cli
top = str(Path(zoloss_cli.__file__).parent)
called, loaded = set(), set()
def note(frame, event, argument):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(top) and name.endswith(".py") and not name.endswith("__init__.py"):
        (called if frame.f_code.co_flags & inspect.CO_OPTIMIZED else loaded).add(name[len(top) + 1:])
sys.setprofile(note)
sys.argv = ["zoloss", *json.loads(sys.argv[1])]
from zoloss_cli.__main__ import main
try:
    main()
except SystemExit:
    pass
finally:
    sys.setprofile(None)
    print(json.dumps([sorted(called), sorted(loaded)]), file=open("files.json", "w"))
"""


def main() -> None:
    print(f"{'command':<10}{'called':>8}{'loaded':>8}")
    for name, arguments in COMMANDS.items():
        with tempfile.TemporaryDirectory() as folder:
            extra = ["--out", "results"] if name in ("run", "evaluate") else []
            command = [sys.executable, "-c", TRACE, json.dumps([*arguments, *extra])]
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
            called, loaded = json.loads(Path(folder, "files.json").read_text(encoding="utf-8"))
        print(f"{name:<10}{len(called):>8}{len({*called, *loaded}):>8}")
        if "--files" in sys.argv:
            print(*(f"    {file}" for file in called), sep="\n")


if __name__ == "__main__":
    main()
