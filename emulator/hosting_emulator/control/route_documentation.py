"""Descriptions of tags and path parameters for the OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PathParameter:
    """The documentation of a path parameter.

    `example` is a value that exists in a fresh world, or soon after the world starts.
    """

    description: str
    example: str | int | None = None


#: The path parameters in the table of routes, by name.
PATH_PARAMETERS: Final = {
    "world": PathParameter("The name of a world.", "default"),
    "n": PathParameter("The number of an exchange in the log.", 1),
    "name": PathParameter("The name of a scenario in the library.", "provider-outage"),
    "operation": PathParameter(
        "The id of an operation. To explain an operation, you can also give a project's alias "
        "or id."
    ),
    "fault": PathParameter("The id of a fault.", "fault-1"),
    "outcome": PathParameter("The id of an outcome.", "outcome-1"),
    "snapshot": PathParameter("The id of a snapshot.", "snapshot-1"),
    "protected_fault": PathParameter("The id of a protected fault.", "fault-1000000001"),
    "observation": PathParameter("The id of an observation.", "observation-1"),
    "chapter": PathParameter("The index of a chapter in the observation.", "0"),
}
#: The descriptions of the OpenAPI document's tags, in document order.
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
    "observations": "Observations, which count and judge requests over a period",
    "reports": "Reports, conduct and metrics",
    "sign_in": "Browser sign-in",
}
