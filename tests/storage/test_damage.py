"""A damaged file of a data directory is refused with advice, or the damage changes nothing.

The ordinary run tries a few kinds of damage; `make torture` tries two thousand. The seed is
EMULATOR_TEST_SEED.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hosting_emulator.storage.format import StateRefused
from tests.support.in_process import InProcess, fresh_world, world_origin
from tests.support.worlds_on_disk import make_changes, open_directory, stored_worlds, world_content

SEED = os.environ.get("EMULATOR_TEST_SEED", "damage")
#: Damages one file of a store. Older copies of the store and a sister store have the same names.
Damage = Callable[[Path, "Stores", Random], None]
NAMES = ("default", "ci", "again")
ADVICE = ("--salvage", "rename the folder")


class Stores:
    """A store that was killed during a fold, two older copies of it, and a sister store."""

    def __init__(self, root: Path) -> None:
        self.old = root / "old"
        self.older = root / "older"
        self.whole = root / "whole"
        self.sister = root / "sister"
        for path in (self.sister, self.whole):
            self._make(path)

    def _make(self, path: Path) -> None:
        directory = open_directory(path)
        worlds = [fresh_world(name) for name in NAMES]
        apis = [InProcess(world, directory.keep(world, fresh=True)) for world in worlds]
        shutil.copytree(path, self.older, dirs_exist_ok=True)
        for api in apis:
            make_changes(api)
        directory.forget("again")  # The next world takes the name of a deleted one.
        worlds[-1] = fresh_world("again", seed=path.name)
        apis[-1] = InProcess(worlds[-1], directory.keep(worlds[-1], fresh=True))
        shutil.copytree(path, self.old, dirs_exist_ok=True)
        for api in apis:
            keeper: Any = api.engine.keeper
            api.set_flag(True, key="before the fold")
            keeper._fold = lambda *_: None  # The process is killed before the fold ends.
            keeper._compact()
            api.set_flag(False, key="after it")
            api.engine.move_by(5_000)
        directory._executor.shutdown()
        directory._lock.release()

    @staticmethod
    def start(path: Path, *, salvage: bool = False) -> tuple[dict[str, Any] | None, list[str]]:
        """Start on a directory.

        Returns the content of each world, or None if the start is refused, and the messages.
        """
        messages: list[str] = []
        directory = open_directory(path, messages, salvage=salvage)
        try:
            worlds = stored_worlds(directory)
            worlds.open("another seed", world_origin())
            worlds.create_default()
            contents = {
                engine.world.name: (engine.now_ms(), *world_content(engine.world))
                for engine in worlds
            }
            return contents, messages
        except StateRefused as refused:
            return None, [*messages, str(refused)]
        finally:
            directory._executor.shutdown()
            directory._lock.release()


def _rewrite(change: Callable[[bytes, Random], bytes]) -> Damage:
    return lambda path, _, random: (path.write_bytes(change(path.read_bytes(), random)), None)[1]


def _flip(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data))
    return data[:index] + bytes([data[index] ^ 1 << random.randrange(8)]) + data[index + 1 :]


def _hole(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data))
    return data[:index] + data[index + random.choice((1, 8, 64, 512)) :]


def _zeros(data: bytes, random: Random) -> bytes:
    index = random.randrange(len(data))
    size = random.choice((1, 8, 64, 512))
    return data[:index] + bytes(len(data[index : index + size])) + data[index + size :]


def _lines(data: bytes, random: Random) -> bytes:
    """Delete, repeat or replace a line."""
    lines = data.splitlines(keepends=True)
    first = random.randrange(len(lines))
    second = random.randrange(len(lines))
    lines[first : first + 1] = random.choice(([], [lines[first]] * 2, [lines[second]]))
    return b"".join(lines)


def _copy_of(name: str) -> Damage:
    def copy(path: Path, stores: Stores, _: Random) -> None:
        source = getattr(stores, name) / path.relative_to(_root(path))
        if source.exists():
            shutil.copy(source, path)

    return copy


def _root(path: Path) -> Path:
    return next(parent for parent in path.parents if parent.name == "damaged")


def _exchange_contents(path: Path, other_path: Path) -> None:
    content = path.read_bytes()
    other_content = other_path.read_bytes()
    path.write_bytes(other_content)
    other_path.write_bytes(content)


def _swapped_in_folder(path: Path, _: Stores, random: Random) -> None:
    files = sorted(file for file in path.parent.iterdir() if file.is_file())
    _exchange_contents(path, random.choice(files))


def _swapped_with_namesake(path: Path, _: Stores, random: Random) -> None:
    namesakes = sorted(_root(path).glob(f"worlds/*/{path.name}"))
    _exchange_contents(path, random.choice(namesakes or [path]))


DAMAGE: dict[str, Damage] = {
    "a bit": _rewrite(_flip),
    "a hole": _rewrite(_hole),
    "zeros": _rewrite(_zeros),
    "lines": _rewrite(_lines),
    "cut": _rewrite(lambda data, random: data[: random.randrange(len(data))]),
    "emptied": _rewrite(lambda *_: b""),
    "appended": _rewrite(
        lambda data, random: data + random.choice((b"\0" * 9, b"x", b"\n", b"{}\n"))
    ),
    "doubled": _rewrite(lambda data, _: data + data),
    "deleted": lambda path, *_: path.unlink(),
    "an old copy": _copy_of("old"),
    "an older copy": _copy_of("older"),
    "of a sister": _copy_of("sister"),
    "swapped in its folder": _swapped_in_folder,
    "swapped with a namesake": _swapped_with_namesake,
    "its folder gone": lambda path, *_: shutil.rmtree(path.parent),
    "its folder renamed": lambda path, *_: (path.parent.rename(f"{path.parent}-2"), None)[1],
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


@pytest.mark.parametrize("count", [32, pytest.param(2_000, marks=pytest.mark.torture)])
def test_damage_to_any_stored_file_is_reported_or_changes_nothing(
    stores: Stores, tmp_path: Path, count: int
):
    random = Random(f"{SEED} {count}")
    path = tmp_path / "damaged"
    shutil.copytree(stores.whole, path)
    expected, _ = Stores.start(path)
    refused = 0
    for number in range(count):
        shutil.rmtree(path)
        shutil.copytree(stores.whole, path)
        files = [
            file
            for file in path.rglob("*")
            if file.is_file() and file.name not in ("lock", ".gitignore")
        ]
        kind = list(DAMAGE)[number % len(DAMAGE)]
        file = random.choice(sorted(files))
        if file.parent == path and "folder" in kind:
            continue
        DAMAGE[kind](file, stores, random)
        label = f"{number}: {kind}: {file.relative_to(path)}"
        worlds, messages = stores.start(path)
        if worlds is not None:
            assert worlds == expected, label
            continue
        refused += 1
        assert any(advice in messages[-1] for advice in ADVICE), (label, messages)
        worlds, messages = stores.start(path, salvage=True)
        assert messages or worlds == expected, label
        if worlds is None:  # Salvage cannot repair this; the user must move a file back.
            assert ADVICE[1] in messages[-1], (label, messages)
        else:
            assert stores.start(path)[0] == worlds, label

    assert refused > count / 3
