"""What a world has come to, in rows that can be compared: no ids, no times, no secrets.

A ticket that a newer one revoked is left out: asking for another is how a client that lost the
first one gets it, and leaves nothing to clean up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hosting_emulator.sdk import JsonObject

#: Rows of a kind, by the kind's name.
State = Mapping[str, Counter[str]]
_Row = Mapping[str, Any]
_Name = Callable[[str], str]
#: The kinds that clients make, each by what several of them are called.
MADE = {
    "operation": "operations",
    "deployment": "deployments",
    "API key": "API keys",
    "dev access ticket": "unused dev access tickets",
}
_SHOWN = 4


class StateDifference(NamedTuple):
    """How a state differs from the clean run's; `more`: there is something more of it."""

    says: str
    more: bool


def summary(state: JsonObject) -> dict[str, Counter[str]]:
    """Summarize an exported state; a world of before a table existed has no rows in it."""
    tables: Mapping[str, Mapping[str, Any]] = state["tables"]
    aliases = {
        key: str(row["alias"])
        for table in ("organizations", "people", "projects")
        for key, row in tables[table].items()
    }

    def name(id_: str) -> str:
        return aliases.get(id_, id_)

    return {
        kind: Counter(
            text
            for key, row in tables.get(table, {}).items()
            if (text := write(name, key, row)) is not None
        )
        for kind, (table, write) in _KINDS.items()
    }


def differences(found: State, clean: State, start: State, again: State) -> list[StateDifference]:
    """Compare what a run came to with the clean run; `start` is where both began.

    `again` is what a second clean run came to: where that one differs already, nothing is said of
    what differs by chance: neither the rows, nor their number if that differs as well.
    """
    result = []
    for kind, rows in clean.items():
        many, usual = (counted.total() - start[kind].total() for counted in (found[kind], rows))
        if kind in MADE and many != usual:
            if again[kind].total() == rows.total():
                extra = _shown((found[kind] - rows) if many > usual else (rows - found[kind]))
                name = MADE[kind].removesuffix("s") if many == 1 else MADE[kind]
                says = f"{many} {name} where the clean run makes {usual}: {extra}"
                result.append(StateDifference(says, many > usual))
        elif found[kind] != rows and again[kind] == rows:
            has, had = _shown(found[kind] - rows), _shown(rows - found[kind])
            result.append(
                StateDifference(f"{kind}: {has} where the clean run has {had}", more=False)
            )
    return result


def _shown(rows: Counter[str]) -> str:
    texts = [f"{row} ({count} times)" if count > 1 else row for row, count in sorted(rows.items())]
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *more]) or "none"


def _operation(name: _Name, _: str, row: _Row) -> str:
    error = (row.get("error") or {}).get("code")
    stuck = " and stuck" if row.get("stuck") else ""
    ended = f"{row.get('state', 'queued')}{stuck}{f' ({error})' if error else ''}"
    return f"{row['kind']} of {name(row['project_id'])} {ended}"


def _api_key(name: _Name, _: str, row: _Row) -> str:
    who, where = name(row["person_id"]), name(row["organization_id"])
    return f"{row['name']!r} of {who} in {where}{' revoked' if row.get('revoked') else ''}"


def _ticket(name: _Name, _: str, row: _Row) -> str | None:
    state = row.get("state", "unused")
    shown = f"{name(row['project_id'])} for {name(row['principal'])} {state}"
    return None if state == "revoked" else shown


def _database(name: _Name, key: str, row: _Row) -> str:
    project, _, environment = key.partition("/")
    placement = row.get("placement") or {}
    states = [placement.get("state", "none"), *filter(None, [placement.get("pending_state")])]
    return f"{name(project)}/{environment} {' to '.join(states)}"


#: The kinds of things: the table that each is in, and how a row of it is written.
_KINDS: dict[str, tuple[str, Callable[[_Name, str, _Row], str | None]]] = {
    "flag": (
        "projects",
        lambda _, __, row: (
            f"{row['alias']} {'shows' if row.get('flag_enabled') else 'hides'} its flag"
        ),
    ),
    "source": (
        "projects",
        lambda _, __, row: f"{row['alias']} at generation {row.get('source_generation', 0)}",
    ),
    "operation": ("operations", _operation),
    "deployment": (
        "deployments",
        lambda name, _, row: f"{name(row['project_id'])} {row['status']}",
    ),
    "API key": ("user_api_keys", _api_key),
    "dev access ticket": ("dev_access_tickets", _ticket),
    "DNS authorization": (
        "dns_authorizations",
        lambda name, key, row: (
            f"{name(key)} {row.get('status', 'not_authorized')} {row.get('zone') or ''}"
        ),
    ),
    "database": ("databases", _database),
}
