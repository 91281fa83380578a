"""Declarations and messages are shared between requests and worlds, so nobody can change one."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import msgspec
import pytest

import hosting_emulator.contract
import hosting_emulator.messages

PACKAGES = (hosting_emulator.contract, hosting_emulator.messages)


def structs() -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that the modules of the packages define."""
    for package in PACKAGES:
        for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            module = import_module(module_info.name)
            for name, value in vars(module).items():
                is_struct = isinstance(value, type) and issubclass(value, msgspec.Struct)
                if is_struct and value.__module__ == module.__name__ and not name.startswith("_"):
                    yield value


@pytest.mark.parametrize("struct", list(structs()), ids=lambda struct: struct.__name__)
def test_a_declaration_or_message_is_frozen(struct: type[msgspec.Struct]) -> None:
    assert struct.__struct_config__.frozen
