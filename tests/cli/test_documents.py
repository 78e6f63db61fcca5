"""Every command of README and docs works and gives the output that the page shows; pages name all there is."""

from __future__ import annotations

import re
import shlex

import msgspec
import pytest
from documents import PAGES, TOP, build_workplace, list_figures, mask_varying, parse_metrics, parse_steps

from zoloss_cli.registry import SCORERS, load_metric
from zoloss_cli.report.frame import COLUMNS
from zoloss_cli.results.manifest import ManifestCell, RunInfo
from zoloss_cli.results.record import CellHeader, FailedRecord, FitRecord, Measurement, MeasureRecord

README = (TOP / "README.md").read_text(encoding="utf-8")
# These set up an environment of their own: CI runs the first two as they stand.
SET_UP = ("make ", "pip install ")
# What others compute may differ in its digits on another processor, whose sums have another order.
SHOW_STORED = ("table", "compare", "stats", "status", "learners", "datasets")
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?\b|\*\*")


def words_of(output: str) -> list[str]:
    return NUMBER.sub("0", mask_varying(output)).split()


@pytest.fixture(scope="module")
def shown_before():
    """The outputs of commands that read what is stored only, which several pages show."""
    return {}


def drop_written_files(words) -> tuple[str, ...]:
    """A command without the options that name a file to write, which do not change what it prints."""
    return tuple(
        word
        for before, word in zip([None, *words], words, strict=False)
        if not {before, word} & {"--out", "-o", "--plot", "--report", "--model"}
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_every_command_works_and_gives_the_output_that_the_page_shows(
    zoloss, request, monkeypatch, tmp_path, shown_before, page
):
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(build_workplace(tmp_path, text))
    shown = {}
    for step in parse_steps(text):
        if step.command.startswith(SET_UP):
            continue
        program, *words = shlex.split(step.command)
        assert program == "zoloss", step.command
        key = drop_written_files(words)
        if words[0] == "run":
            shown.clear()
        if words[:2] == ["report", "results/reference"]:
            request.getfixturevalue("reference_page")  # which takes seconds, and other tests build
            continue
        outputs = shown_before if "results/reference" in words or words[:2] == ["plot", "--figure"] else shown
        if key not in outputs or (step.output is None and outputs is shown):
            in_process = words[0] in ("run", "evaluate") and not {"--cluster", "--dry-run"} & set(words)
            ended = zoloss(*words, *(["--jobs", "1"] if in_process else []))
            assert ended.code == 0, (step.command, ended.err)
            outputs[key] = ended.out
        if step.output is not None:
            seen = mask_varying if words[0] in SHOW_STORED else words_of
            assert seen(outputs[key]) == seen(step.output), step.command


def test_readme_begins_with_its_two_commands_and_calls_zoloss_where_it_is_installed():
    """In a new shell there is no `zoloss` on the path."""
    found = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert [block.strip() for block in found[:2]] == ["make quickstart", "make test"]
    assert set(re.findall(r"^(\S*zoloss) ", "\n".join(found), re.M)) == {".venv/bin/zoloss"}
    assert len(README.splitlines()) <= 100


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert target.startswith("https://") or (page.parent / target).exists(), (page, target)


def test_every_figure_has_a_command_that_writes_it():
    """On some page; but for two whose file is named in the Makefile, and the chart, which was drawn by hand."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    written = {name for text in texts for name in re.findall(r"(?:--out|-o|--plot) (?:\S*/)?([\w.-]+)", text)}
    by_make = set(re.findall(r"docs/figures/([\w.$-]+)", (TOP / "Makefile").read_text(encoding="utf-8")))
    by_make |= {f"figure-{number}.png" for number in ("1.5", "1.12")}
    shown = {name for text in texts for name in list_figures(text)}
    assert shown - written - by_make == {"chart.svg"}
    assert shown == {path.name for path in (TOP / "docs" / "figures").iterdir()}


def test_the_table_of_metrics_has_their_directions():
    page = (TOP / "docs" / "experiments.md").read_text(encoding="utf-8")
    listed = parse_metrics(page)
    assert len(listed) > 25
    assert listed == {name: load_metric(name).direction or "–" for name in listed}, "make docs"


def test_the_page_of_results_has_every_column_of_the_frame():
    page = (TOP / "docs" / "results.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", page, re.M)
    assert [row[:2] for row in rows] == [tuple(column) for column in COLUMNS]


def test_the_table_of_scorers_names_all_by_what_they_need():
    page = (TOP / "docs" / "experiments.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (nothing else|two classes|`keep)([^|]*)\| (`.*`) \|$", page, re.M)
    listed = {name: f"{start}{rest}" for start, rest, names in rows for name in re.findall(r"`(\w+)`", names)}
    assert set(listed) == set(SCORERS)
    for name, needs in listed.items():
        metric = load_metric(name)
        assert ("two classes" in needs) == (metric.n_classes == 2), name
        assert ("keep: scores" in needs) == ("test_scores" in metric.requires), name
        assert ("keep: probabilities" in needs) == ("test_probabilities" in metric.requires), name


def test_the_format_of_results_names_every_field():
    page = (TOP / "results" / "README.md").read_text(encoding="utf-8")
    for stored in (FitRecord, MeasureRecord, Measurement, FailedRecord, CellHeader, ManifestCell, RunInfo):
        assert [f.name for f in msgspec.structs.fields(stored) if f"`{f.name}`" not in page] == []


def test_paths_of_modules_exist():
    for page in [*PAGES, TOP / "results" / "README.md"]:
        for path in re.findall(r"`((?:zoloss_cli|tests|configs)/[\w/.-]*)`", page.read_text(encoding="utf-8")):
            assert (TOP / path).exists(), (page.name, path)
