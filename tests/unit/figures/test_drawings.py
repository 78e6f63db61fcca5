"""Which figures there are, how they are named, and of which runs they can be drawn."""

from pathlib import Path

import pytest
from built_runs import build_run
from drawing import assert_inside, assert_labelled, drawn
from places import REFERENCE

from zoloss_cli.config.loader import load_config
from zoloss_cli.errors import ConfigError, ResultsError
from zoloss_cli.figures import drawings
from zoloss_cli.figures.figure_kinds import FIGURE_NAMES, find_figure, list_figures
from zoloss_cli.figures.svg import render_svg
from zoloss_cli.report.papers import read_paper_titles
from zoloss_cli.utils.files import shipped_folder

ANOTHER_PAPER = """
name: another-paper
title: Errors of two learners
published: {paper: acme-2020, figure: "3", drawn_as: WAY}
metric: train_error
datasets: [heart, sonar]
split: {train: 0.8, repeats: 2, seed: 5}
learners:
  rcd-bias: {epochs: 20, record_every: 10}
  rcd-plain: {epochs: 20, record_every: 10}
  fld:
"""


def mirror(figure: str, drawn_as: str | None = None, paper: str = "acme-2020"):
    """A run without curves that mirrors a figure of some paper."""
    published = {"paper": paper, "figure": figure, "drawn_as": drawn_as}
    values = {"train_error": [1.0, 2.0]}
    cells = {(d, x): values for d in ("a", "b") for x in ("fld", "lr", "svm")}
    return build_run(cells, metric="train_error", published=published, name=f"{paper}-{figure}")


def test_names_are_unique_and_carry_a_known_paper():
    assert [kind.name for kind in list_figures()] == list(FIGURE_NAMES)
    for kind in list_figures():
        assert kind.name == (f"{kind.paper}/{kind.number}" if kind.paper else kind.number)
        assert not kind.paper or kind.paper in read_paper_titles()
        assert kind.paper or kind.requirement or not kind.condition  # what needs no results needs nothing


def test_every_published_figure_has_a_config_that_says_so():
    for kind in list_figures():
        if kind.config:
            published = load_config(shipped_folder("configs") / kind.config.removeprefix("configs/")).published
            assert (published.paper, published.figure) == (kind.paper, kind.source_figure or kind.number)


def test_the_number_will_do_where_only_one_paper_has_it():
    assert find_figure("3").name == find_figure("li-lin-2007/3").name == "li-lin-2007/3"
    assert find_figure("1.5").name == "li-thesis-2006/1.5"
    assert drawings.find_kind("3", []).name == "li-lin-2007/3"


def test_a_number_of_two_papers_is_refused_with_their_names():
    runs = [mirror("3", "ranks")]
    with pytest.raises(ConfigError, match="several papers have a figure '3'; name one: acme-2020/3, li-lin"):
        drawings.find_kind("3", runs)
    assert drawings.find_kind("acme-2020/3", runs).function == find_figure("ranks").function
    assert drawings.find_kind("li-lin-2007/3", runs) == find_figure("3")


def test_an_unknown_name_is_told_with_the_nearest():
    for name, hint in {"li-lin-2007/5": "did you mean 'li-lin-2007/", "7": "zoloss plot lists them"}.items():
        with pytest.raises(ConfigError, match=f"no figure is called '{name}'.*{hint}"):
            drawings.find_kind(name, [mirror("8", "ranks")])


def test_a_config_alone_makes_a_figure_of_another_paper(zoloss, write_config, tmp_path):
    results, out = tmp_path / "results", tmp_path / "three.svg"
    config = write_config(ANOTHER_PAPER.replace("WAY", "curves"))
    assert zoloss("run", config, "--out", results, "--jobs", "1").code == 0
    zoloss.ok("plot", results, "--figure", "acme-2020/3", "--out", out)
    text = out.read_text(encoding="utf-8")
    assert all(part in text for part in ("RCD-bias", "epochs", "heart", "training error (%)"))
    listed = zoloss("plot", results).out
    assert f"{results} --figure acme-2020/3  " in listed
    assert "--figure curves" not in listed  # the same
    page = tmp_path / "page.html"
    assert zoloss("report", results, "-o", page).code == 0
    assert '<li><a href="#figure-acme-2020-3">Figure 3 of acme-2020' in page.read_text(encoding="utf-8")


def test_what_is_drawn_is_what_the_named_figure_draws():
    run = mirror("7", "ranks")
    (drawing,) = drawings.find_drawings([run])
    assert (drawing.name, drawing.kind.beside_tables) == ("acme-2020/7", "none")
    assert drawing.command == "zoloss plot results --figure acme-2020/7"
    assert drawing.stem == "figure-acme-2020-7"
    assert "cannot tell apart" in drawing.caption
    assert render_svg(drawn(drawing.pages[0])) == render_svg(drawn(find_figure("ranks").draw, run))


def test_a_config_that_does_not_say_how_or_what_the_run_lacks_is_refused(write_config):
    for drawn_as, message in (
        (None, r"configs/mine.yaml' does not say how 'acme-2020/7' is drawn: add"),
        ("rank", r"published.drawn_as: no figure of results is called 'rank'; did"),
    ):
        runs = [mirror("7", drawn_as)]
        with pytest.raises(ConfigError, match=message):
            drawings.find_kind("acme-2020/7", runs)
        assert [drawing.name for drawing in drawings.find_drawings(runs) if drawing.kind.paper] == []
    kind = drawings.find_kind("acme-2020/7", [mirror("7", "curves")])
    with pytest.raises(ResultsError, match="has no results for figure 'acme-2020/7', which needs learners"):
        drawings.choose_drawing(kind, [mirror("7", "curves")], Path("results"))
    with pytest.raises(ConfigError, match="drawn_as applies only to figures"):
        load_config(write_config(ANOTHER_PAPER.replace("figure:", "table:").replace("WAY", "curves")))


def test_every_figure_of_the_reference_is_drawn_and_small(reference):
    found = drawings.find_drawings(list(reference.values()), REFERENCE)
    quick = {kind.name for kind in list_figures() if kind.is_quick and kind.needs_results}
    quick.remove("lookup")  # figures of the thesis show the same decompositions
    assert {drawing.name for drawing in found} == quick
    assert len({drawing.stem for drawing in found}) == len(found)
    for drawing in found:
        figure = drawn(drawing.pages[0])
        assert_inside(figure)
        assert_labelled(figure, drawing)
        text = render_svg(figure, "f1")
        largest = 150_000 if drawing.kind.number.startswith("1.") else 90_000  # thousands of pairs, a dot each
        assert 2000 < len(text.encode()) < largest, drawing.stem
        assert drawing.command in drawing.caption


def test_what_is_available_depends_on_the_run(recorded, reference):
    names = {drawing.name for drawing in drawings.find_drawings([recorded[1]])}
    assert "li-lin-2007/3" in names
    assert not names & {"curves", "ranks"}  # its curves are that figure; one data set gives no ranks
    quick = {drawing.name for drawing in drawings.find_drawings([reference["table2"]])}
    assert "ranks" in quick
    assert not quick & {"boxes", "differences"}
    everything = {drawing.name for drawing in drawings.find_drawings([reference["table2"]], only_quick=False)}
    assert everything >= {"ranks", "boxes", "differences", "boundary"}


def test_a_caption_names_run_config_splits_and_command(recorded):
    found = drawings.find_drawings([recorded[1]], Path("my results"))
    (drawing,) = (each for each in found if each.name == "li-lin-2007/3")
    for part in ("RCD by epoch", "3 splits", "run 'figure3'", "figure3.yaml", "± one standard error"):
        assert part in drawing.caption
    assert drawing.command == "zoloss plot 'my results' --figure li-lin-2007/3"


def test_a_part_of_a_run_has_its_cells_only(reference):
    with pytest.raises(ResultsError, match="no data set 'hart'; did you mean 'heart'"):
        drawings.narrow_run(reference["table2"], ["hart"], [])
    part = drawings.narrow_run(reference["table2"], ["heart", "sonar"], ["rcd-bias"])
    assert (part.datasets, part.learners) == (["heart", "sonar"], ["rcd-bias"])
    assert set(part.cells) == {("heart", "rcd-bias"), ("sonar", "rcd-bias")}
    assert [(cell.dataset, cell.learner) for cell in part.manifest.cells] == list(part.cells)
