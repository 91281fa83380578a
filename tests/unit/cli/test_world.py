"""`world` sends what was meant; names and documents go to stdout, words to stderr."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.samples import world
from tests.unit.sdk.fake_control import FakeControl, Says


def test_list_lays_out_worlds(ask, control: FakeControl):
    control.on("GET /worlds", {"items": [world(), world("ci-1")]})

    result = ask("world", "list")

    headers, first, second = result.stdout.splitlines()
    assert headers.split()[:4] == ["WORLD", "CLOCK", "NOW", "PROJECTS"]
    assert first.split()[:5] == ["default", "scaled:60", "2030-01-31T09:30:00.000Z", "2", "41"]
    assert second.endswith("http://127.0.0.1:4620/worlds/ci-1")
    assert headers.index("BASE URL") == first.index("http") == second.index("http")


def test_list_as_json(ask, control: FakeControl):
    control.on("GET /worlds", {"items": [world()]})

    assert json.loads(ask("world", "list", "--json").stdout) == [world()]


def test_create_prints_the_name_alone(ask, control: FakeControl):
    control.on("POST /worlds", Says(world("w-7"), 201))

    result = ask("world", "create")

    assert result.stdout == "w-7\n"
    assert result.stderr == "World w-7 answers at http://127.0.0.1:4620/worlds/w-7.\n"
    assert control.bodies("POST /worlds") == [{}]


def test_create_passes_everything_on(ask, control: FakeControl):
    control.on("POST /worlds", Says(world("w"), 201))

    ask(
        *("world", "create", "w", "--seed", "42", "--clock", "scaled:60"),
        *("--at", "2030-01-31T09:30:00Z", "--assume", "rate_limit=100/60s"),
        *("--assume", "docs_url=http://x/?a=b", "--ephemeral"),
    )

    assert control.bodies("POST /worlds") == [
        {
            "name": "w",
            "seed": "42",
            "clock": {"mode": "scaled", "rate": 60, "at": "2030-01-31T09:30:00Z"},
            "assumptions": {"rate_limit": "100/60s", "docs_url": "http://x/?a=b"},
            "ephemeral": True,
        }
    ]


def test_create_may_set_the_time_alone(ask, control: FakeControl):
    control.on("POST /worlds", Says(world("w"), 201))

    ask("world", "create", "--at", "2030-01-31T09:30:00Z", "--kept")

    expected = {"clock": {"at": "2030-01-31T09:30:00Z"}, "ephemeral": False}
    assert control.bodies("POST /worlds") == [expected]


def test_fork_copies_the_world_meant(ask, control: FakeControl):
    control.on("POST /worlds/shop/fork", Says(world("copy"), 201))

    result = ask("world", "fork", "copy", "--world", "shop")

    assert result.stdout == "copy\n"
    assert control.bodies("POST /worlds/shop/fork") == [{"name": "copy"}]


def test_fork_may_begin_at_a_commit(ask, control: FakeControl):
    control.on("POST /worlds/default/fork", Says(world("copy"), 201))

    ask("world", "fork", "--at", "12")

    assert control.bodies("POST /worlds/default/fork") == [{"commit": 12}]


def test_history_lists_commits_newest_first(ask, control: FakeControl):
    items = [
        {"commit": 12, "at": "2026-01-01T00:00:02.000Z", "title": "clock", "says": "by 2s"},
        {"commit": 1, "at": "2026-01-01T00:00:00.000Z", "title": "began", "says": ""},
    ]
    control.on("GET /worlds/shop/history?limit=2", {"first": 1, "items": items})

    shown = ask("world", "history", "--world", "shop", "--limit", "2")
    document = ask("world", "history", "--world", "shop", "--limit", "2", "--json")

    assert shown.stdout == (
        "COMMIT  AT                        WHAT\n"
        "    12  2026-01-01T00:00:02.000Z  clock: by 2s\n"
        "     1  2026-01-01T00:00:00.000Z  began\n"
    )
    assert json.loads(document.stdout) == items


def test_rewind_goes_back_to_a_commit(ask, control: FakeControl):
    control.on("POST /worlds/shop/rewind", world("shop"))

    result = ask("world", "rewind", "12", "--world", "shop")

    assert control.bodies("POST /worlds/shop/rewind") == [{"commit": 12}]
    assert result.stderr == "World shop is as it was after commit 12.\n"


@pytest.mark.parametrize("arguments", [["ci-1"], ["--world", "ci-1"]])
def test_reset_takes_the_name_either_way(ask, control: FakeControl, arguments: list[str]):
    control.on("POST /worlds/ci-1/reset", world("ci-1"))

    result = ask("world", "reset", *arguments)

    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr == "World ci-1 is back at its seed.\n"


def test_delete_says_so(ask, control: FakeControl):
    control.on("DELETE /worlds/ci-1", Says(status=204))

    result = ask("world", "delete", "ci-1")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "World ci-1 is deleted.\n"


def test_export_prints_the_document(ask, control: FakeControl):
    control.on("GET /worlds/default/state", {"projects": [{"name": "Zoë"}]})

    result = ask("world", "export")

    assert json.loads(result.stdout) == {"projects": [{"name": "Zoë"}]}
    assert "Zoë" in result.stdout


def test_export_replaces_a_file_whole(ask, control: FakeControl, tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_text("old", encoding="utf-8")
    control.on("GET /worlds/default/state", {"a": 1})

    result = ask("world", "export", "--output", str(path))

    assert (result.stdout, result.exit_code) == ("", 0)
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_refused_export_leaves_the_file(ask, control: FakeControl, tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_text("old", encoding="utf-8")
    control.on("GET /worlds/default/state", Says({"title": "No"}, 404))

    assert ask("world", "export", "--output", str(path)).exit_code == 2

    assert path.read_text(encoding="utf-8") == "old"


def test_import_reads_a_file(ask, control: FakeControl, tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    control.on("PUT /worlds/copy/state", world("copy"))

    result = ask("world", "import", str(path), "--world", "copy")

    assert result.exit_code == 0
    assert control.bodies("PUT /worlds/copy/state") == [{"a": 1}]


def test_import_reads_stdin(ask, control: FakeControl):
    control.on("PUT /worlds/default/state", world())

    result = ask("world", "import", "-", "--json", stdin='{"a": 1}')

    assert json.loads(result.stdout) == world()
    assert control.bodies("PUT /worlds/default/state") == [{"a": 1}]
