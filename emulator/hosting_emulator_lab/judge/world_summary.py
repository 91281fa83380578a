"""The summary of a world's state, in rows without ids, times and secrets.

Summaries of different runs can be compared, although the worlds have different ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from hosting_emulator.contract.resources import FAILURES
from hosting_emulator.sdk import JsonObject

#: How often a row occurs, by the kind of the row.
StateRows: TypeAlias = Mapping[str, Counter[str]]
#: The kinds of rows that clients create, and the plural of each.
CREATED_KINDS = {
    "operation": "operations",
    "deployment": "deployments",
    "API key": "API keys",
    "dev access ticket": "unused dev access tickets",
}
#: The maximum number of rows in a text.
_MOST_ROWS = 4
#: Matches the end of the row of an operation or a deployment that failed.
_FAILED = re.compile(rf" (?:{'|'.join(FAILURES)})(?: \(|$)")
#: Matches the end of the row of an operation that has not ended.
_UNFINISHED = re.compile(r" (?:queued|running)(?: and stuck)?$")
#: Matches a part of a name that may be a time or a date. Such a part of a name may differ in each run.
_TIME_IN_NAME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T_ -]?\d\d[:-]?\d\d(?:[:-]?\d\d)?(?:[.,]\d+)?Z?)?"
    r"|(?<![0-9A-Za-z])(?=[a-f]*\d)[0-9a-f]{8,}(?![0-9A-Za-z])|\d\d[:-]\d\d[:-]\d\d|\d{4,}"
)


def summarize(state: JsonObject) -> dict[str, Counter[str]]:
    """Return the rows of an exported state by kind. A table that the state lacks has no rows."""
    tables = _Tables(state["tables"])
    return {kind: Counter(rows(tables)) for kind, rows in _ROWS_BY_KIND.items()}


def rows_text(rows: Counter[str]) -> str:
    """Return rows as a text with at most four of them, or `none` if there are no rows."""
    texts = [f"{row} ({count} times)" if count > 1 else row for row, count in sorted(rows.items())]
    shown_texts = texts[:_MOST_ROWS]
    if len(texts) > _MOST_ROWS:
        shown_texts.append(f"and {len(texts) - _MOST_ROWS} more")
    return ", ".join(shown_texts) or "none"


def failed_rows(rows: Counter[str]) -> Counter[str]:
    """Return the rows of operations and deployments that failed."""
    return Counter({row: count for row, count in rows.items() if _FAILED.search(row)})


def without_failed(state: StateRows) -> StateRows:
    """Return a state without the rows of operations and deployments that failed."""
    return {
        kind: Counter({row: count for row, count in rows.items() if not _FAILED.search(row)})
        for kind, rows in state.items()
    }


def failed_operations(state: StateRows) -> Counter[str]:
    """Return the rows of operations that failed."""
    # Drop negative numbers of rows, which occur if the run changed rows of an earlier world.
    return failed_rows(+state["operation"])


def unfinished_operations(state: StateRows) -> Counter[str]:
    """Return the rows of operations that have not ended."""
    operations = +state["operation"]
    return Counter({row: count for row, count in operations.items() if _UNFINISHED.search(row)})


class _Tables:
    """The tables of an exported state, and the aliases of the rows to which other rows refer."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        self._tables = tables
        self._aliases = {
            key: str(row["alias"])
            for table in ("organizations", "users", "projects")
            for key, row in tables[table].items()
        }

    def items(self, table: str) -> Iterator[tuple[str, Any]]:
        """Yield the keys and the rows of a table, which the state may lack."""
        yield from self._tables.get(table, {}).items()

    def alias(self, id_: str) -> str:
        """Return the alias of an organization, user or project, or `id_` if there is none."""
        return self._aliases.get(id_, id_)


def _flags(tables: _Tables) -> Iterator[str]:
    for _, project in tables.items("projects"):
        verb = "shows" if project.get("flag_enabled") else "hides"
        yield f"{project['alias']} {verb} its flag"


def _sources(tables: _Tables) -> Iterator[str]:
    for _, project in tables.items("projects"):
        yield f"{project['alias']} at generation {project.get('source_generation', 0)}"


def _operations(tables: _Tables) -> Iterator[str]:
    for _, operation in tables.items("operations"):
        if operation["kind"] == "held_by_intervention":
            continue
        project = tables.alias(operation["project_id"])
        row = f"{operation['kind']} of {project} {operation.get('state', 'queued')}"
        if operation.get("stuck"):
            row += " and stuck"
        code = (operation.get("error") or {}).get("code")
        if code:
            row += f" ({code})"
        yield row


def _deployments(tables: _Tables) -> Iterator[str]:
    for _, deployment in tables.items("deployments"):
        yield f"{tables.alias(deployment['project_id'])} {deployment['status']}"


def _api_keys(tables: _Tables) -> Iterator[str]:
    for _, key in tables.items("user_api_keys"):
        user = tables.alias(key["user_id"])
        organization = tables.alias(key["organization_id"])
        name = _TIME_IN_NAME.sub("…", key["name"])
        row = f"{name!r} of {user} in {organization}"
        if key.get("revoked"):
            row += " revoked"
        yield row


def _dev_access_tickets(tables: _Tables) -> Iterator[str]:
    for _, ticket in tables.items("dev_access_tickets"):
        state = ticket.get("state", "unused")
        # A new ticket revokes the earlier one, so a retry leaves a revoked ticket behind.
        if state != "revoked":
            project = tables.alias(ticket["project_id"])
            yield f"{project} for {tables.alias(ticket['principal'])} {state}"


def _dns_authorizations(tables: _Tables) -> Iterator[str]:
    for key, authorization in tables.items("dns_authorizations"):
        status = authorization.get("status", "not_authorized")
        yield f"{tables.alias(key)} {status} {authorization.get('zone') or ''}"


def _databases(tables: _Tables) -> Iterator[str]:
    for key, database in tables.items("databases"):
        project, _, environment = key.partition("/")
        placement = database.get("placement") or {}
        states = [placement.get("state", "none"), placement.get("pending_state")]
        states_text = " to ".join(state for state in states if state)
        yield f"{tables.alias(project)}/{environment} {states_text}"


_ROWS_BY_KIND: Mapping[str, Callable[[_Tables], Iterator[str]]] = {
    "flag": _flags,
    "source": _sources,
    "operation": _operations,
    "deployment": _deployments,
    "API key": _api_keys,
    "dev access ticket": _dev_access_tickets,
    "DNS authorization": _dns_authorizations,
    "database": _databases,
}
