"""The OpenAPI document's descriptions of tags and of the names in braces in paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PathParameter:
    """Documents a name in braces in paths.

    `example` is a value that a fresh world has, or soon gets.
    """

    description: str
    example: str | int | None = None


#: The names in braces in the paths of the table.
PATH_PARAMETERS: Final = {
    "world": PathParameter("The name of a world.", "default"),
    "n": PathParameter("The number of an exchange in the log.", 1),
    "name": PathParameter("The name of a scenario of the library.", "provider-outage"),
    "operation": PathParameter("The id of an operation."),
    "fault": PathParameter("The id of a fault.", "fault-1"),
    "outcome": PathParameter("The id of an outcome.", "outcome-1"),
    "snapshot": PathParameter("The id of a snapshot.", "snapshot-1"),
    "protected_fault": PathParameter("The id of a protected fault.", "fault-1000000001"),
    "observation": PathParameter("The id of an observation.", "observation-1"),
    "chapter": PathParameter("The index of a chapter of the observation.", "0"),
}
#: The tags of the OpenAPI document, in the order of the document.
TAGS: Final = {
    "documents": "Process status and contract tables",
    "worlds": "Worlds",
    "tokens": "Tokens and keys, and each world as an OpenID provider",
    "clock": "Time and operations",
    "faults": "Faults, outcomes, interventions and variation",
    "scenarios": "Scenarios",
    "requests": "The request log",
    "events": "Events, as they happen",
    "history": "Commits, snapshots and rewinding",
    "projects": "The content of a world",
    "protected": "Faults that a judge keeps in every world",
    "observations": "Observations of every world and request during a period",
    "reports": "Reports, conduct and metrics",
    "sign_in": "Browser sign-in",
}
