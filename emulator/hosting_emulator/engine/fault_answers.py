"""From a fault's effect to an answer, for those effects that are answers."""

from __future__ import annotations

from html import escape
from http import HTTPStatus

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.problems import PROBLEMS, Refused
from hosting_emulator.engine.exchange import Incoming, Outgoing
from hosting_emulator.faults.deciding import Decision, Subject
from hosting_emulator.world.fault_records import Abort, Effect, Fault, GatewayError, RateLimit
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import World


def fault_subject(
    world: World, spec: CallSpec, subject_id: str, principal: Principal, incoming: Incoming
) -> Subject:
    """Return what faults can match of a request."""
    project = subject_id if spec.subject == "project" else None
    if spec.subject == "operation":
        operation = world.get(OPERATIONS, subject_id)
        project = operation.project_id if operation else None
    return Subject(
        call=spec.call_id,
        project=project,
        principal=principal.person_id,
        method=incoming.method,
        path=incoming.path,
        headers=incoming.headers,
    )


def fault_kind(fault: Fault) -> str:
    """Return the name of a fault's effect."""
    return effect_kind(fault.effect)


def effect_kind(effect: Effect) -> str:
    """Return the name of an effect, such as `connection_reset`."""
    return str(effect.__struct_config__.tag)


def refusal_of(effect: Abort | RateLimit, decision: Decision) -> Refused:
    """Return the problem that a fault answers with."""
    if isinstance(effect, RateLimit):
        return Refused(
            "rate_limited",
            f"More than {effect.limit} requests in {effect.window}.",
            retry_after_seconds=decision.retry_after_seconds,
            why="a rate_limit fault",
        )
    meaning = PROBLEMS[effect.code].meaning
    return Refused(
        effect.code,
        meaning if effect.detail is None else effect.detail,
        status=effect.status,
        retry_after_seconds=effect.retry_after_seconds,
        why="an abort fault",
    )


def gateway_answer(effect: GatewayError) -> Outgoing:
    """Return what a proxy between client and service would answer: HTML, and no problem document."""
    title = f"{effect.status} {HTTPStatus(effect.status).phrase}"
    html = effect.html
    if html is None:
        html = (
            f"<html>\r\n<head><title>{escape(title)}</title></head>\r\n<body>\r\n"
            f"<center><h1>{escape(title)}</h1></center>\r\n</body>\r\n</html>\r\n"
        )
    return Outgoing(effect.status, html.encode("utf-8", "replace"), "text/html")
