"""The context passed to endpoints under `/_emulator`, and functions that read and refuse requests.

The endpoints are in `control`, `identity` and `dashboard`. The table of routes is in
`control/routes.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, get_args

import msgspec
from aiohttp import web
from msgspec import Meta

from hosting_emulator.conduct.observation import Observations, ProcessObservation
from hosting_emulator.contract.documents import DocumentRefused, read_fields, sentence_about
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.http.guard import Site
from hosting_emulator.http.request_body import read_body
from hosting_emulator.http.time_slices import in_thread
from hosting_emulator.messages import ClockMode, JsonObject
from hosting_emulator.scenario.library import ScenarioLibrary
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.world.naming import AliasedRecord, id_of, kind_of, not_found_message
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import Table
from hosting_emulator.world.value import World

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

#: Types for members of request bodies, with schemas for the OpenAPI document. The endpoints check
#: the values themselves, so that a refusal can explain what is wrong.
Mode = Annotated[str, Meta(extra_json_schema={"enum": list(get_args(ClockMode))})]
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Duration = Annotated[
    str, Meta(extra_json_schema={"pattern": r"^(\d{1,9}(\.\d{1,3})?(ms|s|m|h|d|w))+$"})
]
WorldName = Annotated[str, Meta(extra_json_schema={"pattern": f"^{WORLD_NAME.pattern}$"})]
KeyName = Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": 64})]

#: The maximum number of bytes in a request body in general, and in a request that imports a state.
BODY_LIMIT = 1024 * 1024
STATE_LIMIT = 2 * 1024 * 1024 * 1024


class ControlRefusal(Exception):
    """Raised to refuse a control request, with the problem's status, title and detail."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail


def require(record: T | None, title: str, detail: str) -> T:
    """Return `record`. If it is None, raises ControlRefusal 404 with this `title` and `detail`."""
    if record is None:
        raise ControlRefusal(404, title, detail)
    return record


@contextmanager
def refused_as(status: int, title: str, *errors: type[Exception]) -> Iterator[None]:
    """Convert exceptions of the types in `errors` to ControlRefusal, with the same message."""
    try:
        yield
    except errors as error:
        raise ControlRefusal(status, title, str(error)) from None


def moment(text: str) -> int:
    """Parse a timestamp and return it in milliseconds since 1970.

    Raises ControlRefusal 400 if `text` is invalid.
    """
    with refused_as(400, "Bad timestamp", ValueError):
        return parse_timestamp(text)


def find(world: World, table: Table[AliasedRecord], name: str) -> AliasedRecord:
    """Return the user, organization or project with this alias or id. Raises ControlRefusal 404 if
    there is none.
    """
    row = world.get(table, id_of(world, table, name))
    return require(row, f"No such {kind_of(table)}", not_found_message(world, table, name))


def find_observation(context: Context, id_: str) -> ProcessObservation:
    """Return the observation with this id. Raises ControlRefusal 404 if there is none."""
    observation = context.observations.get(id_, time.monotonic())
    return require(observation, "No such observation", f"there is no observation {id_[:80]!r}")


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """Base class for JSON request bodies."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example of an endpoint's request body, as a JSON object that a fresh world accepts."""

    document: JsonObject


@dataclass(frozen=True, slots=True)
class Facts:
    """Properties of a server that do not change while it runs.

    `instance` is the server's random id. `variation` is the variation used for a new world if the
    request that creates it does not specify one. `storage_problem` returns the most recent problem
    with deleted or replaced files in the data directory, or None if there has been none.
    `request_stop` makes the emulator stop soon. It is None if only the program that runs the
    emulator can stop it.
    """

    version: str
    instance: str
    data_dir: str | None
    durability: str
    started_at: str
    seed: str
    variation: Variation | None = None
    storage_problem: Callable[[], str | None] = lambda: None
    request_stop: Callable[[], object] | None = None


@dataclass
class Context:
    """A request under `/_emulator`. The body is read only when an endpoint needs it."""

    request: web.BaseRequest
    worlds: Worlds
    site: Site
    facts: Facts
    query: str
    library: ScenarioLibrary
    body: bytes | None = None
    observations: Observations = field(default_factory=Observations)

    def engine(self, name: str) -> Engine:
        """Return a world's engine. Raises ControlRefusal 404 if there is no world called `name`."""
        engine = self.worlds.get(name)
        if engine is None:
            names = ", ".join(engine.world.name for engine in self.worlds)
            detail = f"there is no world {name!r}; the worlds are {names}"
            raise ControlRefusal(404, "No such world", detail)
        engine.control_requests += 1
        return engine

    @property
    def base_url(self) -> str:
        """The scheme, host and port that the client uses for this server."""
        return self.site.base_url(self.request)

    async def bytes(self, limit: int = BODY_LIMIT) -> bytes:
        """Return the request body. Repeated calls return the same body.

        Raises ControlRefusal if the body is malformed or longer than `limit` bytes.
        """
        if self.body is None:
            self.body, refusal = await read_body(self.request, limit)
            if refusal is not None:
                status = 413 if refusal.code == "payload_too_large" else 400
                raise ControlRefusal(status, "Bad request", refusal.detail)
        return self.body

    async def read(self, kind: type[S], limit: int = BODY_LIMIT) -> S:
        """Parse the JSON body as an instance of `kind`. A missing body is treated as an empty
        object.

        Raises ControlRefusal if the body is invalid.
        """
        document = await self._read_document(limit)
        try:
            return read_fields(document, kind)
        except DocumentRefused as error:
            detail = sentence_about(error.field or "the body", str(error))
            raise ControlRefusal(400, "Bad request", detail) from None

    async def _read_document(self, limit: int) -> dict[str, Any]:
        body = await self.bytes(limit) or b"{}"
        try:
            if len(body) > BODY_LIMIT:
                # Parse a long document in a thread, so that other requests can be handled in the
                # meantime.
                document = await in_thread(read_json, body)
            else:
                document = read_json(body)
        except JsonRefused as error:
            raise ControlRefusal(400, "Bad request", f"the body {error}") from None
        if not isinstance(document, dict):
            raise ControlRefusal(400, "Bad request", "the body must be a JSON object")
        return document
