"""What a release consists of: one version, a changelog, a citation, a man page, packages and workflows."""

import re
import runpy
import tomllib
from types import SimpleNamespace

import man_page
import yaml
from places import TOP

PYPROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
# How the recipe of conda calls a package of pyproject.toml, and what conda does not have.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
NOT_IN_CONDA = {"liblinear-official"}


CHECK = SimpleNamespace(**runpy.run_path(TOP / ".ci" / "check_versions.py"))
CHANGELOG = "# Changelog\n\n## [1.2.0] - 2026-11-30\n\n### Added\n\n- A thing.\n"


def versions(**changed):
    return dict.fromkeys(CHECK.PLACES, "1.2.0") | changed


def read_workflow(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_every_place_names_the_same_version():
    changelog = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    assert CHECK.find_faults(CHECK.read_versions(), changelog, None) == []


def test_a_version_that_differs_or_lacks_its_section_is_found():
    assert CHECK.find_faults(versions(), CHANGELOG, "v1.2.0") == []
    released = "[1.2.0] - 2026-11-30"
    for found, changelog, tag, words in (
        (versions(**{"CITATION.cff": "1.1.0"}), CHANGELOG, None, "CITATION.cff: the version is '1.1.0'"),
        (dict.fromkeys(CHECK.PLACES, "1.2"), CHANGELOG, None, "'1.2' is not a semantic version"),
        (versions(), CHANGELOG.replace("1.2.0", "1.1.0"), None, "no section [1.2.0] or [Unreleased]"),
        (versions(), CHANGELOG.replace(released, "[Unreleased]"), "v1.2.0", "no section [1.2.0]"),
        (versions(), CHANGELOG.replace(" - 2026-11-30", ""), None, "has no date"),
        (versions(), CHANGELOG.replace("Added", "News"), None, "'News' under [1.2.0] is none of"),
        (versions(), CHANGELOG, "v1.3.0", "the tag is v1.3.0"),
    ):
        (fault, *_) = CHECK.find_faults(found, changelog, tag)
        assert words in fault


def test_the_man_page_is_what_the_commands_say():
    """Without the section of a new command, which `make release-check` demands."""
    texts = man_page.PAGE.read_text(encoding="utf-8"), man_page.render_page()
    page, rendered = ({part.strip() for part in re.split(r"\n(?=\.S)", text)} for text in texts)
    assert page <= rendered, "run `make man`"


def test_the_tests_run_on_every_python_that_is_promised():
    promised = {entry.rpartition(" ")[2] for entry in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", entry)}
    matrix = read_workflow(TOP / ".github" / "workflows" / "test.yml")["jobs"]["suite"]["strategy"]["matrix"]
    assert set(matrix["python"]) == promised
    assert min(promised, key=lambda text: int(text.partition(".")[2])) == PROJECT[
        "requires-python"
    ].removeprefix(">=")
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_workflows_call_targets_that_exist_and_every_table():
    text = (TOP / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^([a-z][\w -]*):.*\n((?:\t.*\n)*)", text, re.M)
    targets = {name for names, _ in recipes for name in names.split()}
    tables = {name for names, recipe in recipes for name in names.split() if "$(RUN)" in recipe}
    for path in (TOP / ".github" / "workflows").glob("*.yml"):
        called = set()
        for job in read_workflow(path)["jobs"].values():
            commands = "\n".join(step.get("run", "") for step in job["steps"])
            chosen = job.get("strategy", {}).get("matrix", {}).get("target", [])
            lines = re.findall(r"^make (.*)$", commands.replace("${{ matrix.target }}", " ".join(chosen)), re.M)
            called |= {word for line in lines for word in line.split() if "=" not in word}
        assert called, path
        assert called <= targets, path
    jobs = read_workflow(TOP / ".github" / "workflows" / "test.yml")["jobs"]
    assert set(jobs["tables"]["strategy"]["matrix"]["target"]) == tables
    assert jobs["tables"]["steps"][-1]["run"] == "make ${{ matrix.target }} SPLITS=2"


def test_the_page_on_installation_names_every_dependency_but_those_left_out():
    page = (TOP / "docs" / "install.md").read_text(encoding="utf-8")
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in PROJECT["dependencies"]}
    lines = re.findall(r"^pip install (\w[^\n]*)$", page, re.M)
    without_compiler, small = (set(line.split()) for line in lines)
    optional = set(re.findall(r"^\| `([\w-]+)` \|", page, re.M))
    assert optional == {"cvxpy", "matplotlib", "liblinear-official"}
    assert (without_compiler, small) == (names - {"liblinear-official"}, names - optional)


def test_the_conda_recipe_needs_what_the_package_needs():
    text = (TOP / ".ci" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "x", re.sub(r"^\{%.*%\}$", "", text, flags=re.M)))
    needed = [re.sub(r"(?=>=)", " ", entry) for entry in PROJECT["dependencies"]]
    named = [entry.split() for entry in needed if entry.split()[0] not in NOT_IN_CONDA]
    wanted = {f"{CONDA_NAMES.get(name, name)} {bound}" for name, bound in named}
    python = f"python {PROJECT['requires-python']}"
    assert set(recipe["requirements"]["run"]) == wanted | {python}
    assert f"zoloss = {PROJECT['scripts']['zoloss']}" in recipe["build"]["entry_points"]
