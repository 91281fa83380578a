"""Builds the replies of successful calls."""

from __future__ import annotations

from typing import Any

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.call_table import success_status
from hosting_emulator.world import views
from hosting_emulator.world.value import Change


def success_reply(
    change: Change, request: CallRequest, document: Any, subject: str, *, secret: bool = False
) -> Reply:
    """Return the reply for a successful call that is not a replay.

    The status may depend on the world's assumptions. `subject` is the id of the resource that was
    created or read. `secret` is true if the document contains a credential.
    """
    status = success_status(request.spec, change.assumptions)
    return Reply(status, views.encode(document, change.assumptions), subject, secret=secret)
