"""After a kill before any step of its work on files, a world has its old or its new state.

The interpreter's audit hook reports the steps. The folder is copied before each step: the copy is
what a kill at this moment leaves, and an emulator must start on every copy.
"""

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import make_changes, open_directory, world_content, world_folder

STEPS = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}


class Camera:
    """Copies a folder before each step of work on files while it has a source."""

    def __init__(self) -> None:
        self.source: Path | None = None
        self.target = Path()
        self.count = 0
        self._busy = False
        # A hook cannot be removed. Without a source it returns at once.
        sys.addaudithook(self._look)

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


def result_of_each_copy(result_of):
    """Return the result for each copy. Identical copies are computed once.

    Many copies are identical, because opening a file for reading is a step too.
    """
    results: dict[Any, Any] = {}
    keys = []
    for number in range(CAMERA.count):
        copy = CAMERA.target / f"{number:03}"
        files = sorted(copy.rglob("*"))
        key = tuple(
            (str(file.relative_to(copy)), file.is_file() and file.read_bytes()) for file in files
        )
        keys.append(key)
        if key not in results:
            results[key] = result_of(copy)
    return [results[key] for key in keys]


def contents_after_two_starts(path):
    """Start twice on a directory and change each world; return their contents at the first start."""
    contents: dict[str, Any] = {}
    for round_ in range(2):
        opened = open_directory(path)
        try:
            for name in opened.worlds():
                world = opened.load(name)
                if world is None:
                    continue
                contents.setdefault(name, world_content(world))
                api = InProcess(world, opened.keep(world, fresh=False))
                assert api.set_flag(True, key=f"after {round_}").status == 200
        finally:
            opened.close()
    return contents


def make(opened, world):
    api = InProcess(world, opened.keep(world, fresh=True))
    make_changes(api)
    return api


def reset_world(opened, api):
    world = fresh_world(seed="another")
    api.engine.replace_world(replace(world, commit=api.world.commit + 1))


def fork_world(opened, api):
    opened.keep(replace(api.world, name="fork"), fresh=True)


def delete_world(opened, api):
    opened.forget("default")


def fold_journal(opened, api):
    api.engine.keeper._compact()
    api.engine.keeper._compaction.result()


def recover_from_error(opened, api):
    keeper = api.engine.keeper
    keeper._journal.broken = "the disk said so"
    api.set_flag(False, key="the last")


def stop(opened, api):
    opened.close()


@pytest.mark.parametrize(
    "change", [reset_world, fork_world, delete_world, fold_journal, recover_from_error, stop]
)
@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_kill_before_any_step_of_a_change_leaves_the_old_or_the_new_state(
    tmp_path, change, durability
):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    opened = open_directory(data, durability=durability)
    api = make(opened, fresh_world())
    before = {"default": world_content(api.world)}

    with every_step(data, copies):
        change(opened, api)
    opened.close()

    *earlier, last = result_of_each_copy(contents_after_two_starts)
    assert len(earlier) >= 2
    assert all(contents in (before, last) for contents in earlier)
    states = [contents == before for contents in earlier]
    # No copy with the old state follows a copy with the new state.
    assert states == sorted(states, reverse=True)


def test_a_kill_before_any_step_of_a_first_start_leaves_no_world_or_a_whole_one(tmp_path):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    data.mkdir()
    world = fresh_world()
    with every_step(data, copies):
        opened = open_directory(data)
        opened.keep(world, fresh=True)
    opened.close()

    results = result_of_each_copy(contents_after_two_starts)
    assert all(contents in ({}, {"default": world_content(world)}) for contents in results)
    assert results[-1]


def test_a_kill_before_any_step_of_a_start_loses_nothing(tmp_path):
    with world_folder(tmp_path / "data" / "worlds" / "default") as stored_world:
        make_changes(stored_world.api)
        before = {"default": world_content(stored_world.api.world)}
        with stored_world.journal.open("ab") as file:
            file.write(b'{"crc32":"torn')
    with every_step(tmp_path / "data", tmp_path / "copies"):
        opened = open_directory(tmp_path / "data", durability="disk")
        world = opened.load("default")
        assert world is not None
        opened.keep(world, fresh=False)
    opened.close()

    assert all(contents == before for contents in result_of_each_copy(contents_after_two_starts))


def test_a_kill_before_any_step_of_a_salvage_loses_nothing(tmp_path):
    data = tmp_path / "data"
    copies = tmp_path / "copies"
    with world_folder(data / "worlds" / "default") as stored_world:
        make_changes(stored_world.api)
        lines = stored_world.journal.read_bytes().splitlines(keepends=True)
        damaged = b"".join([*lines[:4], b"garbage\n", *lines[5:]])
        stored_world.journal.write_bytes(damaged)
    with every_step(data, copies):
        opened = open_directory(data, salvage=True)
        world = opened.load("default")
    opened.close()

    def content_after_salvage(copy):
        opened = open_directory(copy, salvage=True)
        salvaged_content = world_content(opened.load("default"))
        opened.close()
        journals = [path.read_bytes() for path in copy.rglob("journal.ndjson*")]
        assert any(data == damaged or data in damaged for data in journals)
        return salvaged_content

    for salvaged_content in result_of_each_copy(content_after_salvage):
        assert salvaged_content == world_content(world)
