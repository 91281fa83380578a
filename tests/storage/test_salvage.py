"""Salvage: a damaged world continues from its readable part; the rest is reported and set aside."""

import json

import pytest

from hosting_emulator.storage.format import StateRefused
from tests.support.in_process import InProcess
from tests.support.worlds_on_disk import make_changes, open_directory, world_content, world_folder


@pytest.fixture
def killed_world(tmp_path, monkeypatch):
    """The data directory of a killed process, and the contents of its world by commit."""
    with world_folder(tmp_path / "data" / "worlds" / "default") as stored_world:
        worlds = {stored_world.api.world.commit: world_content(stored_world.api.world)}
        append = stored_world.keeper.append

        def append_and_record(commit):
            append(commit)
            worlds[commit.number] = world_content(commit.world)

        monkeypatch.setattr(stored_world.keeper, "append", append_and_record)
        make_changes(stored_world.api)
        yield stored_world, worlds


def start(stored_world, **options):
    """Start on a directory; return the loaded world and the messages."""
    messages: list[str] = []
    directory = open_directory(stored_world.path.parent.parent, messages, **options)
    try:
        world = directory.load("default")
        if world is not None:
            directory.keep(world, fresh=False)
        return world, messages
    finally:
        directory.close()


def damage(path, line):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b"at_ms", b"at_mz")
    path.write_bytes(b"".join(lines))


def test_a_damaged_world_is_salvaged_only_on_request(killed_world):
    stored_world, _ = killed_world
    damage(stored_world.journal, 3)
    before = {path.name: path.read_bytes() for path in stored_world.path.iterdir()}

    with pytest.raises(StateRefused, match=r"journal\.ndjson, line 4: .*--salvage"):
        start(stored_world)

    assert {path.name: path.read_bytes() for path in stored_world.path.iterdir()} == before


def test_salvage_stops_before_the_first_damaged_line_and_reports_the_omitted_commits(killed_world):
    stored_world, worlds = killed_world
    damage(stored_world.journal, 3)
    damaged = stored_world.journal.read_bytes()

    world, messages = start(stored_world, salvage=True)

    assert world_content(world) == worlds[3]  # Commits 2 and 3 precede the damaged line.
    assert "left out: journal.ndjson, line 4 (cannot be read), and" in messages[0]
    assert f"later commits, 5 to {max(worlds)} (" in messages[0]
    assert "create_user_api_key" in messages[0]
    assert messages[1] == (
        f"world default: salvaged up to commit 3; copies of the old files are in {stored_world.path}, "
        "with the suffix .damaged-1: snapshot.json, journal.ndjson, world.json, progress"
    )
    assert (stored_world.path / "journal.ndjson.damaged-1").read_bytes() == damaged
    assert (stored_world.path / "snapshot.json.damaged-1").exists()


def test_a_salvaged_world_opens_without_salvage_afterwards(killed_world):
    stored_world, _ = killed_world
    damage(stored_world.journal, 3)

    salvaged, _ = start(stored_world, salvage=True)
    reopened, messages = start(stored_world)

    assert world_content(reopened) == world_content(salvaged)
    assert messages == []
    assert InProcess(reopened).set_flag(True, key="after").status == 200


def test_each_salvage_keeps_its_own_files(killed_world):
    stored_world, _ = killed_world
    for number in (1, 2):
        with stored_world.journal.open("ab") as file:
            file.write(b"garbage\n")
        start(stored_world, salvage=True)
        assert (stored_world.path / f"journal.ndjson.damaged-{number}").exists()


def test_salvage_accepts_a_changed_snapshot_that_is_consistent(killed_world):
    stored_world, _ = killed_world
    stored_world.snapshot.write_bytes(
        stored_world.snapshot.read_bytes().replace(b"Acme Studio", b"Acme Stadio")
    )

    world, messages = start(stored_world, salvage=True)

    names = [row.name for row in world.tables["organizations"].values()]
    assert "Acme Stadio" in names
    assert messages[0] == (
        "world default: snapshot.json: its checksum is wrong, so the file was changed or damaged; its "
        "rows are used anyway"
    )


def test_salvage_without_the_progress_file_warns_that_time_may_go_back(killed_world):
    stored_world, _ = killed_world
    (stored_world.path / "progress").unlink()

    _, messages = start(stored_world, salvage=True)

    assert (
        "world default: progress cannot be read: the latest time shown to a client is lost, so the "
        "world's time may go back"
    ) in messages


@pytest.mark.parametrize("damage_kind", ["missing", "cut", "unsound"])
def test_salvage_sets_an_unreadable_world_aside(killed_world, damage_kind):
    stored_world, _ = killed_world
    if damage_kind == "missing":
        stored_world.snapshot.unlink()
    elif damage_kind == "cut":
        stored_world.snapshot.write_bytes(stored_world.snapshot.read_bytes()[:-100])
    else:
        document = json.loads(stored_world.snapshot.read_bytes())
        next(iter(document["projects"].values()))["organization_id"] = "nowhere"
        stored_world.snapshot.write_text(json.dumps(document))
    before = {path.name: path.read_bytes() for path in stored_world.path.iterdir()}

    world, messages = start(stored_world, salvage=True)

    aside = stored_world.path.with_name("default.damaged-1")
    assert world is None
    assert not stored_world.path.exists()
    assert {path.name: path.read_bytes() for path in aside.iterdir()} == before
    assert messages[-1] == (
        f"world default: nothing could be salvaged; the whole folder was renamed to {aside}"
    )
    reasons = {
        "missing": "snapshot.json is missing, and no commit can be read without it",
        "cut": f"{stored_world.snapshot}: the file is not a snapshot: ",
        "unsound": "the readable parts are inconsistent: table projects, row ",
    }
    assert messages[-2].startswith(f"world default: {reasons[damage_kind]}")


def test_an_unreadable_world_does_not_replace_one_that_was_set_aside_earlier(killed_world):
    stored_world, _ = killed_world
    earlier = stored_world.path.with_name("default.damaged-1")
    earlier.mkdir()
    (earlier / "journal.ndjson").write_text("earlier")
    stored_world.snapshot.unlink()
    journal = stored_world.journal.read_bytes()

    start(stored_world, salvage=True)

    aside = stored_world.path.with_name("default.damaged-2")
    assert (earlier / "journal.ndjson").read_text() == "earlier"
    assert (aside / "journal.ndjson").read_bytes() == journal


def test_salvage_leaves_a_newer_format_alone(killed_world):
    stored_world, _ = killed_world
    document = json.loads(stored_world.snapshot.read_bytes())
    document["heading"]["1"] |= {"format": 9, "written_by": "9.9.9"}
    stored_world.snapshot.write_text(json.dumps(document))
    before = sorted(path.name for path in stored_world.path.iterdir())

    with pytest.raises(StateRefused, match=r"use hosting-emulator 9\.9\.9"):
        start(stored_world, salvage=True)

    assert sorted(path.name for path in stored_world.path.iterdir()) == before


def test_salvage_of_a_newer_format_with_a_damaged_marker_changes_nothing(killed_world):
    stored_world, _ = killed_world
    document = json.loads(stored_world.snapshot.read_bytes())
    document["heading"]["1"] |= {"format": 9, "written_by": "9.9.9"}
    stored_world.snapshot.write_text(json.dumps(document))
    (stored_world.path / "world.json").write_text("damaged")
    before = {path.name: path.read_bytes() for path in stored_world.path.iterdir()}

    with pytest.raises(StateRefused, match=r"use hosting-emulator 9\.9\.9"):
        start(stored_world, salvage=True)

    assert {path.name: path.read_bytes() for path in stored_world.path.iterdir()} == before


def test_salvage_without_a_journal_reports_the_omitted_changes(killed_world):
    stored_world, worlds = killed_world
    stored_world.journal.unlink()

    world, messages = start(stored_world, salvage=True)

    assert world_content(world) == worlds[1]
    assert messages[0] == (
        "world default: journal.ndjson is missing: changes after commit 1 are left out"
    )


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        (3, "journal.ndjson, line 4; journal.ndjson, line 5; journal.ndjson, line 6"),
        (
            5,
            "journal.ndjson, line 4; journal.ndjson, line 5; journal.ndjson, line 6 "
            "and 2 more lines",
        ),
    ],
)
def test_salvage_names_three_damaged_lines_and_counts_the_others(killed_world, count, lines):
    stored_world, _ = killed_world
    for line in range(3, 3 + count):
        damage(stored_world.journal, line)

    _, messages = start(stored_world, salvage=True)

    assert messages[0].startswith(f"world default: left out: {lines} (cannot be read), and ")


@pytest.mark.parametrize(
    ("field", "value"), [("world", 5), ("seed", None), ("commit", "many"), ("at_ms", 1.5)]
)
def test_salvage_names_the_damaged_field_of_a_snapshots_heading(killed_world, field, value):
    stored_world, _ = killed_world
    document = json.loads(stored_world.snapshot.read_bytes())
    document["heading"]["1"][field] = value
    stored_world.snapshot.write_text(json.dumps(document))

    world, messages = start(stored_world, salvage=True)

    assert world is None
    assert messages[0] == (
        f"world default: {stored_world.snapshot}: the heading has no valid {field!r}"
    )


def test_salvage_of_a_damaged_marker_loses_only_the_count_of_starts(killed_world):
    stored_world, worlds = killed_world
    (stored_world.path / "world.json").write_text('{"starts": 2}')

    with pytest.raises(
        StateRefused,
        match=r"world\.json: its checksum is wrong, so the file was changed or damaged; restore it "
        "from a copy, or start with --salvage$",
    ):
        start(stored_world)
    world, messages = start(stored_world, salvage=True)

    assert world_content(world) == worlds[max(worlds)]
    assert "world.json" in messages[0]


def test_salvage_leaves_an_intact_world_alone(killed_world):
    stored_world, worlds = killed_world

    world, messages = start(stored_world, salvage=True)

    assert world_content(world) == worlds[max(worlds)]
    assert messages == []
    assert list(stored_world.path.glob("*.damaged-*")) == []
