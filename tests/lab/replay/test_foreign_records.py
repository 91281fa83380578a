"""Recordings of other tools: the same session as saved by a browser's network panel and by a proxy."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.replay import Beginning, read_record, replay, temporary_world
from tests.support.http_world import HttpWorld

ELSEWHERE = "https://api.hosting.example/control"


def walk(api: HttpWorld) -> None:
    api.set_flag(False, key="flag-1")
    operation = api.apply_domains(key="domains-1").json["id"]
    api.emulator.clock.advance("2s")
    api.poll(operation)
    api.emulator.clock.advance("30s")
    api.poll(operation)
    api.set_flag(True, key="domains-1")
    key = api.create_key("ci", key="key-1").json
    page = api.deployments("?limit=3", token=key["value"]).json
    api.deployments(f"?limit=3&cursor={page['next_cursor']}")
    api.ticket()


def browsers(har: Any, base_url: str) -> Any:
    """Return a recording as Chromium saves it, of another service with ids of its own."""
    renamed = re.sub(
        r"(?<![0-9A-Z])01(?=[0-9A-HJKMNP-TV-Z]{24}(?![0-9A-Z]))", "0W", json.dumps(har)
    )
    entries = [_browsers(entry, base_url) for entry in json.loads(renamed)["log"]["entries"]]
    script = _other("GET", "https://cdn.example/app.js")
    preflight = _other("OPTIONS", entries[0]["request"]["url"])
    return {
        "log": {
            "version": "1.2",
            "creator": {"name": "WebInspector", "version": "537.36"},
            "pages": [{"id": "page_1", "title": "Projects", "startedDateTime": "2026-01-01"}],
            "entries": [script, preflight, *entries],
        }
    }


def _browsers(entry: Any, base_url: str) -> Any:
    request = entry["request"]
    response = entry["response"]
    content = response["content"]
    return {
        "_connectionId": "4242",
        "_initiator": {"type": "script", "stack": {"callFrames": []}},
        "_priority": "High",
        "_resourceType": "fetch",
        "cache": {},
        "connection": "443",
        "pageref": "page_1",
        "request": {
            **{k: v for k, v in request.items() if k != "postData"},
            "url": request["url"].replace(base_url, ELSEWHERE),
            "httpVersion": "http/2.0",
            "headers": [
                {"name": ":authority", "value": "api.hosting.example"},
                {"name": "origin", "value": "https://app.example"},
                {"name": "sec-fetch-mode", "value": "cors"},
                *(
                    {**header, "name": header["name"].lower()}
                    for header in request["headers"]
                    if header["name"].lower() not in ("authorization", "host")
                ),
            ],
            **({"postData": _posted(request)} if "postData" in request else {}),
        },
        "response": {
            **{k: v for k, v in response.items() if k != "comment"},
            "httpVersion": "http/2.0",
            "content": {
                "size": content["size"],
                "mimeType": content["mimeType"],
                "text": base64.b64encode(content["text"].encode()).decode(),
                "encoding": "base64",
            },
            "_transferSize": 300,
            "_error": None,
        },
        "serverIPAddress": "192.0.2.7",
        "startedDateTime": entry["startedDateTime"].replace(".000Z", ".8741234Z"),
        "time": 12.5,
        "timings": {"blocked": 1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 9},
    }


def _posted(request: Any) -> Any:
    return {"mimeType": "application/json", "text": request["postData"]["text"]}


def _other(method: str, url: str) -> Any:
    return {
        "startedDateTime": "2025-12-31T23:59:59.000Z",
        "request": {"method": method, "url": url, "headers": [], "bodySize": 0},
        "response": {"status": 200, "headers": [], "content": {"size": 0, "mimeType": ""}},
    }


@pytest.fixture
def saved(api: HttpWorld) -> Any:
    walk(api)
    har = api.emulator.requests.har()
    return browsers(har, api.emulator.base_url)


def test_a_browser_recording_is_replayed_as_the_owner(api: HttpWorld, saved: Any):
    control = api.emulator.control
    record = read_record(saved)

    with temporary_world(control, record, Beginning(seed="another")) as fresh:
        report = replay(control, record, control.world(fresh.name))
        users = {request.user for request in fresh.requests}

    assert [(outcome.recorded.n, outcome.differences) for outcome in report.differing] == []
    assert len(report.requests) == 9
    assert users == {"owner"}
    assert record.left_out == (
        "#1 GET https://cdn.example/app.js",
        f"#2 OPTIONS {ELSEWHERE}{record.requests[0].target}",
    )
    project, organization, *notes = report.notes
    assert re.fullmatch(rf"0W\w{{24}} is mapped to shop of {fresh.name}", project)
    assert re.fullmatch(rf"0W\w{{24}} is mapped to its organization of {fresh.name}", organization)
    assert notes == [
        "the recording does not name the user of each request: such requests are sent as the "
        "owner, or as --user"
    ]


def test_calls_of_a_browser_recording_are_recognized_by_method_and_path(saved: Any):
    record = read_record(saved)

    assert [request.call for request in record.requests[:3]] == [
        "set_project_powered_by_flag",
        "apply_project_domains",
        "get_operation",
    ]


@pytest.mark.parametrize("recorded_key", ["phk_" + "k" * 43, "a-key-of-another-form"])
def test_a_proxy_recording_with_secrets_is_replayed_with_the_key_it_created(
    api: HttpWorld, recorded_key: str
):
    walk(api)
    har = api.emulator.requests.har()
    text = json.dumps(browsers(har, api.emulator.base_url))
    saved = json.loads(text)
    for entry in saved["log"]["entries"][2:]:
        content = entry["response"]["content"]
        decoded = base64.b64decode(content["text"]).decode()
        content["text"] = base64.b64encode(
            decoded.replace("<redacted>", recorded_key).encode()
        ).decode()
        by_key = "limit=3" in entry["request"]["url"] and "cursor" not in entry["request"]["url"]
        token = recorded_key if by_key else "eyJ.of.another"
        entry["request"]["headers"].append({"name": "authorization", "value": f"Bearer {token}"})
    control = api.emulator.control
    record = read_record(saved)

    with temporary_world(control, record, Beginning()) as fresh:
        replay(control, record, control.world(fresh.name))
        trails = [
            step.text
            for item in control.world(fresh.name).requests.page().items
            for step in item.trail or ()
        ]

    assert len([sentence for sentence in trails if "with the API key 'ci'" in sentence]) == 1


def test_project_ids_of_a_foreign_recording_that_exist_here_are_kept(api: HttpWorld):
    walk(api)
    har = api.emulator.requests.har()
    har["log"]["creator"]["name"] = "mitmproxy"
    control = api.emulator.control
    record = read_record(har)

    with temporary_world(control, record, Beginning()) as fresh:
        report = replay(control, record, control.world(fresh.name))

    assert [request.response.status for request in report.requests if request.response] == [
        request.response.status for request in record.requests if request.response
    ]


def test_a_foreign_recording_lets_as_much_time_pass_in_a_world_of_another_time(api: HttpWorld):
    api.dns()
    api.emulator.clock.advance("1h")
    api.dns()
    har = api.emulator.requests.har()
    har["log"]["creator"]["name"] = "mitmproxy"
    del har["log"]["_world"]
    clock = {"mode": "frozen", "at": "2030-01-01T00:00:00Z"}

    with HostingEmulator.fresh(api.emulator.control, clock=clock) as other_world:
        replay(api.emulator.control, read_record(har), other_world)
        now = other_world.clock.now

    assert now == "2030-01-01T01:00:00.000Z"
