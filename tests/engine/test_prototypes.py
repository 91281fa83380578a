"""Prototypes: a world made from a prototype equals a world that was built under its name."""

from itertools import count

import pytest

from hosting_emulator.engine import worlds
from hosting_emulator.engine.worlds import Worlds
from tests.support.exported_worlds import export_document
from tests.support.in_process import InProcess, fresh_world


@pytest.mark.parametrize("name", ["default", "world-7"])
@pytest.mark.parametrize("before", ["default", "a-longer-name"])
def test_a_renamed_world_equals_a_world_built_under_that_name(before, name):
    built = fresh_world(name)

    world = Worlds(None).fresh(name, "key", lambda: fresh_world(before))

    assert export_document(world) == export_document(built)
    page = InProcess(world).deployments()
    assert page.body == InProcess(built).deployments().body
    assert b"shop.prod" in page.body or b"shop.world-7.prod" in page.body


def test_renaming_a_world_leaves_the_original_unchanged():
    world = fresh_world("one")
    before = export_document(world)

    Worlds(None).fresh("two", "key", lambda: world)

    assert export_document(world) == before


def test_a_world_is_built_once_for_each_key():
    built = count()
    registry = Worlds(None)

    def build():
        next(built)
        return fresh_world("first")

    for name in ("first", "second", "third"):
        assert registry.fresh(name, "key", build).name == name
    assert next(built) == 1
    registry.fresh("fourth", "another key", build)
    assert next(built) == 3


def test_changes_of_a_world_do_not_reach_the_next_world_of_its_prototype():
    registry = Worlds(None)
    first = InProcess(registry.fresh("first", "key", lambda: fresh_world("first")))
    first.set_flag(False)
    first.apply_domains()

    second = registry.fresh("second", "key", lambda: fresh_world("never"))

    assert export_document(second) == export_document(fresh_world("second"))


def test_the_prototype_unused_for_longest_is_evicted_first(monkeypatch):
    monkeypatch.setattr(worlds, "MOST_PROTOTYPES", 2)
    registry = Worlds(None)
    built = []

    def ask(key):
        def build():
            built.append(key)
            return fresh_world("world")

        registry.fresh("world", key, build)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)

    assert built == ["a", "b", "c", "b"]


def test_a_build_that_fails_is_not_remembered():
    registry = Worlds(None)

    def broken():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        registry.fresh("world", "key", broken)
    assert registry.fresh("world", "key", lambda: fresh_world("world")).name == "world"
