"""Messages about a world's projects and everything that belongs to them."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc


class FlagState(ControlMessage, frozen=True, kw_only=True):
    """A project's flag."""

    enabled: Annotated[bool, doc("Whether the flag is enabled.")]
    enabled_at: Annotated[
        str | None, doc("When the flag was enabled; null while the flag is disabled.")
    ]


class DatabaseState(ControlMessage, frozen=True, kw_only=True):
    """A project's database in one environment."""

    data_mode: Annotated[str, doc("The data mode of the project's databases, such as `shared`.")]
    provider_failing: Annotated[bool, doc("Whether the database provider is failing.")]
    compute: Annotated[
        JsonObject | None, doc("The database as the public API shows it; null if it is absent.")
    ]


class ProjectMember(ControlMessage, frozen=True, kw_only=True):
    """A user who has a role in a project."""

    user: Annotated[str, doc("The alias of the user.")]
    role: Annotated[str, doc("The role of the user.")]
    through: Annotated[
        Literal["organization", "project"],
        doc(
            "Where the role comes from: `organization` for an owner of the organization, "
            "`project` for a member of the project."
        ),
    ]


class TicketState(ControlMessage, frozen=True, kw_only=True):
    """A dev access ticket, without its secret."""

    id: Annotated[str, doc("The id of the ticket.")]
    user: Annotated[str, doc("The alias of the user who created the ticket.")]
    state: Annotated[str, doc("The state of the ticket.")]
    expires_at: Annotated[str, doc("The world time at which the ticket expires.")]


class ProjectState(ControlMessage, frozen=True, kw_only=True):
    """A project with everything that belongs to it."""

    alias: Annotated[str, doc("The project's name in scenarios and in the control API.")]
    id: Annotated[str, doc("The project's id in the public API.")]
    handle: Annotated[str, doc("The handle of the project.")]
    organization: Annotated[str, doc("The alias of the project's organization.")]
    plan: Annotated[str | None, doc("The plan of the organization.")]
    credits: Annotated[int | None, doc("The credits of the organization.")]
    flag: Annotated[FlagState, doc("The flag of the project.")]
    custom_domain: Annotated[str | None, doc("The custom domain; null if there is none.")]
    source_generation: Annotated[int, doc("The current source generation.")]
    claim: Annotated[
        str | None,
        doc("The id of the operation that holds the mutation claim; null if the claim is free."),
    ]
    claim_held: Annotated[bool, doc("Whether the `hold_claim` intervention is holding the claim.")]
    dns: Annotated[JsonObject, doc("The DNS authorization as the public API shows it.")]
    databases: Annotated[dict[str, DatabaseState], doc("The databases, by environment.")]
    counts: Annotated[dict[str, int], doc("The total number of deployments in the project.")]
    deployments: Annotated[list[JsonObject], doc("The latest deployments, newest first.")]
    users: Annotated[list[ProjectMember], doc("The users who have a role in the project.")]
    tickets: Annotated[list[TicketState], doc("The latest dev access tickets, newest first.")]
