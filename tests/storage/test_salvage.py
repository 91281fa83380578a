"""Salvage: a damaged world goes on as far as it can be read, and what is left out is said and kept."""

import json

import pytest

from hosting_emulator.storage.format import StateRefused
from tests.support.in_process import InProcess
from tests.support.worlds_on_disk import busy, content, folder, open_directory


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """A data directory as a killed process leaves it, its worlds by commit, and what is said."""
    with folder(tmp_path / "data" / "worlds" / "default") as kept:
        worlds = {kept.api.world.commit: content(kept.api.world)}
        append = kept.keeper.append

        def noted(commit):
            append(commit)
            worlds[commit.number] = content(commit.world)

        monkeypatch.setattr(kept.keeper, "append", noted)
        busy(kept.api)
        yield kept, worlds


def start(kept, **options):
    """Start on a directory; return the world that is found and what is said."""
    said: list[str] = []
    opened = open_directory(kept.path.parent.parent, said, **options)
    try:
        world = opened.load("default")
        if world is not None:
            opened.keep(world, fresh=False)
        return world, said
    finally:
        opened.close()


def damage(path, line):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b"at_ms", b"at_mz")
    path.write_bytes(b"".join(lines))


def test_a_damaged_world_is_salvaged_only_on_request(killed):
    kept, _ = killed
    damage(kept.journal, 3)
    before = {path.name: path.read_bytes() for path in kept.path.iterdir()}

    with pytest.raises(StateRefused, match=r"journal\.ndjson, line 4: .*--salvage"):
        start(kept)

    assert {path.name: path.read_bytes() for path in kept.path.iterdir()} == before


def test_salvage_stops_before_the_first_damaged_line_and_reports_the_omitted_commits(killed):
    kept, worlds = killed
    damage(kept.journal, 3)
    found = kept.journal.read_bytes()

    world, said = start(kept, salvage=True)

    assert content(world) == worlds[3]  # commits 2 and 3 stand before the damaged line
    assert "left out: journal.ndjson, line 4 (cannot be read), and" in said[0]
    assert f"commits that build on them, 5 to {max(worlds)} (" in said[0]
    assert "create_user_api_key" in said[0]
    assert "salvaged up to commit 3" in said[1]
    assert (kept.path / "journal.ndjson.damaged-1").read_bytes() == found
    assert (kept.path / "snapshot.json.damaged-1").exists()


def test_a_salvaged_world_opens_without_salvage_afterwards(killed):
    kept, _ = killed
    damage(kept.journal, 3)

    first, _ = start(kept, salvage=True)
    again, said = start(kept)

    assert content(again) == content(first)
    assert said == []
    assert InProcess(again).set_flag(True, key="after").status == 200


def test_each_salvage_keeps_its_own_files(killed):
    kept, _ = killed
    for number in (1, 2):
        with kept.journal.open("ab") as file:
            file.write(b"garbage\n")
        start(kept, salvage=True)
        assert (kept.path / f"journal.ndjson.damaged-{number}").exists()


def test_salvage_accepts_a_changed_snapshot_that_is_consistent(killed):
    kept, _ = killed
    kept.snapshot.write_bytes(kept.snapshot.read_bytes().replace(b"Acme Studio", b"Acme Stadio"))

    world, said = start(kept, salvage=True)

    names = [row.name for row in world.tables["organizations"].values()]
    assert "Acme Stadio" in names
    assert "something in it is not as it was written" in said[0]


@pytest.mark.parametrize("what", ["missing", "cut", "unsound"])
def test_salvage_sets_an_unreadable_world_aside(killed, what):
    kept, _ = killed
    if what == "missing":
        kept.snapshot.unlink()
    elif what == "cut":
        kept.snapshot.write_bytes(kept.snapshot.read_bytes()[:-100])
    else:
        document = json.loads(kept.snapshot.read_bytes())
        next(iter(document["projects"].values()))["organization_id"] = "nowhere"
        kept.snapshot.write_text(json.dumps(document))
    before = {path.name: path.read_bytes() for path in kept.path.iterdir()}

    world, said = start(kept, salvage=True)

    aside = kept.path.with_name("default.damaged-1")
    assert world is None
    assert not kept.path.exists()
    assert {path.name: path.read_bytes() for path in aside.iterdir()} == before
    assert f"nothing of it could be salvaged; all of it is kept as {aside}" in said[-1]


def test_salvage_leaves_a_newer_format_alone(killed):
    kept, _ = killed
    document = json.loads(kept.snapshot.read_bytes())
    document["heading"]["1"] |= {"format": 9, "written_by": "9.9.9"}
    kept.snapshot.write_text(json.dumps(document))
    before = sorted(path.name for path in kept.path.iterdir())

    with pytest.raises(StateRefused, match=r"use hosting-emulator 9\.9\.9"):
        start(kept, salvage=True)

    assert sorted(path.name for path in kept.path.iterdir()) == before


def test_salvage_of_a_damaged_marker_loses_only_the_count_of_starts(killed):
    kept, worlds = killed
    (kept.path / "world.json").write_text('{"starts": 2}')

    with pytest.raises(StateRefused, match=r"world\.json: the checksum does not fit"):
        start(kept)
    world, said = start(kept, salvage=True)

    assert content(world) == worlds[max(worlds)]
    assert "world.json" in said[0]


def test_salvage_leaves_an_intact_world_alone(killed):
    kept, worlds = killed

    world, said = start(kept, salvage=True)

    assert content(world) == worlds[max(worlds)]
    assert said == []
    assert list(kept.path.glob("*.damaged-*")) == []
