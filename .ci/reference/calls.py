"""The page of the calls of the public API.

For each call, the page quotes the contract, and lists the assumptions that affect this call.
"""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator.contract.assumption_table import affects_call, describe
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import describe_calls, problem_status
from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator_lab.contract_check.contract_sentences import SECTIONS, Quote
from reference.markdown import code, join, prose, sentence, table

INTRODUCTION = """\
These are the eight calls of the contract, and the call that polls an operation. For each, the page
shows the emulator's behavior with the default [assumptions](assumptions.md), the sentences of the
contract about the call, and the assumptions about what the contract leaves open. [The service that
is emulated](../service.md) describes what the calls have in common. The OpenAPI document of a
running emulator, `/_emulator/contract/openapi.json`, also lists the members of every response."""


def render() -> str:
    """Return the page without its title."""
    rows = describe_calls(DEFAULTS)
    overview = [
        [
            f"[`{row['call_id']}`](#{row['call_id']})",
            code(f"{row['method']} {row['path']}"),
            _access(row),
        ]
        for row in rows
    ]
    head = ["call", "request", "who is allowed"]
    return join(INTRODUCTION, table(head, overview), *(_section(row) for row in rows))


def _access(row: dict[str, Any]) -> str:
    text = "any member of the organization"
    if row["role"] is not None:
        text = f"role {code(row['role'])}"
        if row["role"] != "owner":
            text += " or higher"
    if row["interactive"]:
        text += ", signed in"
    return text


def _permission(row: dict[str, Any]) -> str:
    if row["permission"]:
        return code(row["permission"])
    return "API keys are refused"


def _section(row: dict[str, Any]) -> str:
    facts = [
        ["request", code(f"{row['method']} {row['path']}")],
        ["who is allowed", _access(row)],
        ["permission of an API key", _permission(row)],
        ["`Idempotency-Key`", "required" if row["idempotent"] else "not used"],
        ["success", f"{row['success']} with {code(row['response'])}"],
        ["problems", ", ".join(_problem(name, row["call_id"]) for name in row["codes"])],
    ]
    return join(
        f"## {row['call_id']}",
        prose(sentence(row["description"])),
        table(["fact", "value"], facts),
        _query(row["query"]),
        _body(row["body"]),
        _contract(row),
        _assumptions(row["call_id"]),
    )


def _contract(row: dict[str, Any]) -> str:
    """Return the sentences in the contract's section about a call."""
    numbers = {call_id: number for number, call_id in enumerate(CALLS, 1)}
    if row["call_id"] not in numbers:
        return ""
    prefix = f"{numbers[row['call_id']]}. "
    section = next(section for section in SECTIONS if section.title.startswith(prefix))
    address = f"{row['method']} {row['path']}"
    quotes = [
        f"- “{prose(quote.text)}”"
        for quote in section.sentences
        if isinstance(quote, Quote) and quote.text != address
    ]
    return join("The contract says:", "\n".join(quotes))


def _assumptions(call_id: str) -> str:
    """Return the assumptions that affect a call in particular."""
    rows = [row for row in describe(DEFAULTS) if affects_call(row["name"], ALL_CALLS[call_id])]
    cells = [
        [f"[`{row['name']}`]({_anchor(row)})", prose(row["about"]), _default(row)] for row in rows
    ]
    return join("We assume:", table(["assumption", "about", "default"], cells))


def _anchor(row: dict[str, Any]) -> str:
    heading = "fixed-assumptions" if row["fixed"] else row["name"]
    return f"assumptions.md#{heading}"


def _default(row: dict[str, Any]) -> str:
    if row["fixed"]:
        return "cannot be set"
    value = row["default"]
    return code(value if isinstance(value, str) else json.dumps(value))


def _problem(name: str, call_id: str) -> str:
    """Return a problem code with its status, which is not the code's usual one for a call whose
    error statuses the contract lists.
    """
    status = problem_status(name, DEFAULTS, ALL_CALLS[call_id])
    return f"[{status} `{name}`](problems.md#{name})"


def _query(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    cells = [
        [
            code(row["name"]),
            _presence(row),
            code(row["pattern"]),
            prose(sentence(row["description"])),
        ]
        for row in rows
    ]
    return join("Query parameters:", table(["name", "presence", "form", "meaning"], cells))


def _body(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    cells = [
        [code(row["name"]), _presence(row), row["type"], code(json.dumps(row["example"]))]
        for row in rows
    ]
    return join("Body:", table(["member", "presence", "type", "example"], cells))


def _presence(row: dict[str, Any]) -> str:
    return "required" if row["required"] else "optional"
