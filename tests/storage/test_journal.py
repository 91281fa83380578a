"""The journal: a start reads back what was appended, and damage is always detected."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hosting_emulator.storage.format import (
    FormatRefused,
    Marker,
    StateRefused,
    checked_line,
    write_marker,
)
from hosting_emulator.storage.journal import Journal, JournalLines, encode_line, first_line
from tests.support.worlds_on_disk import (
    make_changes,
    numbered_commit,
    read_world,
    world_content,
    world_folder,
)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    """The folder of a killed process, with a snapshot and a journal of many commits, and its worlds."""
    with world_folder(tmp_path_factory.mktemp("crashed") / "default") as stored_world:
        worlds = [world_content(stored_world.api.world)]
        append = stored_world.keeper.append

        def append_and_record(commit):
            append(commit)
            worlds.append(world_content(commit.world))

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(stored_world.keeper, "append", append_and_record)
            make_changes(stored_world.api)
        yield stored_world.path, worlds


@pytest.fixture
def copy(crashed, tmp_path):
    shutil.copytree(crashed[0], tmp_path / "default")
    return tmp_path / "default"


def journal_of(path):
    return path / "journal.ndjson"


def test_a_journal_reads_back_every_commit(crashed, copy):
    world, notices = read_world(copy)

    assert world_content(world) == crashed[1][-1]
    assert notices == []


def test_a_journal_that_is_cut_at_any_byte_keeps_its_whole_lines(crashed, tmp_path):
    data, first = last_lines(crashed[0], 4)
    ends = [index + 1 for index, byte in enumerate(data) if byte == 0x0A]
    path = tmp_path / "journal.ndjson"

    for size in range(ends[0], len(data) + 1):
        # Some file systems flush a file that is truncated and written again.
        path.unlink(missing_ok=True)
        path.write_bytes(data[:size])

        read_numbers, notice = read_commit_numbers(path)

        whole = sum(end <= size + 1 for end in ends)  # A commit is complete without its newline.
        assert read_numbers == list(range(first, first + whole))
        assert bool(notice) == (size not in ends and size + 1 not in ends)
        # The rest of a torn line is deleted, so that the next start reads what is appended now.
        assert path.read_bytes() == data[: ends[whole - 1]]


@pytest.mark.parametrize("lost_lines", [1, 2, 3])
@pytest.mark.parametrize("extra_bytes", [0, 1, 2, 40])
def test_a_cut_journal_restores_the_world_of_the_last_whole_commit(
    crashed, copy, lost_lines, extra_bytes
):
    write_marker(copy, Marker("another run of the machine"), sync=False)
    lines = journal_of(copy).read_bytes().splitlines(keepends=True)
    journal_of(copy).write_bytes(b"".join(lines[:-lost_lines]) + lines[-lost_lines][:extra_bytes])

    assert world_content(read_world(copy)[0]) == crashed[1][-1 - lost_lines]


def test_every_flipped_byte_of_the_last_three_lines_of_a_journal_is_detected(crashed, tmp_path):
    data, _ = last_lines(crashed[0], 3)
    path = tmp_path / "journal.ndjson"

    for index in range(len(data)):
        flipped = bytearray(data)
        flipped[index] ^= 1 << (index % 8)
        path.unlink(missing_ok=True)
        path.write_bytes(flipped)

        with pytest.raises(StateRefused, match=r"journal\.ndjson"):
            read_commit_numbers(path)


def last_lines(folder, count):
    lines = journal_of(folder).read_bytes().splitlines(keepends=True)
    return b"".join(lines[-count:]), len(lines) - count + 1  # The second line is commit 2.


def read_commit_numbers(path, *, last=True):
    lines = JournalLines(path, last=last)
    commit_numbers = [commit.number for commit in lines.commits()]
    lines.repair()
    return commit_numbers, lines.notice


@given(data=st.data())
@settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_changed_bytes_anywhere_in_a_journal_are_detected(copy, crashed, data):
    original = journal_of(crashed[0]).read_bytes()
    changed = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(original) - 1))] = data.draw(st.integers(0, 255))
    journal_of(copy).write_bytes(changed)

    if changed == original:
        assert world_content(read_world(copy)[0]) == crashed[1][-1]
    else:
        with pytest.raises(StateRefused):
            read_world(copy)


def test_a_missing_line_of_a_journal_is_detected(copy):
    lines = journal_of(copy).read_bytes().splitlines(keepends=True)
    journal_of(copy).write_bytes(b"".join(lines[:3] + lines[4:]))

    with pytest.raises(
        StateRefused, match=r"commit 5 follows 3; the commits in between are missing"
    ):
        read_world(copy)


def test_lines_of_a_journal_that_the_snapshot_contains_are_skipped(crashed, copy):
    data = journal_of(copy).read_bytes()

    journal_of(copy).write_bytes(data + data.removeprefix(first_line("default")))

    assert world_content(read_world(copy)[0]) == crashed[1][-1]


def test_the_refusal_of_a_damaged_journal_names_the_line_and_the_remedy(copy):
    lines = journal_of(copy).read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"at_ms", b"at_mz")
    journal_of(copy).write_bytes(b"".join(lines))

    with pytest.raises(
        StateRefused,
        match=r"line 3: its checksum is wrong, so the line was changed or damaged; restore the file",
    ):
        read_world(copy)


# --- one journal file ---------------------------------------------------------------------------


def line(number: int) -> bytes:
    return encode_line(numbered_commit(number, {"streams": {"x": number}}))


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path / "journal.ndjson", "w")
    yield opened
    opened.close()


def test_a_torn_line_in_an_older_journal_is_damage(journal):
    journal.append(line(1) + line(2)[:20])

    with pytest.raises(
        StateRefused, match=": its last line is incomplete, but there are later journals; restore"
    ):
        JournalLines(journal.path, last=False)


def test_a_changed_last_byte_of_a_journal_is_damage(journal):
    journal.append(line(1)[:-1] + b" ")

    with pytest.raises(StateRefused, match=": the last byte was changed or damaged; restore"):
        JournalLines(journal.path, last=True)


def test_a_first_line_without_its_newline_is_whole(tmp_path):
    path = tmp_path / "journal.ndjson"
    path.write_bytes(first_line("w")[:-1])

    journal_lines = JournalLines(path, last=True)
    journal_lines.repair()

    assert (journal_lines.world, journal_lines.notice) == (("w", ""), None)
    assert path.read_bytes() == first_line("w")


def test_a_line_with_a_correct_checksum_that_contains_no_commit_is_refused(tmp_path):
    path = tmp_path / "journal.ndjson"
    path.write_bytes(first_line("w") + checked_line(b"commit", b'{"number":"many"}'))

    with pytest.raises(StateRefused, match=r"line 2: .*Expected `int`.*number.*; restore the file"):
        read_commit_numbers(path)


def test_the_refusal_of_a_newer_journal_names_its_version(tmp_path):
    path = tmp_path / "journal.ndjson"
    path.write_bytes(checked_line(b"journal", b'{"format":8,"written_by":"4.2.0"}'))

    with pytest.raises(
        FormatRefused,
        match=r"journal\.ndjson: its format is 8.*use hosting-emulator 4\.2\.0, or use another --data-dir,",
    ):
        JournalLines(path, last=True)


def test_a_journal_that_cannot_be_begun_is_refused(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        Journal(tmp_path / "journal.ndjson", "w")


def test_a_full_disk_leaves_the_journal_unchanged(journal, monkeypatch):
    journal.append(line(1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2]))

    with pytest.raises(OSError, match="No space left"):
        journal.append(line(2))

    monkeypatch.undo()
    journal.append(line(2))
    assert read_commit_numbers(journal.path) == ([1, 2], None)


def test_a_journal_that_cannot_be_begun_is_closed(tmp_path, monkeypatch):
    before = sorted(Path("/dev/fd").iterdir())

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        Journal(tmp_path / "journal.ndjson", "w")

    assert sorted(Path("/dev/fd").iterdir()) == before


def test_a_journal_that_cannot_be_cut_back_accepts_no_more_lines(journal, monkeypatch):
    def fail(*_):
        raise OSError(5, "Input/output error")

    journal.append(line(1))
    monkeypatch.setattr(os, "write", fail)
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(OSError, match="Input/output error"):
        journal.append(line(2))
    monkeypatch.undo()

    damaged = f"the journal {journal.path} is damaged: Input/output error$"
    with pytest.raises(OSError, match=damaged):
        journal.append(line(2))
    assert journal.broken


def test_a_journal_reports_no_successful_sync_after_a_failed_one(journal, monkeypatch):
    def fail(_):
        raise OSError(5, "Input/output error")

    journal.append(line(1))
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        journal.sync()
    monkeypatch.undo()

    for attempt in (journal.sync, lambda: journal.append(line(2))):
        unsynced = f"the journal {journal.path} could not be synced: Input/output error$"
        with pytest.raises(OSError, match=unsynced):
            attempt()


def test_a_closed_journal_does_not_write_into_another_file(journal, tmp_path):
    journal.close()
    other_file = (tmp_path / "other").open("wb")  # very likely has the same descriptor

    with pytest.raises(OSError, match="is closed"):
        journal.append(line(1))
    journal.sync()
    journal.close()

    other_file.close()
    assert (tmp_path / "other").read_bytes() == b""
