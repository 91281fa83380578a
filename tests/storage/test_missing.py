"""What went missing is missed: the end of a journal, a file, a folder; and so is a swap.

A restart also goes on from the last moment that anybody was shown.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from hosting_emulator.storage import recovery
from hosting_emulator.storage.format import (
    COMMIT,
    SHOWN,
    Marker,
    StateRefused,
    boot_id,
    write_marker,
)
from hosting_emulator.storage.journal import first_line
from tests.support.in_process import NOON_MS, InProcess, Machine, fresh_world, world_origin
from tests.support.worlds_on_disk import (
    busy,
    content,
    folder,
    open_directory,
    read_world,
    worlds_on,
)

ClockMode = Literal["real", "scaled"]
Damage = Callable[[Path], object]


def without_last_line(journal: Path) -> None:
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))


DAMAGE: dict[str, Damage] = {
    "emptied": lambda journal: journal.write_bytes(b""),
    "all but its first line": lambda journal: journal.write_bytes(first_line("default")),
    "cut at a line's end": without_last_line,
    "cut within its last line": lambda journal: journal.write_bytes(journal.read_bytes()[:-9]),
    "cut in its middle": lambda journal: journal.write_bytes(
        journal.read_bytes()[: journal.stat().st_size // 2]
    ),
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_missing_end_of_a_journal_is_detected(tmp_path: Path, how: str, durability: str):
    with folder(tmp_path / "default", durability=durability) as kept:
        busy(kept.api)
        if durability == "disk":  # a commit counts once it is synced
            kept.keeper._journal.sync()
            kept.keeper._progress.note(COMMIT, kept.api.world.commit)
        DAMAGE[how](kept.journal)

        with pytest.raises(StateRefused, match=r"were made, and are missing.* --salvage"):
            read_world(kept.path)


def test_salvage_continues_with_the_commits_that_are_left(tmp_path: Path):
    said: list[str] = []
    with folder(tmp_path / "default") as kept:
        busy(kept.api)
        without_last_line(kept.journal)

        world = recovery.salvage(kept.path, said.append)

        assert world is not None
        assert world.commit == kept.api.world.commit - 1
        assert content(read_world(kept.path)[0]) == content(world)
        assert list(kept.path.glob("progress.damaged-1"))


def test_salvage_preserves_the_latest_reported_time(tmp_path: Path):
    with folder(tmp_path / "default") as kept:
        busy(kept.api)
        kept.keeper.shown_ms = NOON_MS * 2
        without_last_line(kept.journal)

        recovery.salvage(kept.path, lambda _: None)

        assert read_world(kept.path)[0] is not None
        found = recovery.recover(kept.path)
        assert found is not None
        assert found.reached is not None
        assert found.reached.shown_ms == NOON_MS * 2


def test_commits_that_a_crash_of_the_machine_lost_are_reported_and_no_error(tmp_path: Path):
    """By default commits are not synced: they outlive the process, not the machine."""
    with folder(tmp_path / "default") as kept:
        busy(kept.api)
        write_marker(kept.path, Marker("another run of the machine"), sync=False)
        without_last_line(kept.journal)

        world, notices = read_world(kept.path)

    assert world is not None
    assert world.commit == kept.api.world.commit - 1
    assert notices == [
        f"commits {world.commit + 1} to {world.commit + 1} were made, and are missing: the machine "
        "ended before they were on its disk"
    ]


def test_swapped_journals_are_refused(tmp_path: Path):
    with (
        folder(tmp_path / "a", fresh_world("a")) as one,
        folder(tmp_path / "b", fresh_world("b")) as other,
    ):
        busy(one.api)
        busy(other.api)
        one.journal.rename(tmp_path / "aside")
        other.journal.rename(one.journal)
        (tmp_path / "aside").rename(other.journal)

        for kept, name in ((one, "b"), (other, "a")):
            with pytest.raises(StateRefused, match=f"it is the journal of the world '{name}'"):
                read_world(kept.path)

        said: list[str] = []
        world = recovery.salvage(one.path, said.append)
        assert world is not None
        assert content(world) == content(fresh_world("a"))
        assert "journal.ndjson, line 1 (cannot be read)" in " ".join(said)


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson", "progress"])
def test_a_file_of_another_world_of_the_same_name_is_refused(tmp_path: Path, name: str):
    """Of another directory, or of a world that was here before and was deleted."""
    paths = []
    for place in ("here", "there"):
        directory = open_directory(tmp_path / place)
        world = fresh_world(seed=place)
        busy(InProcess(world, directory.keep(world, fresh=True)))
        directory._lock.release()  # as a killed process does
        paths.append(directory.path / "worlds" / "default")
    shutil.copy(paths[1] / name, paths[0] / name)

    with pytest.raises(StateRefused, match=r"of another world of that name.* --salvage"):
        read_world(paths[0])


def test_snapshot_and_journal_of_another_world_of_the_same_name_are_refused(
    data: Path, tmp_path: Path
):
    other = open_directory(tmp_path / "other")
    other.keep(fresh_world("ci", seed="other"), fresh=True)
    other.close()
    for name in ("snapshot.json", "journal.ndjson", "progress"):
        shutil.copy(tmp_path / "other" / "worlds" / "ci" / name, data / "worlds" / "ci" / name)

    with pytest.raises(StateRefused, match=r"snapshot\.json: it is of another world of that name"):
        read_world(data / "worlds" / "ci")


def test_every_damage_to_the_progress_file_is_detected(tmp_path: Path):
    """One changed bit of the moment shown last would send a world ten thousand years ahead."""
    with folder(tmp_path / "default") as kept:
        busy(kept.api)
        kept.keeper.close(fold=False)
        path = kept.path / "progress"
        whole = path.read_bytes()
        flips = [
            bytes(b ^ (1 << bit) if n == place else b for n, b in enumerate(whole))
            for place in range(len(whole))
            for bit in (0, 7)
        ]

        for damaged in (*flips, b"", whole[:16], whole[:-1], whole + b"x", b"\0" * len(whole)):
            path.write_bytes(damaged)
            with pytest.raises(StateRefused, match=r"progress is missing, damaged.* --salvage"):
                read_world(kept.path)
        path.unlink()
        with pytest.raises(StateRefused, match=r"progress is missing, damaged.* --salvage"):
            read_world(kept.path)


def test_an_older_copy_of_the_progress_file_is_refused(tmp_path: Path):
    with folder(tmp_path / "default") as kept:
        write_marker(kept.path, Marker(boot_id()), sync=False)
        older = (kept.path / "progress").read_bytes()
        busy(kept.api)
        kept.keeper.close(fold=False)
        (kept.path / "progress").write_bytes(older)

        if boot_id():
            with pytest.raises(StateRefused, match=r"progress: it is older than journal.ndjson"):
                read_world(kept.path)


# --- files and folders ------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with two worlds, closed."""
    directory = open_directory(tmp_path / "data")
    for name in ("default", "ci"):
        InProcess(fresh_world(name), directory.keep(fresh_world(name), fresh=True))
    directory.close()
    return tmp_path / "data"


@pytest.mark.parametrize("name", ["default", "ci"])
@pytest.mark.parametrize("gone", ["", "world.json"])
def test_a_missing_world_is_detected(data: Path, name: str, gone: str):
    path = data / "worlds" / name / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    directory = open_directory(data)

    assert directory.worlds() == ["ci", "default"]
    with pytest.raises(StateRefused, match=rf"{name}.*is missing.*was not deleted.*--salvage"):
        directory.load(name)
    directory.close()


def test_a_world_that_could_not_be_salvaged_does_not_count_as_missing(data: Path):
    (data / "worlds" / "ci" / "snapshot.json").write_text("{")
    with pytest.raises(StateRefused, match=r"snapshot\.json: it is not a snapshot.* --salvage"):
        read_world(data / "worlds" / "ci")
    directory = open_directory(data, salvage=True)
    assert directory.load("ci") is None
    directory.close()

    again = open_directory(data)
    assert again.worlds() == ["default"]
    again.close()


def test_a_folder_that_looks_like_a_deleted_world_is_detected_as_missing(data: Path):
    aside = data / "worlds" / ".ci-1234.deleted"
    (data / "worlds" / "ci").rename(aside)
    directory = open_directory(data)

    with pytest.raises(StateRefused, match=r"ci is missing"):
        directory.load("ci")
    directory.close()
    assert (aside / "snapshot.json").exists()


def test_a_snapshot_of_another_world_is_not_salvaged(data: Path):
    said: list[str] = []
    shutil.copy(data / "worlds" / "ci" / "snapshot.json", data / "worlds" / "default")

    directory = open_directory(data, said, salvage=True)
    assert directory.load("default") is None
    directory.close()

    assert "snapshot.json: it is of the world 'ci'" in " ".join(said)


@pytest.mark.parametrize("gone", ["", "world.json"])
def test_salvage_continues_without_missing_files(data: Path, gone: str):
    path = data / "worlds" / "ci" / gone
    said = list[str]()
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    directory = open_directory(data, said, salvage=True)
    found = {name: directory.load(name) for name in directory.worlds()}
    directory.close()

    assert found["default"] is not None
    assert (found["ci"] is None) == (gone == "")
    assert "is missing; going on without it" in said[0]

    again = open_directory(data)
    readable_names = {name for name in again.worlds() if again.load(name)}
    assert readable_names == {name for name, world in found.items() if world is not None}
    again.close()


def test_a_deleted_world_does_not_count_as_missing(data: Path):
    directory = open_directory(data)
    world = directory.load("ci")
    assert world is not None
    directory.keep(world, fresh=False)
    directory.forget("ci")
    directory.close()

    again = open_directory(data)
    assert again.worlds() == ["default"]
    again.close()


def test_a_kill_during_a_deletion_leaves_the_world_intact_or_deleted(
    data: Path, monkeypatch: pytest.MonkeyPatch
):
    directory = open_directory(data)
    world = directory.load("ci")
    assert world is not None
    keeper = directory.keep(world, fresh=False)
    monkeypatch.setattr(type(keeper), "discard", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        directory.forget("ci")
    directory.close()

    again = open_directory(data)
    assert again.load("ci") is not None
    again.close()


def test_a_damaged_list_of_worlds_is_set_aside_with_a_message(data: Path):
    (data / "worlds.json").write_text("[]")
    said: list[str] = []

    directory = open_directory(data, said)
    for name in directory.worlds():
        world = directory.load(name)
        assert world is not None
        directory.keep(world, fresh=False)
    directory.close()

    assert "worlds.json is damaged" in said[0]
    assert str(data / "worlds.json.damaged-1") in said[0]
    assert (data / "worlds.json.damaged-1").read_text() == "[]"
    assert json.loads((data / "worlds.json").read_text())["worlds"] == ["ci", "default"]


# --- time -------------------------------------------------------------------------------------------


def killed(path: Path, machine: Machine) -> Any:
    """Return the worlds of a process that is about to be killed: nothing is brought up to date."""
    worlds = worlds_on(open_directory(path), machine)
    worlds.open("seed", world_origin("scaled", 600.0))
    return worlds


@pytest.mark.parametrize(
    ("mode", "rate", "passed_ms", "back_ms"),
    [
        ("scaled", 600.0, 1_200, 0),
        ("scaled", 600.0, 1_200, 3_600_000),
        ("real", None, 720_000, 3_600_000),
    ],
)
def test_a_restart_continues_from_the_latest_reported_time(
    tmp_path: Path, mode: ClockMode, rate: float | None, passed_ms: int, back_ms: int
):
    """After a kill, and where the machine's clock was set back meanwhile."""
    machine = Machine()
    directory = open_directory(tmp_path / "data")
    worlds = worlds_on(directory, machine)
    worlds.open("seed", world_origin(mode, rate))
    engine = worlds.get("default")
    assert engine is not None
    machine.at_ms = NOON_MS + passed_ms
    shown_ms = engine.now_ms()
    directory._lock.release()  # as a killed process does; nothing is written any more

    machine.at_ms = NOON_MS + passed_ms - back_ms
    again = open_directory(tmp_path / "data")
    after = worlds_on(again, machine)
    after.open("seed", world_origin(mode, rate))
    engine = after.get("default")
    assert engine is not None

    assert engine.now_ms() >= shown_ms
    machine.at_ms += 1_000
    assert engine.now_ms() >= shown_ms
    again.close()


def test_a_replaced_world_may_begin_at_an_earlier_time(tmp_path: Path):
    with folder(tmp_path / "default") as kept:
        kept.api.engine.move_by(3_600_000)
        late_ms = kept.api.engine.now_ms()

        kept.api.engine.replace_world(fresh_world())

        assert kept.api.engine.now_ms() < late_ms
        assert kept.keeper._progress.numbers[SHOWN] < late_ms
