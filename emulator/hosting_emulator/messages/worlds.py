"""Messages about worlds: summaries, variation, commits and snapshots."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.messages.clock import ClockState
from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc
from hosting_emulator.messages.faults import Trigger
from hosting_emulator.messages.tokens import AccessToken


class VariationState(ControlMessage, frozen=True, kw_only=True):
    """How a world's responses vary."""

    seed: Annotated[str, doc("The seed of the variation.")]
    only: Annotated[
        list[str] | None, doc("The points at which responses vary; null for all points.")
    ]
    assumed: Annotated[
        JsonObject, doc("The assumptions that were drawn from the seed, with their values.")
    ]
    varied: Annotated[dict[str, int], doc("The number of responses that were varied, by point.")]


class WorldMember(ControlMessage, frozen=True, kw_only=True):
    """An organization, user or project in a world."""

    alias: Annotated[str, doc("The name that scenarios and the control API use.")]
    id: Annotated[str, doc("The id that the public API uses.")]


class WorldOrganization(WorldMember, frozen=True, kw_only=True):
    """An organization in a world."""

    name: Annotated[str, doc("The name of the organization.")]
    plan: Annotated[str, doc("The plan of the organization.")]


class WorldUser(WorldMember, frozen=True, kw_only=True):
    """A user in a world."""

    email: Annotated[str, doc("The email address of the user.")]
    name: Annotated[str, doc("The name of the user.")]


class WorldProject(WorldMember, frozen=True, kw_only=True):
    """A project in a world."""

    handle: Annotated[str, doc("The handle of the project.")]
    organization_id: Annotated[str, doc("The id of the project's organization.")]
    source_generation: Annotated[int, doc("The current source generation.")]


class WorldSummary(ControlMessage, frozen=True, kw_only=True):
    """A summary of a world."""

    name: Annotated[str, doc("The name of the world.")]
    seed: Annotated[str, doc("The seed from which ids and secrets are drawn.")]
    ephemeral: Annotated[bool, doc("Whether the world exists only in memory.")]
    base_url: Annotated[str, doc("The base URL of the world, without `/v1`.")]
    control_url: Annotated[str, doc("The URL of the world in the control API.")]
    issuer: Annotated[str, doc("The issuer of the world's tokens.")]
    commit: Annotated[int, doc("The number of the latest commit.")]
    scenario: Annotated[
        str | None,
        doc("The file name of the scenario that a reset restores; null if there is no scenario."),
    ]
    clock: Annotated[ClockState, doc("The state of the world's clock.")]
    assumptions: Annotated[JsonObject, doc("The assumptions that differ from their defaults.")]
    warnings: Annotated[
        list[str], doc("The warnings about assumptions that contradict the contract.")
    ]
    variation: Annotated[
        VariationState | None, doc("How responses vary; null if no variation is set.")
    ]
    counts: Annotated[
        dict[str, int],
        doc("The numbers of `projects`, `operations`, `deployments`, `tickets` and `api_keys`."),
    ]
    triggers: Annotated[
        list[Trigger],
        doc("The faults, outcomes and timeline entries, and what each of them is waiting for."),
    ]
    organizations: Annotated[list[WorldOrganization], doc("The organizations.")]
    users: Annotated[list[WorldUser], doc("The users.")]
    projects: Annotated[list[WorldProject], doc("The projects.")]


class NewWorldSummary(WorldSummary, frozen=True, kw_only=True):
    """A summary of a new world, with an access token if one was requested."""

    token: Annotated[AccessToken | None, doc("The access token, if one was requested.")] = None
    notices: Annotated[
        list[str],
        doc(
            "If the world was created from a scenario and its clock is frozen, a sentence that "
            "says so, and how to move the clock."
        ),
    ]


class LoadedWorldSummary(WorldSummary, frozen=True, kw_only=True):
    """The summary of a world into which a scenario was loaded."""

    notices: Annotated[
        list[str],
        doc(
            "Sentences that describe what loading the scenario did to the time, the clock and "
            "the request log, and how to undo it."
        ),
    ]


class CommitEntry(ControlMessage, frozen=True, kw_only=True):
    """A change that a world accepted."""

    commit: Annotated[int, doc("The number of the commit.")]
    at: Annotated[str, doc("The world time at which the change was made.")]
    title: Annotated[str, doc("The cause of the change.")]
    summary: Annotated[
        str, doc("The effect of the commit; empty if the title already describes the effect.")
    ]


class CommitHistory(ControlMessage, frozen=True, kw_only=True):
    """The latest commits."""

    first: Annotated[int, doc("The number of the oldest commit in the history.")]
    items: Annotated[list[CommitEntry], doc("The commits, newest first.")]


class SnapshotState(ControlMessage, frozen=True, kw_only=True):
    """A snapshot of a world."""

    id: Annotated[str, doc("The id of the snapshot.")]
    commit: Annotated[int, doc("The number of the commit at which the snapshot was taken.")]
    at: Annotated[str, doc("The world time of the snapshot.")]
