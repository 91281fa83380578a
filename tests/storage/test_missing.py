"""A missing end of a journal, a missing file, a missing folder and swapped files are detected.

A restart continues from the latest time that the world reported.
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
    NEVER_REACHED,
    SHOWN,
    Marker,
    ProgressNumbers,
    StateRefused,
    boot_id,
    read_progress,
    write_marker,
)
from hosting_emulator.storage.journal import first_line
from tests.support.in_process import NOON_MS, InProcess, Machine, fresh_world, world_origin
from tests.support.worlds_on_disk import (
    lose_last_commit,
    make_changes,
    open_directory,
    read_world,
    stored_worlds,
    world_content,
    world_folder,
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


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("durability", ["process", "disk"])
def test_a_missing_end_of_a_journal_is_detected(tmp_path: Path, damage: str, durability: str):
    with world_folder(tmp_path / "default", durability=durability) as stored_world:
        make_changes(stored_world.api)
        if durability == "disk":  # A commit counts once it is synced.
            stored_world.keeper._journal.sync()
            stored_world.keeper._progress.store(COMMIT, stored_world.api.world.commit)
        DAMAGE[damage](stored_world.journal)

        with pytest.raises(StateRefused, match=r"missing in journal\.ndjson; .* --salvage"):
            read_world(stored_world.path)


def test_salvage_continues_with_the_commits_that_are_left(tmp_path: Path):
    messages: list[str] = []
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        without_last_line(stored_world.journal)

        world = recovery.salvage(stored_world.path, messages.append)

        assert world is not None
        assert world.commit == stored_world.api.world.commit - 1
        assert world_content(read_world(stored_world.path)[0]) == world_content(world)
        assert list(stored_world.path.glob("progress.damaged-1"))


def test_salvage_preserves_the_latest_reported_time(tmp_path: Path):
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        stored_world.keeper.shown_ms = NOON_MS * 2
        without_last_line(stored_world.journal)

        recovery.salvage(stored_world.path, lambda _: None)

        assert read_world(stored_world.path)[0] is not None
        recovered = recovery.recover(stored_world.path)
        assert recovered is not None
        assert recovered.progress is not None
        assert recovered.progress.shown_ms == NOON_MS * 2


def test_commits_that_a_crash_of_the_machine_lost_are_reported_and_no_error(tmp_path: Path):
    """By default commits are not synced: they survive a crash of the process, not of the machine."""
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        lose_last_commit(stored_world)

        world, notices = read_world(stored_world.path)

    assert world is not None
    assert world.commit == stored_world.api.world.commit - 1
    assert notices == [
        f"commit {world.commit + 1} is missing in journal.ndjson, probably because the machine "
        "stopped before everything was written to the disk. These changes are lost"
    ]


def test_a_progress_file_that_a_crash_of_the_machine_lost_is_written_again(tmp_path: Path):
    with world_folder(tmp_path / "data" / "worlds" / "default") as stored_world:
        make_changes(stored_world.api)
        write_marker(stored_world.path, Marker("another run of the machine"), sync=False)
        (stored_world.path / "progress").unlink()
        messages: list[str] = []
        directory = open_directory(tmp_path / "data", messages)

        world = directory.load("default")

        directory.close()
        assert world_content(world) == world_content(stored_world.api.world)
        assert messages == [
            "world default: progress is missing, damaged or belongs to another world with the same "
            "name, such as an earlier world. The machine probably stopped before this file was "
            "written to the disk. The latest changes may be lost"
        ]
        numbers = read_progress(stored_world.path, "")
        assert numbers == ProgressNumbers(stored_world.api.world.commit, 0, NEVER_REACHED)


def test_swapped_journals_are_refused(tmp_path: Path):
    with (
        world_folder(tmp_path / "a", fresh_world("a")) as first,
        world_folder(tmp_path / "b", fresh_world("b")) as second,
    ):
        make_changes(first.api)
        make_changes(second.api)
        first.journal.rename(tmp_path / "aside")
        second.journal.rename(first.journal)
        (tmp_path / "aside").rename(second.journal)

        for stored_world, name in ((first, "b"), (second, "a")):
            with pytest.raises(StateRefused, match=f"it belongs to the world '{name}'"):
                read_world(stored_world.path)

        messages: list[str] = []
        world = recovery.salvage(first.path, messages.append)
        assert world is not None
        assert world_content(world) == world_content(fresh_world("a"))
        assert "journal.ndjson, line 1 (cannot be read)" in " ".join(messages)


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson", "progress"])
def test_a_file_of_another_world_of_the_same_name_is_refused(tmp_path: Path, name: str):
    """The file may come from another directory or from a deleted world."""
    paths = []
    for folder_name in ("here", "there"):
        directory = open_directory(tmp_path / folder_name)
        world = fresh_world(seed=folder_name)
        make_changes(InProcess(world, directory.keep(world, fresh=True)))
        directory._lock.release()  # A killed process releases its lock.
        paths.append(directory.path / "worlds" / "default")
    shutil.copy(paths[1] / name, paths[0] / name)

    with pytest.raises(StateRefused, match=r"another world with the same name.* --salvage"):
        read_world(paths[0])


def test_snapshot_and_journal_of_another_world_of_the_same_name_are_refused(
    data: Path, tmp_path: Path
):
    other_directory = open_directory(tmp_path / "other")
    other_directory.keep(fresh_world("ci", seed="other"), fresh=True)
    other_directory.close()
    for name in ("snapshot.json", "journal.ndjson", "progress"):
        shutil.copy(tmp_path / "other" / "worlds" / "ci" / name, data / "worlds" / "ci" / name)

    with pytest.raises(
        StateRefused, match=r"snapshot\.json: it belongs to another world with the same name"
    ):
        read_world(data / "worlds" / "ci")


def test_every_damage_to_the_progress_file_is_detected(tmp_path: Path):
    """One changed bit of the latest time could advance a world by ten thousand years."""
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        stored_world.keeper.close(fold=False)
        path = stored_world.path / "progress"
        whole = path.read_bytes()
        flips = [
            bytes(
                byte ^ (1 << bit) if position == index else byte
                for position, byte in enumerate(whole)
            )
            for index in range(len(whole))
            for bit in (0, 7)
        ]

        for damaged in (*flips, b"", whole[:16], whole[:-1], whole + b"x", b"\0" * len(whole)):
            path.write_bytes(damaged)
            with pytest.raises(StateRefused, match=r"progress is missing, damaged.* --salvage"):
                read_world(stored_world.path)
        path.unlink()
        with pytest.raises(StateRefused, match=r"progress is missing, damaged.* --salvage"):
            read_world(stored_world.path)


def test_an_older_copy_of_the_progress_file_is_refused(tmp_path: Path):
    with world_folder(tmp_path / "default") as stored_world:
        write_marker(stored_world.path, Marker(boot_id()), sync=False)
        older = (stored_world.path / "progress").read_bytes()
        make_changes(stored_world.api)
        stored_world.keeper.close(fold=False)
        (stored_world.path / "progress").write_bytes(older)

        if boot_id():
            with pytest.raises(StateRefused, match=r"progress: it is older than journal.ndjson"):
                read_world(stored_world.path)


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
@pytest.mark.parametrize("missing_file", ["", "world.json"])
def test_a_missing_world_is_detected(data: Path, name: str, missing_file: str):
    path = data / "worlds" / name / missing_file
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    directory = open_directory(data)

    assert directory.worlds() == ["ci", "default"]
    with pytest.raises(StateRefused) as refused:
        directory.load(name)
    directory.close()
    assert str(refused.value) == (
        f"{path} is missing, although the world {name} was not deleted; restore it from a copy, or "
        "start with --salvage to continue without the world"
    )


def test_a_world_that_could_not_be_salvaged_does_not_count_as_missing(data: Path):
    (data / "worlds" / "ci" / "snapshot.json").write_text("{")
    with pytest.raises(StateRefused, match=r"snapshot\.json: .* --salvage"):
        read_world(data / "worlds" / "ci")
    directory = open_directory(data, salvage=True)
    assert directory.load("ci") is None
    directory.close()

    reopened = open_directory(data)
    assert reopened.worlds() == ["default"]
    reopened.close()


def test_a_folder_that_looks_like_a_deleted_world_is_detected_as_missing(data: Path):
    aside = data / "worlds" / ".ci-1234.deleted"
    (data / "worlds" / "ci").rename(aside)
    directory = open_directory(data)

    with pytest.raises(StateRefused, match=r"ci is missing"):
        directory.load("ci")
    directory.close()
    assert (aside / "snapshot.json").exists()


def test_a_snapshot_of_another_world_is_not_salvaged(data: Path):
    messages: list[str] = []
    shutil.copy(data / "worlds" / "ci" / "snapshot.json", data / "worlds" / "default")

    directory = open_directory(data, messages, salvage=True)
    assert directory.load("default") is None
    directory.close()

    assert "snapshot.json: it belongs to the world 'ci'" in " ".join(messages)


@pytest.mark.parametrize("missing_file", ["", "world.json"])
def test_salvage_continues_without_missing_files(data: Path, missing_file: str):
    path = data / "worlds" / "ci" / missing_file
    messages = list[str]()
    shutil.rmtree(path) if path.is_dir() else path.unlink()

    directory = open_directory(data, messages, salvage=True)
    salvaged = {name: directory.load(name) for name in directory.worlds()}
    directory.close()

    assert salvaged["default"] is not None
    assert (salvaged["ci"] is None) == (missing_file == "")
    assert messages[0] == f"world ci: {path} is missing; continuing without the world"

    reopened = open_directory(data)
    readable_names = {name for name in reopened.worlds() if reopened.load(name)}
    assert readable_names == {name for name, world in salvaged.items() if world is not None}
    reopened.close()


def test_a_deleted_world_does_not_count_as_missing(data: Path):
    directory = open_directory(data)
    world = directory.load("ci")
    assert world is not None
    directory.keep(world, fresh=False)
    directory.forget("ci")
    directory.close()

    reopened = open_directory(data)
    assert reopened.worlds() == ["default"]
    reopened.close()


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

    reopened = open_directory(data)
    assert reopened.load("ci") is not None
    reopened.close()


def test_a_damaged_list_of_worlds_is_set_aside_with_a_message(data: Path):
    (data / "worlds.json").write_text("[]")
    messages: list[str] = []

    directory = open_directory(data, messages)
    for name in directory.worlds():
        world = directory.load(name)
        assert world is not None
        directory.keep(world, fresh=False)
    directory.close()

    assert messages == [
        f"{data}/worlds.json is damaged and was renamed to {data}/worlds.json.damaged-1; a new list is "
        "written. This start cannot notice a missing folder: check that all worlds are listed"
    ]
    assert (data / "worlds.json.damaged-1").read_text() == "[]"
    assert json.loads((data / "worlds.json").read_text())["worlds"] == ["ci", "default"]


def test_a_damaged_list_of_worlds_does_not_replace_an_earlier_one(data: Path):
    for number in (1, 2):
        (data / "worlds.json").write_text(f"[{number}]")
        open_directory(data).close()

    damaged = {path.name: path.read_text() for path in data.glob("worlds.json.*")}
    assert damaged == {"worlds.json.damaged-1": "[1]", "worlds.json.damaged-2": "[2]"}


# --- time -------------------------------------------------------------------------------------------


def worlds_of_killed_process(path: Path, machine: Machine) -> Any:
    """Return the worlds of a process that is about to be killed, without a final write."""
    worlds = stored_worlds(open_directory(path), machine)
    worlds.open("seed", world_origin("scaled", 600.0))
    worlds.create_default()
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
    """This holds after a kill, also if the machine's clock was set back meanwhile."""
    machine = Machine()
    directory = open_directory(tmp_path / "data")
    worlds = stored_worlds(directory, machine)
    worlds.open("seed", world_origin(mode, rate))
    worlds.create_default()
    engine = worlds.get("default")
    assert engine is not None
    machine.at_ms = NOON_MS + passed_ms
    shown_ms = engine.now_ms()
    directory._lock.release()  # A killed process releases its lock without a final write.

    machine.at_ms = NOON_MS + passed_ms - back_ms
    reopened = open_directory(tmp_path / "data")
    after = stored_worlds(reopened, machine)
    after.open("seed", world_origin(mode, rate))
    engine = after.get("default")
    assert engine is not None

    assert engine.now_ms() >= shown_ms
    machine.at_ms += 1_000
    assert engine.now_ms() >= shown_ms
    reopened.close()


def test_a_replaced_world_may_begin_at_an_earlier_time(tmp_path: Path):
    with world_folder(tmp_path / "default") as stored_world:
        stored_world.api.engine.move_by(3_600_000)
        late_ms = stored_world.api.engine.now_ms()

        stored_world.api.engine.replace_world(fresh_world())

        assert stored_world.api.engine.now_ms() < late_ms
        assert stored_world.keeper._progress.number(SHOWN) < late_ms
