"""Small texts that would cause much work are refused in one line after little work."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hosting_emulator.contract.json_body import DEEPEST, JsonRefused, read_json
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.calls import Response
from tests.support.function_calls import count_calls
from tests.support.wire import exchange_raw, host_of

MIB = 1024 * 1024


# --- JSON ---------------------------------------------------------------------------------------


def _names(count: int) -> bytes:
    names = ",".join(f'"{n}":1' for n in range(count))
    return f'{{{names},"{count - 1}":2}}'.encode()


def test_repeated_names_in_a_body_are_detected_in_one_pass():
    """Comparing each name with all others takes minutes for a body of one MiB."""
    small = count_calls(lambda: _refused_json(_names(1_000)))
    large = count_calls(lambda: _refused_json(_names(10_000)))

    assert large < 12 * small
    assert "the name '89999' twice" in _refused_json(_names(90_000))


def _refused_json(body: bytes) -> str:
    with pytest.raises(JsonRefused) as refused:
        read_json(body)
    return str(refused.value)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_the_nesting_of_a_body_is_limited(opening: str, closing: str):
    fits = DEEPEST // (opening.count("[") + opening.count("{"))

    read_json(f"{opening * fits}1{closing * fits}".encode())
    for depth in (fits + 1, 200, 400, 900, 100_000):
        bomb = f'{opening * depth}"\\u0041"{closing * depth}'.encode()
        assert "nested" in _refused_json(bomb)


def test_many_brackets_side_by_side_do_not_count_as_nesting():
    assert len(read_json(b"[" + b"[],{}," * 10_000 + b"1]")) == 20_001


BODIES = {
    "nested": "[" * 500_000,
    "nested and closed": "[" * 900 + "]" * 900,
    "nested objects": '{"a":' * 900 + "1" + "}" * 900,
    "a large number": "9" * 4_000,
    "a larger number": "9" * 500_000,
    "an infinite number": "1e999",
    "a number of 309 digits": '{"enabled":1e308,"expected_source_generation":1e308,"rate":1e308}',
    "a large negative number": '{"expected_source_generation":-1e300,"limit":-1e300}',
    "a long text": '"' + "x" * 900_000 + '"',
    "a long name": '{"' + "x" * 900_000 + '":1}',
    "a name twice": _names(10_000).decode(),
    "many names": "{" + ",".join(f'"{n}":{{}}' for n in range(5_000)) + "}",
    "half a character": '{"name":"\\ud800"}',
    "half a character as a name": '{"\\udfff":1}',
    "NaN": "NaN",
}
BODY_PATHS = [
    ("PUT", "/v1/projects/{project}/powered-by-flag"),
    ("POST", "/v1/projects/{project}/source:initialize"),
    ("POST", "/v1/organizations/{organization}/user-api-keys"),
    ("POST", "/_emulator/worlds"),
    ("PUT", "/_emulator/worlds/default/state"),
    ("PATCH", "/_emulator/worlds/default/assumptions"),
    ("PUT", "/_emulator/worlds/default/clock"),
    ("POST", "/_emulator/worlds/default/clock/advance"),
    ("POST", "/_emulator/worlds/default/faults"),
    ("POST", "/_emulator/worlds/default/interventions"),
    ("POST", "/_emulator/worlds/default/scenario"),
    ("POST", "/_emulator/worlds/default/tokens"),
    ("POST", "/_emulator/worlds/default/api-keys"),
    ("POST", "/_emulator/worlds/default/fork"),
    ("POST", "/_emulator/scenarios/run"),
]


def _send(server: BackgroundEmulator, method: str, path: str, body: str) -> Response:
    ready = server.ready
    path = path.format(project=ready.project_id, organization=ready.organization_id)
    headers = [
        ("Host", host_of(server.base_url)),
        ("Authorization", f"Bearer {ready.token}"),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "bomb"),
    ]
    return exchange_raw(server.base_url, method, path, headers, body)


@pytest.mark.parametrize("name", BODIES)
def test_every_endpoint_refuses_a_json_bomb(
    server: BackgroundEmulator, unchanged: Callable[[], None], name: str
):
    for method, path in BODY_PATHS:
        response = _send(server, method, path, BODIES[name])

        assert 400 <= response.status < 500, (path, response.status, response.body[:200])
        assert len(response.body) < 4_000, path


def test_a_body_over_the_size_limit_is_refused(server: BackgroundEmulator):
    for method, path, status in (
        ("POST", "/_emulator/worlds/default/faults", 413),
        # The contract lists no 413 for this call.
        ("PUT", "/v1/projects/{project}/powered-by-flag", 400),
        ("POST", "/v1/projects/{project}/source:initialize", 413),
    ):
        assert _send(server, method, path, " " * (MIB + 1)).status == status


# --- YAML ---------------------------------------------------------------------------------------

#: tests/scenario tries each kind of YAML bomb. These are refused after little work.
YAML_BOMBS = {
    "an alias": "a: &a 1\nb: *a",
    "nested mappings": "\n".join(" " * depth + "a:" for depth in range(600)),
    "a long file": "# " + "x" * 250_000,
    "a large number": "name: " + "9" * 200_000,
}


@pytest.mark.parametrize("name", YAML_BOMBS)
@pytest.mark.parametrize("path", ["worlds/default/scenario", "scenarios/run"])
def test_the_control_api_refuses_a_yaml_bomb(
    server: BackgroundEmulator, unchanged: Callable[[], None], name: str, path: str
):
    body = json.dumps({"text": YAML_BOMBS[name]})

    assert _send(server, "POST", f"/_emulator/{path}", body).status == 400
