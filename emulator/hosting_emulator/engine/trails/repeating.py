"""The Idempotency-Key of a request: new, a replay and of which request, or reused for another."""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.request_log import Entry, RequestLog, sent_header
from hosting_emulator.world.fault_records import Abort, GatewayError, RateLimit
from hosting_emulator.world.tables import REMEMBERED
from hosting_emulator.world.value import World

_HEADER = b"idempotency-key"
#: Codes of access, which is judged before any key is looked at.
_OF_ACCESS = frozenset(
    {
        *("organization_required", "resource_not_found", "forbidden", "invalid_request"),
        "interactive_login_required",
    }
)


class Uses:
    """Which requests of one log used which key; looked up once, when it is first asked for."""

    def __init__(self, log: RequestLog) -> None:
        self._log = log
        self._by_key: dict[tuple[str, str], list[Entry]] | None = None

    def told(self, entry: Entry, world: World) -> Iterator[str]:
        """Say what became of the key of a request."""
        key = sent_header(entry, _HEADER)
        if key is None:
            return
        if entry.replayed:
            yield f"A replay: the key {key} came first with {self._first(entry, key)}."
        elif entry.code == "idempotency_key_reused":
            yield f"Reused: the key {key} came first with {self._first(entry, key)}, another request."
        elif _remembered(entry):  # whatever a fault then made of the answer
            retention = world.assumptions.idempotency_retention
            until = format_timestamp(entry.at_ms + parse_duration_ms(retention))
            answer = "the call's own answer" if _fate(entry) else "this answer"
            yield f"New: the key {key} was free, and {answer} is remembered under it until {until}."
        elif entry.code in _OF_ACCESS and not entry.acted:
            yield f"Not looked at: access was refused before the key {key} mattered."
        else:
            yield f"New: the key {key} was free, and stays so."

    def _first(self, entry: Entry, key: str) -> str:
        """Name the request that a key's remembered answer was made for."""
        if self._by_key is None:
            self._by_key = self._look()
        used = self._by_key.get((_principal(entry), key), [])
        before = [one for one in used if one.n < entry.n and one.call is not None]
        # The newest whose answer was remembered: an older one has been forgotten since.
        found = next((one for one in reversed(before) if _remembered(one)), None)
        if found is None:
            return "a request that the log no longer has"
        fate = _fate(found)
        return f"#{found.n}, whose answer was {fate}" if fate else f"#{found.n}"

    def _look(self) -> dict[tuple[str, str], list[Entry]]:
        found: dict[tuple[str, str], list[Entry]] = {}
        for entry in reversed(self._log.newest(len(self._log))):
            key = sent_header(entry, _HEADER)
            if key is not None:
                found.setdefault((_principal(entry), key), []).append(entry)
        return found


def _remembered(entry: Entry) -> bool:
    return any(
        row is not None
        for made in entry.commits
        for row in made.writes.get(REMEMBERED.name, {}).values()
    )


def _fate(entry: Entry) -> str:
    """Say what a fault made of an answer after the commit; empty: it arrived as it was."""
    if entry.lost is not None:
        return "lost"
    replaced = any(
        fault.phase == "after_commit" and isinstance(fault.effect, Abort | GatewayError | RateLimit)
        for fault in entry.acted
    )
    return "replaced" if replaced else ""


def _principal(entry: Entry) -> str:
    return entry.principal.person_id if entry.principal else ""
