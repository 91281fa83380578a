"""What a world has come to, in rows that can be compared: no ids, no times, no secrets.

A ticket that a newer one revoked is left out: asking for another is how a client that lost the
first one gets it, and leaves nothing to clean up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hosting_emulator.sdk import JsonObject

#: Rows of a kind, by the kind's name.
State = Mapping[str, Counter[str]]
#: The kinds that clients make, each by what several of them are called.
MADE = {
    "operation": "operations",
    "deployment": "deployments",
    "API key": "API keys",
    "dev access ticket": "unused dev access tickets",
}
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Difference:
    """How a state differs from the clean run's; `more`: there is something more of it."""

    says: str
    more: bool


def summary(state: JsonObject) -> dict[str, Counter[str]]:
    """Summarize an exported state."""
    tables = _Tables(state["tables"])
    return {kind: Counter(rows(tables)) for kind, rows in _ROWS.items()}


def differences(found: State, clean: State, start: State, vague: State | None) -> list[Difference]:
    """Compare what a run came to with the clean run; `start` is where both began.

    `vague` is what a second clean run came to: where that one differs already, nothing is said of
    what differs by chance: neither the rows, nor their number if that differs as well.
    """
    said = []
    for kind, rows in clean.items():
        again = rows if vague is None else vague[kind]
        many, usual = (counted.total() - start[kind].total() for counted in (found[kind], rows))
        if kind in MADE and many != usual:
            if again.total() == rows.total():
                extra = _shown((found[kind] - rows) if many > usual else (rows - found[kind]))
                name = MADE[kind].removesuffix("s") if many == 1 else MADE[kind]
                says = f"{many} {name} where the clean run makes {usual}: {extra}"
                said.append(Difference(says, many > usual))
        elif found[kind] != rows and again == rows:
            has, had = _shown(found[kind] - rows), _shown(rows - found[kind])
            said.append(Difference(f"{kind}: {has} where the clean run has {had}", more=False))
    return said


def vague_kinds(clean: State, again: State) -> list[str]:
    """Return the kinds in which two clean runs differ."""
    return [kind for kind, rows in clean.items() if again[kind] != rows]


def _shown(rows: Counter[str]) -> str:
    texts = [f"{row} ({count} times)" if count > 1 else row for row, count in sorted(rows.items())]
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *more]) or "none"


class _Tables:
    """The tables of an exported state, and names for the ids in them."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        self._tables = tables
        self._names = {
            key: str(row["alias"])
            for table in ("organizations", "people", "projects")
            for key, row in tables[table].items()
        }

    def rows(self, table: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Walk a table; a world of before it existed has none."""
        yield from self._tables.get(table, {}).items()

    def name(self, key: str) -> str:
        """Return the alias behind an id, or the id."""
        return self._names.get(key, key)


def _flags(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("projects"):
        yield f"{row['alias']} {'shows' if row.get('flag_enabled') else 'hides'} its flag"


def _sources(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("projects"):
        yield f"{row['alias']} at generation {row.get('source_generation', 0)}"


def _operations(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("operations"):
        error = (row.get("error") or {}).get("code")
        stuck = " and stuck" if row.get("stuck") else ""
        ended = f"{row.get('state', 'queued')}{stuck}{f' ({error})' if error else ''}"
        yield f"{row['kind']} of {tables.name(row['project_id'])} {ended}"


def _deployments(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("deployments"):
        yield f"{tables.name(row['project_id'])} {row['status']}"


def _keys(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("user_api_keys"):
        who, where = tables.name(row["person_id"]), tables.name(row["organization_id"])
        yield f"{row['name']!r} of {who} in {where}{' revoked' if row.get('revoked') else ''}"


def _tickets(tables: _Tables) -> Iterator[str]:
    for _, row in tables.rows("dev_access_tickets"):
        state = row.get("state", "unused")
        if state != "revoked":
            yield f"{tables.name(row['project_id'])} for {tables.name(row['principal'])} {state}"


def _authorizations(tables: _Tables) -> Iterator[str]:
    for key, row in tables.rows("dns_authorizations"):
        yield f"{tables.name(key)} {row.get('status', 'not_authorized')} {row.get('zone') or ''}"


def _databases(tables: _Tables) -> Iterator[str]:
    for key, row in tables.rows("databases"):
        project, _, environment = key.partition("/")
        placement = row.get("placement") or {}
        states = [placement.get("state", "none"), *filter(None, [placement.get("pending_state")])]
        yield f"{tables.name(project)}/{environment} {' to '.join(states)}"


_ROWS: dict[str, Callable[[_Tables], Iterator[str]]] = {
    "flag": _flags,
    "source": _sources,
    "operation": _operations,
    "deployment": _deployments,
    "API key": _keys,
    "dev access ticket": _tickets,
    "DNS authorization": _authorizations,
    "database": _databases,
}
