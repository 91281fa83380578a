"""`why` says where an operation stands, in words, as a panel or as JSON."""

import json
import re
from typing import Any

from tests.unit.sdk.fake_control import FakeControl

WHY: dict[str, Any] = {
    "operation": "01OP",
    "kind": "apply_project_domains",
    "project": "shop",
    "state": "running",
    "phase": "deploying",
    "at": "2030-01-31T09:30:00.000Z",
    "says": ["It is running (deploying), and goes on.", "The clock is frozen."],
    "next": {"at": "2030-01-31T09:30:02.000Z", "what": "it goes to verifying"},
    "waits_for": None,
    "held_by": None,
    "commands": ["hosting-emulator clock advance --until 01OP"],
}
PATH = "GET /worlds/default/operations/01OP/why"


def test_why_in_words(ask, control: FakeControl):
    control.on(PATH, WHY)

    assert ask("why", "01OP").stdout == (
        "operation  01OP\n"
        "kind       apply_project_domains\n"
        "project    shop\n"
        "state      running (deploying)\n"
        "at         2030-01-31T09:30:00.000Z\n"
        "next       2030-01-31T09:30:02.000Z: it goes to verifying\n"
        "\n"
        "It is running (deploying), and goes on.\n"
        "The clock is frozen.\n"
        "  hosting-emulator clock advance --until 01OP\n"
    )


def test_why_as_json(ask, control: FakeControl):
    control.on(PATH, WHY)

    assert json.loads(ask("why", "01OP", "--json").stdout) == WHY


def test_why_on_a_terminal_is_a_panel(ask, control: FakeControl, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    control.on(PATH, {**WHY, "held_by": "its profile", "state": "queued", "next": None})

    shown = re.sub(r"\x1b\[[0-9;]*m", "", ask("why", "01OP").stdout)

    assert shown.startswith("╭─  apply_project_domains of shop  ─")
    assert "held by  its profile" in shown
    assert "$ hosting-emulator clock advance --until 01OP" in shown


def test_an_operation_that_is_not_there(ask):
    result = ask("why", "none")

    assert result.exit_code == 2
    assert result.stderr.startswith("Error: the fake knows no GET /worlds/default/operations/none")
