"""Times in which Python does not look for garbage."""

from __future__ import annotations

import gc
import weakref

import pytest

from zoloss_cli.utils.processes import pause_garbage_collection


class Cycle:
    """An object that only a search for garbage frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def searches():
    """Collect each search for garbage, by its generation, with Python's own settings."""
    found: list[int] = []

    def note(phase, info):
        if phase == "start":
            found.append(info["generation"])

    threshold = gc.get_threshold()
    gc.collect()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.set_threshold(*threshold)


def test_nothing_is_searched_within_a_pause_nor_right_after(searches):
    if gc.get_freeze_count():
        pytest.skip("Python 3.12 itself has set objects aside, which have to stay there")
    with pause_garbage_collection():
        kept = [[] for _ in range(5000)]
    kept.append([])
    assert gc.isenabled()
    assert searches == []


def test_what_a_pause_left_is_freed_by_the_next_full_search():
    count = gc.get_freeze_count()
    with pause_garbage_collection():
        left = weakref.ref(Cycle())
    assert gc.get_freeze_count() <= count
    gc.collect()
    assert left() is None


def test_a_pause_leaves_what_others_set_aside_where_it_is():
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with pause_garbage_collection():
            pass
        assert 0 < gc.get_freeze_count() <= count
    finally:
        gc.unfreeze()


def test_a_pause_does_not_switch_on_what_was_off():
    gc.disable()
    try:
        with pause_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
