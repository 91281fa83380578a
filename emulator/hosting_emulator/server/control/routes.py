"""Which handler answers which path of the control API."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from importlib import import_module
from urllib.parse import unquote

from aiohttp import web

from hosting_emulator.engine.live_world import StoreFailed
from hosting_emulator.server import answers
from hosting_emulator.server.control import (
    clock,
    documents,
    history,
    operations,
    people,
    requests,
    snapshots,
    worlds,
)
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.world.naming import DEFAULT_WORLD

PREFIX = "/_emulator"
ControlHandler = Callable[..., Awaitable[web.StreamResponse]]


def _later(module: str, name: str) -> ControlHandler:
    """Return a handler whose module is loaded when it is first asked: a start is not to wait for it."""

    async def handler(context: Context, **named: str) -> web.StreamResponse:
        found = import_module(f"hosting_emulator.server.control.{module}")
        answer: web.StreamResponse = await getattr(found, name)(context, **named)
        return answer

    return handler


#: The identity provider: of the default world, and the same below each world.
_IDP = (
    ("GET", "/idp/.well-known/openid-configuration", _later("idp.discovery", "discovery")),
    ("GET", "/idp/jwks.json", _later("idp.discovery", "jwks")),
    ("GET", "/idp/authorize", _later("idp.authorize", "authorize")),
    ("POST", "/idp/authorize", _later("idp.authorize", "authorize")),
    ("POST", "/idp/token", _later("idp.tokens", "token")),
    ("GET", "/idp/userinfo", _later("idp.userinfo", "userinfo")),
    ("POST", "/idp/userinfo", _later("idp.userinfo", "userinfo")),
    ("GET", "/idp/end-session", _later("idp.leaving", "end_session")),
)
_TABLE: tuple[tuple[str, str, ControlHandler], ...] = (
    ("GET", "", documents.start),
    ("GET", "/health", documents.health),
    ("GET", "/info", documents.info),
    ("GET", "/metrics", _later("metrics", "metrics")),
    ("GET", "/docs", documents.docs),
    ("GET", "/docs/style.css", documents.style),
    ("GET", "/docs/errors", documents.errors),
    ("GET", "/docs/errors/{slug}", documents.error),
    ("GET", "/contract/openapi.json", documents.openapi),
    ("GET", "/contract/calls", documents.calls),
    ("GET", "/contract/problems", documents.problems),
    ("GET", "/contract/assumptions", documents.assumptions),
    ("GET", "/static/{file*}", _later("static_files", "static_file")),
    *(
        (method, below + path, handler)
        for below in ("", "/worlds/{world}")
        for method, path, handler in _IDP
    ),
    ("GET", "/worlds", worlds.list_worlds),
    ("POST", "/worlds", worlds.create_world),
    ("GET", "/worlds/{world}", worlds.show_world),
    ("DELETE", "/worlds/{world}", worlds.delete_world),
    ("POST", "/worlds/{world}/reset", worlds.reset_world),
    ("POST", "/worlds/{world}/fork", worlds.fork_world),
    ("GET", "/worlds/{world}/state", worlds.get_state),
    ("PUT", "/worlds/{world}/state", worlds.put_state),
    ("GET", "/worlds/{world}/assumptions", worlds.get_assumptions),
    ("PATCH", "/worlds/{world}/assumptions", worlds.patch_assumptions),
    ("GET", "/worlds/{world}/requests", requests.list_requests),
    ("GET", "/worlds/{world}/requests/{n}", requests.show_request),
    ("POST", "/worlds/{world}/requests/{n}/replay", _later("replay", "replay_request")),
    ("GET", "/worlds/{world}/requests.har", _later("har", "export")),
    ("GET", "/worlds/{world}/events", _later("events", "listen")),
    ("GET", "/worlds/{world}/report", _later("report", "report")),
    ("GET", "/worlds/{world}/conduct", _later("conduct", "show_conduct")),
    ("GET", "/contract/conduct-rules", _later("conduct", "list_rules")),
    ("GET", "/worlds/{world}/history", history.list_history),
    ("POST", "/worlds/{world}/rewind", history.rewind),
    ("GET", "/worlds/{world}/snapshots", snapshots.list_snapshots),
    ("POST", "/worlds/{world}/snapshots", snapshots.take_snapshot),
    ("POST", "/worlds/{world}/snapshots/{snapshot}/restore", snapshots.restore_snapshot),
    ("DELETE", "/worlds/{world}/snapshots/{snapshot}", snapshots.delete_snapshot),
    ("GET", "/worlds/{world}/openapi.json", documents.openapi),
    ("GET", "/worlds/{world}/clock", clock.get_clock),
    ("PUT", "/worlds/{world}/clock", clock.put_clock),
    ("POST", "/worlds/{world}/clock/advance", clock.advance_clock),
    ("GET", "/worlds/{world}/projects", _later("projects", "list_projects")),
    ("GET", "/worlds/{world}/keys", _later("projects", "list_keys")),
    ("GET", "/worlds/{world}/timeline", _later("timeline", "show_timeline")),
    ("GET", "/worlds/{world}/operations", operations.list_operations),
    ("GET", "/worlds/{world}/operations/{operation}/why", operations.why_operation),
    ("POST", "/worlds/{world}/operations/{operation}/step", operations.step_operation),
    ("GET", "/worlds/{world}/faults", _later("faults", "list_faults")),
    ("POST", "/worlds/{world}/faults", _later("faults", "arm_fault")),
    ("DELETE", "/worlds/{world}/faults", _later("faults", "clear_faults")),
    ("GET", "/worlds/{world}/faults/{fault}", _later("faults", "show_fault")),
    ("DELETE", "/worlds/{world}/faults/{fault}", _later("faults", "remove_fault")),
    ("GET", "/contract/fault-kinds", _later("faults", "list_kinds")),
    ("GET", "/worlds/{world}/variation", _later("variation", "get_variation")),
    ("PUT", "/worlds/{world}/variation", _later("variation", "put_variation")),
    ("DELETE", "/worlds/{world}/variation", _later("variation", "delete_variation")),
    ("GET", "/contract/variation-points", _later("variation", "list_points")),
    ("POST", "/worlds/{world}/interventions", _later("interventions", "intervene")),
    ("GET", "/contract/interventions", _later("interventions", "list_interventions")),
    ("GET", "/contract/scenario-schema.json", _later("scenarios", "schema")),
    ("GET", "/scenarios", _later("scenarios", "list_scenarios")),
    ("GET", "/scenarios/{name}", _later("scenarios", "show_scenario")),
    ("POST", "/scenarios/run", _later("scenarios", "run_scenario")),
    ("POST", "/worlds/{world}/scenario", _later("scenarios", "load_scenario")),
    ("POST", "/worlds/{world}/tokens", people.create_token),
    ("POST", "/worlds/{world}/api-keys", people.create_api_key),
)


def _pattern(template: str) -> re.Pattern[str]:
    """Make a pattern of a path: `{name}` is one segment of it, `{name*}` all the rest."""
    parts = re.split(r"\{(\w+\*?)\}", template)
    return re.compile(
        "".join(_named(part) if i % 2 else re.escape(part) for i, part in enumerate(parts))
    )


def _named(part: str) -> str:
    return f"(?P<{part[:-1]}>.+)" if part.endswith("*") else f"(?P<{part}>[^/]+)"


_ROUTES = [(method, _pattern(template), handler) for method, template, handler in _TABLE]


async def answer(context: Context, path: str) -> web.StreamResponse:
    """Answer a request of the control API; `path` is the whole path, without the query."""
    rest = path[len(PREFIX) :].rstrip("/")
    method = "GET" if context.request.method == "HEAD" else context.request.method
    allow = set()
    for known, pattern, handler in _ROUTES:
        found = pattern.fullmatch(rest)
        if found is None:
            continue
        if known != method:
            allow.add(known)
            continue
        named = {name: unquote(value) for name, value in found.groupdict().items()}
        return await _run(handler, context, named)
    if allow:
        methods = ", ".join(sorted(allow))
        return answers.problem(405, "Wrong method", f"this path takes {methods}", Allow=methods)
    return answers.problem(
        404, "No such path", "the control API has no such path; see /_emulator/docs"
    )


async def _run(
    handler: ControlHandler, context: Context, named: dict[str, str]
) -> web.StreamResponse:
    try:
        response = await handler(context, **named)
    except ControlRefused as refused:
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
