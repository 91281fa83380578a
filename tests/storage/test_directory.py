"""The data directory: which process may use it, what it loads, and its errors."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hosting_emulator.storage import directory as directories
from hosting_emulator.storage import files
from hosting_emulator.storage import keeper as keepers
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.journal import first_line
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import open_directory, read_world, world_content


@pytest.fixture
def messages():
    return []


@pytest.fixture
def directory(tmp_path, messages):
    opened = open_directory(tmp_path / "data", messages)
    yield opened
    opened.close()


def test_stored_worlds_are_loaded_at_the_next_start(directory, tmp_path):
    worlds = [fresh_world(name, seed=name) for name in ("default", "another")]
    for world in worlds:
        directory.keep(world, fresh=True)
    directory.close()

    reopened = open_directory(tmp_path / "data")
    loaded = [reopened.load(name) for name in reopened.worlds()]
    reopened.close()

    assert sorted(map(world_content, loaded)) == sorted(map(world_content, worlds))


def test_a_data_directory_is_ignored_by_git_and_private(directory):
    assert (directory.path / ".gitignore").read_text() == "*\n"
    assert (directory.path / "worlds").stat().st_mode & 0o077 == 0


def test_a_deleted_data_directory_is_written_again_with_the_same_private_files(directory):
    directory.publish_address(b"address")
    directory.keep(fresh_world(), fresh=True)
    before = modes_below(directory.path)
    shutil.rmtree(directory.path)

    directory.check_files()

    assert modes_below(directory.path) == before
    assert (directory.path / ".gitignore").read_text() == "*\n"
    assert (directory.path / "address.json").read_bytes() == b"address"


def test_a_deleted_lock_still_keeps_other_emulators_out(directory):
    (directory.path / "lock").unlink()

    directory.check_files()

    with pytest.raises(StateRefused, match="is in use by another hosting-emulator"):
        open_directory(directory.path)


def test_the_user_chooses_the_mode_of_an_existing_data_directory(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o750)

    directory = open_directory(data)
    (data / "lock").unlink()
    directory.check_files()
    directory.close()

    assert data.stat().st_mode & 0o777 == 0o750


def test_a_data_directory_without_worlds_has_no_problem(directory, messages):
    directory.check_files()

    assert (directory.problem, messages) == (None, [])


def test_a_stop_that_has_taken_long_keeps_the_other_journals(tmp_path, monkeypatch):
    monkeypatch.setattr(directories, "FOLDING_AT_STOP_S", 0)
    directory = open_directory(tmp_path / "data")
    api = InProcess(fresh_world(), directory.keep(fresh_world(), fresh=True))
    api.set_flag(True)
    journal = directory.path / "worlds" / "default" / "journal.ndjson"
    before = journal.read_bytes()

    directory.close()

    reopened = open_directory(tmp_path / "data")
    assert journal.read_bytes() == before
    assert world_content(reopened.load("default")) == world_content(api.world)
    reopened.close()


def test_a_second_process_is_refused_in_one_line(directory):
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from hosting_emulator.storage.directory import DataDirectory\n"
        "from hosting_emulator.storage.format import StateRefused\n"
        "try:\n"
        "    DataDirectory(Path(sys.argv[1]), 'process', print)\n"
        "except StateRefused as error:\n"
        "    print(error)\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", program, str(directory.path)], capture_output=True, text=True
    )

    assert result.stderr == ""
    assert result.stdout == (
        f"{directory.path} is in use by another hosting-emulator; stop that hosting-emulator "
        "(`hosting-emulator stop`), or use another --data-dir or --ephemeral\n"
    )


# --- The address of the emulator -----------------------------------------------------------------


def test_the_address_is_private_and_is_removed_at_the_end(directory):
    directory.publish_address(b"address")

    path = directory.path / "address.json"
    assert path.read_bytes() == b"address"
    assert path.stat().st_mode & 0o777 == 0o600
    directory.close()
    assert not path.exists()


def test_an_address_that_a_killed_emulator_left_is_removed_at_the_start(tmp_path):
    open_directory(tmp_path / "data").close()
    (tmp_path / "data" / "address.json").write_text("stale")

    directory = open_directory(tmp_path / "data")

    assert not (tmp_path / "data" / "address.json").exists()
    directory.close()


def test_an_address_that_another_program_replaced_is_not_removed(directory):
    directory.publish_address(b"address")
    (directory.path / "address.json").write_bytes(b"another")

    directory.close()

    assert (directory.path / "address.json").read_bytes() == b"another"


def test_an_address_that_cannot_be_written_is_only_reported(directory, messages):
    (directory.path / "address.json").mkdir()

    directory.publish_address(b"address")

    assert messages == [f"{directory.path}/address.json cannot be written: Is a directory"]


def test_a_command_that_looks_at_the_lock_does_not_make_a_start_fail(tmp_path, monkeypatch):
    # On a busy machine, the timer may be late.
    monkeypatch.setattr(directories, "_LOCK_PATIENCE_S", 30)
    open_directory(tmp_path / "data").close()
    lock = os.open(tmp_path / "data" / "lock", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    release = threading.Timer(0.02, os.close, (lock,))
    release.start()

    open_directory(tmp_path / "data").close()

    release.join()


def test_a_closed_data_directory_can_be_opened_again(directory, tmp_path):
    directory.close()

    open_directory(tmp_path / "data").close()


@pytest.mark.parametrize(("number", "text"), [(13, "Permission denied"), (30, "Read-only file")])
def test_a_directory_that_cannot_be_written_is_refused_with_advice(
    tmp_path, monkeypatch, number, text
):
    def fail(*_, **__):
        raise OSError(number, text)

    monkeypatch.setattr(type(tmp_path), "mkdir", fail)

    with pytest.raises(StateRefused) as refused:
        open_directory(tmp_path / "data")

    assert str(refused.value) == (
        f"{tmp_path}/data cannot be written: {text}; use another --data-dir, or use --ephemeral to "
        "store nothing"
    )


def test_a_file_in_place_of_the_data_directory_is_refused_with_advice(tmp_path):
    (tmp_path / "data").write_text("I am a file")

    with pytest.raises(StateRefused, match=r"cannot be written: .*--data-dir"):
        open_directory(tmp_path / "data")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_data_directory_of_another_user_is_refused_with_advice(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    for parent in [*data.parents][:3]:
        parent.chmod(0o755)
    os.seteuid(65534)
    try:
        with pytest.raises(StateRefused, match="cannot be written: Permission denied"):
            open_directory(data)
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "A", "-a", "a" * 64, "a\n", ".a"])
def test_an_invalid_world_name_never_becomes_a_path(directory, name):
    with pytest.raises(StateRefused, match="is not a valid world name"):
        directory.load(name)
    with pytest.raises(StateRefused, match="is not a valid world name"):
        directory.keep(fresh_world(name or "x" * 64), fresh=True)


def test_folders_that_hold_no_world_are_left_alone(directory):
    for name in ("Notes", ".git", "a_b"):
        (directory.path / "worlds" / name).mkdir()

    assert directory.worlds() == []


def test_a_copied_folder_of_a_world_is_refused_with_advice(directory):
    directory.keep(fresh_world("one"), fresh=True)
    shutil.copytree(directory.path / "worlds" / "one", directory.path / "worlds" / "two")

    with pytest.raises(StateRefused) as refused:
        directory.load("two")

    assert str(refused.value) == (
        f"{directory.path}/worlds/two contains the world 'one': rename the folder to one, or move it "
        "out of the data directory. To copy a world, use `world fork`, or export and import"
    )


def test_a_world_whose_files_cannot_be_read_is_refused_with_advice(directory, monkeypatch):
    directory.keep(fresh_world(), fresh=True)
    monkeypatch.setattr(
        "hosting_emulator.storage.directory.sweep", failing(5, "Input/output error")
    )

    with pytest.raises(StateRefused) as refused:
        directory.load("default")

    folder = directory.path / "worlds" / "default"
    assert str(refused.value) == (
        f"{folder} cannot be read: Input/output error; restore it from a copy, or move {folder} away "
        "to start afresh"
    )


def test_deleted_files_are_written_again_and_reported_once(directory, messages):
    directory.keep(fresh_world(), fresh=True)
    directory.keep_files("the certificates", lambda: True)
    for name in ("lock", "worlds.json", "worlds/default/snapshot.json"):
        (directory.path / name).unlink()

    directory.check_files()
    directory.check_files()

    assert messages == [
        f"{directory.path}: files were deleted while the emulator was running and have been "
        f"rewritten: {names}"
        for names in (
            "the lock, the list of worlds, the world default, the certificates",
            "the certificates",
        )
    ]
    assert directory.problem == messages[-1]


def test_a_start_finishes_the_deletion_of_a_world_that_a_kill_interrupted(
    directory, tmp_path, messages
):
    keeper = directory.keep(fresh_world("gone"), fresh=True)
    keeper.abandon()
    trash = directory.path / "worlds" / ".gone-1234.deleted"
    directory._write_list(frozenset())
    (directory.path / "worlds" / "gone").rename(trash)
    directory._keepers.clear()
    directory.close()

    reopened = open_directory(tmp_path / "data", messages)
    names = reopened.worlds()
    reopened.close()

    assert names == []
    assert not trash.exists()
    assert messages == []


def test_the_remains_of_a_deleted_world_do_not_disturb_a_new_world_of_the_same_name(
    directory, tmp_path, messages
):
    directory.keep(fresh_world("again", "second"), fresh=True)
    trash = directory.path / "worlds" / ".again-1234.deleted"
    trash.mkdir()
    directory.close()

    reopened = open_directory(tmp_path / "data", messages)
    world = reopened.load("again")
    reopened.close()

    assert world is not None
    assert world.seed == "second"
    assert not trash.exists()
    assert messages == []


def test_a_link_in_place_of_a_deleted_world_is_not_followed(directory, tmp_path, messages):
    other = tmp_path / "other"
    other.mkdir()
    (other / "snapshot.json").write_text("not ours")
    link = directory.path / "worlds" / ".ci-1234.deleted"
    link.symlink_to(other)
    directory.close()

    open_directory(tmp_path / "data", messages).close()

    assert (other / "snapshot.json").read_text() == "not ours"
    assert messages == [
        f"{link} could not be deleted: {link.name} is a symbolic link, which could lead out of the "
        "data directory"
    ]


def test_the_name_of_a_deleted_world_can_be_used_again(directory):
    for seed in ("first", "second"):
        directory.keep(fresh_world("again", seed), fresh=True)
        assert directory.load("again").seed == seed
        directory.forget("again")

    assert directory.load("again") is None


def test_a_torn_line_is_reported(directory, messages):
    directory.keep(fresh_world(), fresh=True).abandon()
    journal = directory.path / "worlds" / "default" / "journal.ndjson"
    journal.write_bytes(b'{"crc32":"0000')

    directory.load("default")

    assert messages == [
        "world default: journal.ndjson: the last line is incomplete and was never acknowledged, so it "
        "was dropped"
    ]


@pytest.mark.parametrize(
    "step",
    ["keeper.write_snapshot", "directory.write_progress", "directory.DataDirectory._write_list"],
    ids=str.lower,
)
def test_a_world_that_cannot_be_written_leaves_no_file(directory, monkeypatch, step):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"hosting_emulator.storage.{step}", fail)
    before = open_paths_below(directory)
    for _ in range(5):
        with pytest.raises(OSError, match="No space left"):
            directory.keep(fresh_world("new"), fresh=True)

    assert open_paths_below(directory) == before
    assert not (directory.path / "worlds" / "new").exists()
    assert directory.load("new") is None


def test_the_files_of_an_interrupted_start_do_not_disturb_a_new_world(
    directory, messages, monkeypatch
):
    folded_journals = []
    monkeypatch.setattr(
        keepers.DiskKeeper, "_fold", lambda _, __, journals: folded_journals.extend(journals)
    )
    folder = directory.path / "worlds" / "new"
    folder.mkdir()
    (folder / "journal-000000000007.ndjson").write_bytes(first_line("new", "interrupted"))
    (folder / "journal.ndjson").write_bytes(first_line("new", "interrupted"))

    world = fresh_world("new")
    api = InProcess(world, directory.keep(world, fresh=True))
    api.set_flag(True)

    assert world_content(read_world(folder)[0]) == world_content(api.world)
    assert (folded_journals, messages) == ([], [])


def test_a_marker_that_cannot_be_written_is_only_reported(directory, messages, monkeypatch):
    monkeypatch.setattr(directories, "write_marker", failing(28, "No space left on device"))
    world = fresh_world()

    api = InProcess(world, directory.keep(world, fresh=True))
    response = api.set_flag(True)

    folder = directory.path / "worlds" / "default"
    assert messages == [f"{folder}: its marker could not be written: No space left on device"]
    assert response.status == 200
    assert world_content(read_world(folder)[0]) == world_content(api.world)


def test_a_world_that_could_not_be_deleted_stays_in_the_list_of_worlds(directory, monkeypatch):
    directory.keep(fresh_world("ci"), fresh=True)
    monkeypatch.setattr(type(directory.path), "rename", failing(30, "Read-only file system"))

    with pytest.raises(OSError, match="Read-only file system"):
        directory.forget("ci")

    monkeypatch.undo()
    assert json.loads((directory.path / "worlds.json").read_text())["worlds"] == ["ci"]
    directory.forget("ci")
    assert directory.worlds() == []


@pytest.mark.parametrize("durability", ["disk", "process"])
def test_a_journal_that_cannot_be_written_again_is_only_reported(
    tmp_path, messages, monkeypatch, durability
):
    """Durability `disk` rewrites a journal at the start, which syncs lines that may be lost."""
    first = open_directory(tmp_path / "data")
    first.keep(fresh_world(), fresh=True)
    first.close()
    directory = open_directory(tmp_path / "data", messages, durability=durability)
    monkeypatch.setattr(files, "write_atomically", failing(28, "No space left on device"))

    world = directory.load("default")

    monkeypatch.undo()
    directory.close()
    journal = directory.path / "worlds" / "default" / "journal.ndjson"
    report = f"{journal} could not be rewritten: No space left on device"
    assert world_content(world) == world_content(fresh_world())
    assert messages == ([report] if durability == "disk" else [])


@pytest.mark.parametrize(
    ("is_cut", "remains"),
    [
        (False, "the journal contains all changes"),
        (True, "changes since the last snapshot are lost"),
    ],
)
def test_a_final_snapshot_that_cannot_be_written_is_reported_with_the_loss(
    directory, messages, monkeypatch, is_cut, remains
):
    world = fresh_world()
    InProcess(world, directory.keep(world, fresh=True)).set_flag(True)
    if is_cut:
        os.truncate(directory.path / "worlds" / "default" / "journal.ndjson", 10)
        monkeypatch.setattr(directory, "check_files", lambda: None)  # It would repair the journal.
    monkeypatch.setattr(keepers, "write_snapshot", failing(28, "No space left on device"))

    directory.close()

    assert messages == [
        "the final snapshot could not be written: [Errno 28] No space left on device; " + remains
    ]


def test_changes_are_refused_after_another_emulator_took_the_directory(directory, messages):
    world = fresh_world()
    api = InProcess(world, directory.keep(world, fresh=True))
    shutil.rmtree(directory.path)
    other = open_directory(directory.path)

    directory.check_files()
    refused = api.set_flag(True)

    other.close()
    reason = (
        f"another emulator is now using {directory.path}; restart this emulator with another "
        "directory"
    )
    assert messages == [
        f"{directory.path}: files were deleted or replaced while the emulator was running, so changes "
        f"are refused: {reason}"
    ]
    assert refused.status == 503
    assert reason in refused.json["detail"]


def failing(number, text):
    def fail(*_, **__):
        raise OSError(number, text)

    return fail


def modes_below(folder):
    """Return the type and the permissions of a folder and of all files and folders in it."""
    paths = [folder, *folder.rglob("*")]
    return {path.relative_to(folder): path.stat().st_mode for path in paths}


def open_paths_below(directory):
    paths = [os.path.realpath(descriptor) for descriptor in Path("/dev/fd").iterdir()]
    return sorted(path for path in paths if path.startswith(str(directory.path.resolve())))


def test_opening_reading_and_writing_a_directory_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO", logger="hosting_emulator.storage")
    first = open_directory(tmp_path / "data")
    first.keep(fresh_world(), fresh=True)
    first.close()
    second = open_directory(tmp_path / "data")
    second.load("default")
    second.close()
    path = tmp_path / "data"
    size = (path / "worlds" / "default" / "snapshot.json").stat().st_size

    lines = [
        (getattr(record, "fields", {}).get("world"), record.getMessage().partition(" bytes")[0])
        for record in caplog.records
    ]
    assert lines == [
        (None, f"opened {path}; durability: process"),
        ("default", f"wrote a snapshot of commit 1, {size}"),
        (None, f"closed {path}"),
        (None, f"opened {path}; durability: process"),
        ("default", "read commit 1 from the snapshot and 1 journals"),
        (None, f"closed {path}"),
    ]


def test_the_files_of_a_world_whose_first_snapshot_was_never_finished_are_deleted(tmp_path: Path):
    folder = tmp_path / "data" / "worlds" / "shop-world"
    folder.mkdir(parents=True)
    (folder / "snapshot.json.4242.tmp").write_text("{half")
    directory = open_directory(tmp_path / "data", [])

    assert directory.load("shop-world") is None

    assert list(folder.iterdir()) == []
    directory.close()
