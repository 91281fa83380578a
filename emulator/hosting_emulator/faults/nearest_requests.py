"""The request that came nearest to a fault or an outcome which did not act on it, and how they differ.

An entry is a fault or an outcome.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.faults.categories import RECORD_TABLES
from hosting_emulator.faults.matching import FaultSubject, differing_fields, request_value
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World

#: Values under these names may be secrets, so no report shows them.
_SECRET = re.compile("token|secret|key|ticket|code|password|auth|cookie|verifier", re.IGNORECASE)
_LONGEST_VALUE = 60
#: A request for another call is further away than one that differs in any other single field.
_CALL_DISTANCE = 3


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which a request differs from an entry, with both values as text."""

    field: str
    expected: str
    actual: str

    @property
    def distance(self) -> int:
        """How far a request is from an entry because of this field."""
        if self.field == "call":
            return _CALL_DISTANCE
        return 1

    def describe(self) -> str:
        """Describe the difference in a few words."""
        return f"{self.field} ({self.actual} instead of {self.expected})"


@dataclass(frozen=True, slots=True)
class NearestRequest:
    """The request that came nearest to an entry which did not act on it.

    `number` is its number in the request log; None for a request to a page, which the log does not
    contain. `reason` says why the entry did not act on a request that matched it.
    """

    number: int | None
    method: str
    path: str
    differences: tuple[Difference, ...] = ()
    reason: str = ""

    @property
    def distance(self) -> int:
        """How far the request is from the entry: 0 for a request that matched."""
        return sum(difference.distance for difference in self.differences)

    def describe(self) -> str:
        """Describe the request and what kept the entry from acting on it, as the end of a sentence."""
        request = f"{self.method} {self.path}"
        if self.number is not None:
            request = f"number {self.number}, {request}"
        sentence = f"the nearest request was {request}"
        if not self.differences:
            return f"{sentence}. It matched, but {self.reason}"
        differences = " and ".join(difference.describe() for difference in self.differences)
        return f"{sentence}, which differs in {differences}"


def find_differences(world: World, entry: Fault, subject: FaultSubject) -> tuple[Difference, ...]:
    """Return the fields in which a request differs from an entry. Empty: it matches."""
    differences = []
    for name in differing_fields(entry.rule, subject):
        expected = _field_text(world, name, _expected_value(entry, name))
        actual = _field_text(world, name, request_value(entry.rule, subject, name))
        differences.append(Difference(name, expected, actual))
    return tuple(differences)


def _expected_value(entry: Fault, name: str) -> Any:
    """Return the value of a rule's field, or words for a field that the rule does not name."""
    if name == "credentials" and entry.rule.credentials is None:
        return "a valid token or key"
    return getattr(entry.rule, name) or "any call of the API"


def _field_text(world: World, name: str, value: Any) -> str:
    """Return a value of a field as people write it in a scenario."""
    if name in RECORD_TABLES:
        record: Any = world.get(RECORD_TABLES[name], value or "")
        if record is None:
            return "none"
        return str(record.alias)
    if isinstance(value, Mapping):
        parts = [f"{key}: {_part_text(str(key), str(part))}" for key, part in value.items()]
        return ", ".join(parts)
    return str(value)


def _part_text(name: str, value: str) -> str:
    """Return a value of a header, a query or a body, unless it may be a secret or is long."""
    may_be_secret = _SECRET.search(name) is not None and name.lower() != "idempotency-key"
    if may_be_secret or len(value) > _LONGEST_VALUE:
        return "…"
    return value
