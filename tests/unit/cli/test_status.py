"""`status` shows the process and its worlds."""

import json
import re

from tests.unit.cli.samples import INFO, world
from tests.unit.sdk.fake_control import FakeControl


def answer(control: FakeControl, **changes: object):
    control.on("GET /info", {**INFO, **changes})
    control.on("GET /worlds", {"items": [world()]})


def test_status_shows_process_and_worlds(ask, control: FakeControl, monkeypatch):
    answer(control)
    monkeypatch.setattr("hosting_emulator_cli.commands.status._uptime_s", lambda started_at: 3725)

    lines = ask("status").stdout.splitlines()

    assert lines[0] == "version      0.1.0"
    assert lines[1] == "process      4242, up 1h2m5s"
    assert "state        /data (durability: process)" in lines
    assert lines[-1].startswith("default  scaled:60")


def test_status_without_a_data_directory(ask, control: FakeControl):
    answer(control, data_dir=None)

    assert "state        in memory only\n" in ask("status").stdout


def test_a_world_that_varies_is_said_to(ask, control: FakeControl, monkeypatch):
    answer(control)
    varied = {"seed": "5", "only": ["page-size"], "assumed": {}, "varied": {}}
    rows = [world(), {**world("w"), "variation": varied}, {**world("n"), "variation": None}]
    control.on("GET /worlds", {"items": rows})
    said = "World w: varied by seed 5, at page-size only."

    assert ask("status").stdout.splitlines()[-1] == said
    assert ask("world", "list").stdout.splitlines()[-1] == said
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "120"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    assert ask("status").stdout.splitlines()[-1] == said


def test_status_as_json(ask, control: FakeControl):
    answer(control, started_at="2999-01-01T00:00:00.000Z")

    shown = json.loads(ask("status", "--json").stdout)

    assert shown["worlds"] == [world()]
    assert shown["pid"] == 4242
    assert shown["uptime_seconds"] == 0  # two machines' clocks may differ: never negative


def test_a_narrow_terminal_cuts_neither_names_nor_words(ask, control: FakeControl, monkeypatch):
    answer(control)
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "80"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)

    shown = re.sub(r"\x1b\[[0-9;]*m", "", ask("status").stdout)

    assert re.search(r"default +scaled:60 +2030-01-31 09:30:00 +3 +on disk", shown)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_status_on_a_terminal_is_a_panel_and_a_table(ask, control: FakeControl, monkeypatch):
    answer(control)
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "120"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)

    shown = re.sub(r"\x1b\[[0-9;]*m", "", ask("status").stdout)

    assert shown.startswith("╭─  hosting-emulator  ─")
    assert "base URL     http://127.0.0.1:4620" in shown
    assert re.search(r"default +scaled:60 +2030-01-31 09:30:00 +3 +2 +5 +7 +on disk", shown)
