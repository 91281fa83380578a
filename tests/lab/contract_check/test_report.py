"""What a report contains besides verdicts: notes, reasons, and the records that the check left."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from typing import Any, Literal

import pytest

from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check import Report, check
from hosting_emulator_lab.contract_check.created_records import CreatedRecords
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from tests.lab.contract_check.check_run import differing, with_verdict
from tests.lab.contract_check.deviations import DEVIATIONS
from tests.lab.contract_check.hidden import HIDDEN
from tests.lab.contract_check.legal import LEGAL
from tests.lab.contract_check.legal_refusals import LEGAL_REFUSALS
from tests.lab.contract_check.mutations import (
    LimitedOnce,
    is_successful_poll,
    path_ends_with,
    refuse,
)
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering
from tests.lab.contract_check.whole_reports import FOLDER, OTHER_OPTIONS, recorded_sections


class IsQueuedAgain(Tampering):
    """The second poll of a running operation shows it as queued."""

    def __init__(self) -> None:
        self._running = 0

    def after(self, exchange: Exchange) -> None:
        if is_successful_poll(exchange) and exchange.json["state"] == "running":
            self._running += 1
            if self._running == 2:
                exchange.json = {**exchange.json, "state": "queued"}


def test_an_operation_state_that_goes_back_is_noted_and_breaks_no_sentence() -> None:
    """ "Transitions: not shown.": the contract does not forbid it."""
    report = TamperedWorld(IsQueuedAgain()).checked()

    assert differing(report) == {}
    assert [note for note in report["notes"] if "it was running and is queued again" in note]


class ListsInNoOrder(Tampering):
    """Puts the second deployment of each page first."""

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, "/deployments"):
            first, second, *others = exchange.json["items"] + [None] * 2
            items = [item for item in (second, first, *others) if item is not None]
            exchange.json = {**exchange.json, "items": items}


class IgnoresEmptyRequestIds(Tampering):
    """Treats an empty X-Request-Id like a missing one, and refuses one that is too long."""

    def before(self, exchange: Exchange) -> None:
        if exchange.request_headers.get("X-Request-Id") == "":
            del exchange.request_headers["X-Request-Id"]


class Queues(Tampering):
    """Creates API keys with status 202."""

    def after(self, exchange: Exchange) -> None:
        if exchange.status == 201 and path_ends_with(exchange, "/user-api-keys"):
            exchange.status = 202


class LosesResponses(Tampering):
    """Loses the responses to the first `count` requests of a call, or to some of these.

    `only_successes` spares refusals, and `every` is 3 to lose every third response.
    """

    def __init__(
        self, ending: str, count: int, *, only_successes: bool = False, every: int = 1
    ) -> None:
        self._ending = ending
        self._remaining = count
        self._only_successes = only_successes
        self._every = every

    def after(self, exchange: Exchange) -> None:
        is_affected = exchange.ok or not self._only_successes
        if is_affected and path_ends_with(exchange, self._ending) and self._remaining > 0:
            self._remaining -= 1
            exchange.hangs = self._remaining % self._every == 0


class FallsSilent(Tampering):
    """Sends no response any more after the flag was switched on."""

    def __init__(self) -> None:
        self._is_silent = False

    def after(self, exchange: Exchange) -> None:
        exchange.hangs = self._is_silent
        if exchange.ok and path_ends_with(exchange, "/powered-by-flag"):
            self._is_silent = True


class RepeatsInitializations(Tampering):
    """A retry of the source's initialization starts another operation."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def after(self, exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, "/source:initialize"):
            key = exchange.request_headers["Idempotency-Key"]
            if key in self._ids:
                exchange.json = {**exchange.json, "id": self._ids[key]}
            self._ids[key] = "7ZZZZZZZZZZZZZZZZZZZZZZZZW"


@pytest.mark.parametrize(
    ("tampering", "note"),
    [
        (ListsInNoOrder(), "deployments are ordered neither by newest nor by oldest first"),
        (
            IgnoresEmptyRequestIds(),
            "an empty X-Request-Id is not treated like one that is too long",
        ),
        (Queues(), "key_created_status is 202, which no assumption can express"),
        (
            RepeatsInitializations(),
            "a retry of initialize_managed_source starts another operation",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Tampering) else "",
)
def test_the_contract_report_notes_behavior_that_breaks_no_sentence(
    tampering: Tampering, note: str
) -> None:
    report = TamperedWorld(tampering).checked()

    assert differing(report) == {}
    assert note in report["notes"]


def test_the_contract_check_stops_when_the_server_no_longer_responds() -> None:
    reason = "the server did not respond to 3 requests in a row"

    report = TamperedWorld(FallsSilent()).checked()

    assert f"the check was stopped: {reason}" in report["notes"]
    assert differing(report)["paths"] == [f"while asking: {reason}"]
    skipped = with_verdict(report, "skipped")
    # The sentences of the check that was stopped, and of a later check.
    assert skipped["flag.reused"] == skipped["domains.idempotent"] == [reason]
    holds = with_verdict(report, "holds")
    assert {"dns.call", "flag.on"} <= holds.keys()


@pytest.mark.parametrize(
    "tampering",
    [LosesResponses("/user-api-keys", 2), LosesResponses("/deployments", 1000, every=3)],
    ids=["twice", "every third time"],
)
def test_the_contract_check_goes_on_after_fewer_than_three_lost_responses_in_a_row(
    tampering: Tampering,
) -> None:
    report = TamperedWorld(tampering).checked()

    assert not [note for note in report["notes"] if "was stopped" in note]


def test_a_lost_response_to_the_switch_of_the_flag_is_noted() -> None:
    loses_the_switch = LosesResponses("/powered-by-flag", 1, only_successes=True)

    report = TamperedWorld(loses_the_switch).checked(allow=frozenset(["flag"]))

    note = "whether the flag was switched on is unknown: no response arrived"
    assert note in report["notes"]
    assert differing(report).keys() == {"flag.call"}
    (reason,) = with_verdict(report, "skipped")["flag.on"]
    assert reason.endswith("(show): no response within 10 s")


def test_a_server_that_never_responds_leaves_everything_unchecked() -> None:
    report = TamperedWorld(LosesResponses("", 1000)).checked()

    assert report["unchecked"] == (
        "No request succeeded (GET /v1/projects/{project_id}/edge-dns: no response within 10 s): "
        "nothing could be checked."
    )


class OtherRequestIds(Tampering):
    def after(self, exchange: Exchange) -> None:
        if exchange.status == 404 and "/v1/" in exchange.path:
            exchange.headers["X-Request-Id"] = "edge-1"


def test_a_request_id_header_that_contradicts_the_body_is_noted_and_breaks_no_sentence() -> None:
    report = TamperedWorld(OtherRequestIds()).checked()

    assert differing(report) == {}
    assert [note for note in report["notes"] if "differs from its X-Request-Id" in note]


class Limited(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        refuse(exchange, 429, "rate_limited")
        exchange.headers["Retry-After"] = "2"


class LimitedWithSeconds(LimitedOnce):
    def limit(self, exchange: Exchange) -> None:
        refuse(exchange, 429, "rate_limited", retry_after_seconds=2)
        exchange.headers["Retry-After"] = "2"


def test_a_rate_limited_response_without_seconds_leaves_the_retry_after_sentence_skipped() -> None:
    without_seconds, with_seconds = (
        TamperedWorld(kind()).checked() for kind in (Limited, LimitedWithSeconds)
    )

    assert (
        "429 rate_limited: without retry_after_seconds"
        in with_verdict(without_seconds, "skipped")["limit.retry-after"][0]
    )
    assert "limit.retry-after" in with_verdict(with_seconds, "holds")
    assert differing(without_seconds) == differing(with_seconds) == {}


class Ignores(Tampering):
    """Removes a query parameter before it arrives and may put another in its place."""

    def __init__(self, name: str, instead: str = "") -> None:
        self._name = name
        self._instead = instead

    def before(self, exchange: Exchange) -> None:
        path, _, query = exchange.path.partition("?")
        parameters = [
            parameter
            for parameter in query.split("&")
            if parameter and not parameter.startswith(f"{self._name}=")
        ]
        if path_ends_with(exchange, "/compute") or path_ends_with(exchange, "/deployments"):
            parameters += [self._instead] if self._instead else []
            exchange.path = f"{path}?{'&'.join(parameters)}" if parameters else path


@pytest.mark.parametrize(
    ("assumption", "name", "instead", "broken"),
    [
        ("environment_parameter", "env", "environment=dev", "compute.query"),
        ("limit_parameter", "limit", "", "limit.page-size"),
        ("cursor_parameter", "cursor", "", "deployments.page-through"),
    ],
)
def test_ignoring_a_configured_parameter_breaks_its_sentence(
    assumption: str, name: str, instead: str, broken: str
) -> None:
    served = TamperedWorld(Ignores(name, instead))

    report = served.checked(assumed={assumption: name})

    assert broken in differing(report)


def test_a_configured_operation_path_that_does_not_exist_breaks_durability() -> None:
    """An operation must be durable at the configured path."""
    assumed = {"operation_path": "/v1/jobs/{operation_id}"}

    assert "durable" in differing(TamperedWorld().checked(assumed=assumed))


def created_ids(
    served: TamperedWorld, *tables: Literal["user_api_keys", "dev_access_tickets", "operations"]
) -> set[str]:
    """Return the ids of the records in tables of the world, by default in all that a check changes."""
    tables = tables or ("user_api_keys", "dev_access_tickets", "operations")
    return {record_id for table in tables for record_id in served.world.tables[table]}


class MakesWhatItShouldNot(TakesFor):
    """Outsiders may create keys, and a name of 65 characters is cut."""

    def before(self, exchange: Exchange) -> None:
        super().before(exchange)
        name = (
            exchange.request_json.get("name")
            if path_ends_with(exchange, "/user-api-keys")
            else None
        )
        if isinstance(name, str) and len(name) == 65:
            exchange.request_json = {"name": name[:64]}


def test_the_contract_report_lists_every_record_that_the_check_created() -> None:
    served = TamperedWorld()
    before = created_ids(served)
    options = served.options()
    served.tampering = MakesWhatItShouldNot(options.outsider_token, options.token, "/user-api-keys")

    report = check(options)

    listed = set(re.findall("[0-9A-HJKMNP-TV-Z]{26}", " ".join(report["created"])))
    assert listed == created_ids(served) - before
    # Correct requests create three, an outsider one, and the name of 65 characters one.
    assert len(created_ids(served, "user_api_keys") - before) == 5
    assert {"keys.session", "keys.body"} <= differing(report).keys()


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        ("/user-api-keys", "user API keys were created"),
        ("/dev-access-tickets", "dev access tickets were created"),
        ("/domains", "an operation that applies the project's domains was started"),
    ],
)
@pytest.mark.parametrize("count", [1, 10])
def test_a_change_whose_response_was_lost_is_listed_as_possible(
    path: str, effect: str, count: int
) -> None:
    report = TamperedWorld(LosesResponses(path, count, only_successes=True)).checked()

    lines = [line for line in report["created"] if line.startswith("possibly: ")]
    assert lines
    for line in lines:
        assert line.startswith(f"possibly: {effect}")
        assert re.search(rf"; the response to (POST|PUT) /v1/.*{path}.* was lost$", line)


def test_a_lost_response_that_a_retry_with_the_same_key_recovers_is_not_listed() -> None:
    created = CreatedRecords()
    for key in ("a", "b"):
        created.add(ServerResponse(f"POST {key}", call_id="create_user_api_key"), key)

    created.add(ServerResponse("POST", 201, call_id="create_user_api_key"), "a")

    assert [line.partition("; ")[2] for line in created.lines()] == [
        "",
        "the response to POST b was lost",
    ]


def test_a_lost_response_does_not_matter_after_the_change_was_undone() -> None:
    created = CreatedRecords()
    created.add(ServerResponse("PUT", call_id="set_project_powered_by_flag"), "a")
    created.add(ServerResponse("PUT", 200, call_id="set_project_powered_by_flag"), "b")

    created.mark_undone("set_project_powered_by_flag")

    assert created.lines() == ["the project's flag was switched, and switched back"]


class TakesNoKey(Tampering):
    """Accepts a mutation without an Idempotency-Key."""

    def before(self, exchange: Exchange) -> None:
        if exchange.method != "GET" and not exchange.request_headers.get("Idempotency-Key"):
            exchange.request_headers["Idempotency-Key"] = f"made-up-{id(exchange)}"


@pytest.mark.parametrize("tampering", [Tampering, TakesNoKey])
def test_the_contract_check_leaves_no_operation_running(tampering: type[Tampering]) -> None:
    served = TamperedWorld(tampering())

    served.checked()

    states = {operation.state for operation in served.world.tables["operations"].values()}
    assert "succeeded" in states
    assert not states & {"queued", "running"}


def elapsed_s(report: Report, served: TamperedWorld) -> float:
    start_ms: Any = moment("2026-03-01T12:00:00Z")
    return (served.machine.at_ms - start_ms) / 1000


def test_the_contract_check_outwaits_a_ticket_only_within_its_patience() -> None:
    hurried = TamperedWorld()
    patient = TamperedWorld()

    reports = hurried.checked(patience_s=120.0), patient.checked(patience_s=1_000.0)

    assert elapsed_s(reports[0], hurried) < 120 < 605 < elapsed_s(reports[1], patient)
    assert differing(reports[0]) == differing(reports[1]) == {}


def access_token(claims: dict[str, Any]) -> str:
    """Return a token in the form of an access JWT with these claims."""
    payload = urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"header.{payload}.signature"


@pytest.mark.parametrize(
    ("token", "issued_at_ms", "audience"),
    [
        ("opaque", None, None),
        ("a.b.c", None, None),
        (access_token({"aud": "hosting", "iat": 1_700_000_000}), 1_700_000_000_000, "hosting"),
        (access_token({"aud": "hosting", "iat": "yesterday"}), None, "hosting"),
        (access_token({"aud": ["hosting", "billing"], "iat": 7}), 7_000, None),
    ],
)
def test_the_audience_and_the_time_of_an_access_token_are_observed(
    token: str, issued_at_ms: int | None, audience: str | None
) -> None:
    behavior = ServerBehavior()

    assert behavior.record_audience(token) == issued_at_ms
    assert behavior.values.get("token_audience") == audience


def test_every_section_of_a_golden_file_has_a_server_or_options() -> None:
    names = {
        "deviations.txt": [deviation.name for deviation in DEVIATIONS],
        "emulator.txt": ["the emulator"],
        "hidden_deviations.txt": [hidden.name for hidden in HIDDEN],
        "legal_refusals.txt": list(LEGAL_REFUSALS),
        "legal_servers.txt": [legal.name for legal in LEGAL],
        "options.txt": list(OTHER_OPTIONS),
    }

    assert {path.name for path in FOLDER.iterdir()} == names.keys()
    for file, expected_names in names.items():
        assert list(recorded_sections(file)) == expected_names
