"""Which functions answer which call: those of the file that has the call's name.

`answer(change, request, subject)` answers it; `answer_again(change, request, remembered)`, where a file has
one, answers a retry under its Idempotency-Key, if it was answered with success before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from hosting_emulator.calls.idempotency import replay
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.calls import ALL_CALLS, CallSpec
from hosting_emulator.world import views
from hosting_emulator.world.records import Remembered
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change


class CallFunctions(NamedTuple):
    """What answers a call. The third argument of `answer` is the record that its row is about."""

    answer: Callable[[Change, CallRequest, Any], Reply]
    answer_again: Callable[[Change, CallRequest, Remembered], Reply]


def answer_again(change: Change, request: CallRequest, found: Remembered) -> Reply:
    """Answer a retry from what was remembered, as its call has it."""
    if found.status >= 400:
        return replay(found)
    return FUNCTIONS[request.spec.call_id].answer_again(change, request, found)


def _replay(change: Change, request: CallRequest, found: Remembered) -> Reply:
    return replay(found)


def _replay_operation(change: Change, request: CallRequest, found: Remembered) -> Reply:
    if change.assumptions.operation_replay != "current":
        return replay(found)
    operation = change.row(OPERATIONS, str(found.subject))
    body = views.encode(views.operation(change, operation), change.assumptions)
    return Reply(found.status, body, operation.id)


def _functions(spec: CallSpec) -> CallFunctions:
    module = import_module(f"hosting_emulator.calls.{spec.call_id}")
    usual = _replay_operation if spec.response == "Operation" else _replay
    return CallFunctions(module.answer, getattr(module, "answer_again", usual))


FUNCTIONS = {spec.call_id: _functions(spec) for spec in ALL_CALLS.values()}
