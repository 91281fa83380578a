"""The control API: one row for each path, with the handler that answers it and what that answers.

A handler names what it wants by its parameters: `context`, `engine` (of the world in the path, or
else of the default world), `body` (the request's JSON as the type that stands there), the names in
braces, and parameters of the query by the kinds below; any other keeps its default. It returns a
value, which is written as the row says: a kind of `messages`, a list of them (`[]`) as `items`, one
that may be null (`?`), or a response of its own, of a media type. A list that can be long is an iterator
that makes each item when it is needed: other requests are handled in between. A world's engine is
written as the world's summary. Its module is loaded when it is first asked: a start is not to wait for it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import Parameter, isawaitable, signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast, get_args
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from aiohttp import web
from msgspec import Meta
from multidict import CIMultiDict

from hosting_emulator.calls.answers import REDEEM_PATH, project_at
from hosting_emulator.calls.request import Reply
from hosting_emulator.conduct.observation import Observations, ProcessObservation
from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.contract.documents import DocumentRefused, read_fields
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine, Worlds
from hosting_emulator.engine.exchange import problem_reply
from hosting_emulator.engine.history import StoreFailed
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.pipeline import decide_at, reply_of
from hosting_emulator.faults.decisions import Decision, FaultSubject
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.http import public, responses
from hosting_emulator.http.guard import Site
from hosting_emulator.http.time_slices import in_thread
from hosting_emulator.messages import ClockMode, RequestFilters
from hosting_emulator.scenario.document import ScenarioLibrary
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.world.naming import DEFAULT_WORLD, N, id_of, kind_of, not_found
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import Table
from hosting_emulator.world.value import Change, World

if TYPE_CHECKING:
    from hosting_emulator.scenario.story import PageRequest

PREFIX = "/_emulator"
#: `{name}` is one segment of a path, `{name*}` all the rest. The first path that fits is the one.
_TABLE = """
GET     /                                               documents.start             text/html
GET     /health                                         documents.health            Health
GET     /info                                           documents.info              Info
GET     /page-secret                                    documents.page_secret       PageSecret
GET     /metrics                                        reports.metrics             text/plain
GET     /openapi.json                                   documents.control_openapi   object
GET     /docs                                           documents.docs              text/html
GET     /docs/control-api                               documents.control_docs      text/html
GET     /docs/style.css                                 documents.style             text/css
GET     /docs/errors                                    documents.errors            text/html
GET     /docs/errors/{slug}                             documents.error             text/html
GET     /static/{file*}                                 documents.static_file       */*
GET     /contract/openapi.json                          documents.openapi           object
GET     /contract/calls                                 documents.calls             CallRow[]
GET     /contract/problems                              documents.problems          ProblemRow[]
GET     /contract/assumptions                           worlds.list_assumptions     AssumptionRow[]
GET     /contract/conduct-rules                         reports.list_rules          ConductRuleRow[]
GET     /contract/fault-kinds                           faults.list_kinds           FaultKinds
GET     /contract/outcome-kinds                         faults.list_outcome_kinds   FaultKinds
GET     /contract/interventions                         faults.list_interventions   InterventionRow[]
GET     /contract/variation-points                      faults.list_points          VariationPoint[]
GET     /contract/scenario-schema.json                  scenarios.schema            object
GET     /scenarios                                      scenarios.list_scenarios    ScenarioName[]
POST    /scenarios/run                                  scenarios.run_scenario      StoryReport
GET     /scenarios/{name}                               scenarios.show_scenario     ScenarioText
GET     /events                                         events.listen_to_worlds     text/event-stream
GET     /worlds                                         worlds.list_worlds          WorldSummary[]
POST    /worlds                                         worlds.create_world         201:NewWorldSummary
GET     /worlds/{world}                                 worlds.show_world           WorldSummary
DELETE  /worlds/{world}                                 worlds.delete_world         204
POST    /worlds/{world}/reset                           worlds.reset_world          WorldSummary
POST    /worlds/{world}/fork                            worlds.fork_world           201:NewWorldSummary
GET     /worlds/{world}/state                           worlds.get_state            object
PUT     /worlds/{world}/state                           worlds.put_state            WorldSummary
GET     /worlds/{world}/assumptions                     worlds.list_assumptions     AssumptionRow[]
PATCH   /worlds/{world}/assumptions                     worlds.patch_assumptions    AssumptionRow[]
GET     /worlds/{world}/openapi.json                    documents.openapi           object
GET     /worlds/{world}/requests                        requests.list_requests      RequestPage
GET     /worlds/{world}/requests/{n}                    requests.show_request       WholeExchange
POST    /worlds/{world}/requests/{n}/replay             requests.replay_request     WholeExchange
GET     /worlds/{world}/requests.har                    requests.export_har         object
GET     /worlds/{world}/events                          events.listen               text/event-stream
GET     /worlds/{world}/report                          reports.report              WorldReport
GET     /worlds/{world}/conduct                         reports.show_conduct        ConductReport
DELETE  /worlds/{world}/conduct                         reports.clear_conduct       204
POST    /observations                                   observations.begin_observation  201:ObservationState
GET     /observations/{observation}/chapters/{chapter}/state observations.get_chapter_state object
GET     /observations/{observation}/chapters/{chapter}/report observations.report_chapter WorldReport
GET     /observations/{observation}/chapters/{chapter}/requests observations.list_chapter_requests RequestPage
GET     /observations/{observation}/chapters/{chapter}/requests/{n} observations.show_exchange WholeExchange
GET     /observations/{observation}                     observations.show_observation   ObservationReport
DELETE  /observations/{observation}                     observations.end_observation    204
POST    /protected-faults                               protected.protect_fault  201:ProtectedFaultState
GET     /protected-faults/{protected_fault}             protected.show_protected_fault ProtectedFaultState
DELETE  /protected-faults/{protected_fault}             protected.remove_protected_fault 204
GET     /worlds/{world}/history                         history.list_history        CommitHistory
POST    /worlds/{world}/rewind                          history.rewind              WorldSummary
GET     /worlds/{world}/snapshots                       history.list_snapshots      SnapshotState[]
POST    /worlds/{world}/snapshots                       history.take_snapshot       201:SnapshotState
POST    /worlds/{world}/snapshots/{snapshot}/restore    history.restore_snapshot    WorldSummary
DELETE  /worlds/{world}/snapshots/{snapshot}            history.delete_snapshot     204
GET     /worlds/{world}/timeline                        history.show_timeline       Timeline
GET     /worlds/{world}/clock                           clock.get_clock             ClockState
PUT     /worlds/{world}/clock                           clock.put_clock             ClockState
POST    /worlds/{world}/clock/advance                   clock.advance_clock         ClockMove
GET     /worlds/{world}/operations                      clock.list_operations       OperationState[]
GET     /worlds/{world}/operations/{operation}/why      clock.why_operation         Why
POST    /worlds/{world}/operations/{operation}/step     clock.step_operation        object
GET     /worlds/{world}/projects                        projects.list_projects      ProjectState[]
GET     /worlds/{world}/keys                            projects.list_keys          KeyState[]
GET     /worlds/{world}/faults                          faults.list_faults          FaultState[]
POST    /worlds/{world}/faults                          faults.arm_fault            201:FaultState
DELETE  /worlds/{world}/faults                          faults.clear_faults         FaultsRemoved
GET     /worlds/{world}/faults/{fault}                  faults.show_fault           FaultState
DELETE  /worlds/{world}/faults/{fault}                  faults.remove_fault         204
GET     /worlds/{world}/outcomes                        faults.list_outcomes        OutcomeState[]
POST    /worlds/{world}/outcomes                        faults.arm_outcome          201:OutcomeState
DELETE  /worlds/{world}/outcomes                        faults.clear_outcomes       FaultsRemoved
GET     /worlds/{world}/outcomes/{outcome}              faults.show_outcome         OutcomeState
DELETE  /worlds/{world}/outcomes/{outcome}              faults.remove_outcome       204
POST    /worlds/{world}/interventions                   faults.intervene            InterventionDone
GET     /worlds/{world}/variation                       faults.get_variation        VariationState?
PUT     /worlds/{world}/variation                       faults.put_variation        VariationState
DELETE  /worlds/{world}/variation                       faults.delete_variation     204
GET     /worlds/{world}/scenario                        scenarios.record_scenario   RecordedScenario
POST    /worlds/{world}/scenario                        scenarios.load_scenario     WorldSummary
POST    /worlds/{world}/tokens                          tokens.create_token         201:AccessToken
POST    /worlds/{world}/api-keys                        tokens.create_api_key       201:NewApiKey
"""
#: The identity provider: of the default world, and the same below each world.
_IDP = """
GET     {}/idp/.well-known/openid-configuration         tokens.discovery            object
GET     {}/idp/jwks.json                                tokens.jwks                 object
GET     {}/idp/authorize                                sign_in.authorize           text/html
POST    {}/idp/authorize                                sign_in.authorize           text/html
POST    {}/idp/token                                    tokens.token                object
GET     {}/idp/userinfo                                 tokens.userinfo             object
POST    {}/idp/userinfo                                 tokens.userinfo             object
GET     {}/idp/end-session                              sign_in.end_session         text/html
"""


#: The module of a tag's handlers, where it is not the module of this package with the tag's name.
_MODULES = {
    "documents": "hosting_emulator.dashboard.handlers",
    "events": "hosting_emulator.control.requests",
    "history": "hosting_emulator.control.clock",
    "projects": "hosting_emulator.control.worlds",
    "sign_in": "hosting_emulator.identity.endpoints",
    "tokens": "hosting_emulator.identity.endpoints",
}
#: Handlers whose bodies may hold an exported state.
_WITH_STATES = ("worlds.create_world", "worlds.put_state")


class Route(NamedTuple):
    """One row (see above). `door` is what faults call it, where it is one of the identity provider's."""

    method: str
    path: str
    pattern: re.Pattern[str]
    handler: str
    status: int
    answer: str
    door: str = ""


class Handler(NamedTuple):
    """What answers a path: its parameters, of these those in the query, and the kind of its body."""

    function: Callable[..., Any]
    parameters: set[str]
    query: dict[str, Parameter]
    body: Any
    body_limit: int


def _route(line: str, door: bool = False) -> Route:
    method, path, handler, answer = line.split()
    pattern = re.escape(path.rstrip("/"))
    pattern = re.sub(r"\\{(\w+)\\\*\\}", r"(?P<\1>.+)", pattern)
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", pattern)
    status, _, kind = ("204", "", "") if answer == "204" else answer.rpartition(":")
    at = IDENTITY_PROVIDER + handler.partition(".")[2] if door else ""
    return Route(method, path, re.compile(pattern), handler, int(status or 200), kind, at)


ROUTES = [
    *map(_route, _TABLE.strip().splitlines()),
    *(
        _route(line.format(prefix), door=True)
        for prefix in ("", "/worlds/{world}")
        for line in _IDP.strip().splitlines()
    ),
]


@cache
def load_handler(name: str) -> Handler:
    """Return a handler by the name in its row: its tag and its function."""
    tag, _, function_name = name.rpartition(".")
    module = _MODULES.get(tag, f"hosting_emulator.control.{tag}")
    function = getattr(import_module(module), function_name)
    parameters = dict(signature(function, eval_str=True).parameters)
    query = {
        name: found
        for name, found in parameters.items()
        if name != "body" and found.annotation in _QUERY_KINDS
    }
    body = parameters["body"].annotation if "body" in parameters else None
    limit = STATE_LIMIT if name in _WITH_STATES else BODY_LIMIT
    needed = {name for name, found in parameters.items() if found.default is Parameter.empty}
    return Handler(function, needed | query.keys(), query, body, limit)


# --- what a handler is given, and how it reads and refuses ----------------------------------------

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
    """What stays the same while a server runs. `variation` is that of worlds that name none.

    `storage_problem` returns the last problem with files that disappeared while they were used.
    """

    version: str
    data_dir: str | None
    durability: str
    started_at: str
    seed: str
    variation: Variation | None = None
    storage_problem: Callable[[], str | None] = lambda: None


@dataclass
class Context:
    """One request of the control API. A story waits for nothing: its delays go to `pass_over`."""

    request: web.BaseRequest
    worlds: Worlds
    site: Site
    facts: Facts
    query: str
    library: ScenarioLibrary
    body: bytes | None = None
    pass_over: Callable[[int], None] | None = None
    observations: Observations = field(default_factory=Observations)

    async def wait(self, ms: int) -> None:
        """Wait for so many real milliseconds."""
        if self.pass_over is None:
            await asyncio.sleep(ms / 1000)
        else:
            self.pass_over(ms)

    async def apart(self, function: Callable[..., T], *given: Any) -> T:
        """Do what takes long where others are answered meanwhile."""
        far = self.pass_over is None
        return await asyncio.to_thread(function, *given) if far else function(*given)

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

    async def bytes(self, limit: int = BODY_LIMIT) -> bytes:
        """Return the request body, as often as it is asked for. Raises ControlRefusal."""
        if self.body is None:
            self.body, refused = await public.read_body(self.request, limit)
            if refused is not None:
                status = 413 if refused.status == 413 else 400
                raise ControlRefusal(status, "Bad request", refused.detail)
        return self.body

    async def read(self, kind: type[S], limit: int = BODY_LIMIT) -> S:
        """Return the JSON body as a `kind`; none is an empty object. Raises ControlRefusal 400."""
        try:
            body = await self.bytes(limit) or b"{}"
            # In a thread if it is long: others are answered meanwhile.
            far = len(body) > BODY_LIMIT
            document = await in_thread(read_json, body) if far else read_json(body)
        except JsonRefused as error:
            raise ControlRefusal(400, "Bad request", f"the body {error}") from None
        if not isinstance(document, dict):
            raise ControlRefusal(400, "Bad request", "the body must be a JSON object")
        try:
            return read_fields(document, kind)
        except DocumentRefused as error:
            at = f"{error.field}: " if error.field else ""
            raise ControlRefusal(400, "Bad request", f"{at}{error}") from None


# --- parameters of the query ---------------------------------------------------------------------

#: How many are wanted.
Limit = Annotated[int, Meta(ge=1, le=1000)]
#: A span of real time, in milliseconds.
Milliseconds = Annotated[int, Meta(ge=0, le=60_000)]
#: Words with commas between them; the parameter may come more than once.
Words = list[str]
#: A text that may be left out.
Text = str | None
_QUERY_KINDS = (Limit, Milliseconds, bool, Words, Text, RequestFilters)


def _names(parameter: Parameter) -> Iterable[str]:
    filters = parameter.annotation is RequestFilters
    return RequestFilters.__annotations__ if filters else (parameter.name,)


def _read_parameter(given: dict[str, list[str]], parameter: Parameter) -> Any:
    """Return a parameter of the query, or else its default. Raises ControlRefusal 400."""
    name, kind, values = parameter.name, parameter.annotation, given.get(parameter.name, [])
    if kind is RequestFilters:
        return {
            name: _filter_value(name, given[name]) for name in _names(parameter) if name in given
        }
    if kind == Words:
        words = ",".join(values).split(",")
        return list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not values:
        return parameter.default
    text = _single(name, values)
    if kind is bool and text not in ("true", "false"):
        raise ControlRefusal(400, f"Bad {name}", f"{name} must be true or false")
    if kind == Limit:
        digits = text.lstrip("0")[:5] if text.isascii() and text.isdigit() else ""
        if not 1 <= int(digits or 0) <= 1000:
            raise ControlRefusal(400, f"Bad {name}", f"{name} must be a number from 1 to 1000")
        return int(digits)
    if kind == Milliseconds:
        digits = text.lstrip("0")[:6] or "0"
        if not (text.isascii() and text.isdigit()) or int(digits) > 60_000:
            raise ControlRefusal(400, f"Bad {name}", f"{name} must be a number from 0 to 60000")
        return int(digits)
    return text == "true" if kind is bool else text


def _single(name: str, values: list[str]) -> str:
    """Return the only value of a parameter. Raises ControlRefusal 400 if there are several."""
    if len(values) > 1:
        shown = " and ".join(repr(value[:40]) for value in values[:2])
        raise ControlRefusal(400, f"Bad {name}", f"{name} takes one value, not {shown}")
    return values[0]


def _filter_value(name: str, values: list[str]) -> str:
    """Return the value of a filter. Raises ControlRefusal 400 for an empty one.

    An empty value is usually a variable that is not set. Taken for no filter, it would select every
    request, and a check of the result would say nothing.
    """
    value = _single(name, values)
    if not value:
        raise ControlRefusal(400, f"Bad {name}", f"{name} is empty: leave it out to select any")
    return value


def moment(text: str) -> int:
    """Read a timestamp. Raises ControlRefusal 400."""
    with refused_as(400, "Bad timestamp", ValueError):
        return parse_timestamp(text)


def find(world: World, table: Table[N], name: str) -> N:
    """Return the user, organization or project of this alias or id. Raises ControlRefusal 404."""
    row = world.get(table, id_of(world, table, name))
    if row is None:
        raise ControlRefusal(404, f"No such {kind_of(table)}", not_found(world, table, name))
    return row


def find_observation(context: Context, id_: str) -> ProcessObservation:
    """Return an observation by its id. Raises ControlRefusal 404."""
    observation = context.observations.get(id_, time.monotonic())
    return found(observation, "No such observation", f"no observation is {id_[:80]!r}")


# --- answering ------------------------------------------------------------------------------------


async def answer(context: Context, path: str) -> web.StreamResponse:
    """Answer a request of the control API; `path` is the whole path, without the query."""
    method = "GET" if context.request.method == "HEAD" else context.request.method
    # Behind the slash of `DELETE …/faults/` an empty name was meant, and not all there are.
    rest = path[len(PREFIX) :].rstrip("" if method == "DELETE" else "/")
    allow, place = set(), None
    for route in ROUTES:
        found = route.pattern.fullmatch(rest)
        if found is None or place not in (None, route.path):
            continue
        place = route.path
        if route.method == method:
            break
        allow.add(route.method)
    else:
        if not allow:
            detail = "the control API has no such path; see /_emulator/docs/control-api"
            return responses.problem(404, "No such path", detail)
        methods = ", ".join(sorted(allow))
        return responses.problem(405, "Wrong method", f"this path takes {methods}", Allow=methods)
    named = {name: unquote(value) for name, value in found.groupdict().items()}
    try:
        response = await respond(context, route, named)
    except ControlRefusal as refused:
        return responses.problem(refused.status, refused.title, refused.detail)
    except StoreFailed as failed:
        return responses.problem(503, "Not kept", f"nothing was changed: {failed}")
    engine = context.worlds.get(named.get("world", DEFAULT_WORLD))
    durable = engine.keeper.durable() if engine is not None else None
    if durable is not None:
        try:
            await durable
        except OSError as error:
            return responses.problem(503, "Not durable", f"the change may be lost: {error}")
    return response


async def respond(context: Context, route: Route, named: dict[str, str]) -> web.StreamResponse:
    """Answer a request that a row is for, or as the faults at its door say. Raises ControlRefusal."""
    if route.door:
        engine = context.engine(named.get("world", DEFAULT_WORLD))
        if engine.world.has_faults:
            response = await _answer_at(context, engine, route, named)
        else:
            response = await _ask(context, route, named)
        # The identity provider lives in its world's time, as its tokens do.
        if isinstance(response, web.Response):
            responses.dated(response, engine.date_s())
        return response
    return await _ask(context, route, named)


async def _ask(context: Context, route: Route, named: dict[str, str]) -> web.StreamResponse:
    handler = load_handler(route.handler)
    given: dict[str, Any] = {"context": context, **named}
    if "engine" in handler.parameters:
        given["engine"] = context.engine(named.get("world", DEFAULT_WORLD))
    if handler.body is not None:
        given["body"] = await context.read(handler.body, handler.body_limit)
    asked = parse_qs(context.query, keep_blank_values=True)
    # A page reads its own; an identity provider passes over what it does not know (RFC 6749, 3.1).
    if not route.door and ("/" not in route.answer or handler.query):
        known = [name for one in handler.query.values() for name in _names(one)]
        for name in (name for name in asked if name not in known):
            raise ControlRefusal(400, "Bad query", unknown("query parameter", name, known))
    given |= {name: _read_parameter(asked, one) for name, one in handler.query.items()}
    value = handler.function(**{name: given[name] for name in handler.parameters})
    value = await value if isawaitable(value) else value
    if isinstance(value, web.StreamResponse):
        return value
    if route.status == 204:
        return web.Response(status=204)
    if isinstance(value, Engine):
        from hosting_emulator.control.worlds import world_summary

        value = world_summary(context, value)
    if not route.answer.endswith("[]"):
        return responses.json(value, route.status)
    if isinstance(value, Iterator):
        return await responses.json_list(context.request, {"items": []}, "items", value)
    return responses.json({"items": value}, route.status)


# --- faults at the doors of the identity provider --------------------------------------------------


async def _answer_at(
    context: Context, engine: Engine, route: Route, named: dict[str, str]
) -> web.StreamResponse:
    """Answer a request at a door, as the faults that are armed for it say."""
    subject = FaultSubject(
        call=route.door,
        project=None,
        organization=None,
        principal="",
        method=context.request.method,
        path=route.path,
        headers=context.request.headers.getall,
        query=context.query,
        body=await context.bytes(),
    )
    decision = decide_at(engine, subject, engine.run_due(), "before_commit")
    if (instead := await _instead(context, engine, decision)) is not None:
        return instead
    response = await _ask(context, route, named)
    if decision.effect is None:  # the first ends the search
        refused, now_ms = response.status >= 400, engine.run_due()
        decision = decide_at(engine, subject, now_ms, "after_commit", refused=refused)
        if (instead := await _instead(context, engine, decision)) is not None:
            return instead
    if decision.effect is None or not isinstance(response, web.Response):
        return response
    reply = as_reply(response)
    reply.headers = [pair for pair in reply.headers if pair[0] != "Content-Length"]
    return responses.FaultyResponse(reply, engine.date_s(), decision.effect)


async def _instead(
    context: Context, engine: Engine, decision: Decision
) -> web.StreamResponse | None:
    """Wait as decided; return what is answered in place of the door's own answer. None: nothing is."""
    if decision.delay_ms:
        await context.wait(decision.delay_ms)
    if decision.effect is None:
        return None
    if (refused := decision.problem) is not None:
        docs_url, assumed = context.site.docs_url(context.request), engine.world.assumptions
        reply = problem_reply(refused, engine.request_id(), docs_url, assumed)
        return responses.ReadyResponse(reply, engine.date_s())
    instead = reply_of(decision.effect)
    if instead is None:
        return None
    if decision.effect.silent:
        return responses.FaultyResponse(instead, engine.date_s(), decision.effect)
    return responses.ReadyResponse(instead, engine.date_s())


def as_reply(response: web.Response) -> Reply:
    """Return a response as the core writes one."""
    body = response.body if isinstance(response.body, bytes) else b""
    headers = [(k, v) for k, v in response.headers.items() if k != "Content-Type"]
    content_type = response.headers.get("Content-Type", "")
    return Reply(response.status, body, content_type=content_type, headers=headers)


# --- visits of a story ----------------------------------------------------------------------------


def visit(
    engine: Engine, asked: PageRequest, pass_over: Callable[[int], None]
) -> tuple[Reply, FaultKind | None]:
    """Answer a story's request to a page of a world: its identity provider's, or of a dev origin.

    Tells what breaks the answer on its wire, though no socket has part in it; delays go to `pass_over`.
    Raises ValueError for an address that has no page.
    """
    url, site = urlsplit(asked.url), Site(asked.own_url)
    host = {} if url.netloc == "" else {"Host": url.netloc}
    looked_at = {"headers": CIMultiDict(asked.headers | host), "raw_headers": ()}
    sent = SimpleNamespace(method=asked.method, scheme="http", remote=None, **looked_at)
    visitor = cast("web.BaseRequest", sent)
    if url.netloc:
        project = project_at(Change(engine.world, engine.world.at_ms), url.hostname or "")
        if project is None or url.path == REDEEM_PATH:
            raise ValueError(f"{asked.url[:80]} is not a page of a dev origin")
        page = public.answer_origin(visitor, engine, project, url.path, url.query, site)
    else:
        path = url.path.removeprefix(f"{PREFIX}/idp")
        rest = (issuer_path(engine.world.name) + path).removeprefix(PREFIX)
        doors = (one for one in ROUTES if one.door and one.method == asked.method)
        route = next((one for one in doors if one.pattern.fullmatch(rest)), None)
        if route is None:
            raise ValueError(f"the identity provider has no {asked.method} {url.path[:80]}")
        only = cast("Worlds", {DEFAULT_WORLD: engine})  # no page looks at another world
        facts = Facts("", None, "process", "", engine.world.seed)
        no_library = ScenarioLibrary(None)
        context = Context(visitor, only, site, facts, url.query, no_library, asked.body, pass_over)
        page = respond(context, route, {"world": DEFAULT_WORLD})
    try:
        page.send(None)
    except StopIteration as done:
        response = done.value
    else:
        raise AssertionError("a page waits for something")
    if isinstance(response, responses.ReadyResponse):
        return response.reply, getattr(response, "effect", None)
    reply = as_reply(response)
    cookies = [("Set-Cookie", kept.OutputString()) for kept in response.cookies.values()]
    reply.headers = (*reply.headers, *cookies)
    return reply, None
