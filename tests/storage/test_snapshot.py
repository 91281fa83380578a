"""Snapshots: one readable file holds a whole world, which is the same when it is read again."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hosting_emulator.storage import snapshot
from hosting_emulator.storage.format import FormatRefused, StateRefused
from hosting_emulator.storage.rows import read_row, rows_of
from hosting_emulator.storage.snapshot import SnapshotStopped, read_snapshot, write_snapshot
from tests.support.builds import full_version
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import make_changes, world_content, world_indexes


@pytest.fixture(scope="module")
def world():
    api = InProcess(fresh_world(source_profile="timed 1s 4s"))
    make_changes(api)
    return api.world


@pytest.fixture
def path(tmp_path, world):
    write_snapshot(tmp_path / "snapshot.json", world)
    return tmp_path / "snapshot.json"


def read(path):
    return read_snapshot(path).world()


def test_a_snapshot_reads_back_as_it_was_written(path, world):
    read_world = read(path)

    assert world_content(read_world) == world_content(world)
    assert world_indexes(read_world) == world_indexes(world)
    assert (read_world.clock, read_world.assumptions) == (world.clock, world.assumptions)
    assert read_world.next_due_ms == world.next_due_ms


def test_a_world_continues_alike_from_memory_and_from_disk(path, world):
    in_memory = InProcess(world)
    from_disk = InProcess(read(path))

    for api in (in_memory, from_disk):
        make_changes(api)
        api.engine.move_by(86_400_000 * 40)
        api.set_flag(True, project="docs")

    assert world_content(from_disk.world) == world_content(in_memory.world)
    assert from_disk.deployments("?limit=100").body == in_memory.deployments("?limit=100").body


def test_a_snapshot_is_readable_json(path):
    document = json.loads(path.read_bytes())

    assert set(document) >= {"heading", "projects", "operations", "clock"}
    assert {row["alias"] for row in document["projects"].values()} >= {"shop", "blog"}
    assert path.read_bytes().count(b"\n") > 100


def test_a_snapshot_contains_no_secret(tmp_path):
    api = InProcess()
    key = api.create_key().json["value"]
    ticket = api.ticket().json["redeem_url"].rpartition("=")[2]
    write_snapshot(tmp_path / "snapshot.json", api.world)

    text = (tmp_path / "snapshot.json").read_text()

    assert key[4:] not in text
    assert ticket not in text


def test_only_its_owner_may_read_a_snapshot(path):
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_snapshot_is_refused(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(StateRefused, match=r"snapshot\.json: the file is not a snapshot"):
        read(path)


@pytest.mark.parametrize(
    "document",
    ["null", "[]", "{}", '{"heading": {}}', '{"heading": {"1": 5}}', '{"heading": {"x": {}}}', "é"],
)
def test_a_document_that_is_no_snapshot_is_refused(path, document):
    path.write_text(document)

    with pytest.raises(StateRefused, match=r"snapshot\.json: the file is not a snapshot"):
        read(path)


@given(data=st.data())
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_flipped_byte_of_a_snapshot_is_detected_or_changes_nothing(path, world, data):
    original = path.read_bytes()
    index = data.draw(st.integers(0, len(original) - 1))
    flipped = bytearray(original)
    flipped[index] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(flipped)

    try:
        read_world = read(path)
    except StateRefused:
        return
    finally:
        path.write_bytes(original)
    assert world_content(read_world) == world_content(world)  # For example, a space became a tab.


@pytest.mark.parametrize(
    ("format_number", "advice"),
    [
        (99, "reads only format .*; use hosting-emulator 9.8.7, or use another --data-dir"),
        (0, "use hosting-emulator 9.8.7"),
        (None, "use hosting-emulator 9.8.7"),
    ],
)
def test_a_snapshot_of_another_format_is_refused_with_advice(path, format_number, advice):
    document = json.loads(path.read_bytes())
    document["heading"]["1"] |= {"format": format_number, "written_by": "9.8.7"}
    path.write_text(json.dumps(document))

    with pytest.raises(StateRefused, match=f"its format is {format_number}, .*{advice}"):
        read(path)


def test_a_row_with_a_field_of_a_later_build_is_not_taken_for_damage(world):
    table, key, document = next(row for row in rows_of(world) if row[0] == "deployments")

    with pytest.raises(
        FormatRefused, match=r"`region`.*; use the hosting-emulator that wrote the file"
    ):
        read_row(table, key, {**document, "region": "eu"})


def test_a_snapshot_with_a_field_of_a_later_build_is_refused_with_advice(path):
    document = json.loads(path.read_bytes())
    next(iter(document["projects"].values()))["region"] = "eu"
    path.write_text(json.dumps(document))

    with pytest.raises(
        FormatRefused,
        match="use the hosting-emulator that wrote the file, or use another --data-dir,",
    ):
        read_snapshot(path, complain=lambda _: None)


def test_a_manual_change_of_a_snapshot_is_refused_with_advice(path):
    document = json.loads(path.read_bytes())
    next(iter(document["projects"].values()))["flag_enabled"] = False
    path.write_text(json.dumps(document))

    with pytest.raises(StateRefused) as refused:
        read(path)

    assert str(refused.value) == (
        f"{path}: its checksum is wrong, so the file was changed or damaged; restore it from a copy, "
        "start with --salvage to continue with the readable data, or move the folder away to start "
        "afresh (to change a world by hand, use export and import)"
    )


@pytest.mark.parametrize("document", ["{}", '{"heading": {}}'])
def test_a_snapshot_without_a_heading_is_refused_with_advice(path, document):
    path.write_text(document)

    with pytest.raises(StateRefused) as refused:
        read(path)

    assert str(refused.value) == (
        f"{path}: the file is not a snapshot: it has no heading; restore it from a copy, start with "
        "--salvage to continue with the readable data, or move the folder away to start afresh"
    )


@pytest.mark.parametrize(
    ("written_by", "build"),
    [("9.8.7", "hosting-emulator 9.8.7"), (None, "the build that wrote the file")],
)
def test_a_snapshot_of_another_format_says_how_to_keep_its_content(path, written_by, build):
    document = json.loads(path.read_bytes())
    document["heading"]["1"] |= {"format": True, "written_by": written_by}
    path.write_text(json.dumps(document))

    with pytest.raises(StateRefused) as refused:
        read(path)

    assert str(refused.value) == (
        f"{path}: its format is True, and this hosting-emulator, {full_version()}, reads only format 7; "
        f"use {build}, or use another --data-dir, or move the folder away to start afresh. To keep the "
        "content of a world, record it as a scenario with the build that wrote the files "
        "(`hosting-emulator scenario record world.yaml`)"
    )


# --- stopping ---------------------------------------------------------------------------------------


def count_of_checks(path, world, monkeypatch, rows_between_checks):
    """Return how often a snapshot checks whether it should stop."""
    monkeypatch.setattr(snapshot, "_ROWS_BETWEEN_CHECKS", rows_between_checks)
    checks = []

    def count_check() -> bool:
        checks.append(True)
        return False

    write_snapshot(path, world, "new", count_check)
    return len(checks)


def test_a_snapshot_that_is_stopped_at_any_check_leaves_the_old_file(path, world, monkeypatch):
    old = path.read_bytes()
    count = count_of_checks(path, world, monkeypatch, 10)
    path.write_bytes(old)

    assert count
    for number in range(count):
        results = iter([False] * number + [True])
        with pytest.raises(SnapshotStopped):
            write_snapshot(path, world, "new", results.__next__)
        assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {path.name: old}


def test_a_long_snapshot_checks_again_after_a_number_of_rows(path, world, monkeypatch):
    row_count = len(list(rows_of(world)))

    for_each_row = count_of_checks(path, world, monkeypatch, 1)
    for_all_rows = count_of_checks(path, world, monkeypatch, row_count)

    assert for_each_row - for_all_rows == row_count - 1
