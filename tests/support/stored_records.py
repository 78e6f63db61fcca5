"""What a folder of results holds: its records, read by the store."""

from pathlib import Path

from zoloss_cli.results.store import read_cell_file


def stored(results: Path) -> dict[tuple[str, int], tuple]:
    """{(cell's file, split): (training errors, test errors)} of all tasks that did not fail."""
    return {
        (path.name, split): (record.train_errors, record.test_errors)
        for path in (results / "cells").glob("*.jsonl")
        for split, record in read_cell_file(path, path.name.split(".")[-2]).records.items()
    }
