"""Health, facts, and the documents of the contract; the pages people read."""

from __future__ import annotations

import os
from dataclasses import asdict

from aiohttp import web

from hosting_emulator.contract.assumptions import describe
from hosting_emulator.contract.calls import describe_calls
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.views import world_summary
from hosting_emulator.server.dashboard import shell
from hosting_emulator.server.pages import api_docs, layout, problem_pages, start_page
from hosting_emulator.server.sites import world_prefix
from hosting_emulator.variation.worlds import shown_absent, shown_assumptions
from hosting_emulator.world.naming import DEFAULT_WORLD

_BY_SLUG = {problem.slug: problem for problem in PROBLEMS.values()}


async def health(context: Context) -> web.Response:
    """GET /health."""
    return answers.json({"status": "ok", "version": context.facts.version})


async def info(context: Context) -> web.Response:
    """GET /info."""
    base_url, facts = context.base_url, context.facts
    return answers.json(
        {
            "version": facts.version,
            "pid": os.getpid(),
            "base_url": base_url,
            "dev_base_url": base_url,
            "control_url": f"{base_url}/_emulator",
            "docs_url": f"{base_url}/_emulator/docs",
            "openapi_url": f"{base_url}/_emulator/contract/openapi.json",
            "data_dir": facts.data_dir,
            "durability": facts.durability,
            "tls_port": context.site.tls_port,
            "started_at": facts.started_at,
        }
    )


async def openapi(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET /contract/openapi.json, and the same below a world, under its assumptions."""
    # Imported here: it loads pydantic, which nobody needs who does not ask for the document.
    from hosting_emulator.contract.openapi import openapi_document

    engine = context.engine(world)
    url = context.base_url + world_prefix(world)
    assumptions = shown_assumptions(engine.world.assumptions, engine.world.variation)
    absent = shown_absent(engine.world.variation)
    return answers.json(openapi_document(assumptions, url, absent))


async def calls(context: Context) -> web.Response:
    """GET /contract/calls: those of the default world."""
    return answers.json({"items": describe_calls(context.engine(DEFAULT_WORLD).world.assumptions)})


async def problems(context: Context) -> web.Response:
    """GET /contract/problems."""
    items = [
        {**asdict(problem), "specified": sorted(problem.specified)} for problem in PROBLEMS.values()
    ]
    return answers.json({"items": items})


async def assumptions(context: Context) -> web.Response:
    """GET /contract/assumptions: those of the default world."""
    return answers.json({"items": describe(context.engine(DEFAULT_WORLD).world.assumptions)})


async def start(context: Context) -> web.Response:
    """GET /_emulator: the page at the control URL."""
    facts = context.facts
    state = "in memory: it ends with this process"
    if facts.data_dir is not None:
        state = f"{facts.data_dir} (durability: {facts.durability})"
    summaries = [world_summary(context, engine) for engine in context.worlds]
    summaries.sort(key=lambda summary: summary["name"] != DEFAULT_WORLD)
    fallback = start_page.start_body(context.base_url, state, summaries)
    return answers.html(shell.dashboard_page(fallback), shell.CONTENT_SECURITY_POLICY)


async def docs(context: Context) -> web.Response:
    """GET /docs: the calls to read and to try, and links to all other documents."""
    return answers.html(api_docs.docs_page(), api_docs.POLICY)


async def errors(context: Context) -> web.Response:
    """GET /docs/errors."""
    return answers.html(problem_pages.problem_index(), layout.CONTENT_SECURITY_POLICY)


async def error(context: Context, slug: str) -> web.Response:
    """GET /docs/errors/{slug}: the page a problem's `type` links to."""
    problem = _BY_SLUG.get(slug)
    if problem is None:
        raise ControlRefused(
            404, "No such problem", "no problem code has this page; see /_emulator/docs"
        )
    text = problem_pages.problem_page(problem, base=context.base_url)
    return answers.html(text, layout.CONTENT_SECURITY_POLICY)


async def style(context: Context) -> web.Response:
    """GET /docs/style.css."""
    return answers.raw(200, layout.stylesheet().encode(), "text/css; charset=utf-8")
