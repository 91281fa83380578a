"""The page of the calls of the public API."""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import describe_calls
from hosting_emulator.contract.problems import PROBLEMS
from reference.markdown import code, join, prose, sentence, table

INTRODUCTION = """\
These are the calls of the contract, and the poll of an operation, with the emulator's default
[assumptions](assumptions.md). Every call takes one bearer token. The OpenAPI document of a running
emulator, `/_emulator/contract/openapi.json`, also has the members of every response."""


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
        text = f"role {code(row['role'])} or higher"
    if row["interactive"]:
        text += ", signed in"
    return text


def _section(row: dict[str, Any]) -> str:
    facts = [
        ["request", code(f"{row['method']} {row['path']}")],
        ["who is allowed", _access(row)],
        ["permission of an API key", code(row["permission"]) if row["permission"] else "none"],
        ["`Idempotency-Key`", "required" if row["idempotent"] else "not used"],
        ["success", f"{row['success']} with {code(row['response'])}"],
        ["problems", ", ".join(_problem(name) for name in row["codes"])],
    ]
    return join(
        f"## {row['call_id']}",
        prose(sentence(row["description"])),
        table(["fact", "value"], facts),
        _query(row["query"]),
        _body(row["body"]),
    )


def _problem(name: str) -> str:
    return f"[{PROBLEMS[name].status} `{name}`](problems.md#{name})"


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
