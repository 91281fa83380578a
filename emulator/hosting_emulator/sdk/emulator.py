"""One world in a user's hands: what is in it, its time, its failures, its story.

For tests and scripts, with pytest or without. It uses only the control API.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypedDict, Unpack
from urllib.parse import quote, urlencode, urlsplit

from hosting_emulator.control_api import (
    CommitEntry,
    FaultState,
    JsonObject,
    OutcomeState,
    Record,
    RecordedScenario,
    VariationState,
    Why,
    WorldMember,
    WorldSummary,
)
from hosting_emulator.sdk.clock import OperationLike, WorldClock, id_of
from hosting_emulator.sdk.control import (
    ControlClient,
    ControlRefused,
    EmulatorUnreachable,
    ScenarioChoice,
    given,
    read_address,
    read_control_token,
)
from hosting_emulator.sdk.fresh import (
    ScenarioLike,
    VaryLike,
    WorldOptions,
    read_vary,
    world_request,
)
from hosting_emulator.sdk.requests import Requests, WorldConduct
from hosting_emulator.sdk.text import Aliases, NoSuchName, report_text

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName
    from hosting_emulator.contract.doors import DoorName

Phase: TypeAlias = Literal["before_commit", "after_commit"]
Credentials: TypeAlias = Literal["token", "key", "none", "invalid", "any"]
#: A test may move time far; its tokens should not expire unless it asks for that.
_TEN_YEARS_S = 10 * 365 * 86_400
#: What is kept of a summary, until another one comes.
_OF_SUMMARY = ("base_url", "control_url", "projects", "organizations", "people")


class TokenOptions(TypedDict, total=False):
    """What an access token may be, beside whose.

    `organization`, an alias or id, is the person's own unless given. A token that is not
    `interactive` carries no sign-in. It lives for seconds of the world's time.
    """

    organization: str | None
    interactive: bool
    expires_in_seconds: int | None


class ApiKeyOptions(TypedDict, total=False):
    """What a user API key may be, beside whose.

    `organization`, an alias or id, is the person's own unless given; `permissions` are all that it
    has.
    """

    name: str | None
    organization: str | None
    permissions: Sequence[str] | None


class HostingEmulator:
    """A world: where it answers, who may ask, what is in it, and what happens to it.

    Made by `connect` or `fresh`, by a client's `world`, or given by the pytest plugin. What the
    emulator refuses is a `ControlRefused` with one clear line; without an emulator it is an
    `EmulatorUnreachable`. Threads may share a handle. `with` closes it at its end.
    """

    control: ControlClient
    """The client of the process: other worlds, the contract's tables, the scenario library."""
    name: str
    """The world's name."""
    clock: WorldClock
    """World time: `now`, `advance`, `until`, `freeze`, …"""

    def __init__(
        self,
        control: ControlClient,
        world: str | WorldSummary,
        *,
        throw_away: bool = False,
        own_connection: bool = False,
    ) -> None:
        """Open a world by its name or summary; `close` deletes a `throw_away` one."""
        self.control = control
        self.name = world if isinstance(world, str) else world.name
        self.clock = WorldClock(self)
        self._throw_away = throw_away
        self._own_connection = own_connection
        self._forks: list[HostingEmulator] = []
        self._tokens: dict[str | None, str] = {}
        self._known = None if isinstance(world, str) else world

    def __repr__(self) -> str:
        at = self._known.base_url if self._known else self.control.control_url
        return f"<HostingEmulator {self.name!r} at {at}>"

    def control_path(self, *parts: str | int, **query: Any) -> str:
        """Return the path of this world, or of something in it, as `control` takes it."""
        path = "/".join(["worlds", *(quote(str(part), safe="") for part in (self.name, *parts))])
        asked = {name: value for name, value in query.items() if value not in (None, "")}
        return f"{path}?{urlencode(asked)}" if asked else path

    # --- Opening and closing -----------------------------------------------------------------

    @classmethod
    def connect(
        cls,
        url: str | ControlClient | None = None,
        *,
        world: str | None = None,
        control_token: str | None = None,
    ) -> Self:
        """Open an existing world; closing does not change it.

        `url` is the emulator's address or a world's, or a client to share; without it
        HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD hold, then the port of the settings file of
        this folder, then http://127.0.0.1:4620. `world` is `default` unless named, `control_token`
        HOSTING_EMULATOR_CONTROL_TOKEN's unless given.
        Raises ControlRefused (404) for a world that is not there, ValueError for no address.
        """
        with _reach(url, control_token) as (control, named, own):
            if world is not None and named is not None and url is not None and world != named:
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

        It begins as the default world, its clock frozen; or as a `scenario`: a name of the library,
        the path of a file, or a document, which may leave out name and description and which errors
        call `document_name`; or as an exported `state`. The options are `WorldOptions`.
        Raises ValueError for what cannot be read; ControlRefused, with `file:line:column`, for a
        scenario that is wrong.
        """
        if scenario is not None and state is not None:
            raise ValueError("give either scenario or state")
        request = world_request(scenario, document_name, state, **options)
        with _reach(url, control_token) as (control, _, own):
            world = control.create_world(name, **request)
            return cls(control, world, throw_away=True, own_connection=own)

    def fork(self, name: str | None = None, *, commit: int | None = None) -> HostingEmulator:
        """Copy this world, as `copy` does, into one that is closed with this one."""
        copied = self.copy(name, ephemeral=True, commit=commit)
        fork = HostingEmulator(self.control, copied, throw_away=True)
        self._forks.append(fork)
        return fork

    def copy(
        self, name: str | None = None, *, ephemeral: bool | None = None, commit: int | None = None
    ) -> WorldSummary:
        """Copy this world into an independent one, and return its summary.

        As it is now, or as it was after a `commit` of its `history` (ControlRefused, 404, if that
        is not kept). Tokens are of one world: the copy has its own.
        """
        body = given(name=name, ephemeral=ephemeral, commit=commit)
        return WorldSummary(self.control.post(self.control_path("fork"), body))

    def delete(self) -> None:
        """Delete this world and its state; the default world cannot be deleted (409)."""
        self.control.delete(self.control_path())

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- What is in it, and who may ask ------------------------------------------------------

    @property
    def summary(self) -> WorldSummary:
        """This world's current summary."""
        return WorldSummary(self.control.get(self.control_path()))

    def _take_over(self, answer: JsonObject) -> WorldSummary:
        """Take over what a summary says; tokens of an earlier past may be refused by now."""
        for name in _OF_SUMMARY:
            vars(self).pop(name, None)
        self._known, self._tokens = WorldSummary(answer), {}
        return self._known

    @property
    def _place(self) -> WorldSummary:
        return self._known or self._take_over(self.summary)

    @cached_property
    def base_url(self) -> str:
        """The URL before `/v1/…` of this world."""
        return self._place.base_url

    @cached_property
    def control_url(self) -> str:
        """The URL of this world in the control API."""
        return self._place.control_url

    @cached_property
    def projects(self) -> Aliases:
        """Ids of projects by alias."""
        return _aliases("project", self._place.projects)

    @cached_property
    def organizations(self) -> Aliases:
        """Ids of organizations by alias."""
        return _aliases("organization", self._place.organizations)

    @cached_property
    def people(self) -> Aliases:
        """Ids of users by alias: `owner`, `member`, `reader`, `outsider`, `no-organization`, …"""
        return _aliases("user", self._place.people)

    @property
    def project(self) -> str:
        """The id of the world's first project, `shop` in the default world. NoSuchName if there is none."""
        return self._first(self.projects, "project")

    @property
    def organization(self) -> str:
        """The id of the first project's organization, or else of the first. NoSuchName if there is none."""
        if self.projects:
            return self._home(self.project)
        return self._first(self.organizations, "organization")

    def _first(self, ids: Aliases, kind: str) -> str:
        if not ids:
            raise NoSuchName(f"world {self.name} has no {kind}")
        return next(iter(ids.values()))

    def _home(self, project: str) -> str:
        homes: dict[str, str] = {p["id"]: p["organization_id"] for p in self._place.projects}
        return homes[project]

    def url(self, path: str, /, *, project: str | None = None) -> str:
        """Return the whole URL of a path of this world, such as `/v1/projects/{project}/domains`.

        In the path `{project}` stands for a project's id and `{organization}` for that of its
        organization: `project`, by alias, or else the ones of the attributes of these names. Raises
        ValueError for a path that does not begin with `/`, NoSuchName for an unknown project.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path starts with /, as in /v1/projects: not {path[:80]!r}")
        if "{project}" in path:
            wanted = self.project if project is None else self.projects[project]
            path = path.replace("{project}", wanted)
        if "{organization}" in path:
            home = self.organization if project is None else self._home(self.projects[project])
            path = path.replace("{organization}", home)
        return self.base_url + path

    def redeem_url(self, ticket: str) -> str:
        """Return where a ticket is redeemed over plain HTTP on the main port, by its `redeem_url`.

        For clients that neither resolve names under localhost nor send another Host, as Node's fetch.
        """
        parts = urlsplit(ticket)
        return self.url(f"{parts.path}?{parts.query}")

    def token(self, who: str | None = None, **options: Unpack[TokenOptions]) -> str:
        """Return an access token for a user, by alias or id; the options are `TokenOptions`.

        By default it is valid for ten years of world time (1 second to ten years), and is the
        same each time: after `intervene("end_session", …)` `mint_token` makes one for a new
        session. Raises ControlRefused for whoever does not exist (404).
        """
        options = TokenOptions(**given(**options))  # type: ignore[typeddict-item]
        plain = options in ({}, {"interactive": True})
        if plain and who in self._tokens:
            return self._tokens[who]
        options.setdefault("expires_in_seconds", _TEN_YEARS_S)
        token: str = self.mint_token(who, **options)["access_token"]
        if plain:
            self._tokens[who] = token
        return token

    def mint_token(self, who: str | None = None, **options: Unpack[TokenOptions]) -> Record:
        """Create an access token, valid for an hour by default: {access_token, …}."""
        return Record(
            self.control.post(self.control_path("tokens"), given(**options, **{"as": who}))
        )

    def headers(self, who: str | None = None, *, key: str | None = None) -> dict[str, str]:
        """Return a user's Authorization header, and with `key` the Idempotency-Key."""
        headers = {"Authorization": f"Bearer {self.token(who)}"}
        return headers if key is None else {**headers, "Idempotency-Key": key}

    def api_key(self, who: str | None = None, **options: Unpack[ApiKeyOptions]) -> str:
        """Create a user API key like `create_api_key`, and return its value."""
        return str(self.create_api_key(who, **options)["value"])

    def create_api_key(self, who: str | None = None, **options: Unpack[ApiKeyOptions]) -> Record:
        """Create a user API key without a call of the contract: {value, key}.

        The options are `ApiKeyOptions`. It expires after 90 days of world time.
        """
        body = given(**options, **{"as": who})
        return Record(self.control.post(self.control_path("api-keys"), body))

    def openapi(self) -> JsonObject:
        """The OpenAPI 3.1 document of this world's public API, under its assumptions."""
        return Record(self.control.get(self.control_path("openapi.json")))

    @property
    def assumptions(self) -> list[Record]:
        """What is assumed where the contract is silent: each with name, value and sentence."""
        return list(self.control.get(self.control_path("assumptions"))["items"])

    def set_assumptions(self, values: Mapping[str, Any]) -> list[Record]:
        """Change some assumptions by name, and return them all."""
        return list(self.control.patch(self.control_path("assumptions"), values)["items"])

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
        body: JsonObject | None = None,
        credentials: Credentials | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        ttl: str | None = None,
        while_: JsonObject | None = None,
        phase: Phase | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Arm a fault in this world; a `with` block removes it at the end.

        Written by its effect's name, with the effect's options and the rule side by side:
        `fault("abort", code="rate_limited", call="list_deployments", times=2)`; or as in a
        scenario: `fault(abort={"code": "rate_limited"}, times=2)`. What is wrong is refused now
        (ControlRefused), naming the nearest.
        """
        return self.arm(_written("effect", **locals()))

    def arm(self, fault: Mapping[str, Any]) -> ArmedFault:
        """Arm a fault written as in a scenario: one effect, what it matches, when it acts."""
        armed = self.control.post(self.control_path("faults"), fault)
        return ArmedFault(self, "faults", FaultState(armed))

    @property
    def faults(self) -> list[ArmedFault]:
        """The armed faults, in the order they apply."""
        found = self.control.get(self.control_path("faults"))["items"]
        return [ArmedFault(self, "faults", FaultState(fault)) for fault in found]

    def remove_fault(self, fault_id: str) -> None:
        """Disarm one fault, by its id. Raises ControlRefused (404) when it is not armed."""
        self.control.delete(self.control_path("faults", fault_id))

    def clear_faults(self) -> int:
        """Disarm all faults, and return how many there were."""
        return int(self.control.delete(self.control_path("faults"))["removed"])

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
        while_: JsonObject | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Set in advance how the next operation ends; a `with` block removes it at the end.

        Such as `outcome("fail", phase="deploying", project="blog")`; or as in a scenario:
        `outcome(reconcile={"attempts": 2, "then": "exhaust"})`. It is for one operation unless
        `times` says for how many. What is wrong is refused now (ControlRefused).
        """
        return self.tell(_written("kind", **locals()))

    def tell(self, outcome: Mapping[str, Any]) -> ArmedFault:
        """Arm an outcome written as in a scenario."""
        armed = self.control.post(self.control_path("outcomes"), outcome)
        return ArmedFault(self, "outcomes", OutcomeState(armed))

    @property
    def outcomes(self) -> list[ArmedFault]:
        """The armed outcomes, in the order they apply."""
        found = self.control.get(self.control_path("outcomes"))["items"]
        return [ArmedFault(self, "outcomes", OutcomeState(told)) for told in found]

    def remove_outcome(self, outcome_id: str) -> None:
        """Remove one outcome, by its id. Raises ControlRefused (404) when it is not there."""
        self.control.delete(self.control_path("outcomes", outcome_id))

    def clear_outcomes(self) -> int:
        """Remove all outcomes, and return how many there were."""
        return int(self.control.delete(self.control_path("outcomes"))["removed"])

    def intervene(self, word: str, /, **fields: Any) -> str:
        """Change this world from outside the contract, and return what was done in one sentence.

        Such as `intervene("stick_operation", project="shop")`, or with `all=True` for all that match.
        What makes no sense is refused with ControlRefused, and nothing is changed.
        """
        path = self.control_path("interventions")
        return str(self.control.post(path, {word: fields})["said"])

    def add(self, **parts: Sequence[Mapping[str, Any]]) -> str:
        """Add `organizations`, `people`, `projects` and `keys`, and return what was done.

        Each is written as in a world file: `add(people=[{"alias": "zoe", "organizations":
        {"acme": "member"}}])`. What is wrong is refused with ControlRefused, and nothing is added.
        """
        said = self.intervene("add", **parts)
        for name in _OF_SUMMARY:
            vars(self).pop(name, None)
        self._known = self.summary
        return said

    # --- Other answers that the contract allows ----------------------------------------------

    @property
    def variation(self) -> VariationState | None:
        """How this world's responses vary: seed, points, and what has varied so far; None: not."""
        answer = self.control.get(self.control_path("variation"))
        return None if answer is None else VariationState(answer)

    def vary(self, seed: VaryLike, only: str | Sequence[str] | None = None) -> VariationState:
        """Vary responses from now on wherever the contract allows it, drawn from the seed.

        `only` confines that to some points; `seed` may be both, as a scenario writes them. Raises
        ValueError for what is no seed, ControlRefused for a point that there is not.
        """
        text, points = read_vary(seed, only)
        body = given(seed=text, only=points)
        return VariationState(self.control.put(self.control_path("variation"), body))

    def unvary(self) -> None:
        """Stop varying responses."""
        self.control.delete(self.control_path("variation"))

    # --- What happened -----------------------------------------------------------------------

    @property
    def requests(self) -> Requests:
        """The requests that reached this world: to iterate, to filter, to assert on."""
        return Requests(self)

    def why(self, operation: OperationLike) -> Why:
        """Explain the state of an operation, given by id or document; `str()` is the full text."""
        return Why(self.control.get(self.control_path("operations", id_of(operation), "why")))

    def report(self, *, requests: int = 20, color: bool = False) -> str:
        """Return this world's report: clock, last requests with reasons, pending operations, faults."""
        return report_text(self.report_document(requests=requests), color=color)

    def report_document(self, *, requests: int = 20) -> Record:
        """This world's report as one document, with its last `requests` exchanges."""
        return Record(self.control.get(self.control_path("report", requests=requests)))

    @property
    def conduct(self) -> WorldConduct:
        """How the client behaved: `assert_clean()`, `findings()`, `report()`."""
        return WorldConduct(self)

    # --- Going back --------------------------------------------------------------------------

    def snapshot(self) -> WorldSnapshot:
        """Take a snapshot; a `with` block restores it at the end."""
        return WorldSnapshot(self, self.control.post(self.control_path("snapshots"), {}))

    def restore(self, snapshot: WorldSnapshot) -> WorldSummary:
        """Restore state, clock, faults and assumptions; the request log continues."""
        return self._take_over(
            self.control.post(self.control_path("snapshots", snapshot.id, "restore"), {})
        )

    @property
    def history(self) -> list[CommitEntry]:
        """The last kept commits, oldest first, each with its cause; at most 1,000."""
        return self.commits(1000)[::-1]

    def commits(self, limit: int = 100) -> list[CommitEntry]:
        """The last kept commits, newest first, 1 to 1000 of them."""
        found = self.control.get(self.control_path("history", limit=limit))["items"]
        return [CommitEntry(commit) for commit in found]

    def rewind(self, commit: int) -> WorldSummary:
        """Rewind to the state after a commit of `history`; the request log continues."""
        path = self.control_path("rewind")
        return self._take_over(self.control.post(path, {"commit": commit}))

    def reset(self) -> WorldSummary:
        """Reset the world to how it started; its request log is emptied."""
        return self._take_over(self.control.post(self.control_path("reset"), {}))

    def load_scenario(self, **scenario: Unpack[ScenarioChoice]) -> WorldSummary:
        """Replace this world by a scenario's. The old state stays until the new one is ready."""
        return self._take_over(self.control.post(self.control_path("scenario"), scenario))

    def record(
        self,
        path: str | Path | None = None,
        *,
        first: int | str | None = None,
        last: int | str | None = None,
        name: str | None = None,
    ) -> RecordedScenario:
        """Write what was done here as a scenario whose story passes, to `path` if given.

        A span begins and ends with a request (its number) or a commit (`"commit:40"`). Raises
        ControlRefused if a scenario cannot express it.
        """
        asked = self.control_path("scenario", first=first, last=last, name=name)
        recorded = RecordedScenario(self.control.get(asked))
        if path is not None:
            Path(path).write_text(recorded.text, encoding="utf-8")
        return recorded

    def import_state(self, state: Mapping[str, Any]) -> WorldSummary:
        """Replace this world's state by an exported document; a missing world is made."""
        return self._take_over(self.control.put(self.control_path("state"), state))

    def export(self, path: str | Path | None = None, *, with_seed: bool = False) -> JsonObject:
        """Return the whole state as one document, and write it to `path` if given.

        `hosting-emulator start --from PATH` and `fresh(state=…)` take it up again. With its seed,
        from which its secrets can be computed, a world made of it goes on with the same ids.
        """
        asked = self.control_path("state", seed="true" if with_seed else None)
        state = Record(self.control.get(asked))
        if path is not None:
            Path(path).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        return state


def _written(kind: str, /, **arguments: Any) -> dict[str, Any]:
    """Write a fault or outcome as in a scenario, of what a method was given; `kind` names its kind.

    What has a parameter of its own is the rule, the rest are `options`.
    """
    del arguments["self"]
    effect, options = arguments.pop(kind), given(**arguments.pop("options"))
    rule = given(**{name.rstrip("_"): value for name, value in arguments.items()})
    return (options if effect is None else {effect: options}) | rule


class ArmedFault:
    """A fault or outcome that was armed. `id` is its id in its world; the end of `with` disarms it."""

    def __init__(
        self, emulator: HostingEmulator, kept: str, state: FaultState | OutcomeState
    ) -> None:
        self._emulator, self._kept = emulator, kept
        self.id = state.id
        self.state = state
        """The fault as it was when it was armed or listed."""
        self._last: FaultState | OutcomeState | None = None

    def __repr__(self) -> str:
        return f"<ArmedFault {self.id!r} of {self._emulator.name!r}>"

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
    def now(self) -> FaultState | OutcomeState:
        """The fault as it now is, with all its counts; or as it was when it was removed from here.

        Raises ControlRefused when it went some other way, such as a reset of the world.
        """
        if self._last is not None:
            return self._last
        found = self._emulator.control.get(self._emulator.control_path(self._kept, self.id))
        return FaultState(found) if self._kept == "faults" else OutcomeState(found)

    def remove(self) -> None:
        """Disarm it; its counts can be asked for all the same. Raises ControlRefused if it is gone."""
        last = self.now
        self._emulator.control.delete(self._emulator.control_path(self._kept, self.id))
        self._last = last

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with _gone_is_fine():  # it was removed inside, or its world was reset
            self.remove()


class WorldSnapshot:
    """A world as it was: `id`, `commit`, and `at`, a timestamp of world time.

    Going back puts state, clock, faults and assumptions back; the request log goes on. At the end
    of a `with` block the world goes back and the snapshot is forgotten. Otherwise it lives as long
    as its world.
    """

    def __init__(self, emulator: HostingEmulator, kept: Record) -> None:
        self._emulator = emulator
        self.id: str = kept["id"]
        self.commit: int = kept["commit"]
        self.at: str = kept["at"]

    def __repr__(self) -> str:
        return f"<WorldSnapshot {self.id!r} of {self._emulator.name!r} at {self.at}>"

    def restore(self) -> None:
        """Restore the world, as often as you like. Raises ControlRefused if forgotten."""
        self._emulator.restore(self)

    def forget(self) -> None:
        """Delete the snapshot; it is no error if it is already deleted."""
        with _gone_is_fine():
            self._emulator.control.delete(self._emulator.control_path("snapshots", self.id))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()
        self.forget()


def _aliases(kind: str, members: Sequence[WorldMember]) -> Aliases:
    return Aliases(kind, [(member["alias"], member["id"]) for member in members])


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
    """Give a client, the world that the address names, and whether the client is ours to close.

    It is closed here when something goes wrong.
    """
    if isinstance(url, ControlClient):
        yield url, None, False
        return
    address = read_address(url)
    control = ControlClient(address.control_url, token=read_control_token(control_token))
    try:
        yield control, address.world, True
    except BaseException:
        control.close()
        raise
