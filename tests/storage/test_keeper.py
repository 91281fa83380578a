"""The keeper of a world's folder: appends, folds, full disks and crashes."""

import asyncio
import os
import shutil
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from msgspec.structs import replace

from hosting_emulator.storage import files
from hosting_emulator.storage import keeper as keepers
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.journal import first_line
from hosting_emulator.storage.recovery import sweep
from hosting_emulator.storage.snapshot import write_snapshot
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import (
    WorldFolder,
    make_changes,
    read_world,
    world_content,
    world_folder,
)


@pytest.fixture
def stored_world(tmp_path):
    with world_folder(tmp_path / "default") as stored_world:
        yield stored_world


def failing(number, text):
    def fail(*_, **__):
        raise OSError(number, text)

    return fail


def test_every_commit_can_be_read_from_disk_before_its_response(stored_world):
    make_changes(stored_world.api)

    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_clean_close_folds_the_whole_journal_into_the_snapshot(stored_world):
    make_changes(stored_world.api)

    stored_world.keeper.close()

    assert world_content(stored_world.read()) == world_content(stored_world.api.world)
    assert stored_world.journal.read_bytes() == first_line("default")


def test_a_close_without_changes_writes_nothing(stored_world):
    before = stored_world.snapshot.stat().st_mtime_ns

    stored_world.keeper.close()

    assert stored_world.snapshot.stat().st_mtime_ns == before


def test_a_large_world_keeps_its_journal_at_a_close(stored_world, monkeypatch):
    monkeypatch.setattr(keepers, "ROWS_FOLDED_AT_STOP", 10)
    make_changes(stored_world.api)
    before = stored_world.journal.read_bytes()

    stored_world.keeper.close()

    assert stored_world.journal.read_bytes() == before
    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_close_does_not_wait_for_a_fold(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        fold_started = threading.Event()
        write = write_snapshot

        def endless(path, world, lineage, stopped):
            fold_started.set()
            while not stopped():
                pass
            write(path, world, lineage, stopped)

        before = stored_world.snapshot.read_bytes()
        monkeypatch.setattr(keepers, "write_snapshot", endless)
        monkeypatch.setattr(keepers, "ROWS_FOLDED_AT_STOP", 10)
        stored_world.begin_fold()
        assert fold_started.wait(10)

        stored_world.keeper.close()

        assert stored_world.snapshot.read_bytes() == before
        assert list(stored_world.path.glob("*.tmp")) == []
        assert world_content(stored_world.read()) == world_content(stored_world.api.world)


# --- folding ------------------------------------------------------------------------------------


def test_a_long_journal_is_folded_while_changes_go_on(tmp_path):
    with world_folder(tmp_path / "default", compact_bytes=2_000) as stored_world:
        size = stored_world.snapshot.stat().st_size
        for number in range(400):
            assert stored_world.api.set_flag(bool(number % 2)).status == 200
        stored_world.wait_for_snapshots()

        assert world_content(stored_world.read()) == world_content(stored_world.api.world)
        journals = sum(path.stat().st_size for path in stored_world.path.glob("journal*"))
        assert journals <= 2 * max(size, stored_world.snapshot.stat().st_size)
        assert stored_world.complaints == []


def test_changes_during_a_slow_snapshot_are_all_stored(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        may_continue = threading.Event()
        write = write_snapshot

        def slow(*arguments):
            may_continue.wait(10)
            write(*arguments)

        monkeypatch.setattr(keepers, "write_snapshot", slow)
        while len(list(stored_world.path.glob("journal*"))) < 2:  # until a fold has started
            stored_world.api.set_flag(True)
        for number in range(400):  # long enough for a second fold
            stored_world.api.set_flag(bool(number % 2))
        assert stored_world.journal.stat().st_size > stored_world.snapshot.stat().st_size
        assert len(list(stored_world.path.glob("journal*"))) == 2
        content_after_a_crash = world_content(stored_world.read())
        may_continue.set()
        stored_world.wait_for_snapshots()

        assert content_after_a_crash == world_content(stored_world.api.world)
        assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_reset_overtakes_a_slow_snapshot(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        write = write_snapshot
        fold_started = threading.Event()
        may_continue = threading.Event()

        def slow(*arguments):
            if threading.current_thread() is not threading.main_thread():
                fold_started.set()
                may_continue.wait(10)
            write(*arguments)

        monkeypatch.setattr(keepers, "write_snapshot", slow)
        while not fold_started.is_set():
            stored_world.api.set_flag(True)
        may_continue.set()
        later = fresh_world(seed="another")
        stored_world.keeper.replace(later.__class__(**{**fields(later), "commit": 10_000}))
        stored_world.wait_for_snapshots()

        assert stored_world.read().seed == "another"
        assert list(stored_world.path.glob("journal-*")) == []


def test_a_deleted_folder_is_rewritten_with_the_world_that_replaced_another(stored_world):
    make_changes(stored_world.api)
    commit = stored_world.api.world.commit + 1
    other = replace(fresh_world(seed="other"), commit=commit)
    stored_world.keeper.replace(other)
    shutil.rmtree(stored_world.path)

    assert stored_world.keeper.repair()

    assert world_content(stored_world.read()) == world_content(other)
    assert not stored_world.keeper.repair()


def test_a_fold_that_begins_after_a_reset_does_not_bring_back_the_old_world(tmp_path):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        may_continue = threading.Event()
        stored_world._executor.submit(may_continue.wait, 10)
        stored_world.begin_fold()
        later = fresh_world(seed="another")
        later = later.__class__(**{**fields(later), "commit": 10_000})
        stored_world.keeper.replace(later)

        may_continue.set()
        stored_world.wait_for_snapshots()

        assert world_content(stored_world.read()) == world_content(later)
        assert stored_world.complaints == []


def fields(world):
    return {name: getattr(world, name) for name in world.__struct_fields__}


def test_a_snapshot_that_fails_loses_nothing(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        monkeypatch.setattr(keepers, "write_snapshot", failing(28, "No space left on device"))
        for number in range(200):
            assert stored_world.api.set_flag(bool(number % 2)).status == 200
        stored_world.wait_for_snapshots()
        monkeypatch.undo()

        assert world_content(stored_world.read()) == world_content(stored_world.api.world)
        report = (
            f"{stored_world.path}: no snapshot could be written: [Errno 28] No space left on device"
        )
        assert {*stored_world.complaints} == {report}


def test_the_old_journal_continues_if_a_new_one_cannot_be_created(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        monkeypatch.setattr(keepers, "Journal", failing(24, "Too many open files"))
        while not stored_world.complaints:
            assert stored_world.api.set_flag(True).status == 200
        assert stored_world.api.set_flag(False).status == 200
        monkeypatch.undo()

        report = (
            f"{stored_world.path}: the journal could not be folded: [Errno 24] Too many open files"
        )
        assert {*stored_world.complaints} == {report}
        assert world_content(stored_world.read()) == world_content(stored_world.api.world)
        assert [path.name for path in stored_world.path.glob("journal*")] == ["journal.ndjson"]


# --- full and failing disks ---------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_full_disk_refuses_the_change_and_loses_nothing(stored_world, monkeypatch, share):
    stored_world.api.set_flag(False)
    before = world_content(stored_world.api.world)
    write = os.write

    def full(descriptor, data):
        if share:
            return write(descriptor, data[: int(len(data) * share)])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    refused = stored_world.api.set_flag(True, key="again")
    read_only = stored_world.api.dns()
    monkeypatch.undo()

    assert (refused.status, refused.json["code"]) == (503, "service_unavailable")
    assert refused.json["detail"].startswith("Nothing was changed: ")
    assert read_only.status == 200
    assert world_content(stored_world.api.world) == world_content(stored_world.read()) == before

    later = stored_world.api.set_flag(True, key="again")
    assert (later.status, later.json["enabled"]) == (200, True)
    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_an_event_that_is_due_on_a_full_disk_runs_later(stored_world, monkeypatch):
    operation = stored_world.api.apply_domains().json["id"]
    due_ms = stored_world.api.world.next_due_ms
    monkeypatch.setattr(os, "write", failing(28, "No space left on device"))
    stored_world.api.engine.world = stored_world.api.world.__class__(
        **{**fields(stored_world.api.world), "at_ms": due_ms + 1}
    )

    refused = stored_world.api.poll(operation)
    monkeypatch.undo()
    accepted = stored_world.api.poll(operation)

    assert refused.status == 503
    assert (accepted.status, accepted.json["state"]) == (200, "running")


def test_a_damaged_journal_is_replaced_by_a_snapshot_at_the_next_change(stored_world, monkeypatch):
    stored_world.api.set_flag(False)
    monkeypatch.setattr(os, "write", failing(5, "Input/output error"))
    monkeypatch.setattr(os, "ftruncate", failing(5, "Input/output error"))
    assert stored_world.api.set_flag(True).status == 503
    monkeypatch.undo()

    assert stored_world.api.set_flag(True).status == 200
    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_reset_that_cannot_be_written_changes_nothing(stored_world, monkeypatch):
    stored_world.api.set_flag(False)
    before = world_content(stored_world.api.world)
    monkeypatch.setattr(keepers, "write_snapshot", failing(28, "No space left on device"))

    with pytest.raises(OSError, match="No space left"):
        stored_world.keeper.replace(fresh_world())
    monkeypatch.undo()

    assert world_content(stored_world.read()) == before
    stored_world.api.set_flag(True)
    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_reset_counts_although_its_journal_cannot_be_created(stored_world, monkeypatch):
    stored_world.api.set_flag(False)
    later = fresh_world(seed="another")
    later = later.__class__(**{**fields(later), "commit": stored_world.api.world.commit + 1})
    monkeypatch.setattr(keepers, "begin_journal", failing(5, "Input/output error"))

    stored_world.api.engine.replace_world(later)
    api = InProcess(later, stored_world.keeper)
    refused = api.set_flag(False)
    monkeypatch.undo()
    accepted = api.set_flag(False)

    assert stored_world.complaints[0] == (
        f"{stored_world.path}: the journal could not be restarted: [Errno 5] Input/output error"
    )
    assert [refused.status, accepted.status] == [503, 200]
    assert world_content(stored_world.read()) == world_content(api.world)


# --- after crashes ------------------------------------------------------------------------------


def test_an_unfinished_snapshot_is_deleted_at_the_next_start(stored_world):
    make_changes(stored_world.api)
    (stored_world.path / "snapshot.json.4242.tmp").write_text("{half")

    assert world_content(stored_world.read()) == world_content(stored_world.api.world)
    sweep(stored_world.path)
    assert list(stored_world.path.glob("*.tmp")) == []


def test_a_fold_that_was_killed_before_its_snapshot_loses_nothing(stored_world):
    make_changes(stored_world.api)
    stored_world.journal.rename(stored_world.path / "journal-000000000005.ndjson")

    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_a_fold_that_was_killed_before_the_old_journal_was_deleted_loses_nothing(stored_world):
    make_changes(stored_world.api)
    before = stored_world.journal.read_bytes()
    stored_world.keeper.close()
    (stored_world.path / "journal-000000000005.ndjson").write_bytes(before)

    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


def test_an_interrupted_fold_is_repeated_at_the_next_start(tmp_path):
    """Otherwise journals would accumulate, and each start would read all of them."""
    with world_folder(tmp_path / "default") as stored_world:
        make_changes(stored_world.api)
        stored_world.keeper.close(fold=False)
        stored_world.journal.rename(stored_world.path / "journal-000000000005.ndjson")
        world = stored_world.read()
        before = stored_world.snapshot.read_bytes()

        keeper = keepers.DiskKeeper(
            stored_world.path,
            world,
            "process",
            stored_world._executor,
            stored_world.complaints.append,
        )
        stored_world.wait_for_snapshots()

        assert list(stored_world.path.glob("journal-*")) == []
        assert stored_world.snapshot.read_bytes() != before
        assert world_content(stored_world.read()) == world_content(world)
        keeper.close()
        assert stored_world.complaints == []


def test_a_journal_without_its_snapshot_is_refused(stored_world):
    make_changes(stored_world.api)
    stored_world.snapshot.unlink()

    with pytest.raises(StateRefused, match=r"snapshot\.json is missing; restore it"):
        read_world(stored_world.path)


@pytest.mark.parametrize("journal", [b"", first_line("default")[:9], first_line("default")])
def test_an_unfinished_folder_is_no_world(tmp_path, journal):
    (tmp_path / "journal.ndjson").write_bytes(journal)

    assert read_world(tmp_path) == (None, [])


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_world_with_a_missing_file_is_refused_with_advice(stored_world, name, clean):
    make_changes(stored_world.api)
    if clean:
        stored_world.keeper.close()
    (stored_world.path / name).unlink()

    with pytest.raises(
        StateRefused, match=f"{name} is missing; restore .*--salvage .*start afresh"
    ):
        read_world(stored_world.path)


def test_remembered_responses_expire_in_the_same_order_after_a_restart(tmp_path):
    world = fresh_world(idempotency_retention="24h")
    with world_folder(tmp_path / "default", world) as stored_world:
        for key in ("z", "m", "a", "q", "b"):  # all in the same millisecond
            stored_world.api.set_flag(True, key=key)
        stored_world.api.engine.move_by(86_400_000 * 2)
        stored_world.api.set_flag(True, key="m")  # It was forgotten, so it is now the newest.
        order = list(stored_world.api.world.remembered_in_order())
        from_journal = stored_world.read()
        stored_world.keeper.close()
        from_snapshot = stored_world.read()

    for world in (from_journal, from_snapshot):
        assert list(world.remembered_in_order()) == order
    assert sorted(order) == sorted(stored_world.api.world.tables["remembered_responses"])
    journals = []
    for number, world in enumerate((stored_world.api.world, from_journal, from_snapshot)):
        with world_folder(tmp_path / str(number), world) as copy:
            copy.api.engine.move_by(86_400_000 * 2)
            for ordinal in range(4):
                assert copy.api.set_flag(True, key=f"new {ordinal}").status == 200
            journals.append(copy.journal.read_bytes())
    assert journals[1] == journals[2] == journals[0]


# --- deleting -----------------------------------------------------------------------------------


def test_a_deleted_world_leaves_no_file_and_accepts_no_change(stored_world):
    stored_world.keeper.discard()

    refused = stored_world.api.set_flag(False)

    assert refused.status == 503
    assert "this world was deleted" in refused.json["detail"]
    assert list(stored_world.path.parent.iterdir()) == []


def test_the_deletion_of_a_world_waits_for_its_fold(tmp_path, monkeypatch):
    with world_folder(tmp_path / "default", compact_bytes=1) as stored_world:
        stored_world.begin_fold()
        fold = Future[None]()
        timer = threading.Timer(0.02, fold.set_result, (None,))
        monkeypatch.setattr(stored_world.keeper, "_compaction", fold)
        rename = type(stored_world.path).rename
        ended = []

        def rename_after_fold(path, target):
            ended.append(fold.done())
            return rename(path, target)

        monkeypatch.setattr(type(stored_world.path), "rename", rename_after_fold)
        timer.start()

        stored_world.keeper.discard()

        timer.join()
        assert ended == [True]
        assert not stored_world.path.exists()


def test_the_deletion_of_a_world_leaves_foreign_files_alone(stored_world):
    (stored_world.path / "notes.txt").write_text("mine")

    stored_world.keeper.discard()

    assert [path.read_text() for path in stored_world.path.parent.rglob("*.txt")] == ["mine"]
    assert not stored_world.path.exists()
    assert "could not be deleted" in stored_world.complaints[0]


def test_a_world_that_cannot_be_deleted_stays_intact(stored_world, monkeypatch):
    monkeypatch.setattr(type(stored_world.path), "rename", failing(30, "Read-only file system"))
    with pytest.raises(OSError, match="Read-only"):
        stored_world.keeper.discard()
    monkeypatch.undo()

    assert stored_world.api.set_flag(False).status == 200
    assert world_content(stored_world.read()) == world_content(stored_world.api.world)


# --- missing and foreign files ------------------------------------------------------------------


def test_a_world_whose_marker_is_damaged_is_not_written_again(stored_world):
    stored_world.snapshot.unlink()
    (stored_world.path / "world.json").write_text("not a marker")

    with pytest.raises(
        OSError,
        match=f"{stored_world.path} was replaced by other files while the emulator was running; restart "
        "the emulator to use the new files",
    ):
        stored_world.keeper.repair()

    refused = stored_world.api.set_flag(True)
    assert refused.status == 503
    assert "restart the emulator to use the new files" in refused.json["detail"]
    assert not stored_world.snapshot.exists()


@pytest.mark.parametrize("durability", ["disk", "process"])
def test_a_folder_that_is_written_again_is_synced(tmp_path, monkeypatch, durability):
    with world_folder(tmp_path / "worlds" / "default", durability=durability) as stored_world:
        shutil.rmtree(stored_world.path)
        synced_folders: list[Path] = []
        monkeypatch.setattr(files, "sync_directory", synced_folders.append)

        assert stored_world.keeper.repair()

        is_synced = tmp_path / "worlds" in synced_folders
        assert is_synced == (durability == "disk")
        assert world_content(stored_world.read()) == world_content(stored_world.api.world)


# --- durability disk ----------------------------------------------------------------------------


@pytest.fixture
def synced_world(tmp_path):
    with world_folder(tmp_path / "default", durability="disk") as stored_world:
        yield stored_world


class Disk:
    """Counts syncs, and makes them fail on request."""

    def __init__(self, monkeypatch):
        self.syncs = 0
        self.fails = False
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self)

    def __call__(self, descriptor):
        self.syncs += 1
        if self.fails:
            raise OSError(5, "Input/output error")
        self._fsync(descriptor)


async def wait_for_sync(stored_world: WorldFolder):
    sync = stored_world.keeper.durable()
    if sync is not None:
        await sync


async def test_waiting_requests_share_a_sync(synced_world, monkeypatch):
    disk = Disk(monkeypatch)

    async def change():
        assert synced_world.api.set_flag(True).status == 200
        await wait_for_sync(synced_world)

    await asyncio.gather(*(change() for _ in range(64)))

    assert 1 <= disk.syncs <= 4
    assert synced_world.keeper.durable() is None


async def test_no_response_leaves_before_its_sync(synced_world, monkeypatch):
    disk = Disk(monkeypatch)
    for _ in range(5):
        before = disk.syncs
        synced_world.api.set_flag(True)
        await wait_for_sync(synced_world)
        assert disk.syncs > before


async def test_a_failed_sync_refuses_all_changes_until_a_restart(synced_world, monkeypatch):
    disk = Disk(monkeypatch)
    disk.fails = True

    async def change():
        synced_world.api.set_flag(True)
        await wait_for_sync(synced_world)

    results = await asyncio.gather(*(change() for _ in range(8)), return_exceptions=True)
    disk.fails = False  # Syncs work again, but nobody knows what the disk has lost.
    refused = synced_world.api.set_flag(False)
    read = synced_world.api.dns()
    await wait_for_sync(synced_world)

    assert all(isinstance(error, OSError) for error in results)
    assert (refused.status, refused.json["code"]) == (503, "service_unavailable")
    assert "refuses changes until a restart" in refused.json["detail"]
    assert read.status == 200
    assert synced_world.complaints == [
        f"{synced_world.path}: a sync failed (Input/output error): the latest changes may be lost; this "
        "world refuses changes until a restart, but can still be read"
    ]
    with pytest.raises(
        OSError,
        match=f"the journal {synced_world.journal} could not be synced: Input/output error; this world "
        "refuses changes until a restart",
    ):
        synced_world.keeper.replace(synced_world.api.world)


async def test_a_change_that_was_made_while_a_sync_failed_is_refused(synced_world, monkeypatch):
    sync_started = asyncio.Event()
    may_fail = threading.Event()
    loop = asyncio.get_running_loop()

    def fail(_):
        loop.call_soon_threadsafe(sync_started.set)
        may_fail.wait(10)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    synced_world.api.set_flag(True)
    first = asyncio.ensure_future(wait_for_sync(synced_world))
    await sync_started.wait()
    synced_world.api.set_flag(False)
    second = asyncio.ensure_future(wait_for_sync(synced_world))
    await asyncio.sleep(0)
    may_fail.set()

    results = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(error, OSError) for error in results)


async def test_a_stop_after_a_failed_sync_writes_everything_again(synced_world, monkeypatch):
    disk = Disk(monkeypatch)
    disk.fails = True
    synced_world.api.set_flag(True)
    with pytest.raises(OSError, match="Input/output"):
        await wait_for_sync(synced_world)
    disk.fails = False

    synced_world.keeper.close(fold=False)

    assert synced_world.journal.read_bytes() == first_line("default")
    assert world_content(synced_world.read()) == world_content(synced_world.api.world)


@pytest.mark.parametrize("durability", ["disk", "process"])
def test_a_new_journal_is_synced_with_its_folder_before_a_change_goes_into_it(
    tmp_path, monkeypatch, durability: str
):
    """A crash of the machine would otherwise lose the new file with the changes in it."""
    folder = tmp_path / "default"
    with world_folder(folder, durability=durability, compact_bytes=1) as stored_world:
        synced_journals = []
        changing_thread = threading.get_ident()
        sync_directory = files.sync_directory

        def sync(path):
            if threading.get_ident() == changing_thread:
                synced_journals.append((path, stored_world.journal.read_bytes()))
            sync_directory(path)

        monkeypatch.setattr(files, "sync_directory", sync)
        for number in range(400):
            stored_world.api.set_flag(bool(number % 2))
            if synced_journals:
                break
        stored_world.wait_for_snapshots()

    expected = [(folder, first_line("default"))] if durability == "disk" else []
    assert synced_journals == expected


async def test_simultaneous_syncs_and_folds_lose_nothing(tmp_path, monkeypatch):
    Disk(monkeypatch)
    with world_folder(tmp_path / "default", durability="disk", compact_bytes=1) as stored_world:

        async def client(number):
            for _ in range(20):
                assert stored_world.api.set_flag(bool(number % 2)).status == 200
                await wait_for_sync(stored_world)

        await asyncio.gather(*(client(number) for number in range(20)))
        stored_world.wait_for_snapshots()

        assert world_content(stored_world.read()) == world_content(stored_world.api.world)
        assert stored_world.complaints == []


async def test_simultaneous_resets_and_syncs_lose_nothing(synced_world, monkeypatch):
    Disk(monkeypatch)

    async def change():
        synced_world.api.set_flag(True)
        await wait_for_sync(synced_world)

    for _ in range(10):
        waiting = [asyncio.ensure_future(change()) for _ in range(5)]
        await asyncio.sleep(0)
        world = synced_world.api.world
        synced_world.api.engine.replace_world(
            world.__class__(**{**fields(world), "commit": world.commit + 1})
        )
        await asyncio.gather(*waiting)

    assert world_content(synced_world.read()) == world_content(synced_world.api.world)


def test_process_durability_waits_for_no_sync(stored_world):
    stored_world.api.set_flag(False)

    assert stored_world.keeper.durable() is None
