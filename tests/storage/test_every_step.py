"""Killed before every single step of its work on files, a world is as before or as after.

Steps are seen through the interpreter's audit hook. Before each one the folder is copied: the copy
is what a kill at this moment would leave, and every copy must start.
"""

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import busy, content, folder, open_directory

STEPS = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}


class Camera:
    """Copies a folder before each step of work on files, while it is on."""

    def __init__(self) -> None:
        self.source: Path | None = None
        self.target = Path()
        self.count = 0
        self._busy = False
        sys.addaudithook(self._look)  # for good: off, it costs a comparison

    def _look(self, event, arguments):
        if self.source is None or self._busy or event not in STEPS:
            return
        if str(self.source) in str(arguments[0]):
            self.shoot()

    def shoot(self):
        self._busy = True
        try:
            assert self.source is not None
            shutil.copytree(self.source, self.target / f"{self.count:03}")
            self.count += 1
        finally:
            self._busy = False


CAMERA = Camera()


@contextmanager
def every_step(source, target):
    CAMERA.source = source
    CAMERA.target = target
    CAMERA.count = 0
    try:
        yield
        CAMERA.shoot()
    finally:
        CAMERA.source = None


def each_copy(start):
    """Return what a start on each copy finds; one is enough where several are alike.

    Many are: to open a file that is only read is a step too.
    """
    found: dict[Any, Any] = {}
    keys = []
    for number in range(CAMERA.count):
        copy = CAMERA.target / f"{number:03}"
        files = sorted(copy.rglob("*"))
        key = tuple((str(f.relative_to(copy)), f.is_file() and f.read_bytes()) for f in files)
        keys.append(key)
        if key not in found:
            found[key] = start(copy)
    return [found[key] for key in keys]


def started(path):
    """Start on a directory twice, change something in each world, and return them as first found."""
    found: dict[str, Any] = {}
    for round_ in range(2):
        opened = open_directory(path)
        try:
            for name in opened.worlds():
                world = opened.load(name)
                if world is None:
                    continue
                found.setdefault(name, content(world))
                api = InProcess(world, opened.keep(world, fresh=False))
                assert api.set_flag(True, key=f"after {round_}").status == 200
        finally:
            opened.close()
    return found


def make(opened, world):
    api = InProcess(world, opened.keep(world, fresh=True))
    busy(api)
    return api


def restored(opened, api):
    world = fresh_world(seed="another")
    api.engine.replace_world(replace(world, commit=api.world.commit + 1))


def made(opened, api):
    opened.keep(replace(api.world, name="fork"), fresh=True)


def deleted(opened, api):
    opened.forget("default")


def folded(opened, api):
    api.engine.keeper._compact()
    api.engine.keeper._compaction.result()


def mended(opened, api):
    keeper = api.engine.keeper
    keeper._journal.broken = "the disk said so"
    api.set_flag(False, key="the last")


def stopped(opened, api):
    opened.close()


@pytest.mark.parametrize("work", [restored, made, deleted, folded, mended, stopped])
@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_kill_before_any_step_of_a_change_leaves_the_old_or_the_new_state(
    tmp_path, work, durability
):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    opened = open_directory(data, durability=durability)
    api = make(opened, fresh_world())
    before = {"default": content(api.world)}

    with every_step(data, copies):
        work(opened, api)
    opened.close()

    *found, after = each_copy(started)
    assert len(found) >= 2
    assert all(each in (before, after) for each in found)
    states = [each == before for each in found]
    assert states == sorted(states, reverse=True)  # once new, never old again


def test_a_kill_before_any_step_of_a_first_start_leaves_no_world_or_a_whole_one(tmp_path):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    data.mkdir()
    world = fresh_world()
    with every_step(data, copies):
        opened = open_directory(data)
        opened.keep(world, fresh=True)
    opened.close()

    found = each_copy(started)
    assert all(each in ({}, {"default": content(world)}) for each in found)
    assert found[-1]


def test_a_kill_before_any_step_of_a_start_loses_nothing(tmp_path):
    with folder(tmp_path / "data" / "worlds" / "default") as kept:
        busy(kept.api)
        before = {"default": content(kept.api.world)}
        with kept.journal.open("ab") as file:
            file.write(b'{"crc32":"torn')
    with every_step(tmp_path / "data", tmp_path / "copies"):
        opened = open_directory(tmp_path / "data", durability="disk")
        world = opened.load("default")
        assert world is not None
        opened.keep(world, fresh=False)
    opened.close()

    assert all(found == before for found in each_copy(started))


def test_a_kill_before_any_step_of_a_salvage_loses_nothing(tmp_path):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    with folder(data / "worlds" / "default") as kept:
        busy(kept.api)
        lines = kept.journal.read_bytes().splitlines(keepends=True)
        damaged = b"".join([*lines[:4], b"garbage\n", *lines[5:]])
        kept.journal.write_bytes(damaged)
    with every_step(data, copies):
        opened = open_directory(data, salvage=True)
        world = opened.load("default")
    opened.close()

    def salvaged(copy):
        opened = open_directory(copy, salvage=True)
        found = content(opened.load("default"))
        opened.close()
        there = [path.read_bytes() for path in copy.rglob("journal.ndjson*")]
        assert any(data == damaged or data in damaged for data in there)
        return found

    assert all(found == content(world) for found in each_copy(salvaged))
