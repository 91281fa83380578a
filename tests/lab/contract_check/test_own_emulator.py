"""The check passes on our own emulator under every assumption, and observes each one."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.contract_check import check
from hosting_emulator_lab.contract_check.options import TOKENS
from tests.lab.contract_check.alternatives import Alternative, alternatives
from tests.lab.contract_check.check_run import checked, differing, options, with_verdict
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering, wrong_server
from tests.lab.contract_check.whole_reports import (
    OTHER_OPTIONS,
    emulator_text,
    options_report,
    recorded_text,
    report_text,
)
from tests.support.varied_worlds import new_varied_world

ALTERNATIVES = list(alternatives())
#: The alternatives that the ordinary run tries; `make torture` tries all.
SAMPLE = {
    "key_replayed_status=201",
    "cursor_parameter=after",
    "default_page_size=1",
    "operation_path=/v1/jobs/{operation_id}/state",
    "last_page_cursor=null",
    "source_generation=ignored",
    "rate_limit=30/60s",
    "idempotency_scope=principal_and_call",
    "operation_replay=current",
    "source_profile=immediate",
    "unknown_body_fields=refused",
    "timestamp_form=offset",
    "request_id_invalid=ignored",
    "idempotency_remembers=all_answers",
    "operation_path=/v1/projects/{project_id}/operations/{operation_id}",
}


LONG = pytest.mark.torture


def test_the_sampled_alternatives_exist() -> None:
    assert {str(alternative) for alternative in ALTERNATIVES} >= SAMPLE


def needed_options(alternative: Alternative) -> dict[str, Any]:
    """Return the options that the check needs to know an alternative."""
    is_needed = alternative.name == "operation_path" and "jobs" in alternative.value
    return {"assumed": {alternative.name: alternative.value}} if is_needed else {}


@pytest.mark.parametrize(
    "alternative",
    [
        pytest.param(
            alternative, id=str(alternative), marks=() if str(alternative) in SAMPLE else LONG
        )
        for alternative in ALTERNATIVES
    ],
)
def test_the_contract_check_passes_and_observes_each_alternative(alternative: Alternative) -> None:
    served = TamperedWorld()
    served.set_assumptions(**{alternative.name: alternative.value})

    report = served.checked(**needed_options(alternative))

    assert differing(report).keys() == alternative.breaks
    expected = {alternative.name: alternative.value} if alternative.is_observable else {}
    assert report["assumptions"] == expected


@pytest.mark.torture
@pytest.mark.parametrize("project", ["shop", "blog", "docs", "labs"])
@pytest.mark.parametrize("alternative", ALTERNATIVES, ids=str)
def test_the_contract_check_passes_on_every_project_with_every_clock(
    hosting_emulator: HostingEmulator, alternative: Alternative, project: str
) -> None:
    emulator = hosting_emulator
    emulator.set_assumptions({alternative.name: alternative.value})

    for clock in ("skip", "frozen", "real"):
        emulator.clock.set(clock)
        report = checked(
            emulator,
            project_id=emulator.projects[project],
            run_id=clock,
            **needed_options(alternative),
        )

        assert differing(report).keys() <= alternative.breaks


def test_a_contract_check_sends_exactly_these_requests_and_reports_exactly_this() -> None:
    assert emulator_text() == recorded_text("emulator.txt", "the emulator")


@pytest.mark.parametrize("name", OTHER_OPTIONS)
def test_a_contract_check_with_other_options_reports_exactly_these_differences(name: str) -> None:
    report = options_report(name)

    assert report_text(report) == recorded_text("options.txt", name)


def test_a_contract_check_without_permissions_leaves_the_world_unchanged(
    hosting_emulator: HostingEmulator,
) -> None:
    def state() -> Any:
        return hosting_emulator.export()

    before = state()

    report = checked(hosting_emulator, allow=frozenset(), patience_s=0.0)

    assert state() == before
    assert report["created"] == []
    assert report["summary"]["holds"] > 50


@pytest.mark.parametrize("enabled", [True, False])
def test_the_contract_check_restores_the_flag(enabled: bool) -> None:
    served = TamperedWorld()
    project = served.project_id("shop" if enabled else "blog")

    served.checked(project_id=project, allow=frozenset(["flag"]))

    assert served.record("projects", project).flag_enabled is enabled


def test_the_contract_check_judges_a_plan_that_must_show_the_flag() -> None:
    served = TamperedWorld()
    report = served.checked(
        project_id=served.project_id("garden"),
        organization_id=served.organization_id("hobby"),
        token=served.token("outsider"),
        outsider_token=served.token("owner"),
        reader_token=None,
        maintainer_token=None,
        allow=frozenset(["flag"]),
    )

    assert differing(report) == {}
    holds = with_verdict(report, "holds")
    assert {"flag.off-refused", "flag.hiding-refused"} <= holds.keys()
    (reason,) = with_verdict(report, "skipped")["flag.off"]
    assert reason.endswith(": a Free workspace's domain may depend on it")


def test_the_contract_report_contains_no_secrets(hosting_emulator: HostingEmulator) -> None:
    hosting_emulator.clock.skip()

    check_options = options(hosting_emulator)

    report = str(check(check_options))

    tokens = [
        getattr(check_options, name) for name in TOKENS if getattr(check_options, name) is not None
    ]
    assert len(tokens) == 5
    assert [token for token in tokens if token in report] == []
    assert "phk_" not in report.replace("'phk_'", "")
    assert "ticket=" not in report.replace("ticket=<ticket>", "")


def test_redacting_a_one_letter_token_leaves_the_report_readable(
    hosting_emulator: HostingEmulator,
) -> None:
    class KnowsT(Tampering):
        def before(self, exchange: Exchange) -> None:
            if exchange.request_headers.get("Authorization") == "Bearer t":
                exchange.request_headers["Authorization"] = f"Bearer {hosting_emulator.token()}"

    with wrong_server(hosting_emulator.base_url, KnowsT()) as url:
        report = checked(hosting_emulator, base_url=url, token="t", allow=frozenset())

    assert differing(report) == {}
    assert with_verdict(report, "unseen")


def test_the_contract_check_replays_an_ended_operation_with_its_own_key() -> None:
    """The key of another call is tried in between."""
    report = TamperedWorld().checked(allow=frozenset({"flag", "domains"}))

    observed = {row["name"]: row.get("observed") for row in report["observed"]}
    assert observed["operation_replay"] == "first_response"


def test_consecutive_contract_checks_of_one_project_do_not_interfere(
    hosting_emulator: HostingEmulator,
) -> None:
    hosting_emulator.clock.skip()

    for run_id in "abc":
        assert differing(checked(hosting_emulator, run_id=run_id)) == {}


def test_the_contract_check_accepts_a_base_url_that_ends_in_v1(
    hosting_emulator: HostingEmulator,
) -> None:
    report = checked(
        hosting_emulator, base_url=hosting_emulator.base_url + "/v1", allow=frozenset()
    )

    assert differing(report) == {}


@pytest.mark.parametrize("unknown_query_parameters", ["ignored", "refused"])
def test_the_contract_check_needs_unusual_parameter_names_as_options(
    unknown_query_parameters: str,
) -> None:
    names = {"cursor_parameter": "from", "limit_parameter": "n", "environment_parameter": "where"}
    served = TamperedWorld()
    served.set_assumptions(**names, unknown_query_parameters=unknown_query_parameters)

    without_names = served.checked(allow=frozenset())
    with_names = served.checked(allow=frozenset(), assumed=names)

    assert differing(without_names) == differing(with_names) == {}
    skipped = with_verdict(without_names, "skipped")
    assert "set it with --assume limit_parameter=NAME" in skipped["limit.page-size"][0]
    assert "set it with --assume environment_parameter=NAME" in skipped["compute.query"][0]
    observed = {"unknown_query_parameters": unknown_query_parameters, **with_names["assumptions"]}
    assert observed == {"unknown_query_parameters": unknown_query_parameters, **names}


def test_the_contract_check_judges_an_operation_that_is_reconciled_and_fails() -> None:
    served = TamperedWorld()
    served.add_outcome(reconcile={"phase": "deploying", "then": "exhaust", "each": "1s"})

    report = served.checked(allow=frozenset(["domains"]))

    assert differing(report) == {}
    judged = {**with_verdict(report, "holds"), **with_verdict(report, "undecided")}
    assert {"operation.reconciliation", "reconciliation-object", "error-object"} <= judged.keys()


class StaysShown(Tampering):
    """Treats a request to hide the flag with a long Idempotency-Key as unauthenticated."""

    def before(self, exchange: Exchange) -> None:
        hides = exchange.request_body == b'{"enabled": false}'
        if hides and len(exchange.request_headers.get("Idempotency-Key", "")) > 1:
            exchange.request_headers.pop("Authorization", None)


def test_the_contract_report_notes_a_flag_that_could_not_be_restored() -> None:
    served = TamperedWorld(StaysShown())

    report = served.checked(project_id=served.project_id("blog"), allow=frozenset(["flag"]))

    assert "the flag could not be switched back: it was hidden before" in report["notes"]


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(n, marks=LONG) for n in range(8, 200))])
def test_a_world_that_varies_within_the_contract_passes_the_contract_check(seed: int) -> None:
    served = TamperedWorld(world=new_varied_world(str(seed)))
    project = served.project_id(("shop", "blog", "docs", "labs")[seed % 4])

    report = served.checked(project_id=project)

    assert differing(report) == {}
