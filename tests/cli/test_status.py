"""`status`, `wait` and `why`: whether an emulator runs, its worlds, and what operations wait for."""

import itertools
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.contract.durations import format_duration
from hosting_emulator_cli.commands.status import POLL_S, wait_until
from hosting_emulator_cli.main import Failure
from tests.cli.conftest import Run
from tests.support.control_samples import HEALTH, INFO, VARIATION, items, world
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, refusal


def respond(control: FakeControl, **changes: object):
    control.on("GET /info", {**INFO, **changes})
    control.on("GET /worlds", items(world()))


def test_status_shows_process_and_worlds(ask, control: FakeControl):
    started_at = datetime.now(UTC) - timedelta(seconds=3725)
    respond(control, started_at=started_at.isoformat())

    lines = ask("status").stdout.splitlines()

    longest_s = int((datetime.now(UTC) - started_at).total_seconds())
    uptimes = [format_duration(seconds * 1000) for seconds in range(3725, longest_s + 1)]
    assert uptimes[0] == "1h2m5s"
    assert lines[0] == "version      0.1.0"
    assert lines[1] in [f"process      4242, up {uptime}" for uptime in uptimes]
    assert "state        /data (durability: process)" in lines
    assert lines[-1].startswith("default  scaled:60")


def test_status_and_world_list_name_worlds_that_vary(ask, control: FakeControl, monkeypatch):
    respond(control)
    control.on("GET /worlds", items(world(), world("w", variation=VARIATION), world("n")))
    note = "World w: varied by seed 5, at page-size only."

    assert ask("status").stdout.splitlines()[-1] == note
    assert ask("world", "list").stdout.splitlines()[-1] == note
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "120"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    assert ask("status").stdout.splitlines()[-1] == note


def test_status_prints_process_and_worlds_as_json(ask, control: FakeControl):
    respond(control, started_at="2999-01-01T00:00:00.000Z")

    document = json.loads(ask("status", "--json").stdout)

    assert document["worlds"] == [world()]
    assert document["pid"] == 4242
    # Clocks of two machines may differ, so the value is never negative.
    assert document["uptime_seconds"] == 0


def test_status_shortens_nothing_on_a_narrow_terminal(ask, control: FakeControl, monkeypatch):
    respond(control)
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "80"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)

    text = re.sub(r"\x1b\[[0-9;]*m", "", ask("status").stdout)

    assert "default\n  CLOCK scaled:60  NOW 2030-01-31T09:30:00.000Z  PROJECTS 2" in text
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


class MachineTime:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.at = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> MachineTime:
    machine_time = MachineTime()
    monkeypatch.setattr("hosting_emulator_cli.commands.status.time", machine_time)
    return machine_time


def fail_times(times: float):
    attempts = itertools.count(1)

    def attempt(timeout_s: float) -> None:
        number = next(attempts)
        if number <= times:
            raise Failure(f"not yet ({number})")

    return attempt


def test_wait_does_not_sleep_when_the_emulator_is_up(time: MachineTime):
    assert wait_until(fail_times(0), timeout_s=30) is None
    assert time.slept == []


def test_wait_polls_every_50_ms_until_the_emulator_is_up(time: MachineTime):
    assert wait_until(fail_times(3), timeout_s=30) is None
    assert time.slept == [POLL_S] * 3 == [0.05] * 3


def test_wait_returns_the_last_reason_at_its_timeout(time: MachineTime):
    reason = wait_until(fail_times(999), timeout_s=0.12)

    assert reason == "not yet (4)"
    assert sum(time.slept) == pytest.approx(0.12)


def test_wait_makes_one_attempt_without_time(time: MachineTime):
    assert wait_until(fail_times(1), timeout_s=0) == "not yet (1)"


def test_an_attempt_of_wait_ends_with_the_timeout(time: MachineTime):
    allowed: list[float] = []

    def hang(timeout_s: float) -> None:
        allowed.append(timeout_s)
        time.sleep(timeout_s)
        raise Failure("no response")

    wait_until(hang, timeout_s=3)

    assert allowed == pytest.approx([2.0, 0.95])
    assert time.at == pytest.approx(103)


def test_wait_prints_nothing_when_the_emulator_is_up(ask, control: FakeControl):
    control.on("GET /health", HEALTH)

    result = ask("wait", "--timeout", "10s")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_wait_fails_with_one_line(ask, control: FakeControl):
    control.on("GET /health", refusal(503, "Starting"))

    result = ask("wait", "--timeout", "0s")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: Starting\n"


def test_wait_continues_while_the_emulator_starts(ask, control: FakeControl):
    control.on(
        "GET /health",
        refusal(503, "Starting"),
        ANOTHER_SERVER,
        HEALTH,
    )

    assert ask("wait", "--timeout", "10s").exit_code == 0
    assert len(control.requests) == 3


def test_wait_follows_a_ready_file_that_appears_later(
    run: Run,
    control: FakeControl,
    time: MachineTime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    control.on("GET /health", HEALTH)
    ready = tmp_path / "ready.json"
    monkeypatch.setenv("HOSTING_EMULATOR_READY_FILE", str(ready))
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "1")  # Nothing listens at this address.
    monkeypatch.setattr(
        time, "sleep", lambda _: ready.write_text(json.dumps({"local_url": control.url}))
    )

    assert run("wait", "--timeout", "10s").exit_code == 0


WHY: dict[str, Any] = {
    "operation": "01OP",
    "kind": "apply_project_domains",
    "project": "shop",
    "state": "running",
    "finished": False,
    "phase": "deploying",
    "at": "2030-01-31T09:30:00.000Z",
    "sentences": ["It is running (deploying), and goes on.", "The clock is frozen."],
    "next": {"at": "2030-01-31T09:30:02.000Z", "event": "it changes to verifying"},
    "waits_for": None,
    "held_by": None,
    "reconciliation": None,
    "commands": ["hosting-emulator clock advance --until-operation 01OP"],
}
PATH = "GET /worlds/default/operations/01OP/why"


def test_why_explains_an_operation(ask, control: FakeControl):
    control.on(PATH, WHY)

    assert ask("why", "01OP").stdout == (
        "operation  01OP\n"
        "kind       apply_project_domains\n"
        "project    shop\n"
        "state      running (deploying)\n"
        "at         2030-01-31T09:30:00.000Z\n"
        "next       2030-01-31T09:30:02.000Z: it changes to verifying\n"
        "\n"
        "It is running (deploying), and goes on.\n"
        "The clock is frozen.\n"
        "  hosting-emulator clock advance --until-operation 01OP --url http://127.0.0.1:4620\n"
    )


def test_why_says_what_holds_an_operation_and_what_it_waits_for(ask, control: FakeControl):
    waiting = {"state": "queued", "next": None, "waits_for": "the claim", "held_by": "its profile"}
    control.on(PATH, {**WHY, **waiting})

    assert ask("why", "01OP").stdout.partition("\n\n")[0] == (
        "operation  01OP\n"
        "kind       apply_project_domains\n"
        "project    shop\n"
        "state      queued\n"
        "at         2030-01-31T09:30:00.000Z\n"
        "waits for  the claim\n"
        "held by    its profile"
    )


def test_why_on_a_terminal_is_a_panel(ask, control: FakeControl, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    control.on(PATH, {**WHY, "held_by": "its profile", "state": "queued", "next": None})

    text = re.sub(r"\x1b\[[0-9;]*m", "", ask("why", "01OP").stdout)

    assert text.startswith("╭─  apply_project_domains of shop  ─")
    assert "held by  its profile" in text
    assert "$ hosting-emulator clock advance --until-operation 01OP" in text


def test_why_on_a_terminal_names_the_phase_and_the_next_event(
    ask, control: FakeControl, monkeypatch
):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    control.on(PATH, WHY)

    text = re.sub(r"\x1b\[[0-9;]*m", "", ask("why", "01OP").stdout)

    assert re.search(r"state +running \(deploying\) ", text)
    assert re.search(r"next +2030-01-31T09:30:02.000Z  it changes to verifying", text)


def test_why_prints_an_explanation_as_json(ask, control: FakeControl):
    control.on(PATH, WHY)

    commands = [f"{WHY['commands'][0]} --url http://127.0.0.1:4620"]
    assert json.loads(ask("why", "01OP", "--json").stdout) == {**WHY, "commands": commands}


def test_status_says_what_the_triggers_of_its_worlds_did(ask, control: FakeControl):
    entry = {
        "id": "timeline[0]",
        "kind": "set_plan",
        "optional": False,
        "considered": 1,
        "seen": 2,
        "hits": 3,
        "unused": None,
        "type": "timeline entry",
        "effect": "intervene set_plan plan=free",
        "spent": True,
        "waits_for": None,
        "result": "acme is free",
    }
    respond(control)
    control.on("GET /worlds", items(world(triggers=[entry])))

    lines = ask("status").stdout.splitlines()

    index = lines.index("timeline[0] of default (set_plan): considered 1, seen 2, hits 3")
    assert lines[index + 1] == "  acme is free."


def operation_state(id_: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "kind": "apply_project_domains",
        "project": "shop",
        "state": "running",
        "phase": "deploying",
        "stuck": False,
        "created_at": "2030-01-31T09:29:00.000Z",
        "updated_at": "2030-01-31T09:29:50.000Z",
        "age_ms": 60_000,
        "wait_reason": "its next step, due at 2030-01-31T09:30:02.000Z",
        **changes,
    }


IN_PROGRESS = "GET /worlds/default/operations?unfinished=true"


def test_why_explains_the_operation_of_a_project(ask, control: FakeControl):
    control.on("GET /worlds/default/operations/shop/why", WHY)

    assert ask("why", "shop").stdout.startswith("operation  01OP\n")


def test_why_without_an_argument_explains_what_is_in_progress(ask, control: FakeControl):
    control.on(IN_PROGRESS, {"items": [operation_state("01OP"), operation_state("01OQ")]})
    control.on(PATH, WHY)
    control.on(PATH.replace("01OP", "01OQ"), {**WHY, "operation": "01OQ", "state": "queued"})

    text = ask("why").stdout
    rows = json.loads(ask("why", "--json").stdout)

    first, second = text.split("\n\noperation")
    assert first.startswith("operation  01OP\n")
    assert second.startswith("  01OQ\n")
    assert [row["operation"] for row in rows] == ["01OP", "01OQ"]


def test_why_says_that_nothing_is_in_progress(ask, control: FakeControl):
    control.on(IN_PROGRESS, {"items": []})

    assert ask("why").stdout.startswith("No operation is in progress. `why N` explains")
    assert json.loads(ask("why", "--json").stdout) == []


def test_why_explains_only_the_first_of_many_operations(ask, control: FakeControl):
    names = [f"01OP{number}" for number in range(21)]
    control.on(IN_PROGRESS, {"items": [operation_state(name) for name in names]})
    for name in names:
        control.on(PATH.replace("01OP", name), {**WHY, "operation": name})

    result = ask("why")

    assert result.stdout.count("\nkind ") == 20
    assert result.stderr == "And 1 more operation in progress: see `operations`.\n"


def test_operations_lists_states_ages_and_what_each_waits_for(ask, control: FakeControl):
    queued = operation_state("01OR", state="queued", phase="queued", stuck=True, age_ms=500)
    ended = operation_state("01OS", state="failed", phase="done", wait_reason=None)
    control.on(
        "GET /worlds/default/operations", {"items": [operation_state("01OP"), queued, ended]}
    )

    lines = [re.split("  +", line) for line in ask("operations").stdout.splitlines()]

    kind = "apply_project_domains"
    assert lines == [
        ["OPERATION", "KIND", "PROJECT", "STATE", "PHASE", "AGE", "WAITS FOR"],
        ["01OP", kind, "shop", "running", "deploying", "1m", operation_state("")["wait_reason"]],
        ["01OR", kind, "shop", "queued, stuck", "queued", "500ms", queued["wait_reason"]],
        ["01OS", kind, "shop", "failed", "done", "1m", "-"],
    ]


def test_operations_passes_its_filters_on_and_prints_json(ask, control: FakeControl):
    control.on(f"{IN_PROGRESS}&project=shop", {"items": [operation_state(n) for n in ("1", "2")]})

    result = ask("operations", "--unfinished", "--project", "shop", "--limit", "1", "--json")

    assert json.loads(result.stdout) == [operation_state("2")]


def test_operations_says_that_there_is_none(ask, control: FakeControl):
    control.on("GET /worlds/default/operations", {"items": []})

    assert ask("operations").stdout == "There are no matching operations.\n"


def test_why_refuses_an_unknown_operation(ask):
    result = ask("why", "none")

    assert result.exit_code == 2
    assert result.stderr.startswith(
        "Error: the fake has no response to GET /worlds/default/operations/none"
    )
