"""Generated clients: careful clients get no finding, and each careless client that of its mistake."""

from __future__ import annotations

from collections.abc import Callable, Generator
from random import Random
from typing import Any, TypeAlias

import pytest

from tests.support.calls import Response
from tests.support.sampling import rotating
from tests.support.simulated_clients import Request, Simulation, Sleep, Worker

ENDS = ("succeeded", "failed", "cancelled")
NOWHERE = "0" * 26
#: A part of a worker, which returns what it received last.
Part: TypeAlias = Generator[Request | Sleep, Response, Response]


class Careful:
    """Makes workers that do as the contract says. Each worker knows only what it received itself."""

    def __init__(self, api: Simulation, random: Random) -> None:
        self.api = api
        self.random = random
        self._keys = 0

    def key(self) -> str:
        self._keys += 1
        return f"intent-{self._keys}"

    def send(self, method: str, path: str, **options: Any) -> Part:
        """Send a request with one key, and wait and retry until its outcome is known."""
        timeout_ms = self.random.choice([None, 700, 5000])
        pause_s = 0.5
        while True:
            response = yield Request(method, path, timeout_ms=timeout_ms or 60_000, **options)
            is_refused = 400 <= response.status < 500
            is_uncertain = response.status == 0 or response.status >= 500
            if is_uncertain or (is_refused and response.json["retryable"]):
                wait_s = int(response.header("Retry-After") or 0)
                yield Sleep(max(wait_s, pause_s) + self.random.random() / 10)
                pause_s *= 2
            else:
                return response

    def mutation(self, path: str, method: str = "PUT", body: Any = None) -> Part:
        return (yield from self.send(method, path, key=self.key(), body=body))

    def follow(self, operation: Any) -> Worker:
        path = f"/v1/operations/{operation['id']}"
        while operation["state"] not in ENDS:
            yield Sleep(operation["progress"]["next_poll_after_seconds"])
            operation = (yield from self.send("GET", path)).json

    # --- Workers --------------------------------------------------------------------------------

    def applies_domains(self) -> Worker:
        path = f"/v1/projects/{self.api.project_id()}/domains"
        for _ in range(self.random.randint(1, 3)):
            operation = (yield from self.mutation(path)).json
            yield from self.follow(operation)
            yield Sleep(self.random.random() * 3)

    def several_follow_one(self) -> Worker:
        """Poll an operation that another client started."""
        path = f"/v1/operations/{self.api.shared_operation}"  # type: ignore[attr-defined]
        yield from self.follow((yield from self.send("GET", path)).json)

    def switches_flag(self) -> Worker:
        path = f"/v1/projects/{self.api.project_id()}/powered-by-flag"
        for _ in range(self.random.randint(1, 3)):
            yield from self.mutation(path, body={"enabled": self.random.random() < 0.5})
            yield Sleep(self.random.random())

    def creates_keys(self) -> Worker:
        path = f"/v1/organizations/{self.api.organization_id()}/user-api-keys"
        name = self.random.choice(["ci", "laptop"])
        while True:
            response = yield from self.mutation(path, "POST", {"name": name})
            if response.json["value"] is not None:
                return
            yield Sleep(2)

    def pages(self) -> Worker:
        query = "?limit=2"
        while True:
            path = f"/v1/projects/{self.api.project_id()}/deployments"
            page = (yield from self.send("GET", path + query)).json
            if "next_cursor" not in page:
                return
            query = f"?limit=2&cursor={page['next_cursor']}"

    def reads(self) -> Worker:
        for _ in range(self.random.randint(1, 5)):
            resource = self.random.choice(["edge-dns", "database/compute?environment=dev"])
            yield from self.send("GET", f"/v1/projects/{self.api.project_id()}/{resource}")
            yield Sleep(self.random.random() / 2)

    def asks_once_for_what_is_not_there(self) -> Worker:
        yield from self.send("GET", f"/v1/projects/{NOWHERE}/edge-dns")

    def refreshes_its_token(self) -> Worker:
        path = f"/v1/projects/{self.api.project_id()}/domains"
        key = self.key()
        refused = yield from self.send("PUT", path, key=key, token="expired")
        assert refused.status == 401
        yield from self.follow((yield from self.send("PUT", path, key=key)).json)


WORKERS = (
    Careful.applies_domains,
    Careful.applies_domains,
    Careful.several_follow_one,
    Careful.switches_flag,
    Careful.creates_keys,
    Careful.pages,
    Careful.reads,
    Careful.asks_once_for_what_is_not_there,
    Careful.refreshes_its_token,
)
FAULTS: tuple[dict[str, Any], ...] = (
    {"connection_reset": {}},
    {"connection_reset": {}, "after_commit": True},
    {"timeout": {}},
    {"timeout": {}, "after_commit": True},
    {"truncate": {"bytes": 10}, "after_commit": True},
    {"latency": {"delay_ms": 400}},
    {"latency": {"delay_ms": 3000}},
    {"latency": {"delay_ms": 3000}, "after_commit": True},
    {"slow_response": {"bytes_per_second": 200}},
    {"abort": {"code": "service_unavailable"}},
    {"abort": {"code": "service_unavailable", "retry_after_seconds": 3}},
    {"abort": {"code": "rate_limited", "retry_after_seconds": 2}},
    {"gateway_error": {"status": 502}, "after_commit": True},
    {"connection_reset": {}, "connection": "reused"},
    {"empty_response": {}, "connection": "reused", "after_commit": True},
    {"admission_queue": {"limit": 1, "window": "2s"}},
    {"admission_window": {"limit": 1, "window": "2s"}},
    {"admission_window": {"limit": 2, "window": "5s"}},
    {"stale_read": {"age": "1s"}},
    {"stale_read": {"age": "6s"}},
    {"deliver_twice": {"response": "first"}},
    {"deliver_twice": {"response": "second"}},
)


def _troubled(api: Simulation, random: Random) -> None:
    for _ in range(random.randint(0, 6)):
        fault = random.choice(FAULTS)
        api.fault(**fault, skip_first=random.randint(0, 6), times=random.randint(1, 3))


@pytest.mark.parametrize("seed", rotating(range(1500), 150))
def test_generated_careful_clients_break_no_rule(seed: int):
    random = Random(seed)
    api = Simulation()
    api.shared_operation = api.start_operation()  # type: ignore[attr-defined]
    api.change_connection()
    _troubled(api, random)
    careful = Careful(api, random)
    for _ in range(random.randint(1, 3)):
        chosen = random.choices(WORKERS, k=random.randint(1, 6))
        workers = [make(careful) for make in chosen]
        api.start(*workers, pooled=random.random() < 0.8, after_ms=random.randint(0, 3000))

    api.run()

    accused = [finding for finding in api.findings(final=True) if finding.severity != "note"]
    assert [(finding.rule, finding.message) for finding in accused] == []
    assert api.conduct_report().judged > 1


# --- Careless clients -----------------------------------------------------------------------------


def new_key_after_a_loss(careful: Careful) -> Worker:
    """Send a mutation again under a new key after each uncertainty."""
    path = f"/v1/projects/{careful.api.project_id()}/domains"
    careful.api.fault(**careful.random.choice(FAULTS[:5]), call="apply_project_domains")
    for _ in range(2):
        yield Request("PUT", path, key=careful.key(), timeout_ms=700)
        yield Sleep(careful.random.random())


def new_key_after_giving_up(careful: Careful) -> Worker:
    path = f"/v1/projects/{careful.api.project_id()}/domains"
    careful.api.fault(latency={"delay_ms": 3000}, call="apply_project_domains")
    for _ in range(2):
        yield Request("PUT", path, key=careful.key(), timeout_ms=700)
        yield Sleep(careful.random.random())


def ignores_retry_after(careful: Careful) -> Worker:
    fault = {"code": careful.random.choice(["rate_limited", "service_unavailable"])}
    careful.api.fault(
        abort={**fault, "retry_after_seconds": 30}, times=40, call="get_dns_authorization"
    )
    for _ in range(12):
        yield Request("GET", f"/v1/projects/{careful.api.project_id()}/edge-dns")
        yield Sleep(0.2)


def retries_without_a_pause(careful: Careful) -> Worker:
    careful.api.fault(
        abort={"code": "service_unavailable"}, times=400, call="get_dns_authorization"
    )
    for _ in range(60):
        yield Request("GET", f"/v1/projects/{careful.api.project_id()}/edge-dns")
        yield Sleep(0.01)


def polls_without_a_pause(careful: Careful) -> Worker:
    path = f"/v1/projects/{careful.api.project_id()}/domains"
    operation = yield Request("PUT", path, key=careful.key())
    for _ in range(20):
        yield Request("GET", f"/v1/operations/{operation.json['id']}")
        yield Sleep(0.3)


def does_not_see_the_end(careful: Careful) -> Worker:
    path = f"/v1/projects/{careful.api.project_id()}/domains"
    operation = (yield from careful.mutation(path)).json
    yield from careful.follow(operation)
    for _ in range(20):
        yield Request("GET", f"/v1/operations/{operation['id']}")
        yield Sleep(2.1)


def retries_what_is_not_retryable(careful: Careful) -> Worker:
    for _ in range(12):
        yield Request("GET", f"/v1/projects/{NOWHERE}/edge-dns")
        yield Sleep(1)


def retries_a_refused_mutation(careful: Careful) -> Worker:
    path = f"/v1/projects/{NOWHERE}/domains"
    key = careful.key()
    for _ in range(4):
        yield Request("PUT", path, key=key)
        yield Sleep(1)


def reuses_a_key(careful: Careful) -> Worker:
    path = f"/v1/projects/{careful.api.project_id()}/powered-by-flag"
    key = careful.key()
    for enabled in (True, False):
        yield Request("PUT", path, key=key, body={"enabled": enabled})


CARELESS: dict[str, Callable[[Careful], Worker]] = {
    "new-key-after-uncertainty": new_key_after_a_loss,
    "new-key-after-uncertainty (gave up)": new_key_after_giving_up,
    "retried-too-soon": ignores_retry_after,
    "retried-too-soon (storm)": retries_without_a_pause,
    "polled-too-early": polls_without_a_pause,
    "polled-after-end": does_not_see_the_end,
    "retried-not-retryable": retries_what_is_not_retryable,
    "retried-not-retryable (mutation)": retries_a_refused_mutation,
    "key-reused-for-another-request": reuses_a_key,
}


@pytest.mark.parametrize("seed", rotating(range(100), 8))
@pytest.mark.parametrize("mistake", CARELESS)
def test_a_careless_client_breaks_the_rule_of_its_mistake(mistake: str, seed: int):
    random = Random(seed)
    api = Simulation()
    api.shared_operation = api.start_operation()  # type: ignore[attr-defined]
    api.change_connection()
    careful = Careful(api, random)
    others = [Careful.switches_flag, Careful.pages, Careful.applies_domains]
    if mistake.startswith(("retried-not-retryable (m", "new-key", "polled")):
        others = [Careful.pages]  # its requests change nothing for the others
    beside = [make(careful) for make in random.choices(others, k=random.randint(0, 2))]
    same_program = random.random() < 0.5
    pooled = random.random() < 0.7
    if same_program:
        api.start(CARELESS[mistake](careful), *beside, pooled=pooled)
    else:
        api.start(CARELESS[mistake](careful), pooled=pooled)
        api.start(*beside, pooled=pooled)

    api.run()

    accused = [finding.rule for finding in api.findings(final=True) if finding.severity != "note"]
    assert mistake.partition(" ")[0] in accused
