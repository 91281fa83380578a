"""Servers unlike this emulator that keep the contract: the check reports no difference."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.value_checks import is_timestamp, moment
from hosting_emulator.sdk import HostingEmulator
from tests.lab.contract_check.check_run import checked, differing, with_verdict
from tests.lab.contract_check.legal import LEGAL, Legal
from tests.lab.contract_check.tampered_world import TamperedWorld
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
