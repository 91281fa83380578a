"""The control API's answers, as types. They describe; nothing here checks a value at run time."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

JsonObject = dict[str, Any]
ClockMode = Literal["real", "frozen", "scaled", "skip"]


class Health(TypedDict):
    """The emulator is up."""

    status: str
    version: str


class Info(TypedDict):
    """The running process; `data_dir` is None when nothing is kept."""

    version: str
    pid: int
    base_url: str
    dev_base_url: str
    control_url: str
    docs_url: str
    openapi_url: str
    data_dir: str | None
    durability: str
    tls_port: int | None
    started_at: str


class ClockRequest(TypedDict, total=False):
    """What a clock is asked to become; `rate` is world seconds per real second."""

    mode: ClockMode
    rate: float
    at: str


class Clock(TypedDict):
    """A world's time; `pending` counts the events still due, the first at `next_due_at`."""

    mode: ClockMode
    now: str
    rate: float
    next_due_at: str | None
    pending: int


class Advanced(Clock):
    """A clock after it moved: by how much world time, and how many due events ran on the way."""

    moved_ms: int
    events_run: int


class WorldCounts(TypedDict):
    """How much a world holds."""

    projects: int
    operations: int
    deployments: int
    tickets: int
    api_keys: int


class Organization(TypedDict):
    """An organization of a world, and the short name it goes by in tools."""

    alias: str
    id: str
    name: str
    plan: str


class Person(TypedDict):
    """Somebody a token can be made for."""

    alias: str
    id: str
    email: str
    name: str


class Project(TypedDict):
    """A project of a world."""

    alias: str
    id: str
    handle: str
    organization_id: str


class World(TypedDict):
    """A world's summary; `assumptions` holds only those that differ from their defaults."""

    name: str
    seed: str
    ephemeral: bool
    base_url: str
    control_url: str
    issuer: str
    commit: int
    clock: Clock
    assumptions: JsonObject
    counts: WorldCounts
    organizations: list[Organization]
    people: list[Person]
    projects: list[Project]


class Token(TypedDict):
    """An access token; `expires_in` is in seconds of the world's time."""

    access_token: str
    token_type: str
    expires_in: int
    expires_at: str


class Assumption(TypedDict):
    """Our answer where the contract is silent, with the `sentence` that leaves it open."""

    name: str
    value: Any
    default: Any
    alternatives: Any
    about: str
    sentence: str


class Exchange(TypedDict):
    """One line of the request log; `why` explains the answer, `duration_us` is real time."""

    n: int
    at: str
    method: str
    path: str
    status: int
    call: str | None
    principal: str | None
    code: str | None
    why: list[str]
    duration_us: int
