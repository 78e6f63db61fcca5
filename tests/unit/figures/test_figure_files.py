"""Files of figures: their line styles and their bytes."""

import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from drawing import drawn

from zoloss_cli.errors import OutputError
from zoloss_cli.figures import nguyen_sanner as losses
from zoloss_cli.figures import nguyen_sanner as synthetic
from zoloss_cli.figures import style, svg
from zoloss_cli.figures.files import find_format, render_figure
from zoloss_cli.figures.svg import render_svg


def test_lines_differ_without_colour():
    pens = style.build_line_styles(35)
    assert len({(str(pen.dashes), pen.marker) for pen in pens}) == 35
    for first, second in itertools.combinations(style.build_line_styles(5), 2):
        assert len({first.colour, second.colour}) == len({str(first.dashes), str(second.dashes)}) == 2


def test_the_same_figure_gives_the_same_bytes_and_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    first = {x: render_figure(drawn(losses.draw_margin_losses), x) for x in ("pdf", "svg", "png")}
    assert dict(matplotlib.rcParams) == before
    with matplotlib.rc_context({"lines.linewidth": 9.0, "xtick.direction": "in", "svg.hashsalt": None}):
        assert first == {x: render_figure(drawn(losses.draw_margin_losses), x) for x in first}
    assert b"/FontFile2" in first["pdf"]  # its fonts are inside
    assert b"/Type3" not in first["pdf"]
    assert b"CreationDate" not in first["pdf"]


def test_inline_svg_stands_beside_others():
    figure = drawn(losses.draw_margin_losses)
    texts = [render_svg(figure, prefix) for prefix in ("one", "two")]
    assert texts[0].startswith("<svg")
    ids = [set(re.findall(r'id="([^"]+)"', text)) for text in texts]
    assert ids[0]
    assert not ids[0] & ids[1]
    root = ElementTree.fromstring(texts[0])
    for value in (value for element in root.iter() for value in element.attrib.values()):
        for name in re.findall(r"url\(#([^)]+)\)", value):
            assert name in ids[0]
    assert {e.get("href")[1:] for e in root.iter() if e.get("href")} <= ids[0]
    sheet = root.find("{http://www.w3.org/2000/svg}style").text
    assert all(rule.startswith(".one-") for rule in sheet.split("}")[:-1])  # it styles nothing but itself
    used = {name for e in root.iter() for name in e.get("class", "").split()}
    assert used == set(re.findall(r"\.([\w-]+)\{", sheet))
    assert "margin" in "".join(root.itertext())


def test_inline_svg_keeps_every_marker(reference):
    figure = drawn(synthetic.draw_paired_losses, reference["nguyen-figure9"])
    run = reference["nguyen-figure9"]
    points = set()
    for dataset, learner in itertools.product(run.datasets, ("bpm", "svm", "lr")):
        x, y = (run.cells[dataset, name]["train_01_loss"] for name in ("sla", learner))
        points |= {(dataset, learner, *point) for point in zip(x, y, strict=True)}
    root = ElementTree.fromstring(render_svg(figure))
    sheet = dict(re.findall(r"\.([\w-]+)\{([^}]*)\}", root.find("{http://www.w3.org/2000/svg}style").text))
    marked = [e for e in root.iter() if "marker: url" in sheet.get(e.get("class"), e.get("style", ""))]
    marks = sum(len(e.get("d").split()) // 2 for e in marked)
    assert marks == len(points)


def test_markers_stand_where_matplotlib_puts_them_but_for_what_is_not_seen():
    with style.apply_style():
        figure = style.new_figure(3.0, 2.0)
        axes = figure.subplots()
        axes.set(xlim=(0.0, 4.0), ylim=(0.0, 1.0))
        axes.plot([-9.0, 1.0, 2.0, 2.0, float("nan"), 3.0], [0.5, 0.1, 0.2, 0.2, 0.3, 0.9], "ko")
        root = ElementTree.fromstring(render_svg(figure))
        ends = axes.transData.transform([(-9.0, 0.5), (1.0, 0.1), (2.0, 0.2), (3.0, 0.9)])
    (places,) = [e.get("d") for e in root.iter() if "marker: url" in e.get("style", "")]
    found = [float(number) for number in places.split()[1:]]
    assert found == pytest.approx([side for x, y in ends for side in (x, 2.0 * 72 - y)], abs=0.051)


def test_texts_have_the_size_that_matplotlib_gives_them(monkeypatch):
    text = render_svg(drawn(losses.draw_margin_losses))
    monkeypatch.delattr(svg._Renderer, "_get_font_height_metrics")  # so that it measures fonts itself
    assert render_svg(drawn(losses.draw_margin_losses)) == text


def test_a_file_name_gives_the_format():
    assert find_format(Path("a.b/c.PNG")) == "png"
    for name in ("figure.jpg", "figure", "figure.pdf.gz"):
        with pytest.raises(OutputError, match=r"one of \.pdf, \.svg, \.png"):
            find_format(Path(name))
