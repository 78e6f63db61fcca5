"""Manifests of one run in several folders: one experiment, or a sentence on how they differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from zoloss_cli.errors import ResultsError
from zoloss_cli.results.manifest import Manifest

MAX_SHOWN_VALUE = 40


def merge_manifests(by_folder: list[tuple[Path, list[Manifest]]]) -> list[Manifest]:
    """Return one manifest for each run, with the times and versions of all folders.

    Parameters
    ----------
    by_folder : list of (Path, list of Manifest)
        The folders and their manifests.

    Returns
    -------
    list of Manifest
        In the order of their first occurrence.

    Raises
    ------
    ResultsError
        If two folders have different experiments, data sets or algorithms under one name.
    """
    merged: dict[str, tuple[Path, Manifest]] = {}
    for folder, manifests in by_folder:
        for manifest in manifests:
            name = manifest.experiment.name
            if name not in merged:
                merged[name] = folder, manifest
                continue
            first_folder, first = merged[name]
            _check_equal(name, (first_folder, first), (folder, manifest))
            runs = [*first.runs, *(run for run in manifest.runs if run not in first.runs)]
            runs.sort(key=lambda run: run.started)
            merged[name] = first_folder, replace(first, runs=runs)
    return [manifest for _, manifest in merged.values()]


def _check_equal(name: str, one: tuple[Path, Manifest], other: tuple[Path, Manifest]) -> None:
    folders = f"{one[0]} and {other[0]}"
    if difference := _find_difference(_describe_experiment(one[1]), _describe_experiment(other[1])):
        raise ResultsError(
            f"'{name}' is not the same experiment in {folders}: {difference}; merge results of one config, or "
            "give one run another name"
        )
    for cell, same in zip(one[1].cells, other[1].cells, strict=False):
        if cell != same:
            raise ResultsError(
                f"'{name}' is not of one version in {folders}: {cell.learner} on {cell.dataset} has the key "
                f"{cell.key} and {same.key}, so the data or the algorithm changed in between; run one of them "
                f"again: {one[1].command()}"
            )
    if len(one[1].cells) != len(other[1].cells):
        raise ResultsError(
            f"'{name}' does not have the same cells in {folders}; run it again: {one[1].command()}"
        )


def _describe_experiment(manifest: Manifest) -> dict[str, Any]:
    """Return an experiment as plain values, without the paths of files, which may differ between machines."""
    content = manifest.experiment.model_dump(mode="json")
    for data in content["datasets"]:
        if "csv" in data:
            data["csv"] = PurePath(data["csv"]).name
    _drop_code_paths(content["learners"])
    return content


def _drop_code_paths(value: Any) -> None:
    """Leave out where the files of learners' classes were read; their text and its hash remain."""
    if isinstance(value, dict):
        if isinstance(value.get("code"), dict):
            value["code"].pop("path", None)
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        _drop_code_paths(each)


def _find_difference(one: Any, other: Any, where: str = "") -> str:
    """Return the first key at which two values differ, with both values; empty if they are equal."""
    if one == other:
        return ""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if found := _find_difference(one.get(key), other.get(key), f"{where}.{key}" if where else str(key)):
                return found
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, pair in enumerate(zip(one, other, strict=True)):
            if found := _find_difference(*pair, f"{where}.{_name_entry(pair[0], i)}"):
                return found
    return f"{where} is {_shorten(one)} and {_shorten(other)}"


def _name_entry(entry: Any, i: int) -> str:
    """Return the name of a list entry: a data set's, a learner's, or its position."""
    return str((entry.get("name") or entry.get("label") if isinstance(entry, dict) else None) or i)


def _shorten(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        names = ", ".join(_name_entry(each, i) for i, each in enumerate(value))
        value = f"[{names}]"
    text = repr(value) if isinstance(value, str) and not value.startswith("[") else str(value)
    return text if len(text) <= MAX_SHOWN_VALUE else f"{text[:MAX_SHOWN_VALUE]}..."
