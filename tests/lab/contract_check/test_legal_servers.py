"""Servers unlike this emulator that keep the contract: the check reports no difference."""

from __future__ import annotations

import re

import pytest

from hosting_emulator.contract.value_checks import is_timestamp, moment
from hosting_emulator.sdk import HostingEmulator
from tests.lab.contract_check.check_run import checked, differing, with_verdict
from tests.lab.contract_check.legal import LEGAL, Legal
from tests.lab.contract_check.mutations import refuse
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering
from tests.lab.contract_check.whole_reports import legal_report, recorded_text, report_text
from tests.support.in_process import fresh_world


@pytest.mark.parametrize("legal", LEGAL, ids=lambda legal: legal.name)
def test_an_unusual_server_within_the_contract_breaks_no_sentence(legal: Legal) -> None:
    report = legal_report(legal)

    assert differing(report) == {}
    assert with_verdict(report, "skipped").keys() >= legal.skipped
    assert report_text(report) == recorded_text("legal_servers.txt", legal.name)


@pytest.mark.parametrize("limit", ["30/60s", "10/60s"])
def test_a_configured_rate_limit_breaks_no_sentence(limit: str) -> None:
    served = TamperedWorld(world=fresh_world())
    served.set_assumptions(rate_limit=limit)

    report = served.checked(patience_s=5.0)

    assert differing(report) == {}
    assert any("429" in why[0] for why in with_verdict(report, "skipped").values())


def test_a_rate_limit_is_not_judged_as_a_response_of_the_limited_call() -> None:
    served = TamperedWorld(world=fresh_world())
    served.set_assumptions(rate_limit="30/60s", listed_statuses="open")

    report = served.checked(patience_s=5.0)

    (reason,) = with_verdict(report, "skipped")["flag.statuses"]
    assert reason == (
        "PUT /v1/projects/{project_id}/powered-by-flag (without Idempotency-Key): 429 rate_limited: "
        "a limit on all requests, not a response of this call"
    )


class RefusesPages(Tampering):
    """Is unavailable for the pages that the check follows."""

    def after(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/deployments?limit=15"):
            refuse(exchange, 503, "service_unavailable")


def test_pages_of_an_unavailable_service_are_skipped() -> None:
    report = TamperedWorld(RefusesPages()).checked(allow=frozenset())

    assert differing(report) == {}
    (reason,) = with_verdict(report, "skipped")["deployments.page-through"]
    assert reason == ("GET /v1/projects/{project_id}/deployments?limit=15: 503 service_unavailable")


class ExpectsAnUnusualGeneration(Tampering):
    """Accepts none of the source generations that the check tries."""

    def before(self, exchange: Exchange) -> None:
        if exchange.path.endswith("/source:initialize"):
            exchange.request_body = re.sub(rb": \d+}", b": 123456}", exchange.request_body)


def test_the_check_tries_twenty_source_generations() -> None:
    report = TamperedWorld(ExpectsAnUnusualGeneration()).checked(allow=frozenset(["source"]))

    assert differing(report) == {}
    (reason,) = with_verdict(report, "skipped")["source.call"]
    assert reason.endswith(": no expected_source_generation from 0 to 19 is accepted")
    assert "(generation 19)" in reason


class SendsRequestIds(Tampering):
    """Sends an X-Request-Id with each success."""

    def after(self, exchange: Exchange) -> None:
        exchange.headers.setdefault("X-Request-Id", "r-1")


@pytest.mark.parametrize(
    ("tampering", "observed"), [(Tampering(), "absent"), (SendsRequestIds(), "echoed")]
)
def test_the_check_observes_whether_successes_have_a_request_id(
    tampering: Tampering, observed: str
) -> None:
    report = TamperedWorld(tampering).checked(allow=frozenset())

    rows = {row["name"]: row.get("observed") for row in report["observed"]}
    assert rows["request_id_on_success"] == observed
    assert report["notes"] == []


def test_a_configured_body_limit_breaks_no_sentence(hosting_emulator: HostingEmulator) -> None:
    hosting_emulator.set_assumptions({"body_limit_bytes": 1})

    report = checked(hosting_emulator, patience_s=5.0)

    assert differing(report) == {}
    assert any("413" in why[0] for why in with_verdict(report, "skipped").values())


@pytest.mark.parametrize(
    "text",
    [
        "2027-01-01",
        "2026-02-29T00:00:00Z",
        "2026-01-01T24:01:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00Z",
        "12:00:00Z",
        7,
        None,
    ],
)
def test_an_invalid_timestamp_has_no_moment(text: object) -> None:
    assert not is_timestamp(text)
    assert moment(text) is None


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T01:00:00.25+01:00", 250),
        ("1969-12-31T23:59:59.9Z", -100),
        ("1969-12-31T19:00:00-05:00", 0),
        ("1970-01-01T00:00:60Z", 60_000),
        ("1970-01-01t00:00:01z", 1_000),
        ("1970-01-01 05:30:00,5+0530", 500),
        ("0000-02-29T00:00:00Z", None),  # outside the supported range of dates
        ("1970-01-01T00:00Z", None),  # too coarse to compare
    ],
)
def test_the_contract_check_reads_the_moment_of_each_timestamp_form(
    text: str, at_ms: int | None
) -> None:
    assert is_timestamp(text)
    assert moment(text) == at_ms
