"""Small texts that would grow into large work: refused in one clear line, after bounded work."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from hosting_emulator.contract.json_body import DEEPEST, JsonRefused, read_json
from hosting_emulator.scenario import yaml_text
from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.scenario.yaml_text import LONGEST, read_yaml
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.calls import Response
from tests.support.wire import exchange_raw, host_of

MIB = 1024 * 1024


def calls_of(work: Callable[[], Any]) -> int:
    """Return how many functions of Python a piece of work calls: its size, on any machine."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


# --- JSON ---------------------------------------------------------------------------------------


def _names(count: int) -> bytes:
    names = ",".join(f'"{n}":1' for n in range(count))
    return f'{{{names},"{count - 1}":2}}'.encode()


def test_a_name_that_comes_twice_is_found_in_one_pass():
    """Looking for each name among all others takes minutes for a body of one MiB."""
    small = calls_of(lambda: _refused_json(_names(1_000)))
    large = calls_of(lambda: _refused_json(_names(10_000)))

    assert large < 12 * small
    assert _refused_json(_names(90_000)).startswith("names '89999' twice")


def _refused_json(body: bytes) -> str:
    with pytest.raises(JsonRefused) as refused:
        read_json(body)
    return str(refused.value)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_is_bounded(opening: str, closing: str):
    fits = DEEPEST // (opening.count("[") + opening.count("{"))

    read_json(f"{opening * fits}1{closing * fits}".encode())
    for depth in (fits + 1, 200, 400, 900, 100_000):
        bomb = f'{opening * depth}"\\u0041"{closing * depth}'.encode()
        assert "nested" in _refused_json(bomb)


def test_many_brackets_side_by_side_are_no_nesting():
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
DOORS = [
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
def test_no_door_lets_a_json_bomb_in(
    server: BackgroundEmulator, unchanged: Callable[[], None], name: str
):
    for method, path in DOORS:
        answer = _send(server, method, path, BODIES[name])

        assert 400 <= answer.status < 500, (path, answer.status, answer.body[:200])
        assert len(answer.body) < 4_000, path


def test_a_body_beyond_the_limit_is_not_read(server: BackgroundEmulator):
    for method, path, status in (
        ("POST", "/_emulator/worlds/default/faults", 413),
        ("PUT", "/v1/projects/{project}/powered-by-flag", 400),  # the contract lists no 413 there
        ("POST", "/v1/projects/{project}/source:initialize", 413),
    ):
        assert _send(server, method, path, " " * (MIB + 1)).status == status


# --- YAML ---------------------------------------------------------------------------------------


def _laughs(levels: int) -> str:
    lines = ["l0: &l0 [ha, ha]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


YAML_BOMBS = {
    "a billion laughs": (_laughs(10), "alias"),
    "one alias": ("a: &a 1\nb: *a", "alias"),
    "an alias of itself": ("a: &a [*a]", "alias"),
    "a merge of itself": ("a: &a {<<: *a}", "alias"),
    "nested lists": ("a: " + "[" * 50_000, "nested"),
    "nested mappings": ("\n".join(" " * n + "a:" for n in range(600)), "nested"),
    "nested lists in a block": ("- " * 10_000 + "x", "nested"),
    "many values": ("a: [" + "1," * 100_000 + "]", "more than"),
    "many keys": ("\n".join(f"k{n}: 1" for n in range(20_000)), "more than"),
    "a long file": ("# " + "x" * LONGEST, "longer than"),
    "a large number": ("name: " + "9" * 200_000, "number"),
    "a large hexadecimal number": ("name: 0x" + "f" * 200_000, "too large"),
    "an infinite number": ("name: 1e999", "too large"),
    "infinity itself": ("name: .inf", "not a number"),
    "a key twice": ("name: a\nname: b", "twice"),
    "a tag": ("name: !!python/object/apply:os.system [id]", "tag"),
    "binary": ("name: !!binary AAAA", "tag"),
    "a set": ("name: !!set {a, b}", "tag"),
    "two documents": ("name: a\n---\nname: b", "one document"),
    "a list as a key": ("? [a]\n: b", "plain text"),
    "half a character": ('name: "\\ud800"', "surrogate"),
    "a long anchor": ("a: &" + "a" * 100_000 + " 1", ""),
}


@pytest.mark.parametrize("name", YAML_BOMBS)
def test_a_yaml_bomb_is_refused_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch):
    if name == "many values":  # many keys come to the bound itself, which takes half a second
        monkeypatch.setattr(yaml_text, "MOST", 2_000)
    text, why = YAML_BOMBS[name]

    with pytest.raises(ScenarioError) as refused:
        read_scenario(text, "bomb.yaml")

    assert why in str(refused.value)
    assert len(str(refused.value)) < 1_000
    assert "\n" not in str(refused.value)


def test_the_work_on_a_large_file_is_bounded(monkeypatch: pytest.MonkeyPatch):
    """Three times as many values are no more work: reading stops at the bound."""
    bound = 1_000
    monkeypatch.setattr(yaml_text, "MOST", bound)

    def work(values: int) -> int:
        def read() -> None:
            with pytest.raises(ScenarioError):
                read_yaml("a: [" + "1," * values + "]", "bomb.yaml")

        return calls_of(read)

    assert work(bound * 3) < 1.2 * work(bound + 10)


def test_a_yaml_bomb_is_refused_by_the_control_api(
    server: BackgroundEmulator, unchanged: Callable[[], None]
):
    """Each kind is refused above; here are those that are refused after little work."""
    for name in ("a billion laughs", "nested mappings", "a long file", "a large number"):
        body = json.dumps({"text": YAML_BOMBS[name][0]})
        for path in ("/_emulator/worlds/default/scenario", "/_emulator/scenarios/run"):
            assert _send(server, "POST", path, body).status == 400
