"""Exchanges of the request log as plain text: for pipes, files and people without a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hosting_emulator_cli.looks.terminal import printable, printable_json, printable_lines
from hosting_emulator_cli.output import table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, Exchange, Message, WholeExchange

_HEADERS = ("N", "AT", "STATUS", "METHOD", "CALL", "PROJECT", "WHO", "MS", "ANSWER", "WHY")


def project_aliases(client: ControlClient, world: str) -> dict[str, str]:
    """Return the aliases of a world's projects by id."""
    return {project["id"]: project["alias"] for project in client.world(world)["projects"]}


def about(exchange: Exchange, projects: Mapping[str, str]) -> str:
    """Say what a request was about: its project by alias, or its operation."""
    project = exchange["project"]
    return projects.get(project, project) if project else exchange["operation"] or ""


def answer_words(exchange: Exchange) -> str:
    """Say what an answer was, beside its status: a problem's code, a replay, a lost answer."""
    said = (
        exchange["code"],
        "replayed" if exchange["replayed"] else None,
        f"lost: {exchange['lost']}" if exchange["lost"] else None,
    )
    return ", ".join(word for word in said if word)


def reason(exchange: Exchange) -> str:
    """Say why a request was answered so: of what is out of reach, who could have seen it."""
    trail = exchange.get("trail", [])
    if exchange["status"] == 404:
        scope = [step["says"] for step in trail if step["step"] == "scope"]
        if scope:
            return scope[0]
    return "; ".join(exchange["why"])


def cut_words(message: Message) -> str:
    """Say that what is shown of a body is a part of it."""
    return f"… only its beginning was kept: it has {message['body_bytes']} bytes."


def exchange_table(exchanges: Iterable[Exchange], projects: Mapping[str, str]) -> str:
    """Lay out exchanges, one in a line."""
    return table(_HEADERS, (_row(exchange, projects) for exchange in exchanges))


def exchange_line(exchange: Exchange, projects: Mapping[str, str]) -> str:
    """Write one exchange in a line that does not know of others, with its reason."""
    why = printable(reason(exchange))
    return "  ".join([_head(exchange, projects), *([why] if why else [])])


def _head(exchange: Exchange, projects: Mapping[str, str]) -> str:
    at, ms = exchange["at"], exchange["duration_us"] / 1000
    shown = (
        f"#{exchange['n']}",
        at,
        str(exchange["status"] or "---"),
        exchange["method"],
        exchange["call"] or exchange["path"],
        about(exchange, projects),
        exchange["who"] or "-",
        f"{ms:.2f} ms",
        answer_words(exchange),
    )
    return printable("  ".join(word for word in shown if word))


def whole_text(exchange: WholeExchange, projects: Mapping[str, str]) -> str:
    """Write a whole exchange: its line, its trail, and both sides with headers and bodies."""
    trail = exchange.get("trail", [])
    width = max((len(step["step"]) for step in trail), default=0)
    shown = exchange["path"] + (f"?{exchange['query']}" if exchange["query"] else "")
    return "\n".join(
        [
            _head(exchange, projects),
            "",
            *(f"  {step['step']:<{width}}  {printable(step['says'])}" for step in trail),
            "",
            printable(f"{exchange['method']} {shown}"),
            *_message(exchange["request"]),
            "",
            str(exchange["status"] or "no answer"),
            *_message(exchange["answer"]),
        ]
    )


def _row(exchange: Exchange, projects: Mapping[str, str]) -> list[object]:
    return [
        exchange["n"],
        exchange["at"],
        exchange["status"] or "---",
        exchange["method"],
        printable(exchange["call"] or exchange["path"]),
        printable(about(exchange, projects)) or None,
        exchange["who"],
        round(exchange["duration_us"] / 1000, 2),
        answer_words(exchange) or None,
        printable(reason(exchange)) or None,
    ]


def _message(message: Message) -> Iterator[str]:
    yield from (printable(f"  {name}: {value}") for name, value in message["headers"])
    if not message["body_bytes"]:
        return
    yield ""
    body = message["body"]
    if body is None:
        yield f"  {message['body_bytes']} bytes that are no text"
        return
    with suppress(ValueError):  # no JSON, or not all of it: as it is
        body = printable_json(json.loads(body))
    yield from (f"  {line}" for line in printable_lines(body).splitlines())
    if message["body_cut"]:
        yield f"  {cut_words(message)}"
