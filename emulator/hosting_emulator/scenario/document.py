"""The parts of a scenario file as types. `shape` reports what in a file does not fit them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hosting_emulator.messages import ClockMode
from hosting_emulator.world.population_parts import Alias, WorldPart


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of the other parts. An unknown field is refused."""


class ClockPart(Part):
    """`clock`: its mode, its rate (scaled only) and where world time starts."""

    mode: ClockMode = "frozen"
    rate: float | None = None
    at: str | None = None


class PlannedPart(Part):
    """An entry of `timeline`: a fault, an outcome or an intervention, and when it acts.

    It acts `at` a world time (a duration after the start, or a timestamp) or after the n-th
    successful call. `call` limits `after_calls` to one call. A story fails if an entry never acts,
    unless the entry is `optional`.
    """

    at: str | None = None
    after_calls: Annotated[int, Meta(ge=1)] | None = None
    call: str | None = None
    optional: bool = False
    fault: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = None
    intervene: dict[str, Any] | None = None


class ExpectPart(Part):
    """What the response to a request of the story must be.

    Without `status` it must be a success, or a refusal if `code` names a problem. `body` names the
    fields that matter. `*` stands for any value but null, and `/…/` is a regular expression. A
    mapping whose keys are numbers names items of a list, from 0. `{at_least: 3}` and the like
    compare. A list holds alternatives, except where the value is a list itself. `absent` holds
    dotted paths of fields that the response must not have. `lost` is the kind of fault that loses
    the response, and nothing else can be expected beside it. `delayed` says that the response comes
    late or slowly. `same_as` names a saved response that this one must equal byte for byte.
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
    """Which requests of the request log must match, and with `count` how many (at least one).

    Each value is plain, a list of alternatives, a pattern or a comparison. `project` and `user` are
    aliases or ids. `path` may contain `*` for any text and `{name}` for one segment. `fault` is the
    id or the kind of a fault that acted, `lost` the kind that lost the response, `why` one of the
    sentences that explain it. `failed` says that the request was refused or its response lost.
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
    """What a step does: exactly one of these, or only a note."""

    note: str | None = None
    # Requests
    call: str | None = None
    poll: str | None = None
    redeem: str | None = None
    request: str | None = None
    sign_in: str | None = None
    api_key: str | None = None
    together: Annotated[list[StepPart], Meta(min_length=2, max_length=100)] | None = None
    # Manual changes
    advance: str | None = None
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
    # Checks of earlier steps, and the steps of a part
    check: dict[str, Any] | None = None
    log: LogPart | None = None
    use: str | None = None


class StepPart(ActionPart, rename={"with_": "with"}):
    """A step of `story`: a request, a manual change such as moving the clock, or a check.

    A request has a new access token of `user`, unless `token` gives another. `user: nobody` sends
    no token. `sign_in` gives a user an access token, and `api_key` an API key, to save for later
    steps. `request` is a method with a path of the API or of the identity provider, or with an
    address of a dev origin, sent unchanged. The requests in `together` all arrive before the first
    response leaves. A request with `tries` is repeated with its Idempotency-Key until the response
    is as expected, after a `pause` or after the time for which the response asks. `use` runs the
    steps of a part, and `with` sets their variables. `save` keeps values of the response under
    names: a path in it, or `response` for the whole response.
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
    headers: dict[str, str] = {}
    expect: ExpectPart | None = None
    save: dict[str, str] = {}
    times: Annotated[int, Meta(ge=1, le=10_000)] = 1
    tries: Annotated[int, Meta(ge=1, le=1_000)] = 1
    pause: str | None = None
    with_: dict[str, Any] = {}


class SharedPart(Part):
    """An entry of `parts`: steps that a story runs with `use` and the part's name."""

    name: Alias
    steps: Annotated[list[StepPart], Meta(min_length=1)]


class VaryPart(Part):
    """`vary`: responses vary as the seed draws, at all points or only at those in `only`."""

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
