"""The handle itself: the control API's resources as methods.

It sends and reads JSON, and turns every failure into a `ControlError`. It must not know how the
emulator works, nor print anything.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, cast
from urllib.parse import quote, urlsplit

from hosting_emulator.client.answers import (
    Advanced,
    Assumption,
    Clock,
    ClockRequest,
    Exchange,
    Health,
    Info,
    JsonObject,
    Token,
    World,
)
from hosting_emulator.client.errors import ControlRefused, EmulatorUnreachable, UnexpectedAnswer
from hosting_emulator.client.transport import Answer, KeptConnection

DEFAULT_WORLD = "default"


class ControlClient:
    """A handle on a running emulator, over one kept-alive connection.

    `control_url` is the control API's address, such as `http://127.0.0.1:4620/_emulator`; `token`
    the control token, if the emulator was started with one; `timeout_s` the longest wait for an
    answer, in real seconds. Nothing is sent before the first call. Every method may raise
    `EmulatorUnreachable`, `ControlRefused` or `UnexpectedAnswer`; a malformed `control_url` is a
    ValueError. Not safe to share between threads: give each its own.
    """

    def __init__(
        self, control_url: str, *, token: str | None = None, timeout_s: float = 30
    ) -> None:
        parts = urlsplit(control_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(
                f"{control_url!r} is not an address: write it like http://127.0.0.1:4620/_emulator"
            )
        self.control_url = control_url.rstrip("/")
        self._root = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["X-Control-Token"] = token
        self._connection = KeptConnection(
            parts.hostname, parts.port, secure=parts.scheme == "https", timeout_s=timeout_s
        )

    def __enter__(self) -> ControlClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        self._connection.close()

    # --- Any resource ------------------------------------------------------------------------

    def get(self, path: str) -> Any:
        """GET a path below the control URL and return its JSON."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Any = None) -> Any:
        """POST `body` as JSON (no body for None) and return the JSON answered, None if empty."""
        return self._ask("POST", path, body)

    def put(self, path: str, body: Any = None) -> Any:
        """PUT `body` as JSON (no body for None) and return the JSON answered, None if empty."""
        return self._ask("PUT", path, body)

    def patch(self, path: str, body: Any = None) -> Any:
        """PATCH with `body` as JSON (no body for None) and return the JSON answered."""
        return self._ask("PATCH", path, body)

    def delete(self, path: str, body: Any = None) -> Any:
        """DELETE a path and return the JSON answered, None if empty."""
        return self._ask("DELETE", path, body)

    # --- The process -------------------------------------------------------------------------

    def health(self) -> Health:
        """Whether the emulator is up."""
        return cast(Health, self.get("health"))

    def info(self) -> Info:
        """The running process and its addresses."""
        return cast(Info, self.get("info"))

    def openapi(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The OpenAPI 3.1 document of a world's public API, under that world's assumptions."""
        return cast(JsonObject, self.get(f"{_world(world)}/openapi.json"))

    def problems(self) -> list[JsonObject]:
        """The table of problem codes."""
        return cast("list[JsonObject]", self.get("contract/problems")["items"])

    # --- Worlds ------------------------------------------------------------------------------

    def worlds(self) -> list[World]:
        """The summaries of all worlds."""
        return cast("list[World]", self.get("worlds")["items"])

    def world(self, name: str = DEFAULT_WORLD) -> World:
        """One world's summary."""
        return cast(World, self.get(_world(name)))

    def create_world(
        self,
        name: str | None = None,
        *,
        seed: str | None = None,
        clock: ClockRequest | None = None,
        assumptions: Mapping[str, Any] | None = None,
        ephemeral: bool | None = None,
    ) -> World:
        """Make a world; without a name it gets a throw-away one. 409 if the name is taken."""
        body = _given(
            name=name,
            seed=seed,
            clock=clock or None,
            assumptions=dict(assumptions) if assumptions else None,
            ephemeral=ephemeral,
        )
        return cast(World, self.post("worlds", body))

    def fork(
        self,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        *,
        ephemeral: bool | None = None,
    ) -> World:
        """Copy `world` as it is now into a new one, which lives on by itself."""
        body = _given(name=name, ephemeral=ephemeral)
        return cast(World, self.post(f"{_world(world)}/fork", body))

    def reset(self, world: str = DEFAULT_WORLD) -> World:
        """Put a world back to its seed."""
        return cast(World, self.post(f"{_world(world)}/reset", {}))

    def delete_world(self, world: str) -> None:
        """Delete a world and its state; the default world cannot be deleted (409)."""
        self.delete(_world(world))

    def export_state(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The whole state of a world as one document."""
        return cast(JsonObject, self.get(f"{_world(world)}/state"))

    def import_state(self, state: Mapping[str, Any], world: str = DEFAULT_WORLD) -> World:
        """Replace a world's state by an exported document; a missing world is made."""
        return cast(World, self.put(f"{_world(world)}/state", dict(state)))

    # --- Time --------------------------------------------------------------------------------

    def clock(self, world: str = DEFAULT_WORLD) -> Clock:
        """A world's time."""
        return cast(Clock, self.get(f"{_world(world)}/clock"))

    def set_clock(self, world: str = DEFAULT_WORLD, *, clock: ClockRequest) -> Clock:
        """Change a clock's mode, rate or time. Moving back is refused (409)."""
        return cast(Clock, self.put(f"{_world(world)}/clock", dict(clock)))

    def advance(
        self,
        world: str = DEFAULT_WORLD,
        *,
        by: str | None = None,
        to: str | None = None,
        until_operation: str | None = None,
    ) -> Advanced:
        """Move a world's time and run all that falls due on the way.

        Exactly one of: `by` a duration (`10m`, `90d`, `PT10M`), `to` a timestamp, or
        `until_operation`, the id of an operation that shall reach its end.
        """
        body = _given(by=by, to=to, until_operation=until_operation)
        return cast(Advanced, self.post(f"{_world(world)}/clock/advance", body))

    # --- What lives in a world ---------------------------------------------------------------

    def token(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        organization: str | None = None,
        interactive: bool = True,
        expires_in_seconds: int | None = None,
    ) -> Token:
        """Make an access token for a person, named by alias or id.

        `organization` is an alias or id; without it the person's own default. A token that is not
        `interactive` carries no login session. It lives for seconds of the world's time.
        """
        body = _given(
            organization=organization,
            interactive=interactive,
            expires_in_seconds=expires_in_seconds,
        )
        return cast(Token, self.post(f"{_world(world)}/tokens", {"as": principal, **body}))

    def create_api_key(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        organization: str | None = None,
        permissions: Sequence[str] | None = None,
    ) -> JsonObject:
        """Make an API key for a person without a call of the contract: {value, key}.

        `organization` is an alias or id; `permissions` are all of the organization's unless given.
        """
        body = _given(
            name=name,
            organization=organization,
            permissions=None if permissions is None else list(permissions),
        )
        path = f"{_world(world)}/api-keys"
        return cast(JsonObject, self.post(path, {"as": principal, **body}))

    def assumptions(self, world: str = DEFAULT_WORLD) -> list[Assumption]:
        """What a world assumes where the contract is silent."""
        return cast("list[Assumption]", self.get(f"{_world(world)}/assumptions")["items"])

    def set_assumptions(
        self, values: Mapping[str, Any], world: str = DEFAULT_WORLD
    ) -> list[Assumption]:
        """Change some assumptions by name, and return them all."""
        answer = self.patch(f"{_world(world)}/assumptions", dict(values))
        return cast("list[Assumption]", answer["items"])

    def requests(self, world: str = DEFAULT_WORLD, *, limit: int = 50) -> list[Exchange]:
        """The last exchanges of a world, each with its explanation."""
        return cast("list[Exchange]", self.get(f"{_world(world)}/requests?limit={limit}")["items"])

    def step_operation(self, operation_id: str, world: str = DEFAULT_WORLD) -> JsonObject:
        """Move an operation to its next state now, and return it."""
        path = f"{_world(world)}/operations/{quote(operation_id, safe='')}/step"
        return cast(JsonObject, self.post(path))

    # --- The wire ----------------------------------------------------------------------------

    def _ask(self, method: str, path: str, body: Any) -> Any:
        headers = self._headers
        content = None
        if body is not None:
            content = json.dumps(body, separators=(",", ":")).encode()
            headers = {**headers, "Content-Type": "application/json"}
        target = f"{self._root}/{path.lstrip('/')}"
        try:
            answer = self._connection.exchange(method, target, headers, content)
        except TimeoutError as error:
            waited = f"no answer within {self._timeout_s:g} s"
            raise EmulatorUnreachable(self.control_url, waited) from error
        except OSError as error:  # before HTTPException: a dropped connection is both
            raise EmulatorUnreachable(self.control_url, _reason(error)) from error
        except http.client.HTTPException as error:
            raise UnexpectedAnswer(self.control_url, "it does not speak HTTP") from error
        return self._read(answer)

    def _read(self, answer: Answer) -> Any:
        try:
            document = json.loads(answer.body) if answer.body else None
        except ValueError as error:
            what = f"it answers {answer.content_type or 'bytes'} with status {answer.status}"
            raise UnexpectedAnswer(self.control_url, what) from error
        if 200 <= answer.status < 300:
            return document
        problem = document if isinstance(document, dict) else {}
        title = str(problem.get("title") or f"refused with status {answer.status}")
        detail = problem.get("detail")
        raise ControlRefused(answer.status, title, str(detail) if detail else None)


def _world(name: str) -> str:
    return f"worlds/{quote(name, safe='')}"


def _given(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _reason(error: OSError) -> str:
    if isinstance(error, http.client.RemoteDisconnected):
        return "it closed the connection before it answered"
    return (error.strerror or str(error) or type(error).__name__).lower()
