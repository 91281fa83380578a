"""Refusals that the contract leaves open: they break no sentence and confirm none."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.value_checks import is_integer
from hosting_emulator.sdk import HostingEmulator
from tests.lab.contract_check.check_run import checked, differing, options, with_verdict
from tests.lab.contract_check.legal_refusals import LEGAL_REFUSALS, ShowsOnlyAHiddenFlag
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import wrong_server
from tests.lab.contract_check.whole_reports import legal_refusal_report, recorded_text, report_text


@pytest.mark.parametrize("name", LEGAL_REFUSALS)
def test_a_refusal_that_the_contract_leaves_open_breaks_no_sentence(name: str) -> None:
    _, skipped = LEGAL_REFUSALS[name]

    report = legal_refusal_report(name)

    assert differing(report) == {}
    assert with_verdict(report, "skipped").keys() >= set(skipped.split())
    assert report_text(report) == recorded_text("legal_refusals.txt", name)


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


def test_a_refusal_to_show_a_flag_that_is_shown_does_not_say_whether_its_time_is_renewed() -> None:
    report = TamperedWorld(ShowsOnlyAHiddenFlag()).checked(allow=frozenset(["flag"]))

    assert differing(report) == {}
    (row,) = [row for row in report["observed"] if row["name"] == "flag_reenabled"]
    assert "observed" not in row
