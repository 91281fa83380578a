"""How the functions of calls make their replies."""

from __future__ import annotations

from typing import Any

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.call_table import success_status
from hosting_emulator.world import views
from hosting_emulator.world.value import Change


def success_reply(
    change: Change, request: CallRequest, document: Any, subject: str, *, secret: bool = False
) -> Reply:
    """Return the first reply of a successful call, with the status that the world assumes for it.

    `subject` is the id of what the call created or read. `secret`: the document shows a credential.
    """
    status = success_status(request.spec, change.assumptions)
    return Reply(status, views.encode(document, change.assumptions), subject, secret=secret)
