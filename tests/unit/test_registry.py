"""Registries: names, targets and plug-ins of any kind, in one class."""

import functools
from importlib.metadata import EntryPoint

import pytest

from zoloss_cli.errors import ConfigError
from zoloss_cli.registry import (
    GENERATORS,
    LEARNERS,
    MEASURES,
    METRICS,
    Registration,
    Registry,
    find_registration,
)


class ShapeRegistration(Registration):
    def check_plugin(self, plugin, found):
        if not callable(found):
            raise plugin.build_error("cannot be called")


@pytest.fixture
def shapes(monkeypatch):
    """A registry of two functions, and plug-ins of which one works."""
    entry_points = [
        EntryPoint("floor", "math:floor", "zoloss.shapes"),
        EntryPoint("pi", "math:pi", "zoloss.shapes"),
        EntryPoint("gone", "math:gone", "zoloss.shapes"),
        EntryPoint("join", "os:sep", "zoloss.shapes"),
        EntryPoint("taken", "math:floor", "zoloss.shapes"),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entry_points)
    builtin = {"join": ShapeRegistration("os.path:join"), "ceil": ShapeRegistration("math:ceil", title="Ceil")}
    return Registry("shape", builtin, "zoloss.shapes", ShapeRegistration, reserved=lambda: ["taken"])


def test_own_names_come_first_and_nobody_takes_them(shapes):
    assert list(shapes) == ["join", "ceil", "floor", "gone", "pi"]
    assert len(shapes) == 5
    assert shapes["join"].loaded("a", "b") == "a/b"
    assert shapes["ceil"].title == "Ceil"
    assert shapes["ceil"].package == ""
    assert shapes["floor"].loaded(1.5) == 1
    assert shapes["floor"].package == "?"
    with pytest.warns(UserWarning, match="the shape 'join' of the package .* 'join' is zoloss's own"):
        assert shapes.find("join") is shapes["join"]


def test_an_unknown_name_is_answered_with_the_nearest(shapes):
    with pytest.raises(ConfigError, match="unknown shape 'florr'; did you mean 'floor'"):
        shapes.find("florr")
    many = Registry("shape", {f"name{i}": Registration("math:floor") for i in range(13)}, hint="; see shapes")
    with pytest.raises(ConfigError, match="unknown shape 'xyz'; see shapes"):
        many.find("xyz")


def test_what_is_broken_is_listed_apart(shapes):
    assert list(shapes.list_usable()) == ["join", "ceil", "floor"]
    broken = {plugin.name: reason for plugin, reason in shapes.list_broken()}
    assert list(broken) == ["gone", "join", "pi", "taken"]
    assert broken["gone"].endswith("cannot be imported: AttributeError: module 'math' has no attribute 'gone'")
    assert broken["pi"].endswith("(entry point pi = math:pi) cannot be called")
    assert "conflicts with the same name in zoloss itself" in broken["taken"]
    assert shapes["pi"].find_fault() == broken["pi"]
    with pytest.raises(ConfigError, match="cannot be called"):
        _ = shapes["pi"].loaded


def test_a_registry_without_a_group_looks_for_no_plugins(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", functools.partial(pytest.fail, "asked"))
    assert list(Registry("shape", {"ceil": Registration("math:ceil")})) == ["ceil"]
    assert list(MEASURES) == list(MEASURES.builtin)
    assert list(GENERATORS) == list(GENERATORS.builtin)


def test_every_registered_target_is_there():
    for registry in (LEARNERS, MEASURES, METRICS, GENERATORS):
        assert [name for name, entry in registry.builtin.items() if entry.find_fault()] == []


def test_a_name_is_a_learner_s_or_a_measure_s():
    assert not set(LEARNERS.builtin) & set(MEASURES)
    assert find_registration("complexity") is MEASURES["complexity"]
    assert find_registration("fld") is LEARNERS["fld"]
    with pytest.raises(ConfigError, match="unknown learner 'complexty'"):
        find_registration("complexty")
