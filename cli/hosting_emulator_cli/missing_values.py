"""Errors for a missing option of a kind, or a missing field of an intervention.

The emulator's own error shows the missing value in JSON. These errors show it as the user types it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.main import PROGRAM, Failure

if TYPE_CHECKING:
    import msgspec


@contextmanager
def missing_value_named(
    command: str,
    name: str,
    values: Mapping[str, Any],
    find_kind: Callable[[], type[msgspec.Struct] | None],
) -> Iterator[None]:
    """Raise Failure if the emulator refuses a command in which a required value is missing.

    `command` is the command, such as `fault add`. `name` is the name of the kind or the
    intervention. `values` contains the values that the user typed. `find_kind` returns the type that
    declares the values, or None for an unknown name. Other refusals are raised unchanged.
    """
    from hosting_emulator.sdk import ControlRefused

    try:
        yield
    except ControlRefused as refused:
        kind = find_kind()
        if refused.status != 400 or kind is None:
            raise
        if not {*values} <= {*kind.__struct_encode_fields__}:
            raise
        for missing_name in _required_names(kind):
            if missing_name not in values:
                example = " ".join([PROGRAM, command, name, *_words(kind.example)])  # type: ignore[attr-defined]
                raise Failure(
                    f"{name} needs {missing_name}: add {missing_name}=VALUE, as in `{example}`"
                ) from refused
        raise


def _required_names(kind: type[msgspec.Struct]) -> list[str]:
    from msgspec.structs import fields

    return [field.encode_name for field in fields(kind) if field.required]


def _words(example: Mapping[str, Any]) -> Iterator[str]:
    """Yield NAME=VALUE for each value, as the user would type it in a shell."""
    for name, value in example.items():
        text = value
        if not isinstance(value, str):
            text = json.dumps(value)
        yield shlex.quote(f"{name}={text}")
