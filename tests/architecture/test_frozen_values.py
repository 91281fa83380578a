"""Values are shared between requests and worlds, so nobody can change one.

Only the classes of this list have instances that change: they follow what happens.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec
import pytest

from hosting_emulator.http.endpoint import Body
from hosting_emulator.messages.declaration import ControlMessage
from hosting_emulator.scenario.document import Part
from hosting_emulator.world.population_parts import PopulationPart
from hosting_emulator.world.record_base import WorldRecord

PACKAGES = ("hosting_emulator", "hosting_emulator_cli", "pytest_hosting_emulator")
#: The bases of what a user wrote, which is read once and then only checked.
WRITTEN = (Body, Part, PopulationPart)
CHANGING = {
    "App",
    "Attempt",
    "CallRequest",
    "ConnectionUse",
    "Context",
    "Count",
    "Entry",
    "ExchangeContext",
    "FeedEvent",
    "Inspection",
    "OpenWorld",
    "Reply",
    "RuleFindings",
    "Site",
    "StoredCommit",
    "TokenForm",
    "Verdict",
    "WatchedServer",
}


def classes() -> Iterator[type[Any]]:
    """Yield the public structs and dataclasses that the modules of the packages define."""
    for package_name in PACKAGES:
        package = import_module(package_name)
        for module_info in pkgutil.walk_packages(package.__path__, f"{package_name}."):
            if module_info.name.endswith("__main__"):
                continue
            module = import_module(module_info.name)
            for name, value in vars(module).items():
                is_own = isinstance(value, type) and value.__module__ == module.__name__
                if is_own and not name.startswith("_") and is_value(value):
                    yield value


def is_value(class_: type[Any]) -> bool:
    return issubclass(class_, msgspec.Struct) or dataclasses.is_dataclass(class_)


def is_frozen(class_: type[Any]) -> bool:
    if issubclass(class_, msgspec.Struct):
        return class_.__struct_config__.frozen
    return bool(class_.__dataclass_params__.frozen)


CLASSES = list(classes())


def test_every_value_is_frozen_except_those_that_follow_what_happens() -> None:
    values = [class_ for class_ in CLASSES if not issubclass(class_, WRITTEN)]
    changing = {class_.__name__ for class_ in values if not is_frozen(class_)}

    assert changing == CHANGING


@pytest.mark.parametrize(
    "message",
    [class_ for class_ in CLASSES if issubclass(class_, ControlMessage)],
    ids=lambda message: message.__name__,
)
def test_a_message_is_built_by_the_names_of_its_members(message: type[ControlMessage]) -> None:
    parameters = inspect.signature(message).parameters.values()

    assert {parameter.kind for parameter in parameters} <= {inspect.Parameter.KEYWORD_ONLY}


def test_the_garbage_collector_does_not_visit_the_records_of_a_world() -> None:
    """A world has thousands of records, none of which refers to itself."""
    records = [class_ for class_ in CLASSES if issubclass(class_, WorldRecord)]

    assert len(records) > 10
    visited = [class_.__name__ for class_ in records if class_.__struct_config__.gc]
    assert [name for name in visited if name != "WorldRecord"] == []
