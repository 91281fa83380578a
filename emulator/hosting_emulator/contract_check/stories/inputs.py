"""Requests that are not in order and must be refused. A server that accepts one is at fault."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract_check.scene import Scene, story

_KEYS = "idempotency-key limit.idempotency-key"
_BODIES: dict[str, dict[str, Any]] = {
    "set_project_powered_by_flag": {"enabled": True},
    "initialize_managed_source": {"expected_source_generation": 0},
    "create_user_api_key": {"name": "hosting-emulator-check"},
    "apply_project_domains": {},
}


@story("an Idempotency-Key is needed, of 1 to 128 characters")
def idempotency_keys(scene: Scene) -> None:
    """Make the four calls without one, with an empty one and with one that is too long."""
    for call_id, body in _BODIES.items():
        for key, about in (
            (None, "without Idempotency-Key"),
            ("", "Idempotency-Key empty"),
            ("k" * 129, "Idempotency-Key of 129"),
        ):
            answer = scene.ask.call(call_id, key=key, body=body or None, about=about)
            scene.wrong_input("idempotency-key" if key is None else _KEYS, answer)


@story("bodies that are not in order")
def bodies(scene: Scene) -> None:
    """Send each call with a body something that its body may not be."""
    for body, about in (
        ({}, "an empty body"),
        ({"enabled": "true"}, "enabled a string"),
        ({"enabled": 1}, "enabled a number"),
        ({"enabled": None}, "enabled null"),
        ({"enabled": True, "hosting_emulator_check": 1}, "a property more"),
        ([True], "an array"),
        (b'{"enabled":', "half a body"),
    ):
        _refuse(scene, "set_project_powered_by_flag", body, about, "flag.body flag.request")
    for name, about in (
        ("", "name empty"),
        ("hosting-emulator-check-".ljust(65, "x"), "name of 65"),
        (7, "name a number"),
    ):
        keys = "keys.body" if name == 7 else "keys.body limit.key-name"
        _refuse(scene, "create_user_api_key", {"name": name}, about, keys)
    _refuse(scene, "create_user_api_key", {}, "no name", "keys.body")
    for generation, about in (("0", "a string"), (1.5, "no integer"), (True, "a boolean")):
        wrong = {"expected_source_generation": generation}
        _refuse(scene, "initialize_managed_source", wrong, about, "source.body")


def _refuse(scene: Scene, call_id: str, body: Any, about: str, keys: str) -> None:
    answer = scene.ask.call(call_id, key=scene.ask.new_key(), body=body, about=about)
    scene.wrong_input(keys, answer)
