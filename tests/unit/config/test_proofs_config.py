"""The config of proofs has all embedded data sets, with their sizes."""

from __future__ import annotations

import yaml

from zoloss_cli.config.loader import load_config
from zoloss_cli.utils.files import shipped_folder


def test_all_embedded_sets_and_classes_are_there_with_their_sizes():
    catalog = yaml.safe_load((shipped_folder("datasets") / "catalog.yaml").read_text(encoding="utf-8"))
    expected = set()
    for name, entry in catalog.items():
        size = f"({entry['rows']} x {entry['features']})"
        classes = entry["classes"]
        expected |= {f"{name} {size}"} if len(classes) == 2 else {f"{name} {label} {size}" for label in classes}
    experiment = load_config(shipped_folder("configs") / "proofs.yaml")
    assert {data.name for data in experiment.datasets} == expected
    for data in experiment.datasets:
        words = data.name.split()
        assert data.dataset == words[0]
        assert data.positive == (words[1] if len(catalog[data.dataset]["classes"]) > 2 else data.positive)
