"""Health, facts, and the documents of the contract; the pages people read, and what these load."""

from __future__ import annotations

import os
from typing import Any

from aiohttp import web

from hosting_emulator.contract.calls import describe_calls
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.control_api import Info, JsonObject, ProblemRow
from hosting_emulator.engine.engine import Engine
from hosting_emulator.server import answers, pages
from hosting_emulator.server.control.context import Context, found
from hosting_emulator.server.control.worlds import world_summary
from hosting_emulator.server.guard import world_prefix
from hosting_emulator.world.naming import DEFAULT_WORLD


def health(context: Context) -> dict[str, str]:
    """Report that the emulator is up, and its version."""
    return {"status": "ok", "version": context.facts.version}


def info(context: Context) -> JsonObject:
    """Describe the running process and its addresses."""
    base_url, facts = context.base_url, context.facts
    return Info.of(
        facts,
        pid=os.getpid(),
        base_url=base_url,
        dev_base_url=base_url,
        control_url=f"{base_url}/_emulator",
        docs_url=f"{base_url}/_emulator/docs",
        openapi_url=f"{base_url}/_emulator/contract/openapi.json",
        tls_port=context.site.tls_port,
    )


def openapi(context: Context, engine: Engine) -> Any:
    """Show the OpenAPI 3.1 document of a world's public API, under that world's assumptions."""
    # Imported here: nobody needs it who does not ask for the document.
    from hosting_emulator.variation.documents import world_document

    url = context.base_url + world_prefix(engine.world.name)
    return world_document(engine.world, url, context.site.tls_port)


def calls(engine: Engine) -> list[JsonObject]:
    """List the calls of the public API, as in the default world."""
    return describe_calls(engine.world.assumptions)


def control_openapi(context: Context, engine: Engine) -> JsonObject:
    """Show this API's own OpenAPI 3.1 document, with examples from the default world."""
    from hosting_emulator.server.control.openapi import control_document
    from hosting_emulator.variation.documents import example_values

    ids = example_values(engine.world).get("operation_id", {}).values()
    return control_document(context.base_url, context.facts.version, next(iter(ids), None))


def control_docs() -> web.Response:
    """Show this API, to read and to try."""
    return answers.html(pages.control_docs_page(), pages.DOCS_POLICY)


def problems() -> list[JsonObject]:
    """List the problem codes of the public API."""
    return [ProblemRow.of(row, specified=sorted(row.specified)) for row in PROBLEMS.values()]


def start(context: Context) -> web.Response:
    """Show the dashboard."""
    facts = context.facts
    state = "in memory only: gone when this process ends"
    if facts.data_dir is not None:
        state = f"{facts.data_dir} (durability: {facts.durability})"
    summaries = [world_summary(context, engine) for engine in context.worlds]
    summaries.sort(key=lambda summary: summary["name"] != DEFAULT_WORLD)
    fallback = pages.start_body(context.base_url, state, summaries)
    return answers.html(pages.dashboard_page(fallback), pages.DASHBOARD_POLICY)


def docs() -> web.Response:
    """Show the API documentation, with links to all other documents."""
    return answers.html(pages.docs_page(), pages.DOCS_POLICY)


def errors() -> web.Response:
    """Show the problem catalogue."""
    return answers.html(pages.problem_index(), pages.CONTENT_SECURITY_POLICY)


def error(context: Context, slug: str) -> web.Response:
    """Show the page that a problem's `type` links to."""
    problem = next((one for one in PROBLEMS.values() if one.slug == slug), None)
    nowhere = "no problem code has this page; see /_emulator/docs"
    problem = found(problem, "No such problem", nowhere)
    text = pages.problem_page(problem, base=context.base_url)
    return answers.html(text, pages.CONTENT_SECURITY_POLICY)


def style() -> web.Response:
    """Give the pages' style sheet."""
    return answers.raw(200, pages.stylesheet().encode(), "text/css; charset=utf-8")


def static_file(context: Context, file: str) -> web.Response:
    """Give a file that a page loads, or 304 when the browser has it already."""
    served = found(pages.static_file(file), "No such file", "no page uses a file of this name")
    kept = context.request.headers.get("If-None-Match", "")
    tags = {tag.strip().removeprefix("W/") for tag in kept.split(",")}
    fresh = served.etag in tags or kept.strip() == "*"
    status, body = (304, b"") if fresh else (200, served.body)
    headers = {"Cache_Control": "no-cache", "ETag": served.etag}
    return answers.raw(status, body, served.content_type, **headers)
