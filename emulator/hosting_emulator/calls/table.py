"""Which function answers which call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hosting_emulator.calls import (
    apply_project_domains,
    create_dev_access_ticket,
    create_user_api_key,
    get_dns_authorization,
    get_operation,
    initialize_managed_source,
    list_deployments,
    read_database_compute,
    set_project_powered_by_flag,
)
from hosting_emulator.calls.asking import Ask, Reply
from hosting_emulator.calls.idempotency import replay
from hosting_emulator.world import views
from hosting_emulator.world.records import Remembered
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change

# The third argument is what the call is about: the kind of record its row in the call table names.
Answer = Callable[[Change, Ask, Any], Reply]

ANSWERS: dict[str, Answer] = {
    "set_project_powered_by_flag": set_project_powered_by_flag.answer,
    "initialize_managed_source": initialize_managed_source.answer,
    "create_user_api_key": create_user_api_key.answer,
    "apply_project_domains": apply_project_domains.answer,
    "get_dns_authorization": get_dns_authorization.answer,
    "list_deployments": list_deployments.answer,
    "create_dev_access_ticket": create_dev_access_ticket.answer,
    "read_database_compute": read_database_compute.answer,
    "get_operation": get_operation.answer,
}


def answer_again(change: Change, ask: Ask, found: Remembered) -> Reply:
    """Answer a retry from what was remembered, as its call has it."""
    if found.status < 400:
        if ask.spec.call_id == "create_user_api_key":
            return create_user_api_key.replay(change, ask, found)
        if ask.spec.response == "Operation" and change.assumptions.operation_replay == "current":
            operation = change.row(OPERATIONS, str(found.subject))
            body = views.encode(views.operation(change, operation), change.assumptions)
            return Reply(found.status, body, operation.id)
    return replay(found)
