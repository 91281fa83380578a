"""Polling: read an operation as it now is."""

from __future__ import annotations

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.world import operations, views
from hosting_emulator.world.records import Operation
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, operation: Operation) -> Reply:
    """Show the operation. Where its profile counts polls, this one counts."""
    if not operations.finished(operation):
        operation = operations.count_poll(change, operation)
    body = views.encode(views.operation(change, operation), change.assumptions)
    return Reply(200, body, operation.id)
