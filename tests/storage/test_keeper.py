"""The keeper: a world's folder under appends, folding, full disks and crashes in between."""

import asyncio
import os
import threading

import pytest

from hosting_emulator.storage import directory as keepers
from hosting_emulator.storage.documents import write_snapshot
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.journal import first_line
from hosting_emulator.storage.recovery import sweep
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import Folder, busy, content, folder, read_world


@pytest.fixture
def kept(tmp_path):
    with folder(tmp_path / "default") as found:
        yield found


def failing(number, text):
    def fail(*_, **__):
        raise OSError(number, text)

    return fail


def test_every_commit_can_be_read_from_disk_before_its_response(kept):
    busy(kept.api)

    assert content(kept.read()) == content(kept.api.world)


def test_a_clean_close_folds_the_whole_journal_into_the_snapshot(kept):
    busy(kept.api)

    kept.keeper.close()

    assert content(kept.read()) == content(kept.api.world)
    assert kept.journal.read_bytes() == first_line("default")


def test_a_close_without_changes_writes_nothing(kept):
    before = kept.snapshot.stat().st_mtime_ns

    kept.keeper.close()

    assert kept.snapshot.stat().st_mtime_ns == before


def test_a_large_world_keeps_its_journal_at_a_close(kept, monkeypatch):
    monkeypatch.setattr(keepers, "ROWS_FOLDED_AT_STOP", 10)
    busy(kept.api)
    before = kept.journal.read_bytes()

    kept.keeper.close()

    assert kept.journal.read_bytes() == before
    assert content(kept.read()) == content(kept.api.world)


def test_a_close_does_not_wait_for_a_fold(tmp_path, monkeypatch):
    with folder(tmp_path / "default", compact_bytes=1) as kept:
        began = threading.Event()
        write = write_snapshot

        def endless(path, world, lineage, stopped):
            began.set()
            while not stopped():
                pass
            write(path, world, lineage, stopped)

        before = kept.snapshot.read_bytes()
        monkeypatch.setattr(keepers, "write_snapshot", endless)
        monkeypatch.setattr(keepers, "ROWS_FOLDED_AT_STOP", 10)
        while not kept.keeper._compaction:
            kept.api.set_flag(True)
        assert began.wait(10)

        kept.keeper.close()

        assert kept.snapshot.read_bytes() == before
        assert list(kept.path.glob("*.tmp")) == []
        assert content(kept.read()) == content(kept.api.world)


# --- folding ------------------------------------------------------------------------------------


def test_a_long_journal_is_folded_while_changes_go_on(tmp_path):
    with folder(tmp_path / "default", compact_bytes=2_000) as kept:
        size = kept.snapshot.stat().st_size
        for number in range(400):
            assert kept.api.set_flag(bool(number % 2)).status == 200
        kept.settled()

        assert content(kept.read()) == content(kept.api.world)
        journals = sum(path.stat().st_size for path in kept.path.glob("journal*"))
        assert journals <= 2 * max(size, kept.snapshot.stat().st_size)
        assert kept.complaints == []


def test_changes_during_a_slow_snapshot_are_all_stored(tmp_path, monkeypatch):
    with folder(tmp_path / "default", compact_bytes=1) as kept:
        go_on = threading.Event()
        write = write_snapshot

        def slow(*arguments):
            go_on.wait(10)
            write(*arguments)

        monkeypatch.setattr(keepers, "write_snapshot", slow)
        while len(list(kept.path.glob("journal*"))) < 2:  # until a fold has begun
            kept.api.set_flag(True)
        for number in range(50):
            kept.api.set_flag(bool(number % 2))
        crashed_now = content(kept.read())
        go_on.set()
        kept.settled()

        assert crashed_now == content(kept.api.world)
        assert content(kept.read()) == content(kept.api.world)


def test_a_reset_overtakes_a_slow_snapshot(tmp_path, monkeypatch):
    with folder(tmp_path / "default", compact_bytes=1) as kept:
        write = write_snapshot
        began = threading.Event()
        go_on = threading.Event()

        def slow(*arguments):
            if threading.current_thread() is not threading.main_thread():
                began.set()
                go_on.wait(10)
            write(*arguments)

        monkeypatch.setattr(keepers, "write_snapshot", slow)
        while not began.is_set():
            kept.api.set_flag(True)
        go_on.set()
        later = fresh_world(seed="another")
        kept.keeper.replace(later.__class__(**{**fields(later), "commit": 10_000}))
        kept.settled()

        assert kept.read().seed == "another"
        assert list(kept.path.glob("journal-*")) == []


def fields(world):
    return {name: getattr(world, name) for name in world.__struct_fields__}


def test_a_snapshot_that_fails_loses_nothing(tmp_path, monkeypatch):
    with folder(tmp_path / "default", compact_bytes=1) as kept:
        monkeypatch.setattr(keepers, "write_snapshot", failing(28, "No space left on device"))
        for number in range(200):
            assert kept.api.set_flag(bool(number % 2)).status == 200
        kept.settled()
        monkeypatch.undo()

        assert content(kept.read()) == content(kept.api.world)
        assert any("no snapshot could be written" in said for said in kept.complaints)


def test_the_old_journal_continues_if_a_new_one_cannot_be_created(tmp_path, monkeypatch):
    with folder(tmp_path / "default", compact_bytes=1) as kept:
        monkeypatch.setattr(keepers, "Journal", failing(24, "Too many open files"))
        for number in range(100):
            assert kept.api.set_flag(bool(number % 2)).status == 200
        monkeypatch.undo()

        assert content(kept.read()) == content(kept.api.world)
        assert [path.name for path in kept.path.glob("journal*")] == ["journal.ndjson"]


# --- full and failing disks ---------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_full_disk_refuses_the_change_and_loses_nothing(kept, monkeypatch, share):
    kept.api.set_flag(False)
    before = content(kept.api.world)
    write = os.write

    def full(descriptor, data):
        if share:
            return write(descriptor, data[: int(len(data) * share)])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    refused = kept.api.set_flag(True, key="again")
    read_only = kept.api.dns()
    monkeypatch.undo()

    assert (refused.status, refused.json["code"]) == (503, "service_unavailable")
    assert "Nothing was changed" in refused.json["detail"]
    assert read_only.status == 200
    assert content(kept.api.world) == content(kept.read()) == before

    later = kept.api.set_flag(True, key="again")
    assert (later.status, later.json["enabled"]) == (200, True)
    assert content(kept.read()) == content(kept.api.world)


def test_an_event_that_is_due_on_a_full_disk_runs_later(kept, monkeypatch):
    operation = kept.api.apply_domains().json["id"]
    due_ms = kept.api.world.next_due_ms
    monkeypatch.setattr(os, "write", failing(28, "No space left on device"))
    kept.api.engine.world = kept.api.world.__class__(
        **{**fields(kept.api.world), "at_ms": due_ms + 1}
    )

    refused = kept.api.poll(operation)
    monkeypatch.undo()
    answered = kept.api.poll(operation)

    assert refused.status == 503
    assert (answered.status, answered.json["state"]) == (200, "running")


def test_a_damaged_journal_is_replaced_by_a_snapshot_at_the_next_change(kept, monkeypatch):
    kept.api.set_flag(False)
    monkeypatch.setattr(os, "write", failing(5, "Input/output error"))
    monkeypatch.setattr(os, "ftruncate", failing(5, "Input/output error"))
    assert kept.api.set_flag(True).status == 503
    monkeypatch.undo()

    assert kept.api.set_flag(True).status == 200
    assert content(kept.read()) == content(kept.api.world)


def test_a_reset_that_cannot_be_written_changes_nothing(kept, monkeypatch):
    kept.api.set_flag(False)
    before = content(kept.api.world)
    monkeypatch.setattr(keepers, "write_snapshot", failing(28, "No space left on device"))

    with pytest.raises(OSError, match="No space left"):
        kept.keeper.replace(fresh_world())
    monkeypatch.undo()

    assert content(kept.read()) == before
    kept.api.set_flag(True)
    assert content(kept.read()) == content(kept.api.world)


def test_a_reset_counts_although_its_journal_cannot_be_created(kept, monkeypatch):
    kept.api.set_flag(False)
    later = fresh_world(seed="another")
    later = later.__class__(**{**fields(later), "commit": kept.api.world.commit + 1})
    monkeypatch.setattr(keepers, "begin_journal", failing(5, "Input/output error"))

    kept.api.engine.replace_world(later)
    again = InProcess(later, kept.keeper)
    refused = again.set_flag(False)
    monkeypatch.undo()
    accepted = again.set_flag(False)

    assert "could not be begun again" in kept.complaints[0]
    assert [refused.status, accepted.status] == [503, 200]
    assert content(kept.read()) == content(again.world)


# --- what crashes leave -------------------------------------------------------------------------


def test_an_unfinished_snapshot_is_deleted_at_the_next_start(kept):
    busy(kept.api)
    (kept.path / "snapshot.json.4242.tmp").write_text("{half")

    assert content(kept.read()) == content(kept.api.world)
    sweep(kept.path)
    assert list(kept.path.glob("*.tmp")) == []


def test_a_fold_that_was_killed_before_its_snapshot_loses_nothing(kept):
    busy(kept.api)
    kept.journal.rename(kept.path / "journal-000000000005.ndjson")

    assert content(kept.read()) == content(kept.api.world)


def test_a_fold_that_was_killed_before_the_old_journal_was_deleted_loses_nothing(kept):
    busy(kept.api)
    before = kept.journal.read_bytes()
    kept.keeper.close()
    (kept.path / "journal-000000000005.ndjson").write_bytes(before)

    assert content(kept.read()) == content(kept.api.world)


def test_an_interrupted_fold_is_repeated_at_the_next_start(tmp_path):
    """Else journals pile up, and each start reads them all."""
    with folder(tmp_path / "default") as kept:
        busy(kept.api)
        kept.keeper.close(fold=False)
        kept.journal.rename(kept.path / "journal-000000000005.ndjson")
        world = kept.read()
        before = kept.snapshot.read_bytes()

        again = keepers.DiskKeeper(
            kept.path, world, "process", kept._executor, kept.complaints.append
        )
        kept.settled()

        assert list(kept.path.glob("journal-*")) == []
        assert kept.snapshot.read_bytes() != before
        assert content(kept.read()) == content(world)
        again.close()
        assert kept.complaints == []


def test_a_journal_without_its_snapshot_is_refused(kept):
    busy(kept.api)
    kept.snapshot.unlink()

    with pytest.raises(StateRefused, match=r"snapshot\.json is missing; restore it"):
        read_world(kept.path)


@pytest.mark.parametrize("journal", [b"", first_line("default")[:9], first_line("default")])
def test_an_unfinished_folder_is_no_world(tmp_path, journal):
    (tmp_path / "journal.ndjson").write_bytes(journal)

    assert read_world(tmp_path) == (None, [])


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
@pytest.mark.parametrize("clean", [True, False])
def test_a_world_with_a_missing_file_is_refused_with_advice(kept, name, clean):
    busy(kept.api)
    if clean:
        kept.keeper.close()
    (kept.path / name).unlink()

    with pytest.raises(
        StateRefused, match=f"{name} is missing; restore .*--salvage .*start afresh"
    ):
        read_world(kept.path)


def test_remembered_responses_expire_in_the_same_order_after_a_restart(tmp_path):
    world = fresh_world(idempotency_retention="24h")
    with folder(tmp_path / "default", world) as kept:
        for key in ("z", "m", "a", "q", "b"):  # all in one millisecond
            kept.api.set_flag(True, key=key)
        kept.api.engine.move_by(86_400_000 * 2)
        kept.api.set_flag(True, key="m")  # remembered anew: now the last
        order = list(kept.api.world.remembered_in_order())
        from_journal = kept.read()
        kept.keeper.close()
        from_snapshot = kept.read()

    for world in (from_journal, from_snapshot):
        assert list(world.remembered_in_order()) == order
    assert sorted(order) == sorted(kept.api.world.tables["remembered_answers"])
    journals = []
    for number, world in enumerate((kept.api.world, from_journal, from_snapshot)):
        with folder(tmp_path / str(number), world) as again:
            again.api.engine.move_by(86_400_000 * 2)
            for each in range(4):
                assert again.api.set_flag(True, key=f"new {each}").status == 200
            journals.append(again.journal.read_bytes())
    assert journals[1] == journals[2] == journals[0]


# --- deleting -----------------------------------------------------------------------------------


def test_a_deleted_world_leaves_no_file_and_accepts_no_change(kept):
    kept.keeper.discard()

    refused = kept.api.set_flag(False)

    assert refused.status == 503
    assert "this world was deleted" in refused.json["detail"]
    assert list(kept.path.parent.iterdir()) == []


def test_the_deletion_of_a_world_leaves_foreign_files_alone(kept):
    (kept.path / "notes.txt").write_text("mine")

    kept.keeper.discard()

    assert [path.read_text() for path in kept.path.parent.rglob("*.txt")] == ["mine"]
    assert not kept.path.exists()
    assert "could not be deleted" in kept.complaints[0]


def test_a_world_that_cannot_be_deleted_stays_intact(kept, monkeypatch):
    monkeypatch.setattr(type(kept.path), "rename", failing(30, "Read-only file system"))
    with pytest.raises(OSError, match="Read-only"):
        kept.keeper.discard()
    monkeypatch.undo()

    assert kept.api.set_flag(False).status == 200
    assert content(kept.read()) == content(kept.api.world)


# --- durability disk ----------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path):
    with folder(tmp_path / "default", durability="disk") as found:
        yield found


class Disk:
    """A disk whose syncs are counted, and fail when told to."""

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


async def durable(kept: Folder):
    found = kept.keeper.durable()
    if found is not None:
        await found


async def test_waiting_requests_share_a_sync(on_disk, monkeypatch):
    disk = Disk(monkeypatch)

    async def change():
        assert on_disk.api.set_flag(True).status == 200
        await durable(on_disk)

    await asyncio.gather(*(change() for _ in range(64)))

    assert 1 <= disk.syncs <= 4
    assert on_disk.keeper.durable() is None


async def test_no_response_leaves_before_its_sync(on_disk, monkeypatch):
    disk = Disk(monkeypatch)
    for _ in range(5):
        before = disk.syncs
        on_disk.api.set_flag(True)
        await durable(on_disk)
        assert disk.syncs > before


async def test_a_failed_sync_refuses_all_changes_until_a_restart(on_disk, monkeypatch):
    disk = Disk(monkeypatch)
    disk.fails = True

    async def change():
        on_disk.api.set_flag(True)
        await durable(on_disk)

    told = await asyncio.gather(*(change() for _ in range(8)), return_exceptions=True)
    disk.fails = False  # it works again, but what it lost nobody knows
    refused = on_disk.api.set_flag(False)
    read = on_disk.api.dns()
    await durable(on_disk)

    assert all(isinstance(error, OSError) for error in told)
    assert (refused.status, refused.json["code"]) == (503, "service_unavailable")
    assert "takes no changes until a restart" in refused.json["detail"]
    assert read.status == 200
    assert [said.count("a sync failed (Input/output error)") for said in on_disk.complaints] == [1]
    with pytest.raises(OSError, match="until a restart"):
        on_disk.keeper.replace(on_disk.api.world)


async def test_a_change_that_was_made_while_a_sync_failed_is_refused(on_disk, monkeypatch):
    entered = asyncio.Event()
    go_on = threading.Event()
    loop = asyncio.get_running_loop()

    def fail(_):
        loop.call_soon_threadsafe(entered.set)
        go_on.wait(10)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    on_disk.api.set_flag(True)
    first = asyncio.ensure_future(durable(on_disk))
    await entered.wait()
    on_disk.api.set_flag(False)
    second = asyncio.ensure_future(durable(on_disk))
    await asyncio.sleep(0)
    go_on.set()

    told = await asyncio.gather(first, second, return_exceptions=True)
    assert all(isinstance(error, OSError) for error in told)


async def test_a_stop_after_a_failed_sync_writes_everything_again(on_disk, monkeypatch):
    disk = Disk(monkeypatch)
    disk.fails = True
    on_disk.api.set_flag(True)
    with pytest.raises(OSError, match="Input/output"):
        await durable(on_disk)
    disk.fails = False

    on_disk.keeper.close(fold=False)

    assert on_disk.journal.read_bytes() == first_line("default")
    assert content(on_disk.read()) == content(on_disk.api.world)


async def test_simultaneous_syncs_and_folds_lose_nothing(tmp_path, monkeypatch):
    Disk(monkeypatch)
    with folder(tmp_path / "default", durability="disk", compact_bytes=1) as kept:

        async def client(number):
            for _ in range(20):
                assert kept.api.set_flag(bool(number % 2)).status == 200
                await durable(kept)

        await asyncio.gather(*(client(number) for number in range(20)))
        kept.settled()

        assert content(kept.read()) == content(kept.api.world)
        assert kept.complaints == []


async def test_simultaneous_resets_and_syncs_lose_nothing(on_disk, monkeypatch):
    Disk(monkeypatch)

    async def change():
        on_disk.api.set_flag(True)
        await durable(on_disk)

    for _ in range(10):
        waiting = [asyncio.ensure_future(change()) for _ in range(5)]
        await asyncio.sleep(0)
        world = on_disk.api.world
        on_disk.api.engine.replace_world(
            world.__class__(**{**fields(world), "commit": world.commit + 1})
        )
        await asyncio.gather(*waiting)

    assert content(on_disk.read()) == content(on_disk.api.world)


def test_process_durability_waits_for_no_sync(kept):
    kept.api.set_flag(False)

    assert kept.keeper.durable() is None
