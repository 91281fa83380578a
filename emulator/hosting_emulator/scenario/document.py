"""The shape of a scenario: what may stand in its file, how a file is read into it, and the library.

What is wrong with the shape is said with its place; what it means is worked out in `build`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from hosting_emulator.contract.calls import ALL_CALLS, call_named
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.documents import part_at, plain_reason, plain_types, words_of
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import ClockMode, ScenarioName
from hosting_emulator.scenario.source import Mistakes, Place, ScenarioError, Source
from hosting_emulator.world.population_parts import Alias, WorldPart

Planned = Literal["fault", "outcome", "intervene"]


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of the other parts: a field that is not known is refused."""


class ClockPart(Part):
    """`clock`: its mode, its rate (scaled only) and where world time starts."""

    mode: ClockMode = "frozen"
    rate: float | None = None
    at: str | None = None


class PlannedPart(Part):
    """An entry of `timeline`: at a world time, or after the n-th successful call, one thing happens.

    `at` is a duration after the start or a timestamp; `call` narrows `after_calls` to one call.
    A story fails if an entry never acts, unless that is `optional`.
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
    """What a step does: exactly one of these, or nothing but its note."""

    note: str | None = None
    # Requests
    call: str | None = None
    poll: str | None = None
    redeem: str | None = None
    request: str | None = None
    sign_in: str | None = None
    api_key: str | None = None
    together: Annotated[list[StepPart], Meta(min_length=2, max_length=100)] | None = None
    # Turns of a hand
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
    # Looks at what is known
    check: dict[str, Any] | None = None
    log: LogPart | None = None
    use: str | None = None


class StepPart(ActionPart, rename={"with_": "with"}):
    """A step of `story`: requests, a turn of a hand (the clock, a fault), a look at what is known.

    A request is made with a fresh access token of `user`, unless `token` gives another;
    `user: nobody` sends none. `sign_in` gives a user an access token, `api_key` an API key, to
    save and use later. `request` is a method and a path of the API or of the identity provider, or an address
    of a dev origin, sent as it stands; those `together` have all come before the first is answered. A
    request with `tries` is made again under its key until the response is as expected, after a
    `pause` or as long as the response asks. `use` takes the steps of a part, `with` values for their
    variables.
    `save` keeps values of the response under names: from a place, or with `response` all of it.
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


#: What a step can do: requests that can come together, all that are answered by one, and all.
ACTIONS = ActionPart.__struct_fields__[1:]
EXCHANGES = ACTIONS[:4]
REQUESTS = ACTIONS[:6]
#: What an entry of the timeline does: exactly one of these.
PLANNED: tuple[Planned, ...] = get_args(Planned)
#: Which actions each of the other fields of a step belongs to.
_SENT = ("call", "poll", "request")
BELONGS = {
    "expect": REQUESTS,
    "save": (*REQUESTS, "fault", "outcome"),
    "organization": (*_SENT, "sign_in", "api_key"),
    "interactive": (*_SENT, "sign_in"),
    "user": (*_SENT, "redeem"),
    "token": _SENT,
    "headers": _SENT,
    "query": _SENT,
    "project": ("call",),
    "key": ("call", "request"),
    "body": ("call", "request", "api_key"),
    "text": ("call", "request"),
    "form": ("request",),
    "tries": REQUESTS,
    "pause": REQUESTS,
    "with": ("use",),
}


class SharedPart(Part):
    """An entry of `parts`: steps that a story takes by `use`, with the part's name."""

    name: Alias
    steps: Annotated[list[StepPart], Meta(min_length=1)]


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
    outcomes: list[dict[str, Any]] = []
    timeline: list[PlannedPart] = []
    parts: list[SharedPart] = []
    story: list[StepPart] = []


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario whose shape is right: its parts, its text and where everything stood."""

    part: ScenarioPart
    source: Source
    text: str

    @property
    def kind(self) -> Literal["world", "story"]:
        """Whether it makes a world of its own, or only tells a story in the usual one."""
        in_story = {"name", "description", "seed", "parts", "story"}
        return "world" if self.source.data.keys() - in_story else "story"

    def row(self) -> ScenarioName:
        """Return it as lists show it."""
        return ScenarioName(name=self.part.name, kind=self.kind, description=self.part.description)

    @property
    def place(self) -> Place:
        """The whole of it."""
        return Place(self.source)


#: A longer text, such as a recorded session, is no file of the library; many would fill memory.
_LONG_TEXT = 32 * 1024


def read_scenario(text: str, file: str) -> Scenario:
    """Read a scenario, the same text only once unless it is long. Raises ScenarioError."""
    return (_read.__wrapped__ if len(text) > _LONG_TEXT else _read)(text, file)


@lru_cache(maxsize=128)  # the whole library: its list, and each test that begins with one of it
def _read(text: str, file: str) -> Scenario:
    # Imported here: only a process that reads a scenario needs YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    return scenario_of(read_yaml(text, file), text)


def scenario_of(source: Source, text: str = "") -> Scenario:
    """Read a scenario that is plain data already. Raises ScenarioError."""
    top = Place(source)
    if not isinstance(source.data, dict):
        raise top.error("a scenario is a mapping with name, description and more")
    mistakes = Mistakes(_wrong_fields(top, ScenarioPart))
    for field in _fields(ScenarioPart):
        value, places, kind = (
            source.data.get(field.encode_name),
            [top / field.encode_name],
            field.type,
        )
        if value and isinstance(value, list) and get_origin(kind) is list:
            places, kind = [places[0] / number for number in range(len(value))], get_args(kind)[0]
        for place in places if field.encode_name in source.data else ():
            with mistakes.at(place):
                _check_shape(place, kind)
                if kind is SharedPart:
                    _check_steps(place / "steps", ACTIONS)
                elif kind is StepPart:
                    _check_step(place, ACTIONS)
                elif kind is PlannedPart:
                    _check_planned(place)
    mistakes.tell()
    return Scenario(convert(source.data, ScenarioPart), source, text)


#: What a part's fields are, which takes long to find out.
_fields = cache(msgspec.structs.fields)


def _check_shape(place: Place, kind: Any) -> None:
    """Check that what stands at a place is of a kind. Raises ScenarioError at the innermost that is not."""
    try:
        convert(place.value, kind)
        return
    except msgspec.ValidationError as error:
        reason, _, further_in = str(error).partition(" - at `$")
    words: list[str] = []
    for name in re.findall(r"\.{3}|\w+", further_in):
        if name == "...":  # the first of a mapping that is no text, or none of some words
            words = words_of(part_at(ScenarioPart, place.path), str(place.path[-1]))
            items = place.value.items()
            name = next(key for key, one in items if one not in (words or [str(one)]))
        place /= int(name) if name.isdecimal() else name
    part, value = part_at(ScenarioPart, place.path), place.value
    field = next(name for name in reversed(place.path) if isinstance(name, str))
    where = field if field == place.path[-1] else f"an entry of {field}"
    if reason.startswith("Object "):
        raise next(_wrong_fields(place, part))
    if "Invalid enum value" in reason:
        words = words or words_of(part, field)
        hint = nearest(str(value), words) or f"; it is one of {', '.join(words)}"
    elif found := re.search("Expected `([^`]*)`, got `", reason):
        right = plain_types(found.group(1))
        hint = "; put it in quotes" if right == "text" and isinstance(value, int | float) else ""
        raise place.error(f"{where} must be {right}, not {_shown(value)}{hint}")
    else:
        hint = f": {plain_reason(reason, part, field)}"
    raise place.error(f"{where} cannot be {_shown(value)}{hint}")


def _wrong_fields(place: Place, kind: type[msgspec.Struct]) -> Iterator[ScenarioError]:
    """Yield what is unknown among the fields of a mapping, or else what is missing there."""
    known = {field.encode_name: field for field in _fields(kind)}
    unknown = [name for name in place.value if name not in known]
    for name in unknown:
        hint = nearest(name, known) or f"; there are {', '.join(known)}"
        yield (place / name).error(f"unknown field {name!r}{hint}", key=True)
    for name, field in known.items() if not unknown else ():
        if field.required and name not in place.value:
            yield place.error(f"the field {name!r} is missing here")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return "nothing" if value is None else str(value).lower()
    return repr(value) if len(str(value)) <= 60 else repr(str(value)[:60]) + "…"


def _check_planned(place: Place) -> None:
    given = {name for name, value in place.value.items() if value is not None}
    if ("at" in given) == ("after_calls" in given):
        raise place.error("an entry of the timeline needs either at or after_calls")
    if len(given.intersection(PLANNED)) != 1:
        raise place.error(f"an entry of the timeline needs one of {', '.join(PLANNED)}")


def _check_steps(place: Place, actions: Sequence[str]) -> None:
    for number in range(len(place.value)):
        _check_step(place / number, actions)


def _check_step(place: Place, actions: Sequence[str]) -> None:
    step = place.value
    given = [name for name in ACTIONS if step.get(name) is not None]
    only_note = not given and step.get("note") and actions is ACTIONS
    if not only_note and (len(given) != 1 or given[0] not in actions):
        found = " and ".join(given) if given else "none"
        which = "together" if actions is EXCHANGES else "a step"
        raise place.error(f"{which} must do exactly one of {', '.join(actions)}; found {found}")
    for name in step:
        belongs = BELONGS.get(name)
        if belongs is not None and not set(given) & set(belongs):
            where = f"{' or '.join(belongs)}, not to {' '.join(given) or 'note'}"
            raise (place / name).error(f"{name} belongs to {where}", key=True)
    _check_rivals(place, step)
    _check_unused_fields(place, step, is_together=actions is EXCHANGES)
    if step.get("together") is not None:
        _check_steps(place / "together", EXCHANGES)


#: Fields of a step of which only one can be used.
RIVALS = (
    ("token", "user"),
    ("token", "interactive"),
    ("body", "text"),
    ("body", "form"),
    ("text", "form"),
)
#: Headers that fields of a step send.
_HEADER_FIELDS = {"authorization": ("token", "user"), "idempotency-key": ("key",)}


def _check_rivals(place: Place, step: dict[str, Any]) -> None:
    """Refuse fields that contradict each other, and a `clear` that clears nothing."""
    for first, second in RIVALS:
        if first in step and second in step:
            message = f"{first} and {second} exclude each other: remove one of them"
            raise (place / second).error(message, key=True)
    for name in step.get("headers") or {}:
        for field in _HEADER_FIELDS.get(str(name).lower(), ()):
            if field in step:
                message = f"the header {name} and {field} exclude each other: remove one of them"
                raise (place / field).error(message, key=True)
    for name in ("clear_faults", "clear_outcomes"):
        if step.get(name) is False:
            raise (place / name).error(f"{name} takes only true: without it nothing is cleared")


def _check_unused_fields(place: Place, step: dict[str, Any], *, is_together: bool) -> None:
    """Refuse fields that would have no effect in this step."""
    spec = ALL_CALLS.get(call_named(str(step.get("call"))))
    is_about_organization = spec is not None and spec.subject == "organization"
    if "project" in step and is_about_organization:
        message = f"{step['call']} is about an organization: remove the project"
        raise (place / "project").error(message, key=True)
    if "pause" in step and step.get("tries", 1) == 1:
        raise (place / "pause").error("pause needs tries, with more than 1", key=True)
    for name in ("tries", "pause"):
        if is_together and name in step:
            message = f"requests that come together are sent once: remove {name}"
            raise (place / name).error(message, key=True)
    is_without_token = step.get("user") == "nobody" or "token" in step
    unused = [] if is_about_organization else ["organization"]
    for name in ("interactive", *unused):
        if name in step and is_without_token:
            message = f"{name} belongs to the access token that `user` makes, and none is made here"
            raise (place / name).error(message, key=True)
    for section in ("query", "form"):
        for name, value in (step.get(section) or {}).items():
            if value is None or isinstance(value, list | dict):
                message = f"{section} takes texts, numbers and booleans, not {_shown(value)}"
                raise (place / section / name).error(message)


def without_seed(text: str) -> str:
    """Return a scenario's text without its seed, as JSON; one that names none stays as it is."""
    try:
        scenario = read_scenario(text, "scenario.yaml")
    except ScenarioError:  # so no world was made of it
        return text
    if scenario.part.seed is None:
        return text
    left = {name: value for name, value in scenario.source.data.items() if name != "seed"}
    return msgspec.json.encode(left).decode()


# --- files -----------------------------------------------------------------------------------------

_NAME = re.compile("[a-z][a-z0-9-]{0,40}")


class ScenarioLibrary:
    """Scenarios by name. Without a folder there are none."""

    def __init__(self, folder: FilePath | None) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of all scenarios, sorted."""
        if self._folder is None:
            return []
        return sorted(path.stem for path in self._folder.glob("*.yaml"))

    def text(self, name: str) -> str:
        """Return the text of a scenario. Raises ScenarioError when there is none of that name."""
        if self._folder is not None and _NAME.fullmatch(name):
            path = self._folder / f"{name}.yaml"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        hint = nearest(name, self.names()) or "; `hosting-emulator scenario list` shows them"
        raise ScenarioError(name[:80], 0, 0, f"the library has no scenario of this name{hint}")

    def find(self, name: str) -> Scenario:
        """Read a scenario by its name in the library, or from a file. Raises ScenarioError."""
        path = FilePath(name)
        if path.suffix not in (".yaml", ".yml") and not path.exists():
            return read_scenario(self.text(name), f"{name}.yaml")
        return read_file(path)


def read_file(path: FilePath) -> Scenario:
    """Read a scenario from a file. Raises ScenarioError."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(str(path), 0, 0, "the file is not UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(str(path), 0, 0, f"cannot be read: {error.strerror}") from None
    return read_scenario(text, str(path))
