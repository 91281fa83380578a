"""An emulator and its worlds.

`ControlClient` is a client for an emulator as a whole, and `HostingEmulator` is a handle for one
world. Both classes are in the same module because each provides access to the other.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack
from urllib.parse import urlsplit

from hosting_emulator import messages
from hosting_emulator.sdk.addresses import read_address
from hosting_emulator.sdk.clock import Duration, WorldClock, duration_text
from hosting_emulator.sdk.conduct import WorldConduct
from hosting_emulator.sdk.errors import EmulatorUnreachable
from hosting_emulator.sdk.faults import WorldFaults
from hosting_emulator.sdk.names import Aliases, NoSuchName
from hosting_emulator.sdk.new_worlds import (
    ScenarioChoice,
    ScenarioLike,
    VaryLike,
    WorldOptions,
    WorldRequest,
    read_vary,
    world_request,
)
from hosting_emulator.sdk.observation import WorldsObservation
from hosting_emulator.sdk.operations import OperationLike, id_of_operation
from hosting_emulator.sdk.report_text import report_text
from hosting_emulator.sdk.requests import Requests
from hosting_emulator.sdk.snapshots import WorldSnapshot
from hosting_emulator.sdk.transport import Transport, path_of, without_none
from hosting_emulator.sdk.world_handle import ignore_missing
from hosting_emulator.variables import unknown_variable_text, unreported_variables

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class TokenOptions(TypedDict, total=False):
    """The options for an access token, except its user.

    `organization` is an alias or an id. By default, it is the first organization in the world to
    which the user belongs, or no organization if there is none. `lifetime` is a span of world time, a
    whole number of seconds from a second to ten years, by default ten years. `interactive` (true by
    default) means that the token belongs to an interactive session.
    """

    organization: str | None
    interactive: bool
    lifetime: Duration | None


class ApiKeyOptions(TypedDict, total=False):
    """The options for a user API key, except its user.

    `organization` is an alias or an id. By default, it is the first organization in the world to
    which the user belongs.
    """

    name: str | None
    organization: str | None
    permissions: Sequence[str] | None


class AssumptionWarning(UserWarning):
    """Issued if one of a world's assumptions contradicts a sentence in the contract."""


class VariableWarning(UserWarning):
    """Issued if an environment variable looks like one of the emulator's, but nothing reads it."""


def _warn_of_variables(url: str | ControlClient | None) -> None:
    """Warn about variables that nothing reads, once per process.

    With a client to share, there is no warning, because the program that created the client has
    reported the variables.
    """
    if isinstance(url, ControlClient):
        return
    for name in unreported_variables(os.environ):
        warnings.warn(unknown_variable_text(name), VariableWarning, stacklevel=3)


def _warn(messages: Sequence[str]) -> None:
    """Issue warnings about assumptions, attributed to the line from which the SDK was called."""
    for message in messages:
        warnings.warn(message, AssumptionWarning, stacklevel=3)


class ControlClient(Transport):
    """A client for a running emulator, with one persistent connection that threads can share.

    `control_url` is a URL such as `http://127.0.0.1:4620/_emulator`. ValueError is raised if it is
    not an HTTP or HTTPS URL. `token` is the control token, if the emulator requires one.
    `timeout_s` is the maximum wait for a response, in real seconds. The constructor does not send a
    request. Any method that sends a request can raise a ControlError.
    """

    def health(self) -> messages.Health:
        """Return the emulator's version and storage status. If this succeeds, the emulator is up."""
        return self.fetch(messages.Health, "GET", "health")

    def info(self) -> messages.Info:
        """Return a description of the running process and its addresses."""
        return self.fetch(messages.Info, "GET", "info")

    def stop(self) -> None:
        """Stop the emulator. It stores its worlds and ends shortly after this call.

        Raises ControlRefused (409) if the emulator was not started by `hosting-emulator start`.
        """
        self.post("stop")

    def contract(self, name: str) -> Any:
        """Return one of the contract's tables or documents as JSON.

        `name` is the last segment of the document's path, such as `problems`, `fault-kinds` or
        `conduct-rules`.
        """
        document = self.get(f"contract/{name}")
        if document.keys() == {"items"}:
            return document["items"]
        return document

    def worlds(self) -> list[messages.WorldSummary]:
        """Return the summaries of all worlds."""
        return self.fetch_list(messages.WorldSummary, "GET", "worlds")

    def world(self, name: str = "default") -> HostingEmulator:
        """Return a handle for a world.

        No request is sent until the handle is used, so the world does not have to exist yet.
        """
        return HostingEmulator(self, name)

    def create_world(
        self, name: str | None = None, **request: Unpack[WorldRequest]
    ) -> messages.NewWorldSummary:
        """Create a world, by default with a generated name. `WorldRequest` describes the arguments.

        Raises ControlRefused (409) if the name is already in use.
        """
        body = without_none(name=name, **request)
        return self.fetch(messages.NewWorldSummary, "POST", "worlds", body)

    def observe(
        self,
        worlds: Iterable[str] | None = None,
        *,
        skip_rules: Sequence[str] = (),
        replaces: WorldsObservation | None = None,
    ) -> WorldsObservation:
        """Start observing all worlds, or only those named in `worlds` and their copies.

        The rules in `skip_rules` are not judged. If `replaces` is given, the same request ends that
        observation.
        """
        body: dict[str, Any] = {"worlds": None, "skip_rules": list(skip_rules)}
        if worlds is not None:
            body["worlds"] = list(worlds)
        if replaces is not None:
            body["replaces"] = replaces.id
        state = self.fetch(messages.ObservationState, "POST", "observations", body)
        return WorldsObservation(self, state.id)

    def scenarios(self) -> list[messages.ScenarioName]:
        """Return the names and descriptions of the scenarios in the library."""
        return self.fetch_list(messages.ScenarioName, "GET", "scenarios")

    def scenario(self, name: str) -> messages.ScenarioText:
        """Return a scenario from the library with its name, description and `text`."""
        return self.fetch(messages.ScenarioText, "GET", path_of("scenarios", name))

    def run_scenario(
        self,
        *,
        world: str | None = None,
        vary: str | None = None,
        vary_only: Sequence[str] | None = None,
        replace: bool = True,
        **scenario: Unpack[ScenarioChoice],
    ) -> messages.StoryReport:
        """Run a scenario's story and return the report.

        The story runs in a temporary world or, if `world` is given, in that world, replacing its
        state. With `replace=False`, ControlRefused (409) is raised instead of replacing a stored
        world that has changed.
        """
        body = without_none(world=world, vary=vary, vary_only=vary_only, **scenario)
        if replace and world is not None:
            body["replace"] = True
        return self.fetch(messages.StoryReport, "POST", "scenarios/run", body)


class HostingEmulator(WorldFaults, AbstractContextManager["HostingEmulator", None]):
    """A handle for a world, with its URL, tokens, content and events.

    To get a handle, use `connect`, `fresh`, a client's `world` method, or the pytest plugin. If the
    emulator refuses a request, `ControlRefused` is raised with a one-line message. If no emulator
    responds, `EmulatorUnreachable` is raised. Threads can share a handle. A `with` statement closes
    the handle at the end of its block.
    """

    control: ControlClient
    """The client of the process, for other worlds, contract tables and the scenario library."""
    clock: WorldClock
    """The world's clock, with `now`, `advance`, `until`, `freeze` and more."""
    base_url: str
    """The base URL of this world, without `/v1`."""
    control_url: str
    """The URL of this world in the control API."""
    projects: Aliases
    """Ids of projects by alias."""
    organizations: Aliases
    """Ids of organizations by alias."""
    users: Aliases
    """Ids of users by alias, such as `owner`, `member`, `reader` or `outsider`."""
    _homes: dict[str, str]

    def __init__(
        self,
        control: ControlClient,
        world: str | messages.WorldSummary,
        *,
        throw_away: bool = False,
        own_connection: bool = False,
    ) -> None:
        """Open the world with this name or summary. With `throw_away`, `close` deletes the world."""
        name = world if isinstance(world, str) else world.name
        super().__init__(control, name)
        self.control = control
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
        """Open an existing world, by default the `default` world.

        Closing the handle does not change the world. `url` is the address of an emulator or a
        world, or an existing client to share. Without `url`, HOSTING_EMULATOR_URL and
        HOSTING_EMULATOR_WORLD are used. If HOSTING_EMULATOR_URL is not set either, the SDK uses the
        emulator that `hosting-emulator exec` started, or else finds the emulator of the working
        folder in the same way as commands do (see `hosting-emulator wait --help`). Without
        `control_token`, HOSTING_EMULATOR_CONTROL_TOKEN is used. Raises ControlRefused (404) if the
        world does not exist, ValueError if the address is invalid, or EmulatorNotFound if the working
        folder's emulator is not running.
        """
        _warn_of_variables(url)
        with _reach(url, control_token) as (control, named, own):
            if url is not None and named is not None and world not in (None, named):
                raise ValueError(f"the address names the world {named!r}, but `world` is {world!r}")
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
        """Create a world that is deleted when the handle is closed.

        `url` and `control_token` have the same meaning as in `connect`. By default, the world has
        the same records as a new default world, and its clock is frozen. `scenario` is the name of
        a library scenario, the path of a file, or a document. `document_name` is the name to use
        for such a document in error messages. `state` is an exported state. Raises ValueError if an
        argument is invalid. If the scenario is invalid, raises ControlRefused with the position of
        the mistake.
        """
        if scenario is not None and state is not None:
            raise ValueError("give either scenario or state, not both")
        request = world_request(scenario, document_name, state, **options)
        _warn_of_variables(url)
        with _reach(url, control_token) as (control, _, own):
            world = control.create_world(name, **request)
            _warn(world.warnings)
            return cls(control, world, throw_away=True, own_connection=own)

    def fork(self, name: str | None = None, *, commit: int | None = None) -> HostingEmulator:
        """Copy this world to a temporary world. Closing this handle also deletes the copy."""
        copied = self.copy(name, ephemeral=True, commit=commit)
        fork = HostingEmulator(self.control, copied, throw_away=True)
        self._forks.append(fork)
        return fork

    def copy(
        self, name: str | None = None, *, ephemeral: bool | None = None, commit: int | None = None
    ) -> messages.NewWorldSummary:
        """Copy this world, or its state after one of the commits in its `history`.

        Returns a summary of the copy.
        """
        body = without_none(name=name, ephemeral=ephemeral, commit=commit)
        return self._fetch(messages.NewWorldSummary, "POST", "fork", body=body)

    def delete(self) -> None:
        """Delete this world and its state. Raises ControlRefused (409) for the default world."""
        self._ask("DELETE")

    def close(self) -> None:
        """Delete this world's forks, and the world itself if it was created by `fresh` or `fork`.
        Idempotent.
        """
        try:
            while self._forks:
                self._forks.pop().close()
            if self._throw_away:
                self._throw_away = False
                # If the world or the emulator no longer exists, there is nothing left to delete.
                with suppress(EmulatorUnreachable), ignore_missing():
                    self.delete()
        finally:
            if self._own_connection:
                self.control.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- Content and credentials -----------------------------------------------------------------

    @property
    def summary(self) -> messages.WorldSummary:
        """This world's current summary."""
        return self._fetch(messages.WorldSummary, "GET")

    def _know(self, summary: messages.WorldSummary) -> messages.WorldSummary:
        """Copy the values in a summary to the attributes of this handle."""
        self.base_url = summary.base_url
        self.control_url = summary.control_url
        self.projects = Aliases("project", summary.projects)
        self.organizations = Aliases("organization", summary.organizations)
        self.users = Aliases("user", summary.users)
        self._homes = {project.id: project.organization_id for project in summary.projects}
        return summary

    if not TYPE_CHECKING:  # the summary is fetched only when one of its values is first needed

        def __getattr__(self, name: str) -> Any:
            if name not in HostingEmulator.__annotations__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self._know(self.summary)
            return vars(self)[name]

    def _take_over(self, summary: messages.WorldSummary) -> None:
        self._tokens = {}  # tokens issued in the old state may not be valid in the new state
        self._know(summary)

    def _replace(
        self, method: str, *parts: str | int, body: Any, **query: Any
    ) -> messages.WorldSummary:
        """Send a request that replaces this world's state, and store the new summary."""
        summary = self._fetch(messages.WorldSummary, method, *parts, body=body, **query)
        self._take_over(summary)
        return summary

    @property
    def project(self) -> str:
        """The id of the world's first project. In the default world, this is the `shop` project.

        Raises NoSuchName if the world has no projects.
        """
        return self._first(self.projects, "project")

    @property
    def organization(self) -> str:
        """The id of the first project's organization.

        In a world without projects, this is the id of the first organization. Raises NoSuchName if
        the world has no organizations.
        """
        if self.projects:
            return self._homes[self.project]
        return self._first(self.organizations, "organization")

    def _first(self, ids: Aliases, kind: str) -> str:
        if not ids:
            raise NoSuchName(f"world {self.name} has no {kind}")
        return next(iter(ids.values()))

    def url(self, path: str, /, *, project: str | None = None) -> str:
        """Return the full URL for a path in this world, such as `/v1/projects/{project}/domains`.

        `project` is a project's alias, by default that of the first project. In the path,
        `{project}` is replaced with the project's id, and `{organization}` with the id of the
        project's organization. Raises ValueError if the path does not start with `/`, or NoSuchName
        if the project is unknown.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path must start with /, as in /v1/projects, not {path[:80]!r}")
        if "{project}" in path:
            id_ = self.project if project is None else self.projects[project]
            path = path.replace("{project}", id_)
        if "{organization}" in path:
            home = self.organization if project is None else self._homes[self.projects[project]]
            path = path.replace("{organization}", home)
        return self.base_url + path

    def redeem_url(self, ticket: str) -> str:
        """Return a URL under this world's base URL with which a ticket can be redeemed.

        `ticket` is the ticket's `redeem_url`. Some clients cannot reach the dev origin in that URL.
        """
        parts = urlsplit(ticket)
        return self.url(f"{parts.path}?{parts.query}")

    def token(self, user: str | None = None, **options: Unpack[TokenOptions]) -> str:
        """Return an access token for a user, given by alias or id.

        By default, the token is valid for ten years of world time, even after a reset or rewind,
        and every call for the same user returns the same token. After the reset of a world that was
        imported without its original seed, the token no longer gives access. To get a new token
        each time, use `mint_token`. Raises ControlRefused (404) if the user is unknown.
        """
        options = TokenOptions(**without_none(**options))  # type: ignore[typeddict-item]
        plain = options in ({}, {"interactive": True})
        if plain and user in self._tokens:
            return self._tokens[user]
        token = self.mint_token(user, **options).access_token
        if plain:
            self._tokens[user] = token
        return token

    def mint_token(
        self, user: str | None = None, **options: Unpack[TokenOptions]
    ) -> messages.AccessToken:
        """Create an access token. By default, it is valid for ten years of world time."""
        body = without_none(**options, user=user)
        if "lifetime" in body:
            body["lifetime"] = duration_text(body["lifetime"])
        return self._fetch(messages.AccessToken, "POST", "tokens", body=body)

    def headers(self, user: str | None = None, *, key: str | None = None) -> dict[str, str]:
        """Return an Authorization header for a user and, if `key` is given, an Idempotency-Key header."""
        headers = {"Authorization": f"Bearer {self.token(user)}"}
        return headers if key is None else {**headers, "Idempotency-Key": key}

    def api_key(self, user: str | None = None, **options: Unpack[ApiKeyOptions]) -> str:
        """Create a user API key in the same way as `create_api_key`, and return its value."""
        return self.create_api_key(user, **options).value

    def create_api_key(
        self, user: str | None = None, **options: Unpack[ApiKeyOptions]
    ) -> messages.NewApiKey:
        """Create a user API key that is valid for 90 days of world time.

        It is created directly, not through a call to the public API.
        """
        body = without_none(**options, user=user)
        return self._fetch(messages.NewApiKey, "POST", "api-keys", body=body)

    def openapi(self) -> messages.JsonObject:
        """Return the OpenAPI 3.1 document for this world's public API, under its assumptions."""
        document: messages.JsonObject = self._ask("GET", "openapi.json")
        return document

    @property
    def assumptions(self) -> list[messages.AssumptionRow]:
        """The assumptions that this world makes where the contract is silent, with their descriptions."""
        return self._fetch_list(messages.AssumptionRow, "GET", "assumptions")

    def set_assumptions(self, values: Mapping[str, Any]) -> list[messages.AssumptionRow]:
        """Change the assumptions in `values`, and return all assumptions.

        Issues an `AssumptionWarning` if a value contradicts a sentence in the contract.
        """
        rows = self._fetch_list(messages.AssumptionRow, "PATCH", "assumptions", body=values)
        _warn([row.warning for row in rows if row.name in values and row.warning])
        return rows

    # --- Changes and reports -------------------------------------------------------------------

    def intervene(self, word: str, /, **fields: Any) -> str:
        """Change this world in a way that is not possible through the public API.

        Returns a sentence that describes the change.

        For example, `intervene("stick_operation", project="shop")` makes an operation get stuck.
        With `all=True`, an intervention applies to all unfinished operations, unused tickets or
        active keys that match the fields.
        """
        return str(self._ask("POST", "interventions", body={word: fields})["message"])

    def add(self, **parts: Sequence[Mapping[str, Any]]) -> str:
        """Add `organizations`, `users`, `projects` and `keys`, and return a description of what was
        added.

        The arguments have the same form as in a world file: `add(users=[{"alias": "zoe",
        "organizations": {"acme": "member"}}])`. If one item is invalid, nothing is added.
        """
        said = self.intervene("add", **parts)
        self._know(self.summary)
        return said

    @property
    def variation(self) -> messages.VariationState | None:
        """How this world's responses vary: the seed, the variation points, and what has been
        varied.

        None if responses do not vary.
        """
        kind: Any = messages.VariationState | None
        state: messages.VariationState | None = self._fetch(kind, "GET", "variation")
        return state

    def vary(
        self, seed: VaryLike, only: str | Sequence[str] | None = None
    ) -> messages.VariationState:
        """Vary responses based on `seed`, at all variation points or only at those in `only`."""
        text, points = read_vary(seed, only)
        body = without_none(seed=text, only=points)
        return self._fetch(messages.VariationState, "PUT", "variation", body=body)

    def unvary(self) -> None:
        """Stop varying responses."""
        self._ask("DELETE", "variation")

    @property
    def requests(self) -> Requests:
        """The requests that have reached this world, for iteration, filtering and assertions."""
        return Requests(self._transport, self)

    def operations(
        self, *, unfinished: bool = False, project: str | None = None
    ) -> list[messages.OperationState]:
        """Return this world's operations, oldest first, and what each of them is waiting for.

        With `unfinished`, returns only operations that have not ended. With `project`, an alias or
        an id, returns only operations on this project.
        """
        query = without_none(unfinished="true" if unfinished else None, project=project)
        return self._fetch_list(messages.OperationState, "GET", "operations", **query)

    def why(self, operation: OperationLike) -> messages.Why:
        """Explain the state of an operation, given by its id or its document.

        If a project's name is given instead, its operation in progress or its latest operation is
        explained. `str()` returns the full text of the explanation.
        """
        return self._fetch(messages.Why, "GET", "operations", id_of_operation(operation), "why")

    def report(self, *, requests: int = 1000, color: bool = False) -> str:
        """Return a report on this world as text, with the latest exchanges, but at most `requests`
        of them.

        The report also includes the clock, the unfinished operations and the faults.
        """
        return report_text(self.report_document(requests=requests), color=color)

    def report_document(self, *, requests: int = 20) -> messages.WorldReport:
        """Return a report on this world as a document, with at most `requests` exchanges."""
        return self._fetch(messages.WorldReport, "GET", "report", requests=requests)

    @property
    def conduct(self) -> WorldConduct:
        """The findings about the client's conduct, with `assert_clean()`, `findings()` and `report()`."""
        return WorldConduct(self._transport, self.name)

    # --- Snapshots and history -------------------------------------------------------------------

    def snapshot(self) -> WorldSnapshot:
        """Take a snapshot of this world. If used in a `with` statement, it is restored at the end
        of the block.
        """
        state = self._fetch(messages.SnapshotState, "POST", "snapshots", body={})
        return WorldSnapshot(self._transport, self.name, state, self.restore)

    def restore(self, snapshot: WorldSnapshot) -> messages.WorldSummary:
        """Restore the state, clock, faults and assumptions from a snapshot, but not the request log."""
        return self._replace("POST", "snapshots", snapshot.id, "restore", body={})

    @property
    def history(self) -> list[messages.CommitEntry]:
        """The latest stored commits, at most 1,000, with their titles and summaries, oldest first."""
        return self.commits(1000)[::-1]

    def commits(self, limit: int = 100) -> list[messages.CommitEntry]:
        """Return the latest stored commits, newest first, but at most `limit` (1 to 1000)."""
        return self._fetch(messages.CommitHistory, "GET", "history", limit=limit).items

    def rewind(self, commit: int) -> messages.WorldSummary:
        """Rewind this world to its state after one of the commits in `history`. The request log
        does not change.
        """
        return self._replace("POST", "rewind", body={"commit": commit})

    def reset(self, *, default: bool = False) -> messages.WorldSummary:
        """Reset this world to the start of its scenario, and clear its request log.

        A world without a scenario, even an imported one, is reset to the content of the default
        world. With `default`, this also applies to a world with a scenario.
        """
        return self._replace("POST", "reset", body={"default": True} if default else {})

    def load_scenario(
        self, *, replace: bool = True, **scenario: Unpack[ScenarioChoice]
    ) -> messages.LoadedWorldSummary:
        """Replace this world with a scenario's world.

        The summary's `notices` say what happened to the time, the clock and the request log, and
        how to go back. If the scenario is refused, the old state is kept. With `replace=False`,
        ControlRefused (409) is raised instead of replacing a stored world that has changed.
        """
        body = {**scenario, "replace": True} if replace else scenario
        summary = self._fetch(messages.LoadedWorldSummary, "POST", "scenario", body=body)
        self._take_over(summary)
        return summary

    def record(
        self,
        path: str | Path | None = None,
        *,
        first: int | str | None = None,
        last: int | str | None = None,
        name: str | None = None,
    ) -> messages.RecordedScenario:
        """Record this world's session as a scenario whose story passes.

        `first` and `last` limit the recording to a span. Each is the number of a request, or a
        commit such as `"commit:40"`. If `path` is given, the scenario is also written to this file.
        """
        span = {"first": first, "last": last, "name": name}
        recorded = self._fetch(messages.RecordedScenario, "GET", "scenario", **span)
        if path is not None:
            Path(path).write_text(recorded.text, encoding="utf-8")
        return recorded

    def import_state(
        self, state: Mapping[str, Any], *, replace: bool = True
    ) -> messages.WorldSummary:
        """Replace this world's state with an exported one. If the world does not exist, it is
        created.

        With `replace=False`, ControlRefused (409) is raised instead of replacing a stored world
        that has changed.
        """
        query = {} if replace else {"replace": "false"}
        return self._replace("PUT", "state", body=state, **query)

    def export(
        self, path: str | Path | None = None, *, with_seed: bool = False
    ) -> messages.JsonObject:
        """Return this world's current state as one document. If `path` is given, also write it to
        this file.

        To import the document, use `hosting-emulator start --import PATH` or `fresh(state=…)`. With
        `with_seed`, the document includes the world's seed, so that an imported world continues
        with the same ids. Anyone who has the seed can compute the world's secrets.
        """
        seed = "true" if with_seed else None
        state: messages.JsonObject = self._ask("GET", "state", seed=seed)
        if path is not None:
            Path(path).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        return state


@contextmanager
def _reach(
    url: str | ControlClient | None, control_token: str | None
) -> Iterator[tuple[ControlClient, str | None, bool]]:
    """Yield a client, the world that `url` names, and whether the client was created here."""
    if isinstance(url, ControlClient):
        yield url, None, False
        return
    control_url, world = read_address(url)
    token = control_token or os.environ.get("HOSTING_EMULATOR_CONTROL_TOKEN")
    if control_url is None:
        # Imported here because most programs specify an address.
        from hosting_emulator.sdk.discovery import find_emulator

        address = find_emulator(token)
        control_url = f"{address.url}/_emulator"
        if not address.is_trusted:
            token = None
    control = ControlClient(control_url, token=token)
    try:
        yield control, world, True
    except BaseException:
        control.close()
        raise
