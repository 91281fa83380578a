"""Control of conduct: what the client of a world did that it had better not, and the rules."""

from __future__ import annotations

from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.watch import watch_of
from hosting_emulator.contract.words import nearest
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused


async def show_conduct(context: Context, world: str) -> web.Response:
    """GET …/conduct?off=RULE,RULE&final=false: what was found in all requests so far.

    `off` leaves rules out. `final=true` also says what can only be said once the client is done.
    """
    engine = context.engine(world)
    query = parse_qs(context.query, keep_blank_values=True)
    off = _rules(query.get("off", []))
    final = query.get("final", ["false"])[-1]
    if final not in ("true", "false"):
        raise ControlRefused(400, "Bad final", "final is true or false")
    found = watch_of(engine).look(off, final=final == "true")
    return answers.json(found.view(off))


async def list_rules(context: Context) -> web.Response:
    """GET /contract/conduct-rules: every rule, why it is one, and what to do instead."""
    return answers.json({"items": [rule.view() for rule in RULES.values()]})


def _rules(given: list[str]) -> list[str]:
    """Read ids of rules, split at commas, each once. Raises ControlRefused 400, naming the nearest."""
    ids = dict.fromkeys(id_.strip() for text in given for id_ in text.split(",") if id_.strip())
    for id_ in ids:
        if id_ not in RULES:
            hint = nearest(id_, RULES) or "; /_emulator/contract/conduct-rules lists them"
            raise ControlRefused(400, "Bad off", f"no rule is named {id_[:80]!r}{hint}")
    return list(ids)
