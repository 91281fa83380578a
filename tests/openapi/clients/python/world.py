"""The guide's story with the client that openapi-python-client generates of the control API."""

import os

import httpx
from generated_control_client import Client
from generated_control_client.api.clock import advance_clock
from generated_control_client.api.faults import arm_fault
from generated_control_client.api.requests import list_requests
from generated_control_client.api.worlds import create_world, delete_world, show_world
from generated_control_client.models import (
    Abort,
    AbortCode,
    Advance,
    ApiProblem,
    ClockMove,
    Fault,
    FaultState,
    NewClock,
    NewClockMode,
    NewToken,
    NewWorld,
    NewWorldSummary,
    RequestPage,
)

control = Client(base_url=f"{os.environ['HOSTING_EMULATOR_URL']}/_emulator")

frozen = NewWorld(clock=NewClock(mode=NewClockMode.FROZEN), token=NewToken())
world = create_world.sync(client=control, body=frozen)
assert isinstance(world, NewWorldSummary)
assert world.token
domains = f"{world.base_url}/v1/projects/{world.projects[0].id}/domains"
headers = {"Authorization": f"Bearer {world.token.access_token}", "Idempotency-Key": "one"}
operation = httpx.put(domains, headers=headers).json()["id"]

advance = Advance(until_operation=operation)
moved = advance_clock.sync(world.name, client=control, body=advance)
assert isinstance(moved, ClockMove)
print(f"time moved by {moved.moved_ms} ms")

unavailable = Fault(abort=Abort(code=AbortCode.SERVICE_UNAVAILABLE), times=1)
fault = arm_fault.sync(world.name, client=control, body=unavailable)
assert isinstance(fault, FaultState)
print(f"{fault.id} is armed")
refused = httpx.put(domains, headers={**headers, "Idempotency-Key": "two"})

log = list_requests.sync(world.name, client=control, limit=5, trail=False)
assert isinstance(log, RequestPage)
print(refused.status_code, *(f"{row.method} {row.status}" for row in log.items))

nothing = show_world.sync("nothing", client=control)
assert isinstance(nothing, ApiProblem)
print(nothing.detail)
delete_world.sync_detailed(world.name, client=control)
