"""What tests of figures share: small runs, and what is found on drawn axes."""

import copy
import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
from matplotlib.text import Text
from msgspec.structs import replace

from zoloss_cli.figures import style
from zoloss_cli.metrics.base import PooledMeasurement
from zoloss_cli.report.runs import RunResult
from zoloss_cli.report.statistics import Ranks

FIGURE_3 = """
title: RCD by epoch
published: {paper: li-lin-2007, figure: "3"}
metric: train_error
datasets: [heart]
split: {train: 0.8, repeats: 3, seed: 5}
learners:
  ccd-zero: {learner: ccd, seeding: zero, epochs: 40, record_every: 10}
  rcd-bias-zero: {learner: rcd-bias, seeding: zero, epochs: 40, record_every: 10}
  rcd-bias-fld: {learner: rcd-bias, seeding: fld, epochs: 40, record_every: 10}
"""


DISKS = """
published: {paper: li-thesis-2006, figure: "1.5"}
metric: principal_points
also: principal_subsets
datasets:
  disks: {size: 14, seed: [1, 2, 3]}
split: {train: all, repeats: 3, seed: 5}
preprocess: {scale: none}
measures:
  6 clusters: {measure: decomposition, clusters: 6}
  all subsets: {measure: decomposition, clusters: 0}
"""
YIN_YANG = """
published: {paper: li-thesis-2006, figure: "1.8"}
metric: principal_points
also: principal_subsets
datasets:
  yinyang: {size: 40, seed: [1, 2, 3]}
  two of them: {generator: yinyang, size: 40, seed: [1, 2], repeats: 2}
split: {train: all, repeats: 3, seed: 5}
preprocess: {scale: none}
measures:
  heuristic: {measure: decomposition, clusters: 10, exact: false}
  exact: {measure: decomposition, clusters: 10, on: {yinyang: false}}
"""
WRONG_LABELS = """
published: {paper: li-thesis-2006, figure: "FIGURE"}
metric: auc
also: auc_least_squares
datasets:
  yinyang: {size: 60, seed: [1, 2, 3], flip: {share: 0.1}}
split: {train: all, repeats: 6, seed: 5}
preprocess: {scale: none}
measures:
  contribution: {permutations: 150, s1: 8}
  neighbours: {neighbours: 5}
  leave-one-out:
"""


RANKS = Ranks(
    ["rcd-bias", "pocket", "ave-perc", "soft-svm"],
    [1.25, 2.0, 3.25, 3.5],
    ["a", "b", "c", "d"],
    0.05,
    2.3452,
    0.0123,
    [(0, 2), (1, 3)],
)


def drawn(function, *arguments):
    with style.apply_style():
        return function(*arguments)


def named_lines(axes) -> dict[str, np.ndarray]:
    """The lines that are in the legend, as x and y."""
    return {x.get_label(): np.array(x.get_data()) for x in axes.lines if not x.get_label().startswith("_")}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def assert_inside(figure) -> None:
    """Nothing that is drawn leaves the page, by more than half a line's width."""
    with style.apply_style():
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -0.01, box


def assert_labelled(figure, drawing) -> None:
    """Axes have labels, the data and splits are named, and no title runs over that of the next panel.

    The figure has been laid out, as `assert_inside` does.
    """
    texts = " ".join(text.get_text() for text in figure.findobj(match=Text) if text.get_visible())
    assert "split" in texts or "whole set" in texts, drawing.stem
    if drawing.kind.spread:
        assert drawing.kind.spread.split(":")[0] in texts, drawing.stem
    titles = []
    for axes in figure.axes:
        has_ticks = (
            axes.axison and axes.xaxis.get_visible() and len(axes.get_xticks()) and drawing.name != "ranks"
        )
        shared = axes.get_shared_x_axes().get_siblings(axes)
        grid = axes.get_subplotspec()
        if has_ticks and len(shared) == 1 and grid is not None and grid.is_last_row():
            assert axes.get_xlabel(), drawing.stem
        if axes.get_title():
            titles.append(axes.title.get_window_extent())
    for one, other in itertools.combinations(titles, 2):
        assert not (one.width and other.width and one.overlaps(other)), drawing.stem


# -- what is stored -------------------------------------------------------------------------------------------


def find_cell_file(folder: Path, run: RunResult, learner: str) -> Path:
    (cell,) = (cell for cell in run.manifest.cells if cell.learner == learner)
    return folder / "cells" / cell.file


def stored_records(folder: Path, run: RunResult, learner: str) -> tuple[list[dict], dict]:
    header, *lines = map(json.loads, find_cell_file(folder, run, learner).read_text("utf-8").splitlines())
    return lines, header


def rewrite_record(path: Path, index: int, change: Callable[[dict], object]) -> None:
    """Change a stored record, as someone would who can make its checksum match."""
    lines = path.read_bytes().splitlines()
    record = json.loads(lines[1 + index])
    del record["check"]
    change(record)
    body = json.dumps(record, separators=(",", ":")).encode()[:-1]
    lines[1 + index] = b'%s,"check":"%08x"}' % (body, crc32(body))
    path.write_bytes(b"\n".join([*lines, b""]))


def alter(found: PooledMeasurement, **fields) -> PooledMeasurement:
    """A measurement with other fields, also such as no file could hold."""
    changed = PooledMeasurement(found.records)
    if "flipped" in fields:
        flipped = list(fields.pop("flipped"))
        records = [replace(r, measured=replace(r.measured, flipped=flipped)) for r in found.records]
        changed = PooledMeasurement(records)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def change_measurements(run: RunResult, change: Callable[[dict], object]) -> RunResult:
    measurements = copy.deepcopy(run.measurements)
    change(measurements)
    return dataclasses.replace(run, measurements=measurements)
