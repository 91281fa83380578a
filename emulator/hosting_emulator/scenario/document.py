"""The shape of a scenario: what may stand in its file, how a file is read into it, and the library.

What is wrong with the shape is said with its place, the field and the nearest known word; what a
scenario means is worked out elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from hosting_emulator.contract.words import kinds_in_words, nearest, part_at, words_of
from hosting_emulator.scenario.source import Mistakes, Path, Place, ScenarioError, Source
from hosting_emulator.world.population import Alias, WorldPart

Planned = Literal["fault", "outcome", "intervene"]
Lost = Literal[
    "timeout",
    "connection_reset",
    "empty_response",
    "truncate",
    "malformed_response",
    "reset_in_body",
    "wrong_content_length",
    "refuse_connections",
]


class Part(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of the other parts: a field that is not known is refused."""


class ClockPart(Part):
    """`clock`: its mode, its rate (scaled only) and where world time starts."""

    mode: Literal["real", "frozen", "scaled", "skip"] = "frozen"
    rate: float | None = None
    at: str | None = None


class PlannedPart(Part):
    """An entry of `timeline`: at a world time, or after the n-th successful call, one thing happens.

    `at` is a duration after the start or a timestamp; `call` narrows `after_calls` to one call.
    """

    at: str | None = None
    after_calls: Annotated[int, Meta(ge=1)] | None = None
    call: str | None = None
    fault: dict[str, Any] | None = None
    outcome: dict[str, Any] | None = None
    intervene: dict[str, Any] | None = None


#: What a value must be: itself, several that it may be, or a comparison.
Status = Annotated[int, Meta(ge=200, le=599)]
Comparison = dict[str, Any]


class ExpectPart(Part):
    """What a request of the story must answer. `body` names the fields that matter, and no others.

    In `body`, `*` stands for any value but null, and `/…/` is a regular expression; a mapping whose
    keys are numbers names places of a list, from 0; `{at_least: 3}` and the like compare. A list of
    statuses or codes is what it may be. `lost` is the kind of connection fault that eats the answer,
    `delayed` tells that it came late or slowly; `same_as` names a saved answer that this one must
    equal byte for byte.
    """

    status: Status | list[Status] | Comparison | None = None
    code: str | list[str] | None = None
    body: Any = msgspec.UNSET
    absent: list[str] = []
    items: int | Comparison | None = None
    headers: dict[str, Any] = {}
    html: bool | None = None
    lost: Lost | None = None
    delayed: bool | None = None
    same_as: str | None = None


class LogPart(Part, rename={"who": "as", "idempotency_key": "key"}):
    """What to look for in the request log; `count` is how many exchanges must fit (at least one).

    Each value is plain, a pattern or a comparison. `project` and `as` are aliases; `fault` is the id
    or the kind of one that acted, `lost` the kind that ate the answer, `why` a sentence of it.
    """

    call: Any = msgspec.UNSET
    method: Any = msgspec.UNSET
    path: Any = msgspec.UNSET
    who: Any = msgspec.UNSET
    project: Any = msgspec.UNSET
    operation: Any = msgspec.UNSET
    status: Any = msgspec.UNSET
    code: Any = msgspec.UNSET
    idempotency_key: Any = msgspec.UNSET
    replayed: Any = msgspec.UNSET
    lost: Any = msgspec.UNSET
    fault: Any = msgspec.UNSET
    why: Any = msgspec.UNSET
    count: int | Comparison | None = None


class StepPart(Part, rename={"who": "as", "with_": "with"}):
    """A step of `story`: requests, a turn of a hand (the clock, a fault), a look at what is known.

    A request is made with a fresh access token of the person in `as`, unless `token` gives another;
    `as: nobody` sends none. `sign_in` gives a person an access token, `api_key` an API key, to
    save and use later. `request` is a method and a path of the API or of the identity provider, or an address
    of a dev origin, sent as it stands; those `together` have all come before the first is answered. A
    request with `tries` is made again under its key until the answer is what it must be, after a
    `pause` or as long as the answer asks. `use` takes the steps of a part, `with` values for their variables.
    `save` keeps values of the answer under names: from a place, or with `answer` the whole of it.
    """

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
    # What a request says
    who: str | None = None
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


#: The fields of which a step has exactly one: requests that can come together, all that are answered
#: by one, and all.
EXCHANGES = ("call", "poll", "redeem", "request")
REQUESTS = (*EXCHANGES, "sign_in", "api_key")
ACTIONS = (
    *REQUESTS,
    "together",
    "advance",
    "to",
    "until",
    "intervene",
    "fault",
    "remove_fault",
    "clear_faults",
    "outcome",
    "remove_outcome",
    "clear_outcomes",
    "assume",
    "check",
    "log",
    "use",
)
#: What an entry of the timeline does: exactly one of these.
PLANNED: tuple[Planned, ...] = get_args(Planned)
#: Which actions each of the other fields of a step belongs to.
_SENT = ("call", "poll", "request")
BELONGS = {
    "expect": REQUESTS,
    "save": (*REQUESTS, "fault", "outcome"),
    "organization": (*_SENT, "sign_in", "api_key"),
    "interactive": (*_SENT, "sign_in"),
    "as": _SENT,
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


_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")
_TYPE = re.compile(r"Expected `([^`]*)`, got `")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")


#: What a scenario has that is seen in its story alone.
_TOLD_ONLY = {"name", "description", "seed", "parts", "story"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario whose shape is right: its parts, its text and where everything stood."""

    part: ScenarioPart
    source: Source
    text: str

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.part.name

    @property
    def kind(self) -> Literal["world", "story"]:
        """Whether it makes a world of its own, or only tells a story in the usual one."""
        return "world" if self.source.data.keys() - _TOLD_ONLY else "story"

    def row(self) -> dict[str, str]:
        """Return it as lists show it."""
        return {"name": self.name, "kind": self.kind, "description": self.part.description}

    @property
    def place(self) -> Place:
        """The whole of it."""
        return Place(self.source)


def read_scenario(text: str, file: str) -> Scenario:
    """Read a scenario, the same text only once unless it is long. Raises ScenarioError."""
    return (_read if len(text) > _LONG_TEXT else _read_short)(text, file)


def _read(text: str, file: str) -> Scenario:
    # Imported here: only a process that reads a scenario needs YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    return scenario_of(read_yaml(text, file), text)


#: The whole library: its list, and each test that begins with one of it.
_read_short = lru_cache(maxsize=128)(_read)
#: A longer text, such as a recorded session, is no file of the library; many would fill memory.
_LONG_TEXT = 32 * 1024


def scenario_of(source: Source, text: str = "") -> Scenario:
    """Read a scenario that is plain data already. Raises ScenarioError."""
    top = Place(source)
    if not isinstance(source.data, dict):
        raise top.error("a scenario is a mapping with name, description and more")
    mistakes = Mistakes()
    part, wrong = _read_part(source, mistakes)
    checks: tuple[tuple[str, Callable[[Place, Any], None]], ...] = (
        ("parts", lambda place, shared: _check_steps(place / "steps", shared.steps, ACTIONS)),
        ("story", lambda place, step: _check_step(place, step, ACTIONS)),
        ("timeline", _check_planned),
    )
    for section, check in checks:
        for number, item in enumerate(getattr(part, section)):
            if (section, number) not in wrong:
                with mistakes.collected():
                    check(top / section / number, item)
    mistakes.tell()
    return Scenario(part, source, text)


#: What stands for an item that has the wrong shape, and for what must be there, so that the rest is read.
_STAND_INS: dict[str, Any] = {
    "story": {"note": "-"},
    "parts": {"name": "x", "steps": [{"note": "-"}]},
    "name": "x",
    "description": "x",
}
_MOST_MISTAKES = 20


def _read_part(source: Source, mistakes: Mistakes) -> tuple[ScenarioPart, set[Path]]:
    """Read the shape; what has a wrong one is a mistake, and left out: those places come beside."""
    data = {name: [*v] if isinstance(v, list) else v for name, v in source.data.items()}
    wrong: set[Path] = set()
    for _ in range(_MOST_MISTAKES):
        try:
            return msgspec.convert(data, ScenarioPart), wrong
        except msgspec.ValidationError as error:
            message = str(error)
        with mistakes.collected():
            raise _explained(source, message)
        path = _wrong_path(source, message)
        wrong.add(path[:2])
        match path[:2]:
            case (str(section), int(number)):
                data[section][number] = _STAND_INS.get(section, {})
            case (str(name), *_):
                data.pop(name, None)
        data = {**{name: _STAND_INS[name] for name in ("name", "description")}, **data}
    mistakes.tell()
    raise AssertionError("there was no mistake")


def _check_planned(place: Place, planned: PlannedPart) -> None:
    if (planned.at is None) == (planned.after_calls is None):
        raise place.error("an entry of the timeline needs either at or after_calls")
    if sum(getattr(planned, action) is not None for action in PLANNED) != 1:
        raise place.error(f"an entry of the timeline needs one of {', '.join(PLANNED)}")


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


def _wrong_path(source: Source, message: str) -> Path:
    """Return the path to what a message of msgspec's is about."""
    reason, _, where = message.partition(" - at `$")
    place, unknown = _place(source, where, reason), _UNKNOWN.search(reason)
    return (place / unknown.group(1) if unknown else place).path


def _explained(source: Source, message: str) -> ScenarioError:
    reason, _, where = message.partition(" - at `$")
    place = _place(source, where, reason)
    part = part_at(ScenarioPart, place.path)
    if found := _UNKNOWN.search(reason):
        field = found.group(1)
        known = [found.encode_name for found in msgspec.structs.fields(part)]
        hint = nearest(field, known) or f"; there are {', '.join(known)}"
        return (place / field).error(f"unknown field {field!r}{hint}", key=True)
    if found := _MISSING.search(reason):
        return place.error(f"the field {found.group(1)!r} is missing here")
    fields = [part for part in place.path if isinstance(part, str)]
    field = fields[-1] if fields else "the scenario"
    value, hint = place.value, ""
    if "Invalid enum value" in reason:
        words = words_of(part, field) or words_of(part, fields[-2])
        hint = nearest(str(value), words) or f"; it is one of {', '.join(words)}"
    elif found := _TYPE.search(reason):
        right = kinds_in_words(found.group(1))
        hint = "; put it in quotes" if right == "text" and isinstance(value, int | float) else ""
        return place.error(f"{field} must be {right}, not {_shown(value)}{hint}")
    else:
        reason = reason[0].lower() + reason[1:].replace("`", "")
        hint = f": {reason.replace('expected str matching regex', 'it must match')}"
    return place.error(f"{field} cannot be {_shown(value)}{hint}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return repr(value) if len(str(value)) <= 60 else repr(str(value)[:60]) + "…"


def _place(source: Source, where: str, reason: str) -> Place:
    """Read msgspec's path. It leaves out the keys of mappings with free keys: look for the value."""
    place = before = Place(source)
    for name, number in re.findall(r"\.([A-Za-z_]+)|\[(\d+|\.\.\.)\]", where.rstrip("`")):
        before, inside = place, name or number
        if number == "...":
            wrong = (n for n, value in place.value.items() if _is_wrong(value, reason))
            inside = next(wrong, "")
        place /= int(inside) if number.isdecimal() else inside
    return place if place.path in source.places else before


def _is_wrong(value: Any, reason: str) -> bool:
    """Tell whether a reason can be about this value."""
    if "Invalid enum value" in reason:
        return reason.endswith(f"'{value}'")
    return not isinstance(value, str)


def _check_steps(place: Place, steps: list[StepPart], actions: Sequence[str]) -> None:
    for number, step in enumerate(steps):
        _check_step(place / number, step, actions)


def _check_step(place: Place, step: StepPart, actions: Sequence[str]) -> None:
    given = [name for name in ACTIONS if getattr(step, name) is not None]
    only_note = not given and step.note and actions is ACTIONS
    if not only_note and (len(given) != 1 or given[0] not in actions):
        found = " and ".join(given) if given else "none"
        which = "together" if actions is EXCHANGES else "a step"
        raise place.error(f"{which} must do exactly one of {', '.join(actions)}; found {found}")
    for name in place.value:
        belongs = BELONGS.get(name)
        if belongs is not None and not set(given) & set(belongs):
            where = f"{' or '.join(belongs)}, not to {' '.join(given) or 'note'}"
            raise (place / name).error(f"{name} belongs to {where}", key=True)
    _check_steps(place / "together", step.together or [], EXCHANGES)


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

    def read(self, name: str) -> Scenario:
        """Read a scenario of the library. Raises ScenarioError."""
        return read_scenario(self.text(name), f"{name}.yaml")

    def find(self, name: str) -> Scenario:
        """Read a scenario by its name in the library, or from a file. Raises ScenarioError."""
        path = FilePath(name)
        if path.suffix not in (".yaml", ".yml") and not path.exists():
            return self.read(name)
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
