"""Figure 9 and errors against time: what searches reached, and when."""

import numpy as np
from drawing import drawn, named_lines, rewrite_record

from zoloss_cli.figures import curves as times
from zoloss_cli.figures import nguyen_sanner as synthetic
from zoloss_cli.report.runs import load_runs


def test_figure_9_draws_every_pair_of_losses(reference):
    run = reference["nguyen-figure9"]
    figure = drawn(synthetic.draw_paired_losses, run)
    for axes, dataset in zip(figure.axes, run.datasets, strict=True):
        for learner, title in {"bpm": "BPM", "svm": "SVM", "lr": "LR"}.items():
            x, y = named_lines(axes)[title]
            assert x.tolist() == run.cells[dataset, "sla"]["train_01_loss"]
            assert y.tolist() == run.cells[dataset, learner]["train_01_loss"]
            assert len(x) == 200
        low, high = axes.get_xlim()
        assert low < x.min() < x.max() < high
        assert np.all(named_lines(axes)["LR"][1] >= x)  # SLA starts from LR and only improves
        mean = {
            name: np.mean(run.cells[dataset, name]["train_01_loss"]) for name in ("sla", "bpm", "svm", "lr")
        }
        best = min(mean["bpm"], mean["svm"], mean["lr"])
        assert f"{100 * (best - mean['sla']) / best:.1f} %" in axes.get_title()


def test_times_are_those_of_the_search(reference):
    run = reference["nguyen-table1"]
    figure = drawn(times.draw_errors_against_time, run)
    assert [axes.get_title() for axes in figure.axes] == run.datasets
    for axes in figure.axes:
        cell = run.cells[axes.get_title(), "pivot"]
        x, y = named_lines(axes)["pivot"]
        assert x.tolist() == [cell["time_to_best"][0], cell["fit_time"][0]]
        assert y.tolist() == cell["train_01_loss"] * 2
        x, _ = named_lines(axes)["BPM"]  # no search: one time only
        assert x[0] == x[1] == run.cells[axes.get_title(), "bpm"]["fit_time"][0]


SEARCHES = """
name: searches
metric: train_01_loss
datasets: [heart]
split: {train: all, repeats: 1}
preprocess: {scale: standard}
learners: {lr: {}, pivot: {steps: 500}}
"""


def test_a_search_is_drawn_with_its_trace_or_else_with_its_two_times(zoloss, write_config, tmp_path):
    results = tmp_path / "results"
    assert zoloss("run", write_config(SEARCHES), "--out", results, "--jobs", "1").code == 0
    (run,), _ = load_runs(results)
    (trace,) = filter(None, (cell.trace for cell in run.cells.values()))
    cell = run.cells["heart", "pivot"]
    assert trace[-1] == (cell["time_to_best"][0], cell["train_01_loss"][0])
    assert [errors for _, errors in trace] == sorted({errors for _, errors in trace}, reverse=True)
    (axes,) = drawn(times.draw_errors_against_time, run).axes
    (steps,) = [line for line in axes.lines if line.get_drawstyle() == "steps-post"]
    assert list(zip(*steps.get_data(), strict=True)) == trace
    (path,) = (results / "cells").glob("heart.pivot.*")
    rewrite_record(path, 0, lambda record: record.pop("trace"))
    (run,), _ = load_runs(results)
    assert run.cells["heart", "pivot"].trace is None
    assert len(drawn(times.draw_errors_against_time, run).axes[0].lines) == 3  # the two times remain
