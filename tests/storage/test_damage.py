"""Whatever one hand does to a file of a data directory: refused with what to do, or nothing is lost.

The ordinary run tries a few; `make torture` two thousand, of HOSTING_EMULATOR_TEST_SEED.
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
from tests.support.worlds_on_disk import busy, content, open_directory, worlds_on

SEED = os.environ.get("HOSTING_EMULATOR_TEST_SEED", "damage")
#: Done to the file of a store, of which there are older copies, and a sister of the same names.
Damage = Callable[[Path, "Stores", Random], None]
KEPT = ("default", "ci", "again")
ADVICE = ("--salvage", "move it back")


class Stores:
    """A store that was killed with a fold in progress, two older copies of it, and a sister."""

    def __init__(self, root: Path) -> None:
        self.old = root / "old"
        self.older = root / "older"
        self.whole = root / "whole"
        self.sister = root / "sister"
        for path in (self.sister, self.whole):
            self._make(path)

    def _make(self, path: Path) -> None:
        directory = open_directory(path)
        made = [fresh_world(name) for name in KEPT]
        worlds = [InProcess(world, directory.keep(world, fresh=True)) for world in made]
        shutil.copytree(path, self.older, dirs_exist_ok=True)
        for world in worlds:
            busy(world)
        directory.forget("again")  # a world of this name was here before
        made[-1] = fresh_world("again", seed=path.name)
        worlds[-1] = InProcess(made[-1], directory.keep(made[-1], fresh=True))
        shutil.copytree(path, self.old, dirs_exist_ok=True)
        for world in worlds:
            keeper: Any = world.engine.keeper
            world.set_flag(True, key="before the fold")
            keeper._fold = lambda *_: None  # it was killed before it ended
            keeper._compact()
            world.set_flag(False, key="after it")
            world.engine.move_by(5_000)
        directory._executor.shutdown()
        directory._lock.release()

    @staticmethod
    def start(path: Path, *, salvage: bool = False) -> tuple[dict[str, Any] | None, list[str]]:
        """Start on a directory: what is found of each world, None if it is refused, and what is said."""
        said: list[str] = []
        directory = open_directory(path, said, salvage=salvage)
        try:
            worlds = worlds_on(directory)
            worlds.open("another seed", world_origin())
            return {e.world.name: (e.now_ms(), *content(e.world)) for e in worlds}, said
        except StateRefused as refused:
            return None, [*said, str(refused)]
        finally:
            directory._executor.shutdown()
            directory._lock.release()


def _rewrite(change: Callable[[bytes, Random], bytes]) -> Damage:
    return lambda path, _, random: (path.write_bytes(change(path.read_bytes(), random)), None)[1]


def _flip(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _hole(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + data[at + random.choice((1, 8, 64, 512)) :]


def _zeros(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    size = random.choice((1, 8, 64, 512))
    return data[:at] + bytes(len(data[at : at + size])) + data[at + size :]


def _lines(data: bytes, random: Random) -> bytes:
    """Drop, double or swap lines."""
    lines = data.splitlines(keepends=True)
    one = random.randrange(len(lines))
    other = random.randrange(len(lines))
    lines[one : one + 1] = random.choice(([], [lines[one]] * 2, [lines[other]]))
    return b"".join(lines)


def _copy_of(store: str) -> Damage:
    def copy(path: Path, stores: Stores, _: Random) -> None:
        source = getattr(stores, store) / path.relative_to(_root(path))
        if source.exists():
            shutil.copy(source, path)

    return copy


def _root(path: Path) -> Path:
    return next(parent for parent in path.parents if parent.name == "damaged")


def _exchange(path: Path, other: Path) -> None:
    one = path.read_bytes()
    two = other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


def _swapped_in_folder(path: Path, _: Stores, random: Random) -> None:
    _exchange(path, random.choice(sorted(p for p in path.parent.iterdir() if p.is_file())))


def _swapped_with_namesake(path: Path, _: Stores, random: Random) -> None:
    _exchange(path, random.choice(sorted(_root(path).glob(f"worlds/*/{path.name}")) or [path]))


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
    whole, _ = Stores.start(path)
    refused = 0
    for number in range(count):
        shutil.rmtree(path)
        shutil.copytree(stores.whole, path)
        files = [p for p in path.rglob("*") if p.is_file() and p.name not in ("lock", ".gitignore")]
        how = list(DAMAGE)[number % len(DAMAGE)]
        file = random.choice(sorted(files))
        if file.parent == path and "folder" in how:
            continue
        DAMAGE[how](file, stores, random)
        what = f"{number}: {how}: {file.relative_to(path)}"
        found, said = stores.start(path)
        if found is not None:
            assert found == whole, what
            continue
        refused += 1
        assert any(advice in said[-1] for advice in ADVICE), (what, said)
        found, said = stores.start(path, salvage=True)
        assert said or found == whole, what
        if found is None:  # what to do about it is not for us
            assert ADVICE[1] in said[-1], (what, said)
        else:
            assert stores.start(path)[0] == found, what

    assert refused > count / 3
