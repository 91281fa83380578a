"""What a handler of the control API is given, and how it reads and refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin
from urllib.parse import parse_qs

import msgspec
from aiohttp import web
from msgspec import Meta

from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.contract.words import DocumentRefused, command_line, read_fields
from hosting_emulator.control_api import ClockMode, RequestFilters
from hosting_emulator.engine.engine import Engine, Worlds
from hosting_emulator.scenario.document import ScenarioLibrary
from hosting_emulator.server.guard import Site
from hosting_emulator.server.public import read_body
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.world.naming import N, id_of, kind_of, not_found
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import Table
from hosting_emulator.world.value import World

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
#: What a clock does, as the OpenAPI document tells it; the clock itself refuses any other word.
Mode = Annotated[str, Meta(extra_json_schema={"enum": list(get_args(ClockMode))})]
#: Likewise a moment, a span of time, and what a world or key may be called.
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Duration = Annotated[
    str, Meta(extra_json_schema={"pattern": r"^(\d{1,9}(\.\d{1,3})?(ms|s|m|h|d|w))+$"})
]
WorldName = Annotated[str, Meta(extra_json_schema={"pattern": f"^{WORLD_NAME.pattern}$"})]
KeyName = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 64})]
#: A control request is small, but for an imported state.
BODY_LIMIT = 1024 * 1024
STATE_LIMIT = 2 * 1024 * 1024 * 1024


class ControlRefusal(Exception):
    """A control request that cannot be done: status, title and one clear sentence."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail


def found(record: T | None, title: str, detail: str) -> T:
    """Return what was looked for. Raises ControlRefusal 404 when it is not there."""
    if record is None:
        raise ControlRefusal(404, title, detail)
    return record


@contextmanager
def refused_as(status: int, title: str, *errors: type[Exception]) -> Iterator[None]:
    """Refuse a request with the words of an error that a room raises."""
    try:
        yield
    except errors as error:
        raise ControlRefusal(status, title, str(error)) from None


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """A JSON object that a request brings."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What stays the same while a server runs. `variation` is that of worlds that name none."""

    version: str
    data_dir: str | None
    durability: str
    started_at: str
    seed: str
    variation: Variation | None = None


@dataclass(frozen=True)
class Context:
    """One request of the control API."""

    request: web.BaseRequest
    worlds: Worlds
    site: Site
    facts: Facts
    query: str
    library: ScenarioLibrary
    kept: dict[str, bytes] = field(default_factory=dict)

    async def wait(self, ms: int) -> None:
        """Wait for so many real milliseconds."""
        await asyncio.sleep(ms / 1000)

    async def apart(self, function: Callable[..., Any], *given: Any) -> Any:
        """Do what takes long where others are answered meanwhile."""
        return await asyncio.to_thread(function, *given)

    def engine(self, name: str) -> Engine:
        """Return a world's engine. Raises ControlRefusal 404."""
        if (engine := self.worlds.get(name)) is not None:
            engine.asked += 1
            return engine
        names = ", ".join(engine.world.name for engine in self.worlds)
        raise ControlRefusal(404, "No such world", f"no world is named {name!r}; there are {names}")

    @property
    def base_url(self) -> str:
        """Scheme, host and port under which the asker reaches this server."""
        return self.site.base_url(self.request)

    def why(self, engine: Engine, operation_id: str) -> dict[str, Any] | None:
        """Explain an operation, with commands that work as they are typed."""
        # Imported here: the first answer is not to wait for what few ever ask.
        from hosting_emulator.engine.explanations import why

        told, name = why(engine, operation_id), engine.world.name
        if told is not None:
            commands = told["commands"]
            told["commands"] = [command_line(words, self.base_url, name) for words in commands]
        return told

    async def bytes(self, limit: int = BODY_LIMIT) -> bytes:
        """Return the request body, as often as it is asked for. Raises ControlRefusal."""
        if "body" not in self.kept:
            body, refused = await read_body(self.request, limit)
            if refused is not None:
                status = 413 if refused.status == 413 else 400
                raise ControlRefusal(status, "Bad request", refused.detail)
            self.kept["body"] = body
        return self.kept["body"]

    async def read(self, kind: type[S], limit: int = BODY_LIMIT) -> S:
        """Return the JSON body as a `kind`; none is an empty object. Raises ControlRefusal 400."""
        try:
            body = await self.bytes(limit) or b"{}"
            # In a thread if it is long: others are answered meanwhile.
            far = len(body) > BODY_LIMIT
            document = await asyncio.to_thread(read_json, body) if far else read_json(body)
        except JsonRefused as error:
            raise ControlRefusal(400, "Bad request", f"the body {error}") from None
        if not isinstance(document, dict):
            raise ControlRefusal(400, "Bad request", "the body must be a JSON object")
        if get_origin(kind) is Annotated:  # as with a limit of its own
            kind = cast("type[S]", get_args(kind)[0])
        try:
            return read_fields(document, kind)
        except DocumentRefused as error:
            at = f"{error.field}: " if error.field else ""
            raise ControlRefusal(400, "Bad request", f"{at}{error}") from None

    @cached_property
    def given(self) -> dict[str, list[str]]:
        """The parameters of the query, each with its values."""
        return parse_qs(self.query, keep_blank_values=True)


# --- parameters of the query ---------------------------------------------------------------------

#: How many are wanted.
Limit = Annotated[int, Meta(ge=1, le=1000)]
#: Words with commas between them; the parameter may come more than once.
Words = list[str]
#: A text that may be left out.
Text = str | None


def _text(context: Context, name: str, default: str | None) -> str | None:
    return context.given.get(name, [default])[-1]


def _limit(context: Context, name: str, default: int) -> int:
    given = _text(context, name, str(default)) or ""
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= 1000:
        raise ControlRefusal(400, f"Bad {name}", f"{name} must be a number from 1 to 1000")
    return int(given)


def _choice(context: Context, name: str, default: bool) -> bool:
    given = _text(context, name, None)
    if given not in ("true", "false", None):
        raise ControlRefusal(400, f"Bad {name}", f"{name} must be true or false")
    return default if given is None else given == "true"


def _words(context: Context, name: str, _: object) -> list[str]:
    words = ",".join(context.given.get(name, [])).split(",")
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))


def _filters(context: Context, _: str, __: object) -> RequestFilters:
    given = {name: _text(context, name, None) for name in RequestFilters.__annotations__}
    # An empty text is one that is not looked for; an empty number is none.
    kept = {name: value for name, value in given.items() if value or name == "after"}
    return cast(RequestFilters, kept)


#: How each kind of parameter is read: from the context, by its name, or else its default.
QUERY_READERS: dict[Any, Callable[[Context, str, Any], Any]] = {
    Limit: _limit,
    bool: _choice,
    Words: _words,
    Text: _text,
    RequestFilters: _filters,
}


def moment(text: str) -> int:
    """Read a timestamp. Raises ControlRefusal 400."""
    with refused_as(400, "Bad timestamp", ValueError):
        return parse_timestamp(text)


def find(world: World, table: Table[N], name: str) -> N:
    """Return the person, organization or project of this alias or id. Raises ControlRefusal 404."""
    row = world.get(table, id_of(world, table, name))
    if row is None:
        raise ControlRefusal(404, f"No such {kind_of(table)}", not_found(world, table, name))
    return row
