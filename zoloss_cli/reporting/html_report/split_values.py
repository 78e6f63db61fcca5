"""The values of all splits behind a table, packed: the page's script unpacks them on request."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import Any

from zoloss_cli.reporting.figures.boxes import MIN_VALUES, name_metric
from zoloss_cli.reporting.run_result import RunResult
from zoloss_cli.reporting.titles import build_column_titles

FIRST_CODE, LAST_CODE = 35, 91  # characters that JSON does not escape, '#' to '['


def render_split_values(run: RunResult) -> str:
    """Return an element with the values of the metric in a run's table, by data set and learner.

    Parameters
    ----------
    run : RunResult
        The run.

    Returns
    -------
    str
        A template element with gzipped JSON in base64; empty if no cell has several splits.
    """
    titles = build_column_titles(run.learners)
    cells: dict[str, dict[str, Any]] = {}
    for dataset in run.datasets:
        packed = {
            titles[x]: _pack(run, dataset, x) for x in run.learners if _count(run, dataset, x) >= MIN_VALUES
        }
        if packed:
            cells[dataset] = packed
    if not cells:
        return ""
    content = json.dumps({"metric": name_metric(run.metric), "cells": cells}, separators=(",", ":"))
    packed_content = b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()
    return f'<template class="splits">{packed_content}</template>'


def _count(run: RunResult, dataset: str, learner: str) -> int:
    return len(run.get_values(dataset, learner))


def _pack(run: RunResult, dataset: str, learner: str) -> dict[str, Any]:
    """Return the values of a cell: if few are distinct, each of them once, and one character per split."""
    found = run.get_values(dataset, learner)
    rounded = {value: float(f"{value:.6g}") for value in set(found)}
    values = [rounded[value] for value in found]
    splits = run.cells[dataset, learner].splits
    packed: dict[str, Any] = {} if splits == list(range(len(splits))) else {"splits": splits}
    distinct = sorted(set(values))
    if len(distinct) > LAST_CODE - FIRST_CODE:
        return packed | {"values": values}
    codes = {value: chr(FIRST_CODE + place) for place, value in enumerate(distinct)}
    return packed | {"distinct": distinct, "codes": "".join(codes[value] for value in values)}
