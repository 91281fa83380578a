"""Each command sends exactly the right request (test_golden.py checks its output)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.control_samples import ADVANCED, CLOCK, STUCK, TOKEN, fault, new_world, world
from tests.support.fake_control import FakeControl, refusal

SET_CLOCK = "PUT /worlds/default/clock"
ADVANCE = "POST /worlds/default/clock/advance"
ADD = "POST /worlds/default/faults"
INTERVENE = "POST /worlds/default/interventions"
ARMED = fault()
AT = "2030-01-31T09:30:00Z"

CASES: list[tuple[str, str, Any, Any]] = [
    # the command line, the request, the response, the body of the request
    ("clock freeze", SET_CLOCK, CLOCK, {"mode": "frozen"}),
    ("clock run", SET_CLOCK, CLOCK, {"mode": "real"}),
    ("clock skip", SET_CLOCK, CLOCK, {"mode": "skip"}),
    ("clock scale 0.5", SET_CLOCK, CLOCK, {"mode": "scaled", "rate": 0.5}),
    (
        "clock advance --to 2030-01-31T09:30:00+01:00",
        ADVANCE,
        ADVANCED,
        {"to": "2030-01-31T09:30:00+01:00"},
    ),
    ("clock advance 10m", ADVANCE, ADVANCED, {"by": "10m"}),
    ("clock advance PT10M", ADVANCE, ADVANCED, {"by": "PT10M"}),
    (f"clock advance --to {AT}", ADVANCE, ADVANCED, {"to": AT}),
    ("clock advance --until-operation 01J0", ADVANCE, ADVANCED, {"until_operation": "01J0"}),
    ("world create", "POST /worlds", new_world("w"), {"ephemeral": False}),
    (
        f"world create w --seed 42 --clock scaled:60 --at {AT} --assume rate_limit=100/60s"
        " --assume docs_url=http://x/?a=b --ephemeral",
        "POST /worlds",
        new_world("w"),
        {
            "name": "w",
            "seed": "42",
            "clock": {"mode": "scaled", "rate": 60, "at": AT},
            "assumptions": {"rate_limit": "100/60s", "docs_url": "http://x/?a=b"},
            "ephemeral": True,
        },
    ),
    (
        f"world create --at {AT} --on-disk",
        "POST /worlds",
        new_world("w"),
        {"clock": {"at": AT}, "ephemeral": False},
    ),
    (
        "world fork copy --world shop",
        "POST /worlds/shop/fork",
        new_world("copy"),
        {"name": "copy", "ephemeral": False},
    ),
    (
        "world fork --commit 12",
        "POST /worlds/default/fork",
        new_world("copy"),
        {"commit": 12, "ephemeral": False},
    ),
    ("world rewind 12 --world shop", "POST /worlds/shop/rewind", world("shop"), {"commit": 12}),
    ("world reset ci-1", "POST /worlds/ci-1/reset", world("ci-1"), {}),
    ("world reset --world ci-1", "POST /worlds/ci-1/reset", world("ci-1"), {}),
    ("world reset --default", "POST /worlds/default/reset", world("default"), {"default": True}),
    (
        "token --world w --user reader --organization free --without-session --lifetime 1h30m",
        "POST /worlds/w/tokens",
        TOKEN,
        {
            "user": "reader",
            "organization": "free",
            "interactive": False,
            "lifetime": "1h30m",
        },
    ),
    (
        "scenario load outage --world ci-1",
        "POST /worlds/ci-1/scenario",
        world("ci-1") | {"notices": ["The clock is frozen."]},
        {"name": "outage"},
    ),
    ("fault add timeout", ADD, ARMED, {"timeout": {}}),
    (
        "fault add abort code=service_unavailable --call apply_project_domains --times 2"
        " --after-commit",
        ADD,
        ARMED,
        {
            "abort": {"code": "service_unavailable"},
            "call": "apply_project_domains",
            "times": 2,
            "after_commit": True,
        },
    ),
    (
        "fault add latency delay_ms=200 jitter_ms=50 distribution=normal --before-commit",
        ADD,
        ARMED,
        {
            "latency": {"delay_ms": 200, "jitter_ms": 50, "distribution": "normal"},
            "after_commit": False,
        },
    ),
    (
        "fault add rate_limit limit=3 window=60s --project shop --user reader --method GET",
        ADD,
        ARMED,
        {
            "rate_limit": {"limit": 3, "window": "60s"},
            "project": "shop",
            "principal": "reader",
            "method": "GET",
        },
    ),
    (
        "fault add timeout --path /v1/* --header A=1 --header B=x=* --skip-first 0 --every 3",
        ADD,
        ARMED,
        {
            "timeout": {},
            "path": "/v1/*",
            "header": {"A": "1", "B": "x=*"},
            "skip_first": 0,
            "every": 3,
        },
    ),
    (
        f"fault add timeout --probability 0.5 --from 10m --until {AT}",
        ADD,
        ARMED,
        {"timeout": {}, "probability": 0.5, "from": "10m", "until": AT},
    ),
    (
        """fault add --json-fault '{"timeout": {}, "method": "PUT", "times": 1}'""",
        ADD,
        ARMED,
        {"timeout": {}, "method": "PUT", "times": 1},
    ),
    (
        "intervene fail_operation project=shop retryable=true 'message=No space left: 5 GB'"
        """ 'code="404"'""",
        INTERVENE,
        {**STUCK, "intervention": "fail_operation"},
        {
            "fail_operation": {
                "project": "shop",
                "retryable": True,
                "message": "No space left: 5 GB",
                "code": "404",
            }
        },
    ),
    (
        "intervene leave_key_creation_uncertain --world ci-1",
        "POST /worlds/ci-1/interventions",
        {**STUCK, "intervention": "leave_key_creation_uncertain"},
        {"leave_key_creation_uncertain": {}},
    ),
]


@pytest.mark.parametrize(("line", "request_line", "response", "body"), CASES)
def test_a_command_sends_its_arguments_and_prints_the_response_as_json(
    ask, control: FakeControl, line: str, request_line: str, response: Any, body: Any
):
    control.on(request_line, response)

    as_text = ask(*shlex.split(line))
    as_json = ask(*shlex.split(line), "--json")

    assert (as_text.exit_code, as_json.exit_code) == (0, 0)
    assert control.bodies(request_line) == [body, body]
    assert json.loads(as_json.stdout) == response
    assert as_json.stderr == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.5", 0.5),
        ("true", True),
        ("null", None),
        ('"5"', "5"),
        ('["a"]', ["a"]),
        ("60s", "60s"),
        ("", ""),
        ("NaN", "NaN"),
        ("a=b", "a=b"),
        ("01J00000000000000000000000", "01J00000000000000000000000"),
    ],
)
def test_a_value_of_an_option_that_is_json_is_sent_as_json(
    ask, control: FakeControl, text: str, value: Any
):
    control.on(ADD, ARMED)

    ask("fault", "add", "abort", f"detail={text}")

    assert control.bodies(ADD) == [{"abort": {"detail": value}}]


# --- Which emulator, which world -----------------------------------------------------------------


def test_a_command_reads_world_and_control_token_from_variables(
    ask, control: FakeControl, monkeypatch
):
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "ci-1")
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "s3cret")
    control.on("GET /worlds/ci-1/clock", CLOCK)

    assert ask("clock", "show").exit_code == 0
    assert control.requests[0].headers["X-Control-Token"] == "s3cret"


@pytest.mark.parametrize("tail", ["", "/", "/_emulator", "/_emulator/"])
def test_the_address_of_an_emulator_may_have_a_path(run, control: FakeControl, tail: str):
    control.on("GET /worlds/default/clock", CLOCK)

    assert run("clock", "show", "--url", control.url + tail).exit_code == 0


# --- What is no JSON or no request body ----------------------------------------------------------


def test_clock_show_says_that_nothing_is_due(ask, control: FakeControl):
    idle = {**CLOCK, "mode": "frozen", "next_due_at": None, "next_event": None, "pending": 0}
    control.on("GET /worlds/default/clock", idle)

    result = ask("clock", "show")

    assert "next due  nothing" in result.stdout
    assert "rate" not in result.stdout


def test_world_create_prints_only_the_name_on_stdout(ask, control: FakeControl):
    control.on("POST /worlds", new_world("w-7"))

    result = ask("world", "create")

    assert result.stdout == "w-7\n"
    assert result.stderr == "World w-7 is served at http://127.0.0.1:4620/worlds/w-7.\n"


def test_world_history_lists_the_newest_commit_first(ask, control: FakeControl):
    items = [
        {"commit": 12, "at": "2026-01-01T00:00:02.000Z", "title": "clock", "summary": "by 2s"},
        {"commit": 1, "at": "2026-01-01T00:00:00.000Z", "title": "began", "summary": ""},
    ]
    control.on("GET /worlds/shop/history?limit=2", {"first": 1, "items": items})

    as_text = ask("world", "history", "--world", "shop", "--limit", "2")

    assert as_text.stdout == (
        "COMMIT  AT                        WHAT\n"
        "    12  2026-01-01T00:00:02.000Z  clock: by 2s\n"
        "     1  2026-01-01T00:00:00.000Z  began\n"
    )


def test_world_delete_reports_the_deletion(ask, control: FakeControl):
    control.on("DELETE /worlds/ci-1", None)

    result = ask("world", "delete", "ci-1")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "World ci-1 was deleted.\n"


def test_world_export_prints_the_document(ask, control: FakeControl):
    control.on("GET /worlds/default/state", {"projects": [{"name": "Zoë"}]})

    result = ask("world", "export")

    assert json.loads(result.stdout) == {"projects": [{"name": "Zoë"}]}
    assert "Zoë" in result.stdout


def test_a_refused_world_export_leaves_the_file_unchanged(
    ask, control: FakeControl, tmp_path: Path
):
    path = tmp_path / "state.json"
    path.write_text("old", encoding="utf-8")
    control.on("GET /worlds/default/state", refusal(404, "no such world"), {"a": 1})

    assert ask("world", "export", "--output", str(path)).exit_code == 2
    assert path.read_text(encoding="utf-8") == "old"

    assert ask("world", "export", "--output", str(path)).stdout == ""
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_world_import_reads_a_file_or_stdin(ask, control: FakeControl, tmp_path: Path):
    path = tmp_path / "state.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    control.on("PUT /worlds/copy/state?replace=false", world("copy"))

    ask("world", "import", str(path), "--world", "copy")
    ask("world", "import", "-", "--world", "copy", stdin='{"a": 2}')

    assert control.bodies("PUT /worlds/copy/state?replace=false") == [{"a": 1}, {"a": 2}]
