"""The status and the title of each refusal stay the same within a major version, as the guide promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from aiohttp.test_utils import TestClient
from pytest_aiohttp import AiohttpClient

from tests.support.emulator_in_loop import EmulatorServer
from tests.support.http_world import HttpWorld

#: A refused request: its method, its path and its body.
Refused = tuple[str, str, Any]

PAST = "2025-01-01T00:00:00Z"
REFUSALS: list[tuple[str, str, Any, int, str]] = [
    ("GET", "/nothing", None, 404, "No such path"),
    ("DELETE", "/health", None, 405, "Wrong method"),
    ("GET", "/docs/nothing", None, 404, "No such page"),
    ("GET", "/docs/errors/nothing", None, 404, "No such problem"),
    ("GET", "/static/nothing", None, 404, "No such file"),
    ("GET", "/worlds/nothing", None, 404, "No such world"),
    ("GET", "/worlds/{world}/requests?lmit=1", None, 400, "Bad query"),
    ("GET", "/worlds/{world}/requests?limit=0", None, 400, "Bad limit"),
    ("GET", "/worlds/{world}/requests?limit=1&limit=2", None, 400, "Bad limit"),
    ("GET", "/worlds/{world}/requests?trail=maybe", None, 400, "Bad trail"),
    ("GET", "/worlds/{world}/requests?call=", None, 400, "Bad call"),
    ("GET", "/worlds/{world}/requests?status=9xx", None, 400, "Bad status"),
    ("GET", "/worlds/{world}/requests?since=yesterday", None, 400, "Bad since"),
    ("GET", "/worlds/{world}/requests?since=1h&before=2h", None, 400, "Bad before"),
    ("GET", "/worlds/{world}/requests?after=x", None, 400, "Bad after"),
    ("GET", "/worlds/{world}/events?kinds=nothing", None, 400, "Bad kinds"),
    ("GET", "/worlds/{world}/conduct?skip_rules=nothing", None, 400, "Bad skip_rules"),
    ("GET", "/worlds/{world}/requests/99", None, 404, "No such request"),
    ("GET", "/worlds/{world}/scenario", None, 409, "Not recorded"),
    ("POST", "/worlds/{world}/clock/advance", {}, 400, "Bad request"),
    ("POST", "/worlds/{world}/clock/advance", [], 400, "Bad request"),
    ("POST", "/worlds/{world}/clock/advance", {"by": "soon"}, 400, "Bad duration"),
    ("POST", "/worlds/{world}/clock/advance", {"to": "tomorrow"}, 400, "Bad timestamp"),
    ("POST", "/worlds/{world}/clock/advance", {"to": PAST}, 409, "Clock refused"),
    ("PUT", "/worlds/{world}/clock", {"mode": "scaled", "rate": 0}, 400, "Clock refused"),
    ("PUT", "/worlds/{world}/clock", {"at": PAST}, 409, "Clock refused"),
    ("POST", "/worlds/{world}/tokens", {"user": "nobody"}, 404, "No such user"),
    ("POST", "/worlds/{world}/tokens", {"lifetime": "0s"}, 400, "Bad lifetime"),
    ("POST", "/worlds/{world}/api-keys", {"name": ""}, 400, "Bad name"),
    (
        "POST",
        "/worlds/{world}/api-keys",
        {"user": "no-organization", "name": "ci"},
        409,
        "No organization",
    ),
    (
        "POST",
        "/worlds/{world}/api-keys",
        {"name": "ci", "permissions": ["all"]},
        400,
        "Unknown permission",
    ),
    ("POST", "/worlds/{world}/faults", {"nothing": {}}, 400, "Fault refused"),
    ("POST", "/worlds/{world}/outcomes", {"nothing": {}}, 400, "Outcome refused"),
    ("DELETE", "/worlds/{world}/faults/fault-9", None, 404, "No such fault"),
    ("DELETE", "/worlds/{world}/outcomes/outcome-9", None, 404, "No such outcome"),
    ("POST", "/worlds/{world}/interventions", {"nothing": {}}, 400, "Intervention refused"),
    (
        "POST",
        "/worlds/{world}/interventions",
        {"release_claim": {"project": "shop"}},
        409,
        "Intervention refused",
    ),
    (
        "PUT",
        "/worlds/{world}/variation",
        {"seed": "7", "only": ["nothing"]},
        400,
        "Variation refused",
    ),
    ("PATCH", "/worlds/{world}/assumptions", {"rate_limit": "rarely"}, 400, "Assumption refused"),
    ("POST", "/worlds/{world}/scenario", {}, 400, "Bad request"),
    ("POST", "/worlds/{world}/scenario", {"text": "story: ["}, 400, "Scenario refused"),
    ("POST", "/worlds/{world}/scenario", {"name": "nothing"}, 404, "Scenario refused"),
    ("PUT", "/worlds/{world}/state", {}, 400, "State refused"),
    ("POST", "/worlds/{world}/rewind", {"commit": 99}, 404, "No such commit"),
    ("DELETE", "/worlds/{world}/snapshots/snapshot-9", None, 404, "No such snapshot"),
    ("GET", "/worlds/{world}/operations/nothing/why", None, 404, "No such operation"),
    ("DELETE", "/worlds/default", None, 409, "Not deleted"),
    ("POST", "/worlds", {"name": "A world"}, 400, "Bad name"),
    ("POST", "/worlds", {"name": "default"}, 409, "World exists"),
    ("POST", "/worlds", {"clock": {"mode": "scaled"}}, 400, "Bad clock"),
    ("POST", "/worlds", {"ttl": "soon"}, 400, "Bad ttl"),
    ("POST", "/worlds", {"assumptions": {"rate_limit": "rarely"}}, 400, "Assumption refused"),
    ("POST", "/worlds", {"vary_only": ["page-size"]}, 400, "Variation refused"),
    ("POST", "/worlds", {"vary": "7", "vary_only": ["nothing"]}, 400, "Variation refused"),
    ("POST", "/worlds", {"scenario": {"name": "nothing"}}, 404, "Scenario refused"),
    ("GET", "/observations/nothing", None, 404, "No such observation"),
    ("DELETE", "/protected-faults/nothing", None, 404, "No such protected fault"),
]


def refusal_of(api: HttpWorld, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """Return the status and the title of a refusal."""
    content = None
    if body is not None:
        content = json.dumps(body).encode()
    url = api.emulator.control.control_url + path.format(world=api.emulator.name)
    request = Request(url, content, {"Content-Type": "application/json"}, method=method)

    with pytest.raises(HTTPError) as refused:
        urlopen(request)

    with refused.value as response:
        problem = json.loads(response.read())
    assert problem["status"] == response.code
    return response.code, problem["title"]


@pytest.mark.parametrize(("method", "path", "body", "status", "title"), REFUSALS)
def test_a_refusal_of_the_control_api_has_its_status_and_title(
    api: HttpWorld, method: str, path: str, body: Any, status: int, title: str
) -> None:
    assert refusal_of(api, method, path, body) == (status, title)


def test_the_refusals_to_move_an_operation_have_their_status_and_title(api: HttpWorld) -> None:
    operation = api.initialize().json["id"]
    advance: Refused = ("POST", "/worlds/{world}/clock/advance", {"until_operation": operation})
    step: Refused = ("POST", f"/worlds/{{world}}/operations/{operation}/step", {})

    api.emulator.intervene("stick_operation", operation=operation)
    assert refusal_of(api, *advance) == (409, "Nothing is scheduled")
    api.emulator.intervene("cancel_operation", operation=operation)
    assert refusal_of(api, *step) == (409, "Operation not stepped")


def test_a_token_for_nobody_is_refused_if_no_organization_has_an_owner(api: HttpWorld) -> None:
    world = {"organizations": [{"alias": "acme"}], "users": []}
    scenario = {"name": "empty", "description": "Nobody is here.", "world": world}
    api.emulator.load_scenario(text=json.dumps(scenario))

    assert refusal_of(api, "POST", "/worlds/{world}/tokens", {}) == (409, "Nobody")


@pytest.mark.parametrize(
    ("path", "limit", "title"),
    [
        (
            "worlds/default/snapshots",
            "hosting_emulator.engine.history.MOST_SNAPSHOTS",
            "Too many snapshots",
        ),
        (
            "observations",
            "hosting_emulator.conduct.observation.MOST_OBSERVATIONS",
            "Too many observations",
        ),
    ],
)
async def test_a_snapshot_or_an_observation_beyond_the_limit_is_refused(
    aiohttp_client: AiohttpClient,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    limit: str,
    title: str,
) -> None:
    monkeypatch.setattr(limit, 2)
    client: TestClient[Any, Any] = await aiohttp_client(EmulatorServer())

    responses = [await client.post(f"/_emulator/{path}", json={}) for _ in range(3)]

    assert [response.status for response in responses] == [201, 201, 409]
    assert (await responses[2].json(content_type=None))["title"] == title


async def test_a_stored_world_that_has_changed_is_replaced_only_on_request(
    aiohttp_client: AiohttpClient, tmp_path: Path
) -> None:
    client: TestClient[Any, Any] = await aiohttp_client(EmulatorServer(data_dir=tmp_path / "data"))
    world = "/_emulator/worlds/default"
    scenario = {"text": "name: other\ndescription: Another world."}
    await client.post(f"{world}/interventions", json={"hold_claim": {"project": "shop"}})

    refused = await client.post(f"{world}/scenario", json=scenario)
    replaced = await client.post(f"{world}/scenario", json={**scenario, "replace": True})

    problem = await refused.json(content_type=None)
    assert (refused.status, problem["title"]) == (409, "World has changed")
    assert replaced.status == 200
