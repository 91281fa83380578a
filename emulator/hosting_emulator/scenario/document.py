"""The shape of a scenario: what may stand in its file. What it means is worked out elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Alias = Annotated[str, Meta(pattern="^[a-z][a-z0-9-]{0,40}$")]
DnsStatus = Literal["not_authorized", "pending", "authorized", "expired", "revoked"]
DatabaseState = Literal["absent", "init", "ready", "suspended", "resizing", "failed"]
Lost = Literal["timeout", "connection_reset", "empty_response", "truncate", "malformed_response"]


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all parts: a field that is not known is refused."""


class ClockPart(Part):
    """`clock`: its mode, its rate (scaled only) and where world time starts."""

    mode: Literal["real", "frozen", "scaled", "skip"] = "frozen"
    rate: float | None = None
    at: str | None = None


class OrganizationPart(Part):
    """An organization of `world`."""

    alias: Alias
    name: str | None = None
    plan: Literal["free", "paid"] = "paid"
    credits: Annotated[int, Meta(ge=0)] = 0
    permissions: list[str] | None = None


class PersonPart(Part):
    """A person of `world`: their roles in organizations and projects, by alias."""

    alias: Alias
    name: str | None = None
    organizations: dict[str, Literal["owner", "member"]] = {}
    projects: dict[str, Literal["owner", "maintainer", "reader"]] = {}


class DatabasePart(Part):
    """The databases of a project."""

    data_mode: Literal["separate", "shared"] = "separate"
    dev: DatabaseState = "ready"
    prod: DatabaseState = "ready"


class ProjectPart(Part):
    """A project of `world`."""

    alias: Alias
    organization: Alias
    deployments: Annotated[int, Meta(ge=0, le=100_000)] = 0
    flag: bool = False
    domain: str | None = None
    dns: DnsStatus = "not_authorized"
    database: DatabasePart = msgspec.field(default_factory=DatabasePart)
    source_generation: Annotated[int, Meta(ge=0)] | None = None


class WorldPart(Part):
    """`world`: all that is in it. Left out, it is the default world."""

    organizations: list[OrganizationPart]
    people: list[PersonPart]
    projects: list[ProjectPart] = []


class PlannedPart(Part):
    """An entry of `timeline`: at a world time, or after the n-th successful call, one thing happens.

    `at` is a duration after the start or a timestamp; `call` narrows `after_calls` to one call.
    """

    at: str | None = None
    after_calls: Annotated[int, Meta(ge=1)] | None = None
    call: str | None = None
    fault: dict[str, Any] | None = None
    intervene: dict[str, Any] | None = None


class ExpectPart(Part):
    """What a request of the story must answer. `body` names the fields that matter, and no others.

    In `body`, `*` stands for any value but null, and `/…/` is a regular expression; a mapping whose
    keys are numbers names places of a list, from 0. `lost` is the kind of connection fault that eats
    the answer, `delayed` tells that it came late or slowly; `same_as` names a saved answer that this
    one must equal byte for byte.
    """

    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    code: str | None = None
    body: Any = msgspec.UNSET
    absent: list[str] = []
    items: int | None = None
    headers: dict[str, str] = {}
    html: bool | None = None
    lost: Lost | None = None
    delayed: bool | None = None
    same_as: str | None = None


class StepPart(Part, rename={"who": "as"}):
    """A step of `story`: one request, or one turn of a hand (the clock, a fault, an intervention).

    A request is made with a fresh access token of the person in `as`, unless `token` gives another.
    `sign_in` gives a person an access token to save and use later, as a client would.
    """

    note: str | None = None
    # Requests
    call: str | None = None
    poll: str | None = None
    redeem: str | None = None
    sign_in: str | None = None
    # Turns of a hand
    advance: str | None = None
    to: str | None = None
    until: str | None = None
    intervene: dict[str, Any] | None = None
    fault: dict[str, Any] | None = None
    clear_faults: bool | None = None
    assume: dict[str, Any] | None = None
    # What a request says
    who: str | None = None
    token: str | None = None
    interactive: bool = True
    organization: str | None = None
    project: str | None = None
    key: str | None = None
    body: Any = msgspec.UNSET
    query: dict[str, Any] = {}
    headers: dict[str, str] = {}
    expect: ExpectPart | None = None
    save: dict[str, str] = {}
    times: Annotated[int, Meta(ge=1, le=10_000)] = 1


#: The fields of which a step has exactly one.
ACTIONS = (
    "call",
    "poll",
    "redeem",
    "sign_in",
    "advance",
    "to",
    "until",
    "intervene",
    "fault",
    "clear_faults",
    "assume",
)
REQUESTS = ("call", "poll", "redeem", "sign_in")
#: Which actions each of the other fields of a step belongs to.
BELONGS = {
    "expect": REQUESTS,
    "save": REQUESTS,
    "organization": ("call", "poll", "sign_in"),
    "interactive": ("call", "poll", "sign_in"),
    "as": ("call", "poll"),
    "token": ("call", "poll"),
    "headers": ("call", "poll"),
    "query": ("call", "poll"),
    "project": ("call",),
    "key": ("call",),
    "body": ("call",),
}


class VaryPart(Part):
    """`vary`: answers vary as the seed draws, at all points or at those in `only`."""

    seed: str | int
    only: Annotated[list[str], Meta(min_length=1)] | None = None


class ScenarioPart(Part):
    """A whole scenario file."""

    name: Alias
    description: Annotated[str, Meta(min_length=1)]
    seed: str | None = None
    clock: ClockPart = msgspec.field(default_factory=ClockPart)
    assumptions: dict[str, Any] = {}
    vary: VaryPart | None = None
    world: WorldPart | None = None
    faults: list[dict[str, Any]] = []
    timeline: list[PlannedPart] = []
    story: list[StepPart] = []
