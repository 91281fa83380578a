"""Counts which parts of the contract a client exercises.

Counting uses only data from the request log. It parses no body that the conduct judges do not parse
anyway.
"""

from __future__ import annotations

from collections import Counter

from hosting_emulator.calls.access import role_of
from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.contract.calls import ALL_CALLS, CURSOR
from hosting_emulator.messages import CallCoverage, ContractCoverage
from hosting_emulator.world.tables import PROJECTS

_LIST = "list_deployments"
_API_KEY = "api_key"


class CoverageCounter:
    """Counts the responses that a client received, by call, status, code and role."""

    def __init__(self) -> None:
        self._statuses: Counter[tuple[str, int]] = Counter()
        self._codes: Counter[tuple[str, str]] = Counter()
        self._roles: Counter[tuple[str, str]] = Counter()
        self._replays: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()
        self._pages = 0
        self._following_pages = 0

    def add(self, exchange: ExchangeView) -> None:
        """Count an exchange, unless the request matches no call or its response was lost."""
        call = exchange.call
        if call not in ALL_CALLS or not exchange.status or not exchange.is_received:
            return
        entry = exchange.entry
        self._statuses[call, exchange.status] += 1
        if entry.code is not None:
            self._codes[call, entry.code] += 1
        if entry.replayed:
            self._replays[call] += 1
        role = _role(exchange)
        if role is not None:
            self._roles[call, role] += 1
        if exchange.operation is not None and exchange.shows_end:
            self._ends[exchange.operation["state"]] += 1
        if call == _LIST and exchange.succeeded:
            self._pages += 1
            if _has_cursor(exchange):
                self._following_pages += 1

    def coverage(self) -> ContractCoverage:
        """Return the current counts."""
        calls = dict.fromkeys(call for call, _ in self._statuses)
        return ContractCoverage(
            calls={call: self._call_coverage(call) for call in calls},
            operation_ends=dict(self._ends),
            pages=self._pages,
            following_pages=self._following_pages,
        )

    def _call_coverage(self, call: str) -> CallCoverage:
        statuses = _counts_of(call, self._statuses)
        return CallCoverage(
            responses=sum(statuses.values()),
            statuses=statuses,
            codes=_counts_of(call, self._codes),
            roles=_counts_of(call, self._roles),
            replays=self._replays[call],
        )


def _counts_of(
    call: str, counts: Counter[tuple[str, int]] | Counter[tuple[str, str]]
) -> dict[str, int]:
    return {str(key): count for (name, key), count in counts.items() if name == call}


def _role(exchange: ExchangeView) -> str | None:
    """Return the caller's role in the project, or `api_key`, or None if the caller has no role."""
    entry = exchange.entry
    principal = entry.principal
    if principal.api_key_id is not None:
        return _API_KEY
    project_id, _ = entry.about(entry.world)
    project = None
    if project_id is not None:
        project = entry.world.get(PROJECTS, project_id)
    if project is None:
        return None
    return role_of(entry.world, principal.user_id, project)


def _has_cursor(exchange: ExchangeView) -> bool:
    name = getattr(exchange.world.assumptions, CURSOR.name_assumption)
    return name in exchange.query
