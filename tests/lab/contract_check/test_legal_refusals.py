"""Refusals that the contract leaves open: they break no sentence and confirm none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

import pytest

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.value_checks import is_integer
from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.contract_check import check
from tests.lab.contract_check.check_run import checked, differing, options, with_verdict
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering, wrong_server


def refuse(exchange: Exchange, status: int, code: str, **members: Any) -> None:
    """Turn a response into a valid problem, except for `members`."""
    exchange.status = status
    exchange.headers.update({"X-Request-Id": "r", "Content-Type": "application/problem+json"})
    exchange.json = {
        **{"type": f"https://docs.example/errors/{code.replace('_', '-')}", "title": "No"},
        **{"status": status, "code": code, "request_id": "r", "retryable": False},
        **{"suggested_action": "Wait", **members},
    }


class Refuses(Tampering):
    """Refuses successful requests whose path ends with `ending`."""

    def __init__(self, ending: str, status: int, code: str) -> None:
        self._ending = ending
        self._status = status
        self._code = code

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.partition("?")[0].endswith(self._ending):
            refuse(exchange, self._status, self._code)


class RefusesHiding(Tampering):
    """Refuses to hide the flag with a chosen code."""

    def __init__(self, status: int, code: str) -> None:
        self._status = status
        self._code = code

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.request_body == b'{"enabled": false}':
            refuse(exchange, self._status, self._code)


class RedeemsOtherwise(Tampering):
    """Redeeming a ticket needs more than opening the URL."""

    def after(self, exchange: Exchange) -> None:
        if "/dev-access/redeem" in exchange.path:
            exchange.status = 405
            exchange.body = b"POST it"


class WithoutIds(Tampering):
    """Leaves out ids that the contract does not require."""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and exchange.path.endswith("/dev-access-tickets"):
            exchange.json = {
                name: value for name, value in exchange.json.items() if name != "origin"
            }
        if exchange.ok and "/operations/" in exchange.path:
            exchange.json = {name: value for name, value in exchange.json.items() if name != "id"}
        if exchange.ok and "/deployments" in exchange.path:
            page = exchange.json
            page["items"] = [
                {name: value for name, value in item.items() if name != "id"}
                for item in page["items"]
            ]
            exchange.json = page


class WaitsUntilADate(Tampering):
    """Sends Retry-After as a date, which HTTP allows."""

    def after(self, exchange: Exchange) -> None:
        if exchange.status == 404 and "/v1/" in exchange.path:
            exchange.json = {**exchange.json, "retry_after_seconds": 30}
            now = parsedate_to_datetime(exchange.headers["Date"])
            exchange.headers["Retry-After"] = format_datetime(now + timedelta(seconds=30), True)


LEGAL: dict[str, tuple[Callable[[], Tampering], str]] = {
    "an operation cannot start now": (
        lambda: Refuses("/domains", 409, "project_identity_unavailable"),
        "domains.call domains.idempotent",
    ),
    "a source cannot be initialized now": (
        lambda: Refuses("/source:initialize", 403, "git_host_connection_required"),
        "source.call",
    ),
    "reading DNS takes another role": (
        lambda: Refuses("/edge-dns", 403, "forbidden"),
        "dns.call",
    ),
    "compute is out of reach": (
        lambda: Refuses("/compute", 409, "compute_performance_unavailable"),
        "compute.query compute.readers",
    ),
    "hiding is forbidden": (lambda: RefusesHiding(403, "forbidden"), "flag.off flag.off-refused"),
    "hiding is out of order": (
        lambda: RefusesHiding(503, "service_unavailable"),
        "flag.off flag.off-refused flag.hiding-refused",
    ),
    "redeeming takes more": (RedeemsOtherwise, "states.ticket-once tickets.revokes"),
    "ids are left out": (WithoutIds, "deployment.id ticket.origin"),
    "waits until a date": (WaitsUntilADate, ""),
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_refusal_that_the_contract_leaves_open_breaks_no_sentence(name: str) -> None:
    make, skipped = LEGAL[name]

    report = TamperedWorld(make()).checked()

    assert differing(report) == {}
    assert with_verdict(report, "skipped").keys() >= set(skipped.split())


def test_a_server_may_allow_reads_without_an_organization(
    hosting_emulator: HostingEmulator,
) -> None:
    check_options = options(hosting_emulator)
    calls = [spec.path[spec.path.rindex("/") :] for spec in CALLS.values() if spec.method == "GET"]
    tampering = TakesFor(check_options.no_organization_token, check_options.token, *calls)

    with wrong_server(hosting_emulator.base_url, tampering) as url:
        report = checked(hosting_emulator, base_url=url, allow=frozenset())

    assert differing(report) == {}
    assert "auth.organization" in with_verdict(report, "skipped")


def test_an_unknown_token_shows_nothing_about_forbidden_access(
    hosting_emulator: HostingEmulator,
) -> None:
    report = checked(
        hosting_emulator, allow=frozenset(), outsider_token="nobody's", reader_token="nobody's"
    )

    assert differing(report) == {}
    assert "auth.forbidden" in with_verdict(report, "skipped")


@pytest.mark.parametrize(
    ("value", "expected"), [(10**400, True), (1.5, False), (float("inf"), False)]
)
def test_the_contract_check_recognizes_integers_of_any_size(value: float, expected: bool) -> None:
    assert is_integer(value) == expected


class Forbids(Tampering):
    """Forbids everything to the user of a token."""

    def __init__(self) -> None:
        self.token = ""

    def after(self, exchange: Exchange) -> None:
        if exchange.request_headers.get("Authorization") == f"Bearer {self.token}":
            refuse(exchange, 403, "forbidden")


def test_a_user_who_is_forbidden_everything_does_not_count_as_a_reader() -> None:
    tampering = Forbids()
    served = TamperedWorld(tampering)
    options = served.options()
    tampering.token = str(options.reader_token)

    report = check(options)

    assert differing(report) == {}
    assert "compute.readers" in with_verdict(report, "skipped")
