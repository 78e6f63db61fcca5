"""The figure of your own table: as many points as rows, thresholds, growth, and circles."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import assert_inside, named_lines

from zoloss_cli.api.complexity import ComplexityOptions, load_samples, measure_complexity
from zoloss_cli.api.complexity_text import draw_complexity
from zoloss_cli.data.user_table import read_for_training

ROWS = "a,b,label\n" + "".join(f"{i % 7},{i * i % 11}.{i:02d},{'xy'[(i * 5 // 3) % 2]}\n" for i in range(30))


def measured(path, **options):
    samples = load_samples(read_for_training(path), None, "standard")
    options = ComplexityOptions(permutations=20, **options)
    return measure_complexity(samples, options, lambda: None, lambda: None)


def test_every_row_is_a_point_of_its_category(table):
    found = measured(table(ROWS))
    figure = draw_complexity(found)
    left, right = figure.axes
    drawn = {name.split(" ")[0]: xy for name, xy in named_lines(left).items() if "(" in name}
    assert set(drawn) == {"typical", "critical", "noisy"}
    assert sum(xy.shape[1] for xy in drawn.values()) == 30
    for name, (x, y) in drawn.items():
        assert sorted(y) == sorted(found.contributions[found.categories == name])
        assert np.all(np.diff(y) <= 0)
        assert np.all((x >= 1) & (x <= 30))
    thresholds = [line.get_ydata()[0] for line in left.lines if list(line.get_xdata()) == [0, 1]]
    assert thresholds == [2 / 3, 1.0]
    x, y = named_lines(right)["mean of 20 orders"]
    assert (x.tolist(), y.tolist()) == (list(range(31)), found.growth.tolist())
    assert y[-1] == found.complexity
    assert_inside(figure)


@pytest.mark.parametrize("exact", [True, False])
def test_principal_points_are_circled(table, exact):
    found = measured(table(ROWS), clusters=6, exact=exact, all_pairs=True)
    panel = draw_complexity(found).axes[2]
    lines = named_lines(panel)
    circles = lines["principal points" if exact else "principal points (heuristic)"]
    assert circles.T.tolist() == [[p.complexity, p.error] for p in found.decomposition.points]
    assert ("unions of clusters" in lines) == exact
    if exact:
        assert lines["unions of clusters"].T.tolist() == found.decomposition.pairs.tolist()


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.pdf", b"%PDF")])
def test_the_file_is_of_its_kind_and_the_same_again(zoloss, table, tmp_path, name, start):
    path, plot = table(ROWS), tmp_path / name
    made = []
    for force in ([], ["--force"]):
        ended = zoloss("complexity", path, "--permutations", 20, "--plot", plot, *force)
        assert ended.code == 0, ended.err
        assert f"the figure is in {plot}" in ended.err
        made.append(plot.read_bytes())
    before, again = made
    assert before == again
    assert before.startswith(start)
    if name == "p.svg":
        text = before.decode()
        assert "average contribution" in text
        assert 30 <= text.count("<use") < 30 + 60  # and ticks and the legend
