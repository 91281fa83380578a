"""What a check created or changed on the server, for the report and for cleaning up."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator_lab.contract_check.response import ServerResponse


class CreatedRecords:
    """The ids of the records that each call created. They are empty if the responses contain no ids."""

    def __init__(self) -> None:
        self._labels: dict[str, list[str]] = {}
        self._undone_calls: set[str] = set()

    def add(self, response: ServerResponse) -> None:
        """Add the record in a successful response to a mutation."""
        labels = self._labels.setdefault(response.call_id, [])
        label = _label(response)
        if label and label not in labels:
            labels.append(label)

    def mark_undone(self, call_id: str) -> None:
        """Record that the change of a call has been undone."""
        self._undone_calls.add(call_id)

    def ids_of(self, call_id: str) -> list[str]:
        """Return the ids of the records that a call created."""
        return self._labels.get(call_id, [])

    def lines(self) -> list[str]:
        """Return a line for each call that changed something, with the ids."""
        lines = []
        for call_id, labels in self._labels.items():
            line = ALL_CALLS[call_id].effect or ALL_CALLS[call_id].summary
            if call_id in self._undone_calls:
                line += ", and switched back"
            if labels:
                line += f": {', '.join(labels)}"
            lines.append(line)
        return lines


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
