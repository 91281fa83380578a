"""What an editor knows of the handle: every type is written down, and wrong names are errors.

The type checker reads this file in strict mode: an `ignore` it does not need, or a type that is
not as asserted, is an error of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import assert_type

import pytest

from hosting_emulator import sdk
from hosting_emulator.sdk import (
    Aliases,
    ArmedFault,
    ClockMode,
    ControlClient,
    HostingEmulator,
    JsonObject,
    RecordedRequest,
    Why,
    WorldSnapshot,
)


def as_an_editor_sees_it(emulator: HostingEmulator) -> None:
    assert_type(emulator.control, ControlClient)
    assert_type(emulator.base_url, str)
    assert_type(emulator.projects, Aliases)
    assert_type(emulator.projects["shop"], str)
    assert_type(emulator.token("owner", expires_in_seconds=60), str)
    assert_type(emulator.headers(key="k"), dict[str, str])
    assert_type(emulator.clock.advance("1s"), str)
    assert_type(emulator.clock.mode, ClockMode)
    assert_type(emulator.fork(), HostingEmulator)
    assert_type(emulator.export(), JsonObject)
    with emulator.fault("abort", code="rate_limited", times=1) as armed:
        assert_type(armed, ArmedFault)
    with emulator.snapshot() as snapshot:
        assert_type(snapshot, WorldSnapshot)
    assert_type(emulator.requests.assert_made(at_most=1), list[RecordedRequest])
    assert_type([made.n for made in emulator.requests], list[int])


def what_an_editor_underlines(emulator: HostingEmulator) -> None:
    emulator.requests.of("list_deployment")  # type: ignore[arg-type]
    emulator.requests.of(stauts=200)  # type: ignore[call-arg]
    emulator.fault("abort", call="list_deployment")  # type: ignore[arg-type]
    emulator.clock.set("warped")  # type: ignore[arg-type]
    emulator.token("owner", expires="1h")  # type: ignore[call-arg]
    assert_type(emulator.why("x"), Why)


def test_editor_is_right(hosting_emulator: HostingEmulator):
    as_an_editor_sees_it(hosting_emulator)


def test_what_is_underlined_fails(hosting_emulator: HostingEmulator):
    with pytest.raises(ValueError, match="no call is 'list_deployment'"):
        what_an_editor_underlines(hosting_emulator)


def public_parts() -> Iterator[tuple[str, object]]:
    for name, thing in vars(sdk).items():
        if inspect.isclass(thing):
            for part, value in inspect.getmembers(thing):
                home = getattr(inspect.unwrap(getattr(value, "fget", value)), "__module__", "")
                if not part.startswith("_") and str(home).startswith("hosting_emulator.sdk"):
                    yield f"{name}.{part}", getattr(value, "fget", value)


def test_every_public_part_is_typed_and_says_what_it_is_for():
    parts = dict(public_parts())

    assert len(parts) > 40
    for name, part in parts.items():
        assert inspect.getdoc(part), name
        signature = inspect.signature(part)  # type: ignore[arg-type]
        assert signature.return_annotation is not inspect.Signature.empty, name
        untyped = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
        ]
        assert untyped == [], name
