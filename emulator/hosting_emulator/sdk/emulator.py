"""One world in a user's hands, through the control API: its content, its time, its failures, its story."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypedDict, Unpack
from urllib.parse import urlsplit

from hosting_emulator import messages
from hosting_emulator.sdk.control import (
    ControlClient,
    ControlRefused,
    EmulatorUnreachable,
    InWorld,
    ScenarioChoice,
    ScenarioLike,
    VaryLike,
    WorldOptions,
    given,
    read_address,
    read_vary,
    world_request,
)
from hosting_emulator.sdk.requests import Requests, WorldConduct
from hosting_emulator.sdk.text import Aliases, NoSuchName, report_text

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName, DoorName

Phase: TypeAlias = Literal["before_commit", "after_commit"]
Credentials: TypeAlias = Literal["token", "key", "none", "invalid", "any"]
Duration: TypeAlias = str | timedelta | float
"""A span of world time: text such as `10m`, `1h30m` or `PT10M`, a timedelta, or seconds."""
OperationLike: TypeAlias = str | Mapping[str, Any]
"""An operation's id, or its document as a call answered it."""
#: A test may move time far; its tokens should not expire unless it asks for that.
_TEN_YEARS_S = 10 * 365 * 86_400


class TokenOptions(TypedDict, total=False):
    """What an access token may be, beside whose.

    It is for the user's own `organization` (alias or id) unless given, and lives for seconds of world
    time. One that is not `interactive` carries no sign-in.
    """

    organization: str | None
    interactive: bool
    expires_in_seconds: int | None


class ApiKeyOptions(TypedDict, total=False):
    """A user API key: its `permissions`, and its `organization` (alias or id) if not the user's own."""

    name: str | None
    organization: str | None
    permissions: Sequence[str] | None


class WorldClock(InWorld):
    """A world's clock. Time only moves forward, and everything that falls due happens."""

    @property
    def state(self) -> messages.ClockState:
        """The clock's full current state."""
        return self._fetch(messages.ClockState, "GET", "clock")

    @property
    def now(self) -> str:
        """World time, as an RFC 3339 timestamp in UTC."""
        return self.state.now

    @property
    def mode(self) -> messages.ClockMode:
        """`real`, `frozen`, `scaled` or `skip`."""
        return self.state.mode

    @property
    def next_due_at(self) -> str | None:
        """When the next event is due, as an RFC 3339 timestamp; None if nothing is."""
        return self.state.next_due_at

    def advance(self, by: Duration) -> str:
        """Move time forward, to the millisecond, and return the new time.

        Raises ValueError for a negative span, ControlRefused for text that is no span.
        """
        if isinstance(by, str):
            return self.move(by=by).now
        ms = by / timedelta(milliseconds=1) if isinstance(by, timedelta) else by * 1000
        if not 0 <= ms < float("inf"):
            raise ValueError(f"time moves forward only, and not forever: {by!r}")
        return self.move(by=f"{round(ms)}ms").now

    def advance_to(self, moment: str | datetime) -> str:
        """Move time forward to an RFC 3339 timestamp or a datetime, and return it.

        Raises ValueError for a datetime without a time zone, ControlRefused (409) for a moment that is past.
        """
        if isinstance(moment, datetime):
            if moment.tzinfo is None:
                raise ValueError(f"{moment!r} has no time zone: give it one, such as datetime.UTC")
            moment = moment.isoformat()
        return self.move(to=moment).now

    def until(self, operation: OperationLike) -> str:
        """Move time forward until an operation ends, and return its final state.

        Raises ControlRefused (409) when time alone does not end it: it is stuck, or waits to be told.
        """
        id_ = _id_of(operation)
        self.move(until_operation=id_)
        return self._fetch(messages.Why, "GET", "operations", id_, "why").state

    def move(
        self, *, by: str | None = None, to: str | None = None, until_operation: str | None = None
    ) -> messages.ClockMove:
        """Move time forward in one of these ways, as text, and return the clock as it is then."""
        body = given(by=by, to=to, until_operation=until_operation)
        return self._fetch(messages.ClockMove, "POST", "clock", "advance", body=body)

    def freeze(self) -> messages.ClockState:
        """Freeze the clock until it is moved."""
        return self.set("frozen")

    def run(self) -> messages.ClockState:
        """Run at real speed from now on."""
        return self.set("real")

    def skip(self) -> messages.ClockState:
        """Jump to the next event whenever a client polls an unfinished operation."""
        return self.set("skip")

    def scale(self, rate: float) -> messages.ClockState:
        """Run at `rate` world seconds for each real second, above 0."""
        return self.set("scaled", rate=rate)

    def set(self, mode: messages.ClockMode, *, rate: float | None = None) -> messages.ClockState:
        """Change the mode: `real`, `frozen`, `skip`, or `scaled` with a rate."""
        return self.change({"mode": mode} if rate is None else {"mode": mode, "rate": rate})

    def change(self, clock: messages.ClockRequest) -> messages.ClockState:
        """Change mode, rate or time, and return the clock. Moving back is a ControlRefused (409)."""
        return self._fetch(messages.ClockState, "PUT", "clock", body=clock)


class AssumptionWarning(UserWarning):
    """An assumption of a world contradicts a sentence of the contract."""


def _warn(messages: Sequence[str]) -> None:
    """Warn of assumptions at the line that called the SDK."""
    for message in messages:
        warnings.warn(message, AssumptionWarning, stacklevel=3)


class HostingEmulator(InWorld, AbstractContextManager["HostingEmulator", None]):
    """A world: where it answers, who may ask, what is in it, and what happens to it.

    Made by `connect` or `fresh`, by a client's `world`, or given by the pytest plugin. What the
    emulator refuses is a `ControlRefused` with one clear line; without an emulator it is an
    `EmulatorUnreachable`. Threads may share a handle. `with` closes it at its end.
    """

    clock: WorldClock
    """World time: `now`, `advance`, `until`, `freeze`, …"""
    base_url: str
    """The URL before `/v1/…` of this world."""
    control_url: str
    """The URL of this world in the control API."""
    projects: Aliases
    """Ids of projects by alias."""
    organizations: Aliases
    """Ids of organizations by alias."""
    users: Aliases
    """Ids of users by alias: `owner`, `member`, `reader`, `outsider`, `no-organization`, …"""
    _homes: dict[str, str]

    def __init__(
        self,
        control: ControlClient,
        world: str | messages.WorldSummary,
        *,
        throw_away: bool = False,
        own_connection: bool = False,
    ) -> None:
        """Open a world by its name or summary; `close` deletes a `throw_away` one."""
        super().__init__(control, world if isinstance(world, str) else world.name)
        self.clock = WorldClock(control, self.name)
        self._throw_away = throw_away
        self._own_connection = own_connection
        self._forks: list[HostingEmulator] = []
        self._tokens: dict[str | None, str] = {}
        if not isinstance(world, str):
            self._know(world)

    def __repr__(self) -> str:
        at = vars(self).get("base_url", self.control.control_url)
        return f"<HostingEmulator {self.name!r} at {at}>"

    # --- Opening and closing -----------------------------------------------------------------

    @classmethod
    def connect(
        cls,
        url: str | ControlClient | None = None,
        *,
        world: str | None = None,
        control_token: str | None = None,
    ) -> Self:
        """Open an existing world, `default` unless named; closing does not change it.

        `url` is the emulator's address or a world's, or a client to share; without it
        HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD hold, then the port of the settings file of this
        folder, then http://127.0.0.1:4620; and HOSTING_EMULATOR_CONTROL_TOKEN without a `control_token`.
        Raises ControlRefused (404) for a world that is not there, ValueError for no address.
        """
        with _reach(url, control_token) as (control, named, own):
            if url is not None and named is not None and world not in (None, named):
                raise ValueError(f"the address is of world {named!r}, and world is {world!r}")
            emulator = cls(control, world or named or "default", own_connection=own)
            emulator._take_over(emulator.summary)
            return emulator

    @classmethod
    def fresh(
        cls,
        url: str | ControlClient | None = None,
        *,
        scenario: ScenarioLike | None = None,
        document_name: str = "(inline)",
        state: Mapping[str, Any] | None = None,
        name: str | None = None,
        control_token: str | None = None,
        **options: Unpack[WorldOptions],
    ) -> Self:
        """Create a world that is deleted on close. `url` and `control_token` as for `connect`.

        It begins as the default world, its clock frozen; or as a `scenario`: a name of the library, the
        path of a file, or a document, which errors call `document_name`; or as an exported `state`.
        Raises ValueError for what cannot be read, ControlRefused (with its place) for a wrong scenario.
        """
        if scenario is not None and state is not None:
            raise ValueError("give either scenario or state")
        request = world_request(scenario, document_name, state, **options)
        with _reach(url, control_token) as (control, _, own):
            world = control.create_world(name, **request)
            _warn(world.warnings)
            return cls(control, world, throw_away=True, own_connection=own)

    def fork(self, name: str | None = None, *, commit: int | None = None) -> HostingEmulator:
        """Copy this world, as `copy` does, into one that is closed with this one."""
        copied = self.copy(name, ephemeral=True, commit=commit)
        fork = HostingEmulator(self.control, copied, throw_away=True)
        self._forks.append(fork)
        return fork

    def copy(
        self, name: str | None = None, *, ephemeral: bool | None = None, commit: int | None = None
    ) -> messages.WorldSummary:
        """Copy this world, as it is or was after a kept `commit` of its `history`; return the summary."""
        body = given(name=name, ephemeral=ephemeral, commit=commit)
        return self._fetch(messages.WorldSummary, "POST", "fork", body=body)

    def delete(self) -> None:
        """Delete this world and its state; the default world cannot be deleted (409)."""
        self._ask("DELETE")

    def close(self) -> None:
        """Delete the forks, and the world if it is temporary. Calling it again is no error."""
        while self._forks:
            self._forks.pop().close()
        if self._throw_away:
            self._throw_away = False
            # Gone already, or gone with its emulator: that is what was wanted.
            with suppress(EmulatorUnreachable), _gone_is_fine():
                self.delete()
        if self._own_connection:
            self.control.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- What is in it, and who may ask ------------------------------------------------------

    @property
    def summary(self) -> messages.WorldSummary:
        """This world's current summary."""
        return self._fetch(messages.WorldSummary, "GET")

    def _know(self, summary: messages.WorldSummary) -> messages.WorldSummary:
        """Take over what a summary says."""
        self.base_url = summary.base_url
        self.control_url = summary.control_url
        self.projects = Aliases("project", summary.projects)
        self.organizations = Aliases("organization", summary.organizations)
        self.users = Aliases("user", summary.users)
        self._homes = {project.id: project.organization_id for project in summary.projects}
        return summary

    if not TYPE_CHECKING:  # what a summary says is asked for once it is needed

        def __getattr__(self, name: str) -> Any:
            if name not in HostingEmulator.__annotations__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._know(self.summary)
            return vars(self)[name]

    def _take_over(self, summary: messages.WorldSummary) -> messages.WorldSummary:
        self._tokens = {}  # those of an earlier past may be refused by now
        return self._know(summary)

    def _replace(
        self, method: str, *parts: str | int, body: Any, **query: Any
    ) -> messages.WorldSummary:
        """Send a request that replaces the state of this world, and take over the new summary."""
        summary = self._fetch(messages.WorldSummary, method, *parts, body=body, **query)
        return self._take_over(summary)

    @property
    def project(self) -> str:
        """The id of the world's first project, `shop` in the default world. NoSuchName if there is none."""
        return self._first(self.projects, "project")

    @property
    def organization(self) -> str:
        """The id of the first project's organization, or else of the first. NoSuchName if there is none."""
        if self.projects:
            return self._homes[self.project]
        return self._first(self.organizations, "organization")

    def _first(self, ids: Aliases, kind: str) -> str:
        if not ids:
            raise NoSuchName(f"world {self.name} has no {kind}")
        return next(iter(ids.values()))

    def url(self, path: str, /, *, project: str | None = None) -> str:
        """Return the whole URL of a path of this world, such as `/v1/projects/{project}/domains`.

        `{project}` stands for the id of `project` (an alias), or else of the first, and `{organization}`
        for that of its organization. ValueError without a leading `/`, NoSuchName for no such project.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path starts with /, as in /v1/projects: not {path[:80]!r}")
        if "{project}" in path:
            id_ = self.project if project is None else self.projects[project]
            path = path.replace("{project}", id_)
        if "{organization}" in path:
            home = self.organization if project is None else self._homes[self.projects[project]]
            path = path.replace("{organization}", home)
        return self.base_url + path

    def redeem_url(self, ticket: str) -> str:
        """Return where a ticket's `redeem_url` is over plain HTTP on the main port, for any client."""
        parts = urlsplit(ticket)
        return self.url(f"{parts.path}?{parts.query}")

    def token(self, user: str | None = None, **options: Unpack[TokenOptions]) -> str:
        """Return an access token for a user, by alias or id; ControlRefused (404) if there is none.

        Unless told otherwise it is valid for ten years of world time, and the same each time: `mint_token`
        makes one for a new session.
        """
        options = TokenOptions(**given(**options))  # type: ignore[typeddict-item]
        plain = options in ({}, {"interactive": True})
        if plain and user in self._tokens:
            return self._tokens[user]
        options.setdefault("expires_in_seconds", _TEN_YEARS_S)
        token = self.mint_token(user, **options).access_token
        if plain:
            self._tokens[user] = token
        return token

    def mint_token(
        self, user: str | None = None, **options: Unpack[TokenOptions]
    ) -> messages.AccessToken:
        """Create an access token, valid for an hour by default."""
        body = given(**options, user=user)
        return self._fetch(messages.AccessToken, "POST", "tokens", body=body)

    def headers(self, user: str | None = None, *, key: str | None = None) -> dict[str, str]:
        """Return a user's Authorization header, and with `key` the Idempotency-Key."""
        headers = {"Authorization": f"Bearer {self.token(user)}"}
        return headers if key is None else {**headers, "Idempotency-Key": key}

    def api_key(self, user: str | None = None, **options: Unpack[ApiKeyOptions]) -> str:
        """Create a user API key like `create_api_key`, and return its value."""
        return self.create_api_key(user, **options).value

    def create_api_key(
        self, user: str | None = None, **options: Unpack[ApiKeyOptions]
    ) -> messages.NewApiKey:
        """Create a user API key, valid for 90 days of world time, without a call."""
        body = given(**options, user=user)
        return self._fetch(messages.NewApiKey, "POST", "api-keys", body=body)

    def openapi(self) -> messages.JsonObject:
        """The OpenAPI 3.1 document of this world's public API, under its assumptions."""
        document: messages.JsonObject = self._ask("GET", "openapi.json")
        return document

    @property
    def assumptions(self) -> list[messages.AssumptionRow]:
        """What is assumed where the contract is silent: each with name, value and sentence."""
        return self._fetch_list(messages.AssumptionRow, "GET", "assumptions")

    def set_assumptions(self, values: Mapping[str, Any]) -> list[messages.AssumptionRow]:
        """Change some assumptions by name, and return them all.

        A value that contradicts a sentence of the contract raises an `AssumptionWarning`.
        """
        rows = self._fetch_list(messages.AssumptionRow, "PATCH", "assumptions", body=values)
        _warn([row.warning for row in rows if row.name in values and row.warning])
        return rows

    # --- Failures on demand ------------------------------------------------------------------

    def fault(
        self,
        effect: str | None = None,
        *,
        call: CallName | DoorName | None = None,
        project: str | None = None,
        organization: str | None = None,
        principal: str | None = None,
        method: str | None = None,
        path: str | None = None,
        header: dict[str, str] | None = None,
        query: dict[str, str] | None = None,
        body: messages.JsonObject | None = None,
        credentials: Credentials | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        ttl: str | None = None,
        while_: messages.JsonObject | None = None,
        phase: Phase | None = None,
        optional: bool | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Arm a fault in this world; a `with` block removes it at the end.

        Reports name a fault that never acted, unless it is `optional`.
        Options and rule stand side by side: `fault("abort", code="rate_limited", times=2)`; or as in a
        scenario: `fault(abort={"code": "rate_limited"}, times=2)`. ControlRefused names what is wrong.
        """
        return self.arm(_written("effect", **locals()))

    def arm(self, fault: Mapping[str, Any]) -> ArmedFault:
        """Arm a fault written as in a scenario: one effect, what it matches, when it acts."""
        return ArmedFault(self, "faults", self._ask("POST", "faults", body=fault))

    @property
    def faults(self) -> list[ArmedFault]:
        """The armed faults, in the order they apply."""
        documents = self._ask("GET", "faults")["items"]
        return [ArmedFault(self, "faults", document) for document in documents]

    def remove_fault(self, fault_id: str) -> None:
        """Disarm one fault, by its id. Raises ControlRefused (404) when it is not armed."""
        self._ask("DELETE", "faults", fault_id)

    def clear_faults(self) -> int:
        """Disarm all faults, and return how many there were."""
        return int(self._ask("DELETE", "faults")["removed"])

    def outcome(
        self,
        kind: str | None = None,
        *,
        call: CallName | None = None,
        project: str | None = None,
        organization: str | None = None,
        principal: str | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        ttl: str | None = None,
        while_: messages.JsonObject | None = None,
        optional: bool | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Set in advance how the next operation (or `times` of them) ends; a `with` block removes it.

        Such as `outcome("fail", phase="deploying", project="blog")`; or as in a scenario:
        `outcome(reconcile={"attempts": 2, "then": "exhaust"})`. ControlRefused names what is wrong.
        """
        return self.tell(_written("kind", **locals()))

    def tell(self, outcome: Mapping[str, Any]) -> ArmedFault:
        """Arm an outcome written as in a scenario."""
        return ArmedFault(self, "outcomes", self._ask("POST", "outcomes", body=outcome))

    @property
    def outcomes(self) -> list[ArmedFault]:
        """The armed outcomes, in the order they apply."""
        documents = self._ask("GET", "outcomes")["items"]
        return [ArmedFault(self, "outcomes", document) for document in documents]

    def remove_outcome(self, outcome_id: str) -> None:
        """Remove one outcome, by its id. Raises ControlRefused (404) when it is not there."""
        self._ask("DELETE", "outcomes", outcome_id)

    def clear_outcomes(self) -> int:
        """Remove all outcomes, and return how many there were."""
        return int(self._ask("DELETE", "outcomes")["removed"])

    def intervene(self, word: str, /, **fields: Any) -> str:
        """Change this world from outside the contract, and return what was done in one sentence.

        Such as `intervene("stick_operation", project="shop")`, or with `all=True` for all that match.
        """
        return str(self._ask("POST", "interventions", body={word: fields})["message"])

    def add(self, **parts: Sequence[Mapping[str, Any]]) -> str:
        """Add `organizations`, `users`, `projects` and `keys`, all or none; return what was done.

        As in a world file: `add(users=[{"alias": "zoe", "organizations": {"acme": "member"}}])`.
        """
        said = self.intervene("add", **parts)
        self._know(self.summary)
        return said

    @property
    def variation(self) -> messages.VariationState | None:
        """How this world's responses vary: seed, points, and what has varied so far; None: not."""
        kind: Any = messages.VariationState | None
        state: messages.VariationState | None = self._fetch(kind, "GET", "variation")
        return state

    def vary(
        self, seed: VaryLike, only: str | Sequence[str] | None = None
    ) -> messages.VariationState:
        """Vary responses wherever the contract allows it, or at the points in `only`, by a seed."""
        text, points = read_vary(seed, only)
        body = given(seed=text, only=points)
        return self._fetch(messages.VariationState, "PUT", "variation", body=body)

    def unvary(self) -> None:
        """Stop varying responses."""
        self._ask("DELETE", "variation")

    @property
    def requests(self) -> Requests:
        """The requests that reached this world: to iterate, to filter, to assert on."""
        return Requests(self)

    def why(self, operation: OperationLike) -> messages.Why:
        """Explain the state of an operation, given by id or document; `str()` is the full text."""
        return self._fetch(messages.Why, "GET", "operations", _id_of(operation), "why")

    def report(self, *, requests: int = 20, color: bool = False) -> str:
        """Tell this world's story: clock, last requests with reasons, pending operations, faults."""
        return report_text(self.report_document(requests=requests), color=color)

    def report_document(self, *, requests: int = 20) -> messages.WorldReport:
        """This world's report as one document, with its last `requests` exchanges."""
        return self._fetch(messages.WorldReport, "GET", "report", requests=requests)

    @property
    def conduct(self) -> WorldConduct:
        """How the client behaved: `assert_clean()`, `findings()`, `report()`."""
        return WorldConduct(self.control, self.name)

    # --- Going back --------------------------------------------------------------------------

    def snapshot(self) -> WorldSnapshot:
        """Take a snapshot; a `with` block restores it at the end."""
        state = self._fetch(messages.SnapshotState, "POST", "snapshots", body={})
        return WorldSnapshot(self, state)

    def restore(self, snapshot: WorldSnapshot) -> messages.WorldSummary:
        """Restore state, clock, faults and assumptions; the request log continues."""
        return self._replace("POST", "snapshots", snapshot.id, "restore", body={})

    @property
    def history(self) -> list[messages.CommitEntry]:
        """The last kept commits, oldest first, each with its cause; at most 1,000."""
        return self.commits(1000)[::-1]

    def commits(self, limit: int = 100) -> list[messages.CommitEntry]:
        """The last kept commits, newest first, 1 to 1000 of them."""
        return self._fetch(messages.CommitHistory, "GET", "history", limit=limit).items

    def rewind(self, commit: int) -> messages.WorldSummary:
        """Rewind to the state after a commit of `history`; the request log continues."""
        return self._replace("POST", "rewind", body={"commit": commit})

    def reset(self) -> messages.WorldSummary:
        """Reset the world to how it started; its request log is emptied."""
        return self._replace("POST", "reset", body={})

    def load_scenario(
        self, *, replace: bool = True, **scenario: Unpack[ScenarioChoice]
    ) -> messages.WorldSummary:
        """Replace this world by a scenario's. The old state stays until the new one is ready.

        Without `replace`, a kept world that has changed is left as it is: ControlRefused (409).
        """
        body = {**scenario, "replace": True} if replace else scenario
        return self._replace("POST", "scenario", body=body)

    def record(
        self,
        path: str | Path | None = None,
        *,
        first: int | str | None = None,
        last: int | str | None = None,
        name: str | None = None,
    ) -> messages.RecordedScenario:
        """Write what was done here as a scenario whose story passes, to `path` if given.

        `first` and `last` are a request (its number) or a commit (`"commit:40"`).
        """
        span = {"first": first, "last": last, "name": name}
        recorded = self._fetch(messages.RecordedScenario, "GET", "scenario", **span)
        if path is not None:
            Path(path).write_text(recorded.text, encoding="utf-8")
        return recorded

    def import_state(
        self, state: Mapping[str, Any], *, replace: bool = True
    ) -> messages.WorldSummary:
        """Replace this world's state by an exported document; a missing world is made.

        Without `replace`, a kept world that has changed is left as it is: ControlRefused (409).
        """
        query = {} if replace else {"replace": "false"}
        return self._replace("PUT", "state", body=state, **query)

    def export(
        self, path: str | Path | None = None, *, with_seed: bool = False
    ) -> messages.JsonObject:
        """Return the whole state as one document, and write it to `path` if given.

        `hosting-emulator start --import PATH` and `fresh(state=…)` take it up again; with its seed, from
        which its secrets can be computed, with the same ids.
        """
        seed = "true" if with_seed else None
        state: messages.JsonObject = self._ask("GET", "state", seed=seed)
        if path is not None:
            Path(path).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        return state


def _written(kind: str, /, **arguments: Any) -> dict[str, Any]:
    """Write a fault or outcome as in a scenario, of a method's arguments; `kind` names its kind."""
    del arguments["self"]
    effect, options = arguments.pop(kind), given(**arguments.pop("options"))
    rule = given(**{name.rstrip("_"): value for name, value in arguments.items()})
    return (options if effect is None else {effect: options}) | rule


class ArmedFault(InWorld, AbstractContextManager["ArmedFault", None]):
    """A fault or outcome that was armed. `id` is its id in its world; the end of `with` disarms it."""

    def __init__(self, world: InWorld, collection: str, document: messages.JsonObject) -> None:
        super().__init__(world.control, world.name)
        self._collection = collection
        self.state = self._read(document)
        """The fault as it was when it was armed or listed."""
        self.id: str = self.state.id
        self._last: messages.FaultState | messages.OutcomeState | None = None

    def __repr__(self) -> str:
        return f"<ArmedFault {self.id!r} of {self.name!r}>"

    @property
    def considered(self) -> int:
        """How many requests have been compared with it so far."""
        return self.now.considered

    @property
    def unused(self) -> str | None:
        """Why it has never acted; None once it has."""
        return self.now.unused

    @property
    def seen(self) -> int:
        """How many requests it has matched so far."""
        return self.now.seen

    @property
    def hits(self) -> int:
        """How many requests it has acted on so far."""
        return self.now.hits

    @property
    def spent(self) -> bool:
        """Whether it has acted as often as it may."""
        return self.now.spent

    @property
    def now(self) -> messages.FaultState | messages.OutcomeState:
        """The fault as it is now, or as it was when it was removed from here; else ControlRefused."""
        return self._last or self._read(self._ask("GET", self._collection, self.id))

    def _read(self, document: messages.JsonObject) -> messages.FaultState | messages.OutcomeState:
        if self._collection == "outcomes":
            split = messages.split_written(document, messages.OutcomeState)
            return self.control.read(messages.OutcomeState, split)
        split = messages.split_written(document, messages.FaultState)
        return self.control.read(messages.FaultState, split)

    def remove(self) -> None:
        """Disarm it; its counts can be asked for all the same. Raises ControlRefused if it is gone."""
        last = self.now
        self._ask("DELETE", self._collection, self.id)
        self._last = last

    def __exit__(self, *_: object) -> None:
        with _gone_is_fine():  # it was removed inside, or its world was reset
            self.remove()


class WorldSnapshot(AbstractContextManager["WorldSnapshot", None]):
    """A world as it was: `id`, `commit`, and `at`, a timestamp of world time.

    Restoring does not touch the request log. The end of a `with` block restores and forgets it; otherwise
    it lives as long as its world.
    """

    def __init__(self, emulator: HostingEmulator, state: messages.SnapshotState) -> None:
        self._emulator = emulator
        self.id = state.id
        self.commit = state.commit
        self.at = state.at

    def __repr__(self) -> str:
        return f"<WorldSnapshot {self.id!r} of {self._emulator.name!r} at {self.at}>"

    def restore(self) -> None:
        """Restore the world, as often as you like. Raises ControlRefused if forgotten."""
        self._emulator.restore(self)

    def forget(self) -> None:
        """Delete the snapshot; it is no error if it is already deleted."""
        with _gone_is_fine():
            self._emulator.control.delete(self._emulator.control_path("snapshots", self.id))

    def __exit__(self, *_: object) -> None:
        self.restore()
        self.forget()


def _id_of(operation: OperationLike) -> str:
    """Return an operation's id. Raises ValueError for a document without one."""
    if isinstance(operation, str):
        return operation
    if not isinstance(operation, Mapping):  # such as a response whose JSON nobody read
        kind = type(operation).__name__
        raise ValueError(f"this is not an operation ({kind}): give its id, or its JSON")
    id_ = operation.get("id")
    if not isinstance(id_, str):
        what = operation.get("code") or f"it has {', '.join(map(str, operation)) or 'nothing'}"
        raise ValueError(f"this is not an operation, because it has no id: {what}")
    return id_


@contextmanager
def _gone_is_fine() -> Iterator[None]:
    try:
        yield
    except ControlRefused as refused:
        if refused.status != 404:
            raise


@contextmanager
def _reach(
    url: str | ControlClient | None, control_token: str | None
) -> Iterator[tuple[ControlClient, str | None, bool]]:
    """Give a client, the world that the address names, and whether the client is ours to close."""
    if isinstance(url, ControlClient):
        yield url, None, False
        return
    control_url, world = read_address(url)
    token = control_token or os.environ.get("HOSTING_EMULATOR_CONTROL_TOKEN")
    control = ControlClient(control_url, token=token)
    try:
        yield control, world, True
    except BaseException:
        control.close()
        raise
