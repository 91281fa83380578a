"""The two categories of rules, faults and outcomes, and the fields that rules can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from hosting_emulator.contract.calls import (
    ALL_CALLS,
    DOORS,
)
from hosting_emulator.faults.kinds import FaultKind, fault_kinds
from hosting_emulator.faults.outcomes import OutcomeKind, outcome_kinds
from hosting_emulator.world.fault_records import Fault, Rule
from hosting_emulator.world.tables import FAULTS, ORGANIZATIONS, OUTCOMES, PROJECTS, USERS, Table

METHODS = tuple(sorted({spec.method for spec in ALL_CALLS.values()}))
RULE_FIELDS = tuple(f.encode_name for f in msgspec.structs.fields(Rule))
#: The fields that determine which requests a rule matches. The other fields determine when the rule
#: acts.
MATCH_FIELDS = RULE_FIELDS[: RULE_FIELDS.index("times")]
#: The rule fields that name a record, in display order.
RECORD_TABLES: dict[str, Table[Any]] = {
    "project": PROJECTS,
    "organization": ORGANIZATIONS,
    "principal": USERS,
}


@dataclass(frozen=True, slots=True)
class RuleCategory:
    """A category of rules. Rules in this category can contain these `fields` and name these `calls`."""

    noun: str
    noun_with_article: str
    table: Table[Fault]
    fields: tuple[str, ...]
    calls: tuple[str, ...]

    @property
    def kinds(self) -> Mapping[str, type[FaultKind] | type[OutcomeKind]]:
        """All kinds in this category by name, in the order in which lists show them."""
        if self.noun == "fault":
            return fault_kinds()
        return outcome_kinds()

    def unknown_id_message(self, id_: str, armed_ids: Iterable[str]) -> str:
        """Return a message saying that nothing is armed under this id. The message lists the armed
        ids.
        """
        ids = ", ".join(armed_ids)
        if not ids:
            return f"there is no {self.noun} {id_!r}; no {self.noun} is armed"
        return f"there is no {self.noun} {id_!r}; the armed {self.noun}s are {ids}"


FAULT = RuleCategory("fault", "a fault", FAULTS, RULE_FIELDS, (*ALL_CALLS, *DOORS))
_OF_REQUESTS = (
    "method",
    "path",
    "header",
    "query",
    "body",
    "credentials",
    "connection",
    "after_commit",
)
#: An outcome applies to the operation that a call starts, not to a single request.
OUTCOME = RuleCategory(
    "outcome",
    "an outcome",
    OUTCOMES,
    tuple(name for name in RULE_FIELDS if name not in _OF_REQUESTS),
    tuple(
        call.call_id
        for call in ALL_CALLS.values()
        if call.idempotent and call.response == "Operation"
    ),
)
