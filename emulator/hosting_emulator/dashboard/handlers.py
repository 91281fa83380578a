"""Health, facts, and the documents of the contract; the pages people read, and what these load.

The documentation shows the calls by Swagger UI; the dashboard's modules ask the control API, and what
stands in its page without them is written from summaries.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from http import HTTPStatus
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from hosting_emulator.build_id import BUILD_ID
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import describe_calls
from hosting_emulator.contract.problem_table import Problem
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.contract.shell import command_line
from hosting_emulator.control.worlds import list_worlds
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, require
from hosting_emulator.http.guard import PAGE_HEADER, world_prefix
from hosting_emulator.http.pages import (
    CONTENT_SECURITY_POLICY,
    DOCS_PATH,
    STATIC_PATH,
    Html,
    Templates,
    html,
    page,
    prose,
)
from hosting_emulator.messages import Info, JsonObject, PageSecret, ProblemRow
from hosting_emulator.world.naming import DEFAULT_WORLD

_TEMPLATES: Final = Templates(__package__)
_ERRORS_PATH: Final = f"{DOCS_PATH}/errors"
#: Swagger UI writes styles into its elements; only its page allows that. It asks this server only.
_DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: No script or style but our files', no other host, nobody's frame.
_DASHBOARD_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
}
_STYLES: Final = "dashboard/style/"
#: These come first, in this order: what follows, such as a panel's own, is written on top of them.
_FIRST: Final = [f"{_STYLES}{name}.css" for name in ("base", "parts", "frame")]
_EXAMPLE_REQUEST_ID: Final = "01JQ7Z3M8W4K2X9V6T5R1P0NDB"
_EXAMPLE_WAIT_SECONDS: Final = 30


def health(context: Context) -> JsonObject:
    """Report that the emulator is up, its version, and a problem with its data directory."""
    facts = context.facts
    return {"status": "ok", "version": facts.version, "storage": facts.storage_problem()}


def info(context: Context) -> JsonObject:
    """Describe the running process and its addresses."""
    base_url, facts = context.base_url, context.facts
    return Info.of(
        facts,
        build=BUILD_ID,
        pid=os.getpid(),
        base_url=base_url,
        dev_base_url=base_url,
        control_url=f"{base_url}/_emulator",
        docs_url=f"{base_url}/_emulator/docs",
        openapi_url=f"{base_url}/_emulator/contract/openapi.json",
        tls_port=context.site.tls_port,
    )


def page_secret(context: Context) -> JsonObject:
    """Return the header by which the emulator's own pages mark the requests that they send to `/v1`.

    The rules of conduct skip these requests: a user sends them, not a client. The value is random
    and changes with each start of the emulator.
    """
    return PageSecret.of(context.site, header=PAGE_HEADER, value=context.site.page_secret)


def openapi(context: Context, engine: Engine) -> Any:
    """Show the OpenAPI 3.1 document of a world's public API, under that world's assumptions."""
    # Imported here: nobody needs it who does not ask for the document.
    from hosting_emulator.variation.world_openapi import world_document

    url = context.base_url + world_prefix(engine.world.name)
    return world_document(engine.world, url, context.site.tls_port)


def calls(engine: Engine) -> list[JsonObject]:
    """List the calls of the public API, as in the default world."""
    return describe_calls(engine.world.assumptions)


def control_openapi(context: Context, engine: Engine) -> JsonObject:
    """Show this API's own OpenAPI 3.1 document, with examples from the default world."""
    from hosting_emulator.control.openapi import control_document
    from hosting_emulator.variation.world_openapi import example_values

    ids = example_values(engine.world).get("operation_id", {}).values()
    return control_document(context.base_url, context.facts.version, next(iter(ids), None))


def problems() -> list[JsonObject]:
    """List the problem codes of the public API."""
    return [ProblemRow.of(row, specified=sorted(row.specified)) for row in PROBLEMS.values()]


# --- the documentation ---------------------------------------------------------------------------


def docs() -> web.Response:
    """Show the API documentation, with links to all other documents."""
    body, head = (
        _TEMPLATES.fill("docs", count=len(PROBLEMS)),
        _TEMPLATES.fill("docs-head", script="docs.js"),
    )
    return responses.html(page("Documentation", body, head=head), _DOCS_POLICY)


def control_docs() -> web.Response:
    """Show this API, to read and to try."""
    body, head = (
        _TEMPLATES.fill("control-docs"),
        _TEMPLATES.fill("docs-head", script="control-docs.js"),
    )
    return responses.html(page("Control API", body, head=head), _DOCS_POLICY)


def errors() -> web.Response:
    """Show the problem catalogue."""
    ordered = sorted(PROBLEMS.values(), key=attrgetter("status"))  # stable: keeps the order within
    jumps, sections = "", ""
    for status, group in groupby(ordered, attrgetter("status")):
        rows = list(group)
        jumps += html(
            '<li><a href="#status-$status"><b>$status</b> $phrase <span class="count">$count</span>'
            "</a></li>",
            status=status,
            phrase=_phrase(status),
            count=len(rows),
        )
        sections += html(
            '<section aria-labelledby="status-$status">\n<h2 id="status-$status">$status $phrase'
            '</h2>\n<ul class="problems">$items</ul>\n</section>\n',
            status=status,
            phrase=_phrase(status),
            items=Html("".join(map(_index_row, rows))),
        )
    body = _TEMPLATES.fill(
        "problems",
        trail=_trail(),
        count=len(PROBLEMS),
        produced=sum(not problem.by_fault_only for problem in PROBLEMS.values()),
        jumps=Html(jumps),
        sections=Html(sections),
    )
    return responses.html(page("Problem catalogue", body), CONTENT_SECURITY_POLICY)


def _index_row(problem: Problem) -> Html:
    marks = '<span class="mark retry">retryable</span>' if problem.retryable else ""
    if problem.specified:
        marks += '<span class="mark specified">fixed by the contract</span>'
    if problem.by_fault_only:
        marks += '<span class="mark fault">by fault only</span>'
    row = "<li>$link $marks\n<p>$meaning</p></li>\n"
    return html(row, link=_link(problem), marks=Html(marks), meaning=prose(problem.meaning))


def error(context: Context, slug: str) -> web.Response:
    """Show the page that a problem's `type` links to."""
    problem = next((one for one in PROBLEMS.values() if one.slug == slug), None)
    nowhere = "no problem code has this page; see /_emulator/docs"
    text = problem_page(require(problem, "No such problem", nowhere), context.base_url)
    return responses.html(text, CONTENT_SECURITY_POLICY)


def problem_page(problem: Problem, base_url: str = "") -> str:
    """Return the page of one problem, with a mark at each value that is only our assumption."""
    document = example_document(problem, base_url)
    head = [
        f"HTTP/1.1 {problem.status} {_phrase(problem.status)}",
        "Content-Type: application/problem+json",
        f"X-Request-Id: {_EXAMPLE_REQUEST_ID}",
    ]
    if "retry_after_seconds" in document:
        head.append(f"Retry-After: {_EXAMPLE_WAIT_SECONDS}")
    retryable = "<b>No</b>: the same request will be refused again"
    if problem.retryable:
        retryable = "<b>Yes</b>: the same request can succeed later"
    marks = {}
    for name in ("status", "retryable", "suggested_action"):
        mark = '<span class="mark assumed">our assumption</span>'
        if name in problem.specified:
            mark = '<span class="mark specified">the contract says so</span>'
        marks[f"{name}_mark"] = Html(mark)
    lines = []
    for field in document.items():
        key, text = (escape(json.dumps(part), quote=False) for part in field)
        lines.append(f'  <span class="key">{key}</span>: <span class="value">{text}</span>')
    body = _TEMPLATES.fill(
        "problem",
        trail=_trail(problem.code),
        title=problem.title,
        code=problem.code,
        meaning=prose(problem.meaning),
        status=problem.status,
        phrase=_phrase(problem.status),
        retryable=Html(retryable),
        suggested_action=prose(problem.suggested_action),
        **marks,
        when=prose(problem.when),
        advice=prose(problem.advice),
        head="\n".join(head),
        lines=Html(",\n".join(lines)),
        neighbours=_neighbours(problem),
    )
    return page(f"{problem.code} ({problem.status})", body, base=base_url)


def example_document(problem: Problem, base_url: str = "") -> JsonObject:
    """Return a problem document as a call answers it."""
    # The only code the contract gives the field a meaning for.
    wait = _EXAMPLE_WAIT_SECONDS if problem.code == "rate_limited" else None
    refused = Refused(problem.code, problem.detail, retry_after_seconds=wait)
    reply = problem_reply(refused, _EXAMPLE_REQUEST_ID, base_url + DOCS_PATH, DEFAULTS)
    document: JsonObject = json.loads(reply.body)
    return document | {"suggested_action": document.pop("suggested_action")}


def _trail(code: str = "") -> Html:
    here = f'<a href="{_ERRORS_PATH}">Problems</a>' if code else ""
    steps = [f'<a href="{DOCS_PATH}">Docs</a>', here]
    steps.append(html('<span aria-current="page">$here</span>', here=code or "Problems"))
    items = "".join(f"<li>{step}</li>" for step in steps if step)
    return Html(f'<nav aria-label="Breadcrumb"><ol class="row trail">{items}</ol></nav>')


def _link(problem: Problem) -> Html:
    address = f"{_ERRORS_PATH}/{problem.slug}"
    return html('<a href="$address"><code>$code</code></a>', address=address, code=problem.code)


def _neighbours(problem: Problem) -> Html:
    same = (other for other in PROBLEMS.values() if other.status == problem.status)
    items = [f"<li>{_link(other)}</li>" for other in same if other is not problem]
    if not items:
        return Html("")
    return html(
        "<details$opened>\n<summary>Other problems with status $status</summary>\n"
        '<ul class="row others">$items</ul>\n</details>',
        opened=" open" if len(items) <= 12 else "",
        status=problem.status,
        items=Html("".join(items)),
    )


def _phrase(status: int) -> str:
    # RFC 9110's; older Pythons know the former one
    return "Content Too Large" if status == 413 else HTTPStatus(status).phrase


# --- the files that pages load -------------------------------------------------------------------


def style() -> web.Response:
    """Give the pages' style sheet."""
    return responses.raw(200, _TEMPLATES.text("style.css").encode(), _TYPES["css"])


def static_file(context: Context, file: str) -> web.Response:
    """Give a file that a page loads, or 304 when the browser has it already."""
    source = require(static_files().get(file), "No such file", "no page uses a file of this name")
    body, etag = _read_file(source)
    kept = context.request.headers.get("If-None-Match", "")
    tags = {tag.strip().removeprefix("W/") for tag in kept.split(",")}
    status, body = (304, b"") if etag in tags or kept.strip() == "*" else (200, body)
    kind = _TYPES.get(source.suffix[1:], "text/plain; charset=utf-8")
    return responses.raw(status, body, kind, Cache_Control="no-cache", ETag=etag)


@cache
def static_files() -> dict[str, Path]:
    """Return every file that is served, by its name below `STATIC_PATH`; no other path reaches a file."""
    folder = Path(__file__).parent
    folders = {"": folder / "files", "dashboard/": folder / "static"}
    return {
        prefix + path.relative_to(folder).as_posix(): path
        for prefix, folder in folders.items()
        for path in folder.rglob("*")
        if path.is_file()
    }


@cache
def _read_file(source: Path) -> tuple[bytes, str]:
    """Return a file, and its strong validator (RFC 9110, 8.8.3)."""
    body = source.read_bytes()
    return body, f'"{sha256(body).hexdigest()[:32]}"'


# --- the dashboard -------------------------------------------------------------------------------


def start(context: Context) -> web.Response:
    """Show the dashboard."""
    facts = context.facts
    state = "in memory only: gone when this process ends"
    if facts.data_dir is not None:
        state = f"{facts.data_dir} (durability: {facts.durability})"
    summaries = sorted(list_worlds(context), key=lambda summary: summary["name"] != DEFAULT_WORLD)
    names = sorted(name for name in static_files() if name.startswith(_STYLES))
    styles = "\n".join(
        f'<link rel="stylesheet" href="{STATIC_PATH}/{name}">'
        for name in (*_FIRST, *(name for name in names if name not in _FIRST))
    )
    fallback = start_body(context.base_url, state, summaries)
    text = _TEMPLATES.fill("dashboard", styles=Html(styles), fallback=fallback)
    return responses.html(text, _DASHBOARD_POLICY)


def start_body(base_url: str, state: str, worlds: Sequence[JsonObject]) -> Html:
    """Return what stands in `<main>` when no script runs: where things are, and the worlds."""
    world = worlds[0]
    users, projects, first_request = world["users"], world["projects"], Html("")
    if users and projects:
        named = (row["alias"] for row in users)
        first_request = _TEMPLATES.fill(
            "first-request",
            base_url=base_url,
            env=command_line("env", base_url, world["name"]),
            user="owner" if "owner" in named else users[0]["alias"],
            project=projects[0]["alias"],
            world=world["name"],
            world_url=world["base_url"],
            project_id=projects[0]["id"],
        )
    aliases = {row["id"]: row["alias"] for row in world["organizations"]}
    homes = ((row, row["organization_id"]) for row in projects)
    rows = []
    for row in worlds:
        clock = row["clock"]
        mode = clock["mode"] if clock["mode"] != "scaled" else f"scaled, {clock['rate']:g}x"
        rows.append({**row, **row["counts"], "mode": mode, "now": clock["now"]})
    heads = {"Alias": "<b>$alias</b>", "Id": "<code>$id</code>"}
    return _TEMPLATES.fill(
        "start",
        base_url=base_url,
        issuer=world["issuer"],
        state=state,
        first_request=first_request,
        worlds=_table(
            {
                "World": "<b>$name</b><br><code>$base_url</code>",
                "Clock": '<span class="mark retry">$mode</span> <time>$now</time>',
                "Holds": "$projects projects, $deployments deployments, $operations operations",
                "Look at": " ".join(
                    f'<a href="/_emulator/worlds/$name/{look}">{look}</a>'
                    for look in ("requests", "assumptions", "state")
                ),
            },
            rows,
        ),
        world=world["name"],
        projects=_table(
            {**heads, "Organization": "$organization"},
            ({**row, "organization": aliases.get(home, home)} for row, home in homes),
        ),
        organizations=_table({**heads, "Name and plan": "$name, $plan"}, world["organizations"]),
        users=_table({**heads, "Name": "$name"}, users),
    )


def _table(columns: Mapping[str, str], rows: Iterable[JsonObject]) -> Html:
    """Return a table of columns: head, and the template of its cells. Narrow screens read cards."""
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    row = "".join(f'<td data-label="{name}">{cell}</td>' for name, cell in columns.items())
    body = "".join(html(f"<tr>{row}</tr>\n", **values) for values in rows)
    return Html(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")
