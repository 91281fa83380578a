"""Formats: what older versions wrote is read, and what newer ones wrote is refused with advice."""

import json
import shutil
from pathlib import Path

import pytest

from hosting_emulator.storage import directory as directories
from hosting_emulator.storage import migrations
from hosting_emulator.storage.errors import FormatRefused, StateRefused
from hosting_emulator.storage.journal import FIRST_LINE, Lines
from hosting_emulator.storage.lines import checked_line
from hosting_emulator.storage.migrations import FORMAT, MIGRATIONS, Migration, migrate_state
from hosting_emulator.storage.transfer import import_state
from hosting_emulator.world.indexes import remembered_in_order
from tests.in_process import InProcess
from tests.unit.storage.worlds_on_disk import content, folder, open_directory

FORMATS = Path(__file__).with_name("formats")
OLDER = sorted(int(path.name) for path in FORMATS.iterdir())


@pytest.fixture(params=OLDER, ids=str)
def older(tmp_path, request):
    """A data directory as a killed process of an older format left it: a snapshot, then commits."""
    kept = FORMATS / str(request.param) / "default"
    shutil.copytree(kept, tmp_path / "data" / "worlds" / "default")
    return tmp_path / "data"


def start(path, complaints=None):
    opened = open_directory(path, complaints)
    try:
        world = opened.load("default")
        assert world is not None
        opened.keep(world, fresh=False)
        return world
    finally:
        opened.close()


def test_every_format_has_a_way_to_the_next_and_an_example():
    assert sorted(MIGRATIONS) == OLDER == list(range(1, FORMAT))


def test_an_older_directory_is_read_and_brought_up_to_ours(older):
    number = json.loads((older / "worlds/default/snapshot.json").read_bytes())["heading"]["1"]
    exported = json.loads((FORMATS / str(number["format"]) / "export.json").read_bytes())
    complaints: list[str] = []

    world = start(older, complaints)

    kept = older / "worlds" / "default"
    assert content(world)[4:] == content(import_state(exported, "default", 0))[4:]
    assert json.loads((kept / "snapshot.json").read_bytes())["heading"]["1"]["format"] == FORMAT
    assert (kept / "journal.ndjson").read_bytes() == FIRST_LINE
    assert any("brought up to the format of this version" in said for said in complaints)
    assert content(start(older)) == content(world)
    assert InProcess(world).set_flag(True, key="after").status == 200


def test_the_old_files_stay_until_the_new_ones_are_there(older, monkeypatch):
    kept = older / "worlds" / "default"
    before = {path.name: path.read_bytes() for path in kept.iterdir()}

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(directories, "write_snapshot", fail)
    with pytest.raises(StateRefused, match="No space left"):
        start(older)

    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


def test_format_1_remembers_by_expiry_and_then_by_key():
    rows = {"b": {"expires_ms": 5}, "a": {"expires_ms": 5}, "c": {"expires_ms": 1}}

    found = migrate_state({"remembered_answers": rows}, 1)

    assert list(found["remembered_answers"]) == ["c", "a", "b"]


def test_steps_follow_each_other(monkeypatch):
    def noting(number):
        return Migration(
            lambda tables: {**tables, f"state {number}": {}},
            lambda writes: {**writes, f"commit {number}": {}},
        )

    monkeypatch.setattr(migrations, "FORMAT", 4)
    monkeypatch.setattr(migrations, "MIGRATIONS", {number: noting(number) for number in (1, 2, 3)})

    assert list(migrations.migrate_state({}, 2)) == ["state 2", "state 3"]
    assert list(migrations.migrate_commit({}, 3)) == ["commit 3"]


@pytest.mark.parametrize("rows", [5, {"a": 5}, {"a": {"expires_ms": "soon"}, "b": {}}])
def test_what_was_never_of_the_older_format_is_refused(rows):
    with pytest.raises(StateRefused, match="it is not of format 1, as it says"):
        migrate_state({"remembered_answers": rows}, 1)


def test_a_newer_journal_is_refused_and_names_the_version(tmp_path):
    path = tmp_path / "journal.ndjson"
    path.write_bytes(checked_line(b"journal", b'{"format":7,"written_by":"4.2.0"}'))

    with pytest.raises(
        FormatRefused, match=r"journal\.ndjson: its format is 7.*use hosting-emulator 4\.2\.0"
    ):
        Lines(path, last=True)


def test_salvage_leaves_a_newer_format_alone(tmp_path):
    with folder(tmp_path / "data" / "worlds" / "default") as kept:
        document = json.loads(kept.snapshot.read_bytes())
        document["heading"]["1"] |= {"format": 9, "written_by": "9.9.9"}
        kept.snapshot.write_text(json.dumps(document))
        before = sorted(path.name for path in kept.path.iterdir())

    opened = open_directory(tmp_path / "data", salvage=True)
    with pytest.raises(StateRefused, match=r"use hosting-emulator 9\.9\.9"):
        opened.load("default")
    opened.close()

    assert sorted(path.name for path in kept.path.iterdir()) == before


# --- what format 2 brought ----------------------------------------------------------------------


def test_which_answer_is_forgotten_first_is_the_same_after_a_restart(tmp_path):
    with folder(tmp_path / "default") as kept:
        for key in ("z", "m", "a", "q", "b"):  # all in one millisecond
            kept.api.set_flag(True, key=key)
        kept.api.engine.move_by(86_400_000 * 2)
        kept.api.set_flag(True, key="m")  # remembered anew: now the last
        order = list(remembered_in_order(kept.api.world.indexes))
        from_journal = kept.read()
        kept.keeper.close()
        from_snapshot = kept.read()

    for world in (from_journal, from_snapshot):
        assert list(remembered_in_order(world.indexes)) == order
    assert sorted(order) == sorted(kept.api.world.tables["remembered_answers"])
    journals = []
    for number, world in enumerate((kept.api.world, from_journal, from_snapshot)):
        with folder(tmp_path / str(number), world) as again:
            again.api.engine.move_by(86_400_000 * 2)
            for each in range(4):
                assert again.api.set_flag(True, key=f"new {each}").status == 200
            journals.append(again.journal.read_bytes())
    assert journals[1] == journals[2] == journals[0]
