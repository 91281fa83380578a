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
    """A world's time; `pending` counts the events still due, the first at `next_due_at`.

    `next_event` says what the first is; null when nothing is scheduled.
    """

    mode: ClockMode
    now: str
    rate: float
    next_due_at: str | None
    next_event: str | None
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
    source_generation: int


class Variation(TypedDict):
    """How a world's answers vary: `only` are the points it is confined to; None: all.

    `assumed` are assumptions that the seed has drawn; `varied` counts answers by point.
    """

    seed: str
    only: list[str] | None
    assumed: JsonObject
    varied: dict[str, int]


class VariationPoint(TypedDict):
    """A freedom that the contract leaves: what is done with it, and the `sentence` that leaves it."""

    id: str
    about: str
    sentence: str
    calls: list[str]
    assumptions: list[str]


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
    variation: Variation | None
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


class Fault(TypedDict):
    """An armed fault and its counts. Beside these stands what was written: effect, match, times.

    `order` is its place among a world's faults; `seen` counts the requests it matched, `hits` those
    it acted on; one that is `spent` can act no more.
    """

    id: str
    order: int
    phase: Literal["before_commit", "after_commit"]
    armed_at: str
    seen: int
    hits: int
    spent: bool


class EffectKind(TypedDict):
    """A thing a fault can do; `example` is a working set of its options."""

    kind: str
    about: str
    options: list[str]
    example: JsonObject


class FaultKinds(TypedDict):
    """What faults there are: effects, and by name the matches and conditions, in words."""

    effects: list[EffectKind]
    matches: dict[str, str]
    conditions: dict[str, str]


class Said(TypedDict):
    """What an intervention did, in one sentence."""

    intervention: str
    said: str


class InterventionField(TypedDict):
    """A field that an intervention takes."""

    name: str
    required: bool


class InterventionKind(TypedDict):
    """An intervention: its word, what it does, its fields."""

    word: str
    about: str
    fields: list[InterventionField]


class ScenarioEntry(TypedDict):
    """A scenario of the library."""

    name: str
    description: str


class Scenario(ScenarioEntry):
    """A scenario of the library, with its YAML."""

    text: str


class Difference(TypedDict):
    """Where an answer was not what the story expects; `at` is a place in the answer."""

    at: str
    expected: Any
    found: Any


class StepReport(TypedDict):
    """What became of one step of a story; `line` is its line in the file, from 1."""

    n: int
    line: int
    title: str
    passed: bool
    said: str
    differences: list[Difference]


class Report(TypedDict):
    """What became of a story: it ends with the first step that did not pass."""

    scenario: str
    file: str
    passed: bool
    steps: list[StepReport]
    variation: Variation | None
