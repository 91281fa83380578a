"""What a handler of the control API is given, and how it reads and refuses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from aiohttp import web

from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.scenario.library import Library
from hosting_emulator.server.bodies import read_body
from hosting_emulator.server.origins import Origins
from hosting_emulator.server.sites import Site
from hosting_emulator.world.records import Variation

T = TypeVar("T")
#: A control request is small, but for an imported state.
BODY_LIMIT = 1024 * 1024
STATE_LIMIT = 2 * 1024 * 1024 * 1024


class ControlRefused(Exception):
    """A control request that cannot be done: status, title and one clear sentence."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.title, self.detail = status, title, detail


class Chosen(msgspec.Struct, forbid_unknown_fields=True):
    """A scenario: by its name in the library, or as text (`file` is shown in errors)."""

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"


@dataclass(frozen=True, slots=True)
class Facts:
    """What stays the same while a server runs. `variation` is that of worlds that name none."""

    version: str
    data_dir: str | None
    durability: str
    started_at: str
    seed: str
    variation: Variation | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """One request of the control API."""

    request: web.BaseRequest
    worlds: Worlds
    site: Site
    facts: Facts
    query: str
    library: Library
    origins: Origins = field(default_factory=Origins)

    def engine(self, name: str) -> Engine:
        """Return a world's engine. Raises ControlRefused 404."""
        engine = self.worlds.get(name)
        if engine is None:
            names = ", ".join(engine.world.name for engine in self.worlds)
            raise ControlRefused(
                404, "No such world", f"no world is named {name!r}; there are {names}"
            )
        return engine

    @property
    def base_url(self) -> str:
        """Scheme, host and port under which the asker reaches this server."""
        return self.site.base_url(self.request)

    @property
    def from_another_origin(self) -> bool:
        """Whether a page of another origin asks: a web app that the guard lets in."""
        origin, host = self.request.headers.get("Origin"), self.request.headers.get("Host", "")
        return origin is not None and origin.lower().partition("://")[2] != host.lower()

    async def bytes(self, limit: int = BODY_LIMIT) -> bytes:
        """Return the request body. Raises ControlRefused."""
        body, refused = await read_body(self.request, limit)
        if refused is not None:
            raise ControlRefused(
                413 if refused.status == 413 else 400, "Bad request", refused.detail
            )
        return body

    async def read(self, kind: type[T]) -> T:
        """Return the request body as a `kind`; an empty body is an empty object.

        Raises ControlRefused 400, naming the field.
        """
        return parse_as(await self.bytes(), kind)


def parse_as(body: bytes, kind: type[T]) -> T:
    """Parse a JSON body as a `kind`; an empty one is an empty object. Raises ControlRefused 400."""
    try:
        return msgspec.convert(parse(body or b"{}"), kind)
    except msgspec.ValidationError as error:
        raise ControlRefused(400, "Bad request", f"the body does not fit: {error}") from None


def parse(body: bytes) -> Any:
    """Parse a JSON body. Raises ControlRefused 400."""
    try:
        return read_json(body)
    except JsonRefused as error:
        raise ControlRefused(400, "Bad request", f"the body {error}") from None
