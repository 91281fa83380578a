"""Which functions answer which call: those of the file that has the call's name.

`answer(change, request, subject)` answers it; `answer_again(change, request, remembered)`, where a file has
one, answers a retry under its Idempotency-Key, if it was answered with success before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.world import views
from hosting_emulator.world.records import RememberedAnswer
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change


class CallFunctions(NamedTuple):
    """What answers a call. The third argument of `answer` is the record that its row is about."""

    answer: Callable[[Change, CallRequest, Any], Reply]
    answer_again: Callable[[Change, CallRequest, RememberedAnswer], Reply] | None


def answer_again(change: Change, request: CallRequest, found: RememberedAnswer) -> Reply:
    """Answer a retry from what was remembered, as its call has it."""
    if found.status < 400:
        if own := FUNCTIONS[request.spec.call_id].answer_again:
            return own(change, request, found)
        current = change.assumptions.operation_replay == "current"
        if current and request.spec.response == "Operation":
            operation = change.row(OPERATIONS, str(found.subject))
            body = views.encode(views.operation(change, operation), change.assumptions)
            return Reply(found.status, body, operation.id)
    return Reply(
        found.status, found.body.encode(), found.subject, found.content_type, varied=found.varied
    )


def _functions(call_id: str) -> CallFunctions:
    module = import_module(f"hosting_emulator.calls.{call_id}")
    return CallFunctions(module.answer, getattr(module, "answer_again", None))


FUNCTIONS = {call_id: _functions(call_id) for call_id in ALL_CALLS}
