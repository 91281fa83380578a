"""The control API: which handler answers which path, what it is given, and how its value is written.

A handler names what it wants by its parameters: `context`, `engine` (of the world in the path, or
else of the default world), `body` (the request's JSON as the type that stands there) and the names in
braces. It returns a value, which is written as JSON (a world's engine as the world's summary), or a response
of its own; None is 204. Its module is loaded when it is first asked: a start is not to wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import isawaitable, signature
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.live_world import StoreFailed
from hosting_emulator.server import answers
from hosting_emulator.server.answers import Created
from hosting_emulator.server.control.context import Context, ControlRefusal
from hosting_emulator.world.naming import DEFAULT_WORLD

PREFIX = "/_emulator"
#: `{name}` is one segment of a path, `{name*}` all the rest.
_TABLE = """
GET     /                                               documents.start
GET     /health                                         documents.health
GET     /info                                           documents.info
GET     /metrics                                        reports.metrics
GET     /docs                                           documents.docs
GET     /docs/style.css                                 documents.style
GET     /docs/errors                                    documents.errors
GET     /docs/errors/{slug}                             documents.error
GET     /static/{file*}                                 documents.static_file
GET     /contract/openapi.json                          documents.openapi
GET     /contract/calls                                 documents.calls
GET     /contract/problems                              documents.problems
GET     /contract/assumptions                           worlds.list_assumptions
GET     /contract/conduct-rules                         reports.list_rules
GET     /contract/fault-kinds                           faults.list_kinds
GET     /contract/interventions                         faults.list_interventions
GET     /contract/variation-points                      faults.list_points
GET     /contract/scenario-schema.json                  scenarios.schema
GET     /scenarios                                      scenarios.list_scenarios
GET     /scenarios/{name}                               scenarios.show_scenario
POST    /scenarios/run                                  scenarios.run_scenario
GET     /worlds                                         worlds.list_worlds
POST    /worlds                                         worlds.create_world
GET     /worlds/{world}                                 worlds.show_world
DELETE  /worlds/{world}                                 worlds.delete_world
POST    /worlds/{world}/reset                           worlds.reset_world
POST    /worlds/{world}/fork                            worlds.fork_world
GET     /worlds/{world}/state                           worlds.get_state
PUT     /worlds/{world}/state                           worlds.put_state
GET     /worlds/{world}/assumptions                     worlds.list_assumptions
PATCH   /worlds/{world}/assumptions                     worlds.patch_assumptions
GET     /worlds/{world}/openapi.json                    documents.openapi
GET     /worlds/{world}/requests                        requests.list_requests
GET     /worlds/{world}/requests/{n}                    requests.show_request
POST    /worlds/{world}/requests/{n}/replay             requests.replay_request
GET     /worlds/{world}/requests.har                    requests.export_har
GET     /worlds/{world}/events                          events.listen
GET     /worlds/{world}/report                          reports.report
GET     /worlds/{world}/conduct                         reports.show_conduct
GET     /worlds/{world}/history                         history.list_history
POST    /worlds/{world}/rewind                          history.rewind
GET     /worlds/{world}/snapshots                       history.list_snapshots
POST    /worlds/{world}/snapshots                       history.take_snapshot
POST    /worlds/{world}/snapshots/{snapshot}/restore    history.restore_snapshot
DELETE  /worlds/{world}/snapshots/{snapshot}            history.delete_snapshot
GET     /worlds/{world}/timeline                        history.show_timeline
GET     /worlds/{world}/clock                           clock.get_clock
PUT     /worlds/{world}/clock                           clock.put_clock
POST    /worlds/{world}/clock/advance                   clock.advance_clock
GET     /worlds/{world}/operations                      clock.list_operations
GET     /worlds/{world}/operations/{operation}/why      clock.why_operation
POST    /worlds/{world}/operations/{operation}/step     clock.step_operation
GET     /worlds/{world}/projects                        projects.list_projects
GET     /worlds/{world}/keys                            projects.list_keys
GET     /worlds/{world}/faults                          faults.list_faults
POST    /worlds/{world}/faults                          faults.arm_fault
DELETE  /worlds/{world}/faults                          faults.clear_faults
GET     /worlds/{world}/faults/{fault}                  faults.show_fault
DELETE  /worlds/{world}/faults/{fault}                  faults.remove_fault
POST    /worlds/{world}/interventions                   faults.intervene
GET     /worlds/{world}/variation                       faults.get_variation
PUT     /worlds/{world}/variation                       faults.put_variation
DELETE  /worlds/{world}/variation                       faults.delete_variation
POST    /worlds/{world}/scenario                        scenarios.load_scenario
POST    /worlds/{world}/tokens                          tokens.create_token
POST    /worlds/{world}/api-keys                        tokens.create_api_key
"""
#: The identity provider: of the default world, and the same below each world.
_IDP = """
GET     {}/idp/.well-known/openid-configuration         tokens.discovery
GET     {}/idp/jwks.json                                tokens.jwks
GET     {}/idp/authorize                                sign_in.authorize
POST    {}/idp/authorize                                sign_in.authorize
POST    {}/idp/token                                    tokens.token
GET     {}/idp/userinfo                                 tokens.userinfo
POST    {}/idp/userinfo                                 tokens.userinfo
GET     {}/idp/end-session                              sign_in.end_session
"""


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+\*?)\}", template.rstrip("/"))
    return re.compile(
        "".join(_named(part) if i % 2 else re.escape(part) for i, part in enumerate(parts))
    )


def _named(part: str) -> str:
    return f"(?P<{part[:-1]}>.+)" if part.endswith("*") else f"(?P<{part}>[^/]+)"


ROUTES = [
    (method, _pattern(path), handler)
    for table in (_TABLE, _IDP.replace("{}", ""), _IDP.replace("{}", "/worlds/{world}"))
    for method, path, handler in map(str.split, table.strip().splitlines())
]


@cache
def load_handler(name: str) -> tuple[Callable[..., Any], frozenset[str], Any]:
    """Return a handler, the names of its parameters, and the type of the body that it reads."""
    module, _, function = name.rpartition(".")
    handler = getattr(import_module(f"hosting_emulator.server.control.{module}"), function)
    parameters = signature(handler, eval_str=True).parameters
    body = parameters["body"].annotation if "body" in parameters else None
    return handler, frozenset(parameters), body


async def answer(context: Context, path: str) -> web.StreamResponse:
    """Answer a request of the control API; `path` is the whole path, without the query."""
    rest = path[len(PREFIX) :].rstrip("/")
    method = "GET" if context.request.method == "HEAD" else context.request.method
    allow = set()
    for known, pattern, handler in ROUTES:
        found = pattern.fullmatch(rest)
        if found is None:
            continue
        if known == method:
            named = {name: unquote(value) for name, value in found.groupdict().items()}
            return await _answer(context, handler, named)
        allow.add(known)
    if allow:
        methods = ", ".join(sorted(allow))
        return answers.problem(405, "Wrong method", f"this path takes {methods}", Allow=methods)
    return answers.problem(
        404, "No such path", "the control API has no such path; see /_emulator/docs"
    )


async def _answer(context: Context, handler: str, named: dict[str, str]) -> web.StreamResponse:
    try:
        response = answers.render(await _ask(context, handler, named))
    except ControlRefusal as refused:
        return answers.problem(refused.status, refused.title, refused.detail)
    except StoreFailed as failed:
        return answers.problem(503, "Not kept", f"nothing was changed: {failed}")
    engine = context.worlds.get(named.get("world", DEFAULT_WORLD))
    durable = engine.durable() if engine is not None else None
    if durable is not None:
        try:
            await durable
        except OSError as error:
            return answers.problem(503, "Not durable", f"the change may be lost: {error}")
    return response


async def _ask(context: Context, name: str, named: dict[str, str]) -> Any:
    handler, parameters, body = load_handler(name)
    given: dict[str, Any] = {"context": context, **named}
    if "engine" in parameters:
        given["engine"] = context.engine(named.get("world", DEFAULT_WORLD))
    if body is not None:
        given["body"] = await context.read(body)
    value = handler(**{name: given[name] for name in parameters})
    if isawaitable(value):
        value = await value
    created = isinstance(value, Created)
    if isinstance(value.document if created else value, Engine):
        from hosting_emulator.server.control.worlds import world_summary

        value = world_summary(context, value.document if created else value)
        return Created(value) if created else value
    return value
