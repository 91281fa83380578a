"""The protected fault of a point, which a judge arms in all worlds that a run may use."""

from __future__ import annotations

import json
from contextlib import suppress
from urllib.request import ProxyHandler, Request, build_opener

from hosting_emulator.sdk import HostingEmulator, JsonObject
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.wire_faults import fault_at


def protected_fault(
    point: FaultPoint, clean: CleanRun, world: HostingEmulator, token: str | None, late_ms: int
) -> JsonObject:
    """Return the fault, outcome or intervention that makes the client meet a point.

    `world` is the world of the run. `token` is the client's token, if it is known. If the fault
    delays a response, its last byte arrives `late_ms` real milliseconds late.

    Raises ValueError if no request of the clean run can meet the point.
    """
    request = _request_at(point, clean)
    if point.lasting is None:
        return {"fault": fault_at(point, request, late_ms)}
    if point.fault != "token_expired":
        return point.lasting.document(request)
    user = request.exchange.user
    if token is None and user is not None:
        # A test gets the same token, because it uses the same handle of the world.
        token = world.token(user)
    return point.lasting.document(request, token)


def begin_earlier_operation(point: FaultPoint, clean: CleanRun, world: HostingEmulator) -> str:
    """Begin an operation of the project of a point's request, as another program may do.

    Returns the id of the operation, or an empty string if the emulator refuses it. Raises ValueError if
    no request of the clean run can meet the point.
    """
    exchange = _request_at(point, clean).exchange
    headers = {
        "Authorization": f"Bearer {world.token(exchange.user)}",
        "Idempotency-Key": "another-program",
    }
    url = f"{world.base_url}/v1/projects/{exchange.project}/domains"
    # Use no proxy, because the emulator is on this machine.
    opener = build_opener(ProxyHandler({}))
    with (
        suppress(OSError, ValueError, KeyError),
        opener.open(Request(url, headers=headers, method="PUT")) as response,
    ):
        operation_id: str = json.load(response)["id"]
        return operation_id
    return ""


def _request_at(point: FaultPoint, clean: CleanRun) -> NumberedRequest:
    """Return the request of the clean run that meets a point. Raises ValueError if there is none."""
    requests = {
        request.name: request
        for request in clean.observation.requests
        if request.call == point.call
    }
    request = requests.get(point.request)
    if request is None:
        raise ValueError(
            f"the clean run has no request {point.request}: it sends {len(requests)} of {point.call}"
        )
    if point.lasting is not None:
        if not point.lasting.suits(request):
            raise ValueError(f"{point.fault} does not apply to {point.request} of the clean run")
    elif point.phase == "after_commit" and not request.succeeded:
        raise ValueError(
            f"{point.request} gets {request.exchange.status} in the clean run, "
            "so there is no commit for a fault to follow; write before_commit"
        )
    return request
