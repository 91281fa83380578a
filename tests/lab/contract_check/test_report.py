"""What a report contains besides verdicts: notes, reasons, and the records that the check left."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from typing import Any, Literal

import pytest

from hosting_emulator_lab.contract_check import check
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from tests.lab.contract_check.check_run import differing, with_verdict
from tests.lab.contract_check.deviations import DEVIATIONS
from tests.lab.contract_check.hidden import HIDDEN
from tests.lab.contract_check.legal import LEGAL
from tests.lab.contract_check.legal_refusals import LEGAL_REFUSALS
from tests.lab.contract_check.mutations import (
    path_ends_with,
)
from tests.lab.contract_check.people import TakesFor
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering
from tests.lab.contract_check.whole_reports import FOLDER, OTHER_OPTIONS, recorded_sections


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


def test_a_lost_response_to_the_switch_of_the_flag_is_noted() -> None:
    loses_the_switch = LosesResponses("/powered-by-flag", 1, only_successes=True)

    report = TamperedWorld(loses_the_switch).checked(allow=frozenset(["flag"]))

    note = "whether the flag was switched on is unknown: no response arrived"
    assert note in report["notes"]
    assert differing(report).keys() == {"flag.call"}
    (reason,) = with_verdict(report, "skipped")["flag.on"]
    assert reason.endswith("(show): no response within 10 s")


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


def test_the_report_says_which_option_would_show_an_assumption() -> None:
    report = TamperedWorld().checked(
        allow=frozenset(), reader_token=None, maintainer_token=None, patience_s=0.0
    )

    reasons = {row["name"]: row["why"] for row in report["observed"] if "why" in row}
    roles = "--maintainer-token and --reader-token"
    assert {name: why for name, why in reasons.items() if why.startswith("it needs")} == {
        "dns_role": f"it needs {roles}",
        "deployments_role": f"it needs {roles}",
        "source_role": f"it needs --allow source, {roles}",
        "domains_role": f"it needs --allow domains, {roles}",
        "operation_role": f"it needs --allow source or --allow domains, {roles}",
    }
