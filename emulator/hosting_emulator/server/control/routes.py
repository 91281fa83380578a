"""The control API: one row for each path, with the handler that answers it and what that answers.

A handler names what it wants by its parameters: `context`, `engine` (of the world in the path, or
else of the default world), `body` (the request's JSON as the type that stands there), the names in
braces, and parameters of the query by the kinds in `context`. It returns a value, which is written as
the row says: a kind of `control_api`, a list of them (`[]`) as `items`, one that may be null (`?`), or
a response of its own, of a media type. A world's engine is written as the world's summary. Its module
is loaded when it is first asked: a start is not to wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, isawaitable, signature
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import unquote, urlsplit

from aiohttp import web
from multidict import CIMultiDict

from hosting_emulator.calls.answers import REDEEM_PATH
from hosting_emulator.calls.dev_origin import project_at
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import problem_reply
from hosting_emulator.engine.history import StoreFailed
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.pipeline import decide_at, reply_of
from hosting_emulator.faults.decisions import NOTHING, Decision, FaultSubject
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.scenario.document import ScenarioLibrary
from hosting_emulator.server import answers, public
from hosting_emulator.server.control.context import (
    BODY_LIMIT,
    QUERY_READERS,
    Context,
    ControlRefusal,
    Facts,
)
from hosting_emulator.server.guard import Site
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.value import Change

if TYPE_CHECKING:
    from hosting_emulator.scenario.story import PageRequest

PREFIX = "/_emulator"
#: `{name}` is one segment of a path, `{name*}` all the rest. The first path that fits is the one.
_TABLE = """
GET     /                                               documents.start             text/html
GET     /health                                         documents.health            Health
GET     /info                                           documents.info              Info
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


#: The file of a tag's handlers, where it is another's.
_MODULES = {
    **{"history": "clock", "projects": "worlds"},
    **{"tokens": "identity", "sign_in": "identity", "events": "requests"},
}


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
    parameters: frozenset[str]
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
    module = _MODULES.get(tag, tag)
    function = getattr(import_module(f"hosting_emulator.server.control.{module}"), function_name)
    parameters = dict(signature(function, eval_str=True).parameters)
    query = {
        name: found
        for name, found in parameters.items()
        if name != "body" and found.annotation in QUERY_READERS
    }
    body = parameters["body"].annotation if "body" in parameters else None
    limits = [part for part in getattr(body, "__metadata__", ()) if isinstance(part, int)]
    return Handler(function, frozenset(parameters), query, body, *(limits or [BODY_LIMIT]))


async def answer(context: Context, path: str) -> web.StreamResponse:
    """Answer a request of the control API; `path` is the whole path, without the query."""
    rest = path[len(PREFIX) :].rstrip("/")
    method = "GET" if context.request.method == "HEAD" else context.request.method
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
            return answers.problem(404, "No such path", detail)
        methods = ", ".join(sorted(allow))
        return answers.problem(405, "Wrong method", f"this path takes {methods}", Allow=methods)
    named = {name: unquote(value) for name, value in found.groupdict().items()}
    try:
        response = await respond(context, route, named)
    except ControlRefusal as refused:
        return answers.problem(refused.status, refused.title, refused.detail)
    except StoreFailed as failed:
        return answers.problem(503, "Not kept", f"nothing was changed: {failed}")
    engine = context.worlds.get(named.get("world", DEFAULT_WORLD))
    durable = engine.keeper.durable() if engine is not None else None
    if durable is not None:
        try:
            await durable
        except OSError as error:
            return answers.problem(503, "Not durable", f"the change may be lost: {error}")
    return response


async def respond(context: Context, route: Route, named: dict[str, str]) -> web.StreamResponse:
    """Answer a request that a row is for, or as the faults at its door say. Raises ControlRefusal."""
    if route.door:
        engine = context.engine(named.get("world", DEFAULT_WORLD))
        if engine.world.has_faults:
            return await _answer_at(context, engine, route, lambda: _ask(context, route, named))
    return await _ask(context, route, named)


async def _ask(context: Context, route: Route, named: dict[str, str]) -> web.StreamResponse:
    handler = load_handler(route.handler)
    given: dict[str, Any] = {"context": context, **named}
    if "engine" in handler.parameters:
        given["engine"] = context.engine(named.get("world", DEFAULT_WORLD))
    if handler.body is not None:
        given["body"] = await context.read(handler.body, handler.body_limit)
    for parameter in handler.query.values():
        read = QUERY_READERS[parameter.annotation]
        given[parameter.name] = read(context, parameter.name, parameter.default)
    value = handler.function(**{name: given[name] for name in handler.parameters})
    value = await value if isawaitable(value) else value
    if isinstance(value, web.StreamResponse):
        return value
    if route.status == 204:
        return web.Response(status=204)
    if isinstance(value, Engine):
        from hosting_emulator.server.control.worlds import world_summary

        value = world_summary(context, value)
    return answers.json({"items": value} if route.answer.endswith("[]") else value, route.status)


# --- faults at the doors of the identity provider --------------------------------------------------


async def _answer_at(
    context: Context,
    engine: Engine,
    route: Route,
    ask: Callable[[], Awaitable[web.StreamResponse]],
) -> web.StreamResponse:
    """Answer a request at a door, as `ask` does or as the faults that are armed for it say."""
    subject = FaultSubject(
        call=route.door,
        project=None,
        organization=None,
        principal="",
        method=context.request.method,
        path=route.path,
        headers=context.request.headers,
        query=context.query,
        body=await context.bytes(),
    )
    before = decide_at(engine, subject, engine.run_due(), "before_commit")
    if (instead := await _instead(context, engine, before)) is not None:
        return instead
    response, after = await ask(), NOTHING
    if before.effect is None:  # the first ends the search
        refused, now_ms = response.status >= 400, engine.run_due()
        after = decide_at(engine, subject, now_ms, "after_commit", refused=refused)
    if (instead := await _instead(context, engine, after)) is not None:
        return instead
    effect = before.effect or after.effect
    if effect is None or not isinstance(response, web.Response):
        return response
    reply = as_reply(response)
    reply.headers = [pair for pair in reply.headers if pair[0] != "Content-Length"]
    return answers.FaultyResponse(reply, effect)


async def _instead(
    context: Context, engine: Engine, decision: Decision
) -> web.StreamResponse | None:
    """Wait as decided; return what is answered in place of the door's own answer. None: nothing is."""
    if decision.delay_ms:
        await context.wait(decision.delay_ms)
    if decision.effect is None:
        return None
    if decision.problem is not None:
        docs_url = context.site.docs_url(context.request)
        assumptions = engine.world.assumptions
        problem = problem_reply(decision.problem, engine.request_id(), docs_url, assumptions)
        return answers.ReadyResponse(problem)
    reply, effect = reply_of(decision.effect), decision.effect
    return None if reply is None else answers.ready(reply, effect if effect.silent else None)


def as_reply(response: web.Response) -> Reply:
    """Return a response as the core writes one."""
    body = response.body if isinstance(response.body, bytes) else b""
    headers = [(k, v) for k, v in response.headers.items() if k != "Content-Type"]
    content_type = response.headers.get("Content-Type", "")
    return Reply(response.status, body, content_type=content_type, headers=headers)


# --- visits of a story ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Visitor:
    """As much of a request as pages look at."""

    method: str
    headers: CIMultiDict[str]
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()
    scheme: str = "http"
    remote: None = None


@dataclass(frozen=True, kw_only=True)
class _Visit(Context):
    """A request about one world, however its path names it. Nothing is waited for in real time."""

    of: Engine
    pass_over: Callable[[int], None]

    def engine(self, name: str) -> Engine:
        return self.of

    async def wait(self, ms: int) -> None:
        self.pass_over(ms)

    async def apart(self, function: Callable[..., Any], *given: Any) -> Any:
        return function(*given)


def visit(
    engine: Engine, asked: PageRequest, pass_over: Callable[[int], None]
) -> tuple[Reply, FaultKind | None]:
    """Answer a story's request to a page of a world: its identity provider's, or of a dev origin.

    Tells what breaks the answer on its wire, though no socket has part in it; delays go to `pass_over`.
    Raises ValueError for an address that has no page.
    """
    url, site = urlsplit(asked.url), Site(asked.own_url)
    host = {} if url.netloc == "" else {"Host": url.netloc}
    visitor = cast("web.BaseRequest", _Visitor(asked.method, CIMultiDict(asked.headers | host)))
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
        context = _Visit(
            request=visitor,
            worlds=cast("Any", None),  # no page looks at another world
            site=site,
            facts=Facts("", None, "process", "", engine.world.seed),
            query=url.query,
            library=ScenarioLibrary(None),
            kept={"body": asked.body},
            of=engine,
            pass_over=pass_over,
        )
        page = respond(context, route, {"world": DEFAULT_WORLD})
    try:
        page.send(None)
    except StopIteration as done:
        response = done.value
    else:
        raise AssertionError("a page waits for something")
    if isinstance(response, answers.ReadyResponse):
        return response.reply, getattr(response, "effect", None)
    reply = as_reply(response)
    cookies = [("Set-Cookie", kept.OutputString()) for kept in response.cookies.values()]
    reply.headers = (*reply.headers, *cookies)
    return reply, None
