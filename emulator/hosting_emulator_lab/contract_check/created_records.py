"""What a check created or changed on the server, for the report and for cleaning up."""

from __future__ import annotations

from typing import Any, NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.contract_check.response import ServerResponse


class _UncertainChange(NamedTuple):
    """A mutation that may have succeeded, although no response of the service says so.

    `reason` is the end of a clause about the response.
    """

    title: str
    call_id: str
    key: str | None
    reason: str


class CreatedRecords:
    """The ids of the records that each call created. They are empty if the responses contain no ids.

    A mutation may have created a record, too, if its response was lost, or if the response has a 5xx
    status and no problem code. A proxy sends such a response if it has lost the response of the
    service.
    """

    def __init__(self) -> None:
        self._labels: dict[str, list[str]] = {}
        self._undone_calls: set[str] = set()
        self._uncertain_changes: list[_UncertainChange] = []

    def add(self, response: ServerResponse, key: str | None) -> None:
        """Add what a mutation with this Idempotency-Key changed: nothing if the service refused it."""
        reason = _uncertainty(response)
        if reason:
            self._uncertain_changes.append(
                _UncertainChange(response.title, response.call_id, key, reason)
            )
        if not response.ok:
            return
        labels = self._labels.setdefault(response.call_id, [])
        label = _label(response)
        if label and label not in labels:
            labels.append(label)
        if key is not None:
            # A retry with the same key returns the result of the first request.
            self._uncertain_changes = [
                change
                for change in self._uncertain_changes
                if (change.call_id, change.key) != (response.call_id, key)
            ]

    def mark_undone(self, call_id: str) -> None:
        """Record that the change of a call has been undone."""
        self._undone_calls.add(call_id)

    def ids_of(self, call_id: str) -> list[str]:
        """Return the ids of the records that a call created."""
        return self._labels.get(call_id, [])

    def lines(self) -> list[str]:
        """Return a line for each call that changed something, with the ids, and then a line for each
        mutation that may have changed something.
        """
        lines = []
        for call_id, labels in self._labels.items():
            line = _effect(call_id)
            if call_id in self._undone_calls:
                line += ", and switched back"
            if labels:
                line += f": {', '.join(labels)}"
            lines.append(line)
        for change in self._uncertain_changes:
            if change.call_id not in self._undone_calls:
                lines.append(
                    f"possibly: {_effect(change.call_id)}; the response to {change.title} was "
                    f"{change.reason}"
                )
        return lines


def _uncertainty(response: ServerResponse) -> str:
    """Return the end of a clause that says why it is unknown whether a mutation succeeded.

    Returns an empty string if the service itself sent the response.
    """
    if not response.status:
        return "lost"
    if response.status >= 500 and response.code is None:
        return f"{response.status} without a problem code"
    return ""


def _effect(call_id: str) -> str:
    """Return what a successful call changes."""
    return ALL_CALLS[call_id].effect or ALL_CALLS[call_id].summary


def _label(response: ServerResponse) -> str:
    """Return the id of a new record. For an API key, the name comes first."""
    key = response["key"]
    if not isinstance(key, dict):
        return _id_in(response.fields)
    record_id = _id_in(response.fields | key)
    if record_id and "name" in key:
        return f"{key['name']} ({record_id})"
    return record_id


def _id_in(fields: dict[str, Any]) -> str:
    return str(fields.get("id") or fields.get("ticket_id") or "")
