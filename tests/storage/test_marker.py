"""The marker of a stored world and the count of its starts, because of which no id repeats."""

import pytest

from hosting_emulator.storage.format import Marker, StateRefused, read_marker, write_marker
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import open_directory


def ids_of_starts(path, count, calls=3):
    """Start, poll a missing operation, and stop, several times; return the request ids of each start."""
    ids_by_start = []
    for _ in range(count):
        directory = open_directory(path)
        world = directory.load("default")
        keeper = directory.keep(world or fresh_world(), fresh=world is None)
        api = InProcess(world or fresh_world(), keeper)
        ids_by_start.append([api.poll("nothing").json["request_id"] for _ in range(calls)])
        directory.close()
    return ids_by_start


def test_request_ids_never_repeat_although_the_clock_is_frozen(tmp_path):
    ids = [
        request_id
        for ids_of_start in ids_of_starts(tmp_path / "data", 4)
        for request_id in ids_of_start
    ]

    assert len(set(ids)) == len(ids)


def test_the_same_sequence_of_starts_gives_the_same_ids(tmp_path):
    assert ids_of_starts(tmp_path / "one", 3) == ids_of_starts(tmp_path / "two", 3)


def test_a_stored_world_before_a_restart_gives_the_ids_of_a_world_in_memory(tmp_path):
    in_memory = InProcess(fresh_world())

    ids = [in_memory.poll("nothing").json["request_id"] for _ in range(3)]

    assert ids_of_starts(tmp_path / "data", 1) == [ids]


def test_a_reset_repeats_the_ids_of_the_first_start(tmp_path):
    first, *_ = ids_of_starts(tmp_path / "data", 2)
    opened = open_directory(tmp_path / "data")
    world = opened.load("default")
    assert world is not None
    api = InProcess(world, opened.keep(world, fresh=False))

    api.engine.replace_world(fresh_world())
    ids = [api.poll("nothing").json["request_id"] for _ in range(3)]
    opened.close()

    assert ids == first


def test_every_flipped_bit_of_a_marker_is_detected(tmp_path):
    write_marker(tmp_path, Marker("run", "lineage"), sync=False)
    path = tmp_path / "world.json"
    whole = path.read_bytes()

    for index in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[index // 8] ^= 1 << index % 8
        path.write_bytes(flipped)
        with pytest.raises(StateRefused, match="--salvage"):
            read_marker(tmp_path)


def test_an_empty_marker_still_shows_that_there_is_a_world(tmp_path):
    (tmp_path / "world.json").touch()

    assert read_marker(tmp_path) == Marker()
    assert read_marker(tmp_path / "nowhere") is None
