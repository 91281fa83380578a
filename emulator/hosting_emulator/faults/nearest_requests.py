"""Finds out how the nearest request differs from a fault or an outcome that has not acted.

In this module, an entry is a fault or an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.faults.categories import RECORD_TABLES
from hosting_emulator.faults.matching import FaultSubject, differing_fields, request_value
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World

#: A value with one of these words in its name may be a secret, so reports do not show it.
_SECRET = re.compile("token|secret|key|ticket|code|password|auth|cookie|verifier", re.IGNORECASE)
_LONGEST_VALUE = 60
#: A different call counts as much as three other fields that differ.
_CALL_DISTANCE = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which a request differs from an entry, with the expected value and the actual one."""

    field: str
    expected: str
    actual: str

    @property
    def distance(self) -> int:
        """How much this difference adds to the distance between a request and an entry."""
        if self.field == "call":
            return _CALL_DISTANCE
        return 1

    def describe(self) -> str:
        """Describe the difference in a few words."""
        return f"{self.field} ({self.actual} instead of {self.expected})"


@dataclass(frozen=True, slots=True)
class NearestRequest:
    """The request that came closest to triggering an entry that has not acted.

    `number` is the request's number in the log, or None for a request to a page, because those are
    not logged. If the request matched, `reason` explains why the entry did not act on it.
    """

    number: int | None
    method: str
    path: str
    differences: tuple[Difference, ...] = ()
    reason: str = ""

    @property
    def distance(self) -> int:
        """The distance between the request and the entry, which is 0 if the request matched."""
        return sum(difference.distance for difference in self.differences)

    def describe(self) -> str:
        """Describe the request and why the entry did not act, as the end of a sentence."""
        request = f"{self.method} {self.path}"
        if self.number is not None:
            request = f"number {self.number}, {request}"
        sentence = f"the nearest request was {request}"
        if not self.differences:
            return f"{sentence}. The request matched, but nothing happened: {self.reason}"
        differences = " and ".join(difference.describe() for difference in self.differences)
        return f"{sentence}, which differs in {differences}"


def find_differences(world: World, entry: Fault, subject: FaultSubject) -> tuple[Difference, ...]:
    """Return the differences between a request and an entry, or `()` if the request matches."""
    differences = []
    for name in differing_fields(entry.rule, subject):
        expected = field_text(world, name, _expected_value(entry, name))
        actual = field_text(world, name, request_value(entry.rule, subject, name))
        differences.append(Difference(name, expected, actual))
    return tuple(differences)


def _expected_value(entry: Fault, name: str) -> Any:
    """Return the value of a rule's field, or the text to show if the field is not set."""
    if name == "credentials" and entry.rule.credentials is None:
        return "a valid token or key"
    return getattr(entry.rule, name) or "any call of the API"


def field_text(world: World, name: str, value: Any) -> str:
    """Return the value of a field as written in a scenario."""
    if name in RECORD_TABLES:
        record: Any = world.get(RECORD_TABLES[name], value or "")
        if record is None:
            return "none"
        return str(record.alias)
    if isinstance(value, Mapping):
        parts = [f"{key}: {_part_text(str(key), value_text(part))}" for key, part in value.items()]
        return ", ".join(parts)
    return "none" if value is None else value_text(value)


def _part_text(name: str, value: str) -> str:
    """Return a value from a header, query or body, or `…` if it is long or may be a secret."""
    may_be_secret = _SECRET.search(name) is not None and name.lower() != "idempotency-key"
    if may_be_secret or len(value) > _LONGEST_VALUE:
        return "…"
    return value
