"""What an editor knows about the handle: every type is declared, and wrong names are errors.

The type checker reads this file in strict mode, in which an unneeded `ignore` and a type that
differs from its assertion are errors.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
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


def as_an_editor_sees_it(world: HostingEmulator) -> None:
    assert_type(world.control, ControlClient)
    assert_type(world.base_url, str)
    assert_type(world.projects, Aliases)
    assert_type(world.projects["shop"], str)
    assert_type(world.token("owner", lifetime=timedelta(minutes=1)), str)
    assert_type(world.headers(key="k"), dict[str, str])
    assert_type(world.clock.advance("1s"), str)
    assert_type(world.clock.mode, ClockMode)
    assert_type(world.fork(), HostingEmulator)
    assert_type(world.export(), JsonObject)
    with world.fault("abort", code="rate_limited", times=1) as armed:
        assert_type(armed, ArmedFault)
    with world.snapshot() as snapshot:
        assert_type(snapshot, WorldSnapshot)
    assert_type(world.requests.assert_made(at_most=1), list[RecordedRequest])
    assert_type([request.n for request in world.requests], list[int])


def what_an_editor_underlines(world: HostingEmulator) -> None:
    world.requests.of("list_deployment")  # type: ignore[arg-type]
    world.requests.of(stauts=200)  # type: ignore[call-arg]
    world.fault("abort", call="list_deployment")  # type: ignore[arg-type]
    world.clock.set("warped")  # type: ignore[arg-type]
    world.token("owner", expires="1h")  # type: ignore[call-arg]
    assert_type(world.why("x"), Why)


def test_the_declared_types_are_the_real_ones(hosting_emulator: HostingEmulator):
    as_an_editor_sees_it(hosting_emulator)


def test_calls_that_a_type_checker_rejects_fail_at_run_time(hosting_emulator: HostingEmulator):
    with pytest.raises(ValueError, match="there is no call 'list_deployment'"):
        what_an_editor_underlines(hosting_emulator)


def public_parts() -> Iterator[tuple[str, object]]:
    for name in sdk.__all__:
        thing = getattr(sdk, name)
        if inspect.isclass(thing):
            for part, value in inspect.getmembers(thing):
                home = getattr(inspect.unwrap(getattr(value, "fget", value)), "__module__", "")
                if not part.startswith("_") and str(home).startswith("hosting_emulator.sdk"):
                    yield f"{name}.{part}", getattr(value, "fget", value)


def test_the_names_that_load_on_demand_are_those_that_a_type_checker_reads():
    tree = ast.parse(Path(sdk.__file__).read_text("utf-8"))
    imported = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None
    }

    assert imported == sdk._MODULE_OF
    assert dir(sdk) == sorted(imported)
    assert [name for name in imported if not hasattr(sdk, name)] == []


def test_each_public_part_of_the_sdk_is_typed_and_documented():
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
