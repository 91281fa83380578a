"""Operations that wait for different reasons, for the tests of the texts that explain them."""

from __future__ import annotations

from tests.support.in_process import InProcess


def start_operation(api: InProcess) -> str:
    """Start an operation, and return its id."""
    return str(api.initialize().json["id"])


def start_and_stick(api: InProcess) -> str:
    """Start an operation that an intervention stops, and return its id."""
    operation = start_operation(api)
    api.intervene("stick_operation", operation=operation)
    return operation


def start_and_require_reconciliation(api: InProcess) -> str:
    """Start an operation whose reconciliation is required, and return its id."""
    operation = start_operation(api)
    api.intervene("require_reconciliation", operation=operation)
    return operation


def hold_claim(api: InProcess) -> str:
    """Let an intervention hold the mutation claim, and return the id of the operation that it creates."""
    api.intervene("hold_claim", project="shop")
    return str(api.record("projects", api.project_id()).claim)


def start_and_complete(api: InProcess) -> str:
    """Start an operation, advance the clock beyond its end, and return its id."""
    operation = start_operation(api)
    api.advance("1h")
    return operation
