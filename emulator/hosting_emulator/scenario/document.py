"""The types of the parts of a scenario file.

The `shape` module reports every value in a file that does not fit these types.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hosting_emulator.contract.durations import Duration, Moment
from hosting_emulator.messages import ClockMode
from hosting_emulator.world.population_parts import Alias, WorldPart


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The base class of all parts of a scenario file. Unknown fields are refused."""


class ClockPart(Part):
    """`clock`: the clock mode, the rate for the `scaled` mode, and the start of world time."""

    mode: ClockMode = "frozen"
    rate: float | None = None
    at: str | None = None


class PlannedPart(Part):
    """An entry in `timeline`: a fault, an outcome or an intervention, and when it acts.

    The entry acts `at` a world time, or after `after_calls` successful calls. If it never acts, the
    story fails, unless the entry is `optional`.
    """

    at: Moment | None = None
    after_calls: Annotated[int, Meta(ge=1)] | None = None
    call: str | None = None
    optional: bool = False
    fault: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = None
    intervene: dict[str, Any] | None = None


class ExpectPart(Part):
    """The expected response to a request in the story.

    An expected value is a plain value, `*` for any value except null, `/…/` for a regular
    expression, a comparison such as `{at_least: 3}`, or a list of alternatives. If the actual value
    is itself a list, an expected list is compared with the whole list instead. An expected value
    that can never match is an error in the file.
    """

    status: Any = msgspec.UNSET
    code: Any = msgspec.UNSET
    body: Any = msgspec.UNSET
    absent: list[str] = []
    items: Any = msgspec.UNSET
    headers: dict[str, Any] = {}
    html: Any = msgspec.UNSET
    lost: Any = msgspec.UNSET
    delayed: Any = msgspec.UNSET
    same_as: str | msgspec.UnsetType = msgspec.UNSET


class LogPart(Part, rename={"idempotency_key": "key"}):
    """A filter for the request log.

    A filter's value is a plain value, a list of alternatives, a pattern or a comparison. A filter
    that every request would match is an error in the file.
    """

    call: Any = msgspec.UNSET
    method: Any = msgspec.UNSET
    path: Any = msgspec.UNSET
    user: Any = msgspec.UNSET
    project: Any = msgspec.UNSET
    operation: Any = msgspec.UNSET
    status: Any = msgspec.UNSET
    code: Any = msgspec.UNSET
    idempotency_key: Any = msgspec.UNSET
    replayed: Any = msgspec.UNSET
    lost: Any = msgspec.UNSET
    failed: Any = msgspec.UNSET
    fault: Any = msgspec.UNSET
    why: Any = msgspec.UNSET
    count: Any = msgspec.UNSET


class ActionPart(Part):
    """The action of a step. Every step has exactly one action, or just a note."""

    note: str | None = None
    # Requests
    call: str | None = None
    poll: str | None = None
    redeem: str | None = None
    request: str | None = None
    sign_in: str | None = None
    api_key: str | None = None
    together: Annotated[list[StepPart], Meta(min_length=1, max_length=100)] | None = None
    # Manual changes
    advance: Duration | None = None
    to: str | None = None
    until: str | None = None
    intervene: dict[str, Any] | None = None
    fault: dict[str, Any] | None = None
    remove_fault: str | None = None
    clear_faults: bool | None = None
    outcome: dict[str, Any] | None = None
    remove_outcome: str | None = None
    clear_outcomes: bool | None = None
    assume: dict[str, Any] | None = None
    # Checks, and `use`, which runs a part's steps
    check: dict[str, Any] | None = None
    log: LogPart | None = None
    use: str | None = None


class StepPart(ActionPart, rename={"with_": "with"}):
    """A step of `story`: a request, a manual change such as moving the clock, or a check.

    A step has exactly one action, which is one of the keys from `call` to `use`, and options for
    this action. However, a step may also consist of just a `note`. `user` and `token` are mutually
    exclusive, as are `body`, `text` and `form`.
    """

    user: str | None = None
    token: str | None = None
    interactive: bool = True
    organization: str | None = None
    project: str | None = None
    key: str | None = None
    body: Any = msgspec.UNSET
    text: str | None = None
    form: dict[str, Any] | None = None
    query: dict[str, Any] = {}
    headers: dict[str, str | None] = {}
    connection: Alias | None = None
    expect: ExpectPart | None = None
    save: dict[str, str] = {}
    collect: dict[str, str] = {}
    gives_up: bool = False
    times: Annotated[int, Meta(ge=1, le=10_000)] = 1
    tries: Annotated[int, Meta(ge=1, le=1_000)] = 1
    pause: Duration | None = None
    with_: dict[str, Any] = {}


class SharedPart(Part):
    """An entry in `parts`: a named list of steps that a story runs with `use`."""

    name: Alias
    steps: Annotated[list[StepPart], Meta(min_length=1)]


class VaryPart(Part):
    """`vary`: the seed of a variation, which applies at all variation points or only at those in `only`."""

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
    outcomes: list[dict[str, Any]] = []
    timeline: list[PlannedPart] = []
    parts: list[SharedPart] = []
    story: list[StepPart] = []
