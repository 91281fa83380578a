"""The documents of both APIs: OpenAPI, and the contract's tables of calls and problems."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.call_table import describe_calls
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.messages import (
    JsonObject,
    ProblemRow,
)


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


def problems() -> list[ProblemRow]:
    """List the problem codes of the public API."""
    return [
        ProblemRow(
            code=problem.code,
            status=problem.status,
            retryable=problem.retryable,
            title=problem.title,
            suggested_action=problem.suggested_action,
            meaning=problem.meaning,
            when=problem.when,
            advice=problem.advice,
            specified=sorted(problem.specified),
        )
        for problem in PROBLEMS.values()
    ]
