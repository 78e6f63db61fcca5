"""The pages for readers: the commands that they show, in order, and their outputs.

`python tests/support/documents.py` updates the outputs and the files of docs/figures. A page shows a command in
a block of shell lines, and an output between two marks; both are steps, which are run in order in one folder.
"""

import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from places import TOP
from processes import environment

from zoloss_cli.registry import METRICS, load_metric

DOCS = TOP / "docs"
PAGES = [TOP / "README.md", *sorted(DOCS.rglob("*.md"))]
STEP = re.compile(
    r"```sh\n(?P<shell>.*?)```|<!-- output: zoloss (?P<shown>[^>]+?) -->\n(?P<output>.*?)<!-- end -->", re.S
)
PROSE = re.compile(r"(?<=<!-- prose -->\n).*?(?=\n<!-- end -->)", re.S)
CONFIG = re.compile(r"```yaml\n# (\S+\.yaml)\n.*?```", re.S)
# What differs from run to run: times, and sizes of pages with times in them.
VARIES = re.compile(r"\d[\d.]* seconds|in \d+:\d\d|\d[\d.]* MB")


@dataclass(frozen=True)
class Step:
    """A command line; `output` is the output that the page shows, or None."""

    command: str
    output: str | None = None


def parse_steps(text: str) -> list[Step]:
    """Commands in order; one whose output is shown right below it is one step."""
    found: list[Step] = []
    for match in STEP.finditer(text):
        if match["shown"] is not None:
            command = f"zoloss {match['shown']}"
            if found and found[-1] == Step(command):
                found.pop()
            found.append(Step(command, strip_fence(match["output"])))
            continue
        # README calls the command where its first block installs it, so that its blocks work as they stand.
        lines = match["shell"].replace("\\\n", " ").replace(".venv/bin/zoloss ", "zoloss ").splitlines()
        found += [Step(line) for line in (line.partition(" #")[0].strip() for line in lines) if line]
    return found


def read_yaml_block(page: Path, name: str) -> dict:
    """Return the content of the YAML file on a page whose first line is a comment with its name."""
    return yaml.safe_load(page.read_text(encoding="utf-8").partition(f"# {name}\n")[2].partition("```")[0])


def strip_fence(output: str) -> str:
    return output.strip().removeprefix("```text").removesuffix("```").strip()


def mask_varying(output: str) -> str:
    return VARIES.sub("...", "\n".join(line.rstrip() for line in output.strip().splitlines()))


def build_workplace(folder: Path, text: str) -> Path:
    for block in CONFIG.finditer(text):
        (folder / block[1]).write_text(block[0].removeprefix("```yaml\n").removesuffix("```"), encoding="utf-8")
    (folder / "results").mkdir()
    (folder / "docs").mkdir()
    for name in ("configs", "datasets", "results/reference", "docs/examples"):
        (folder / name).symlink_to(TOP / name, target_is_directory=True)
    return folder


def parse_metrics(text: str) -> dict[str, str]:
    return dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (lower|higher|–) \|", text, re.M))


def add_metrics(text: str) -> str:
    """Return a page with a row of its table for every metric, from the class's docstring if it had none."""
    rows = parse_metrics(text)
    if not rows:
        return text
    last = next(line for line in text.splitlines() if line.startswith(f"| `{list(rows)[-1]}` |"))
    new = []
    for name in METRICS.builtin:
        if name not in rows:
            metric = load_metric(name)
            summary = (metric.__doc__ or "").partition("\n")[0].rstrip(".")
            new.append(f"| `{name}` | {summary[:1].lower()}{summary[1:]} | {metric.direction or '–'} | |")
    return text.replace(last, "\n".join([last, *new]))


def add_prose(text: str) -> str:
    """Return a page with the table of the numbers in the papers' sentences, if it has one."""
    if not PROSE.search(text):
        return text
    table = runpy.run_path(str(TOP / "tests" / "unit" / "report" / "test_prose.py"))["render_prose"]()
    return PROSE.sub(lambda _: table, text)


def write_outputs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        here, outputs = build_workplace(Path(folder), text), {}
        for step in parse_steps(text):
            if step.command.startswith("zoloss "):
                words = [sys.executable, "-m", "zoloss_cli", *shlex.split(step.command)[1:]]
                ended = subprocess.run(
                    words, cwd=here, check=True, stdout=subprocess.PIPE, text=True, env=environment()
                )
                outputs[step.command] = ended.stdout.strip()
        for name in list_figures(text):
            if (here / name).exists():
                shutil.copyfile(here / name, DOCS / "figures" / name)

    def render(match: re.Match) -> str:
        if match["shown"] is None:
            return match[0]
        output = outputs[f"zoloss {match['shown']}"]
        if "markdown" not in match["shown"]:
            output = f"```text\n{output}\n```"
        return f"<!-- output: zoloss {match['shown']} -->\n{output}\n<!-- end -->"

    page.write_text(add_prose(add_metrics(STEP.sub(render, text))), encoding="utf-8")


def list_figures(text: str) -> list[str]:
    return re.findall(r"\]\((?:docs/|\.\./)?figures/([\w.-]+)\)", text)


if __name__ == "__main__":
    for path in [Path(name) for name in sys.argv[1:]] or PAGES:
        write_outputs(path)
