"""The objects of an answer: where its resources and their parts stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from hosting_emulator.contract.resources import RESOURCES


class Found(NamedTuple):
    """An object in an answer: its shape, its name in the answer (`items/3`), and itself."""

    shape: str
    place: str
    members: dict[str, Any]


def objects_in(shape: str, document: dict[str, Any], place: str = "") -> Iterator[Found]:
    """Walk an answer's objects, each before those in it."""
    yield Found(shape, place, document)
    for name, inner in RESOURCES[shape].parts.items():
        value = document.get(name)
        if isinstance(value, dict):
            yield from objects_in(inner, value, f"{place}/{name}")
        elif isinstance(value, list):
            for number, item in enumerate(value):
                yield from objects_in(inner, item, f"{place}/{name}/{number}")
