"""Stories that could block the emulator: many requests, and patterns that take very long."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.support.emulator_process import Process, emulator
from tests.support.server_in_loop import PATIENCE_S, ServerInLoop
from tests.support.wire import wire

JSON_HEADERS = [("Content-Type", "application/json")]
#: A backtracking engine takes exponential time for each of these patterns.
ENDLESS_PATTERNS = [
    "^(a+)+$",
    r"(\w+\s?)*$",
    "(a|aa)+$",
    "^(a|a?)+$",
    "(.*a){12}$",
    r"(a+)(\1+)+$",
    "^(?=(a+)+$)",
]


def story(*steps: dict[str, Any], **members: Any) -> bytes:
    document = {"name": "long", "description": "A long one.", "story": list(steps), **members}
    return json.dumps({"text": json.dumps(document), "file": "long.yaml"}).encode()


def respond(value: str) -> dict[str, Any]:
    """Return a fault that responds to one call with a document that contains this value."""
    content = json.dumps({"value": value})
    options = {"status": 200, "content": content, "content_type": "application/json"}
    return {"respond": options, "call": "list_deployments"}


async def run_story(server: ServerInLoop, body: bytes) -> dict[str, Any]:
    """Run a story through the control API and return its report."""
    head = (
        f"POST /_emulator/scenarios/run HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(head.encode() + body)
    response = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    assert response.startswith(b"HTTP/1.1 200"), response[:500]
    report: dict[str, Any] = json.loads(response.partition(b"\r\n\r\n")[2])
    return report


@pytest.mark.parametrize(
    "steps",
    [
        [{"call": "list_deployments", "times": 600}],
        [{"together": [{"call": "list_deployments", "times": 300}] * 2}],
        [{"call": "list_deployments"}, {"log": {"status": 404, "count": 0}}] * 300,
    ],
    ids=["many requests", "many requests together", "many looks at the log"],
)
async def test_other_clients_are_served_while_a_story_runs(
    server: ServerInLoop, steps: list[dict[str, Any]]
):
    running = asyncio.create_task(run_story(server, story(*steps)))
    served = 0
    while not running.done():
        assert await server.send_one_request(PATIENCE_S) == "whole"
        served += 1

    assert (await running)["passed"]
    assert served >= 5


@pytest.fixture(scope="module")
def process() -> Any:
    with emulator("--ephemeral") as running:
        yield running


@pytest.mark.parametrize("pattern", ENDLESS_PATTERNS)
@pytest.mark.parametrize("check_kind", ["expect", "not", "check", "save", "log"])
def test_a_pattern_that_takes_too_long_fails_its_step_and_delays_no_client(
    process: Process, check_kind: str, pattern: str
):
    value = "a" * 5_000 + "!"
    step: dict[str, Any] = {"call": "list_deployments", "save": {"value": "value"}}
    expected_value = f"/{pattern}/"
    steps_by_place: dict[str, list[dict[str, Any]]] = {
        "expect": [step | {"expect": {"status": 200, "body": {"value": expected_value}}}],
        "not": [step | {"expect": {"status": 200, "body": {"value": {"not": expected_value}}}}],
        "check": [step, {"check": {"value": expected_value}}],
        "save": [step | {"save": {"value": f"value {expected_value}"}}],
        "log": [
            {"request": f"GET /v1/{value}", "user": "nobody", "expect": {"status": [401, 404]}},
            {"log": {"path": expected_value}},
        ],
    }
    fault = respond(value)
    body = json.loads(story(*steps_by_place[check_kind], faults=[fault]))
    client = process.client()

    report = client.control("POST", "scenarios/run", body)

    # The engine can decide some of these patterns at once. They do not match, so "not" holds.
    assert not report["passed"] or check_kind == "not"
    assert client.control("GET", "health")


def test_a_pattern_that_cannot_be_decided_is_no_match_and_no_mismatch(process: Process):
    fault = respond("a" * 5_000 + "!")
    expected = {"status": 200, "body": {"value": {"not": r"/(\w+\s?)*$/"}}}
    body = json.loads(story({"call": "list_deployments", "expect": expected}, faults=[fault]))

    report = process.client().control("POST", "scenarios/run", body)

    assert not report["passed"]
    assert "50 ms" in report["steps"][0]["message"]


@pytest.mark.parametrize(
    "pattern",
    [
        "((((((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+",
        "((((a{1000}){1000}){1000}){1000})",
        "a" * 2_000,
        "(",
    ],
    ids=["deep groups", "large counts", "long", "invalid"],
)
def test_a_pattern_that_is_too_large_is_refused_where_it_is_written(process: Process, pattern: str):
    expected = {"status": 200, "body": {"next_cursor": f"/{pattern}/"}}
    body = json.loads(story({"call": "list_deployments", "expect": expected}))

    response = process.client().send("POST", "/_emulator/scenarios/run", body)

    assert response.status == 400
    assert "long.yaml:1:" in response.json["detail"]
    assert "regular expression" in response.json["detail"]


def test_a_pattern_keeps_the_syntax_of_python(process: Process):
    fault = respond("shop{e<=2}-dev 42")
    patterns = [
        r"/^(?!prod)\w+/",
        r"/(?<=-)dev/",
        r"/p{e<=2}-/",
        "/[{}]/",
        r"/\d{2}$/",
        "/(?i)SHOP/",
    ]
    expected = [{"status": 200, "body": {"value": pattern}} for pattern in patterns]
    steps = [{"call": "list_deployments", "expect": expect} for expect in expected]

    report = process.client().control(
        "POST", "scenarios/run", json.loads(story(*steps, faults=[fault]))
    )

    assert report["passed"], report["steps"][-1]


def test_a_stop_does_not_wait_for_a_story():
    body = story(*[{"call": "list_deployments", "times": 10_000}] * 2)
    with emulator("--ephemeral") as process, wire(process.base_url) as connection:
        connection.send_request("POST", "/_emulator/scenarios/run", JSON_HEADERS, body)
        process.client().control("GET", "health")
        began_s = time.monotonic()
        code, errors = process.stop()
        took_s = time.monotonic() - began_s
    assert (code, errors) == (0, "")
    assert took_s < 15


def test_a_stop_does_not_wait_for_a_scenario_that_takes_long_to_read():
    text = "name: long\ndescription: A long one.\nstory:\n" + "- {note: x}\n" * 20_000
    body = json.dumps({"text": text, "file": "long.yaml"}).encode()
    with emulator("--ephemeral") as process, wire(process.base_url) as connection:
        connection.send_request("POST", "/_emulator/scenarios/run", JSON_HEADERS, body)
        process.client().control("GET", "health")
        began_s = time.monotonic()
        code, errors = process.stop()
        took_s = time.monotonic() - began_s
        print(f"\nstopped in {took_s:.2f} s")
    assert (code, errors) == (0, "")
    assert took_s < 10
