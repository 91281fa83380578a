"""The contract check reports each mistake of a wrong server at the right sentence, and no other."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.contract_check import CheckRefused
from tests.lab.contract_check.check_run import checked, differing, options, with_verdict
from tests.lab.contract_check.deviations import DEVIATIONS, Deviation
from tests.lab.contract_check.mutations import refuse
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering, wrong_server
from tests.lab.contract_check.whole_reports import deviation_report, recorded_text, report_text
from tests.support.sampling import rotating


@pytest.fixture
def emulator(hosting_emulator: HostingEmulator) -> HostingEmulator:
    hosting_emulator.clock.skip()
    return hosting_emulator


@pytest.mark.parametrize("planted", DEVIATIONS, ids=lambda planted: planted.name)
def test_the_contract_check_reports_exactly_the_sentences_that_a_deviation_breaks(
    planted: Deviation,
) -> None:
    report = deviation_report(planted)

    differences = differing(report)
    assert set(differences) == set(planted.breaks), differences
    assert report_text(report) == recorded_text("deviations.txt", planted.name)


@pytest.mark.parametrize("planted", DEVIATIONS[::100], ids=lambda planted: planted.name)
def test_the_contract_check_reports_a_deviation_over_a_real_connection(
    emulator: HostingEmulator, planted: Deviation
) -> None:
    check_options = options(emulator)

    with wrong_server(emulator.base_url, planted.make(check_options)) as url:
        differences = differing(checked(emulator, base_url=url, origin_url=origin_of(url)))

    assert set(differences) == set(planted.breaks), differences


class HidesInSecret(Tampering):
    """Refuses to hide the flag but hides it."""

    def before(self, exchange: Exchange) -> None:
        self._is_hiding = exchange.request_body == b'{"enabled": false}'

    def after(self, exchange: Exchange) -> None:
        if self._is_hiding and exchange.ok:
            refuse(exchange, 409, "powered_by_flag_required")


def test_the_contract_check_reports_a_refused_hiding_that_hides_the_flag() -> None:
    report = TamperedWorld(HidesInSecret()).checked(allow=frozenset(["flag"]))

    assert differing(report).keys() == {"flag.off-refused"}


def test_at_least_250_deviations_with_different_names_are_planted() -> None:
    names = [planted.name for planted in DEVIATIONS]

    assert len(names) == len(set(names))
    assert len(names) >= 250


def test_a_proxy_that_changes_nothing_conforms_to_the_contract(
    emulator: HostingEmulator,
) -> None:
    with wrong_server(emulator.base_url, Tampering()) as url:
        report = checked(emulator, base_url=url, origin_url=origin_of(url))

    assert differing(report) == {}
    assert report["assumptions"].keys() <= {"docs_url"}  # its links bypass the proxy


def origin_of(url: str) -> str:
    """Return the origin at which the wrong server serves dev origins."""
    return url.partition("/worlds/")[0]


class Spoils(Tampering):
    """Spoils every response in one way."""

    def __init__(self, manner: str, *, intact_responses: int = 0) -> None:
        self._manner = manner
        self._intact_responses = intact_responses

    def after(self, exchange: Exchange) -> None:
        self._intact_responses -= 1
        if self._intact_responses >= 0:
            return
        if self._manner == "hangs":
            exchange.hangs = True
        elif self._manner == "drips":
            exchange.drips = True
        elif self._manner == "cut":
            exchange.cut = 3
        elif self._manner == "HTML":
            exchange.status = 200
            exchange.body = b"<html>Welcome</html>"
            exchange.headers["Content-Type"] = "text/html"
        elif self._manner == "redirects":
            exchange.status = 301
            exchange.body = b""
            exchange.headers["Location"] = "https://elsewhere.example/"
        elif self._manner == "deep":
            exchange.status = 200
            exchange.body = b"[" * 100_000
        elif self._manner == "types":
            exchange.status = 200
            exchange.body = b'{"items": 7, "next_cursor": {}, "key": [1]}'
        elif self._manner == "errors":
            exchange.status = 500
            exchange.body = b"Traceback (most recent call last)"
        elif self._manner == "null":
            exchange.body = b"null"
        elif self._manner == "bytes":
            exchange.body = b"\xff\xfe\x00"


SHOWS = {
    "hangs": "dns.call paths",
    "drips": "dns.call paths",
    "cut": "dns.call paths",
    "HTML": "json dns.response",
    "redirects": "dns.call deployments.call",
    "deep": "json dns.response",
    "types": "page.items dns.status",
    "errors": "problem-media problem dns.call",
    "null": "dns.response",
    "bytes": "json problem",
}
#: The manners in which no response is JSON: there is nothing to check.
NO_JSON = ("HTML", "redirects", "deep", "errors", "bytes")
#: The manners that need a real connection; a client might follow a redirect by itself.
OF_A_SOCKET = ("hangs", "drips", "cut", "redirects")


@pytest.mark.parametrize("manner", SHOWS)
def test_the_contract_check_completes_when_every_response_is_broken(
    request: pytest.FixtureRequest, manner: str
) -> None:
    tampering = Spoils(manner, intact_responses=2 if manner in NO_JSON else 0)
    if manner in OF_A_SOCKET:
        emulator = request.getfixturevalue("emulator")
        with wrong_server(emulator.base_url, tampering) as url:
            report = checked(emulator, base_url=url, timeout_s=0.2)
    else:
        report = TamperedWorld(tampering).checked()

    assert set(differing(report)) >= set(SHOWS[manner].split())
    assert report["summary"]["holds"] < 70


@pytest.mark.parametrize("manner", NO_JSON)
def test_the_contract_check_refuses_a_server_that_sends_no_json(
    emulator: HostingEmulator, manner: str
) -> None:
    with (
        wrong_server(emulator.base_url, Spoils(manner)) as url,
        pytest.raises(CheckRefused, match=r"No response there is JSON: is this the API\? \(http"),
    ):
        checked(emulator, base_url=url)


JUNK: list[Any] = [
    None,
    True,
    -1,
    1.5,
    10**400,
    "",
    "x",
    [],
    {},
    [{"id": 1}],
    {"a": [None]},
    "9999-12-31T23:59:59Z",
    "0000-01-01T00:00:00Z",
    "https://u:p@x/",
    "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
]
HEADERS = {
    "Retry-After": ["0", "-1", "9" * 30, "Thu, 99 Foo", " 2 "],
    "Date": ["", "x", "Thu, 01 Jan 1970 00:00:00 GMT"],
    "Location": ["/v1/", "http://["],
}


class Junk(Tampering):
    """Inserts junk of every type anywhere, drops members, and changes statuses and headers."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._rate = self._random.choice((0.01, 0.05, 0.2, 0.5))

    def _happens(self, share: float = 1.0) -> bool:
        return self._random.random() < self._rate * share

    def _spoil(self, value: Any) -> Any:
        if self._happens():
            return self._random.choice(JUNK)
        if isinstance(value, dict):
            return {
                name: self._spoil(member)
                for name, member in value.items()
                if not self._happens(0.3)
            }
        return [self._spoil(item) for item in value] if isinstance(value, list) else value

    def after(self, exchange: Exchange) -> None:
        if exchange.body and exchange.body[:1] in b"{[":
            exchange.json = self._spoil(exchange.json)
        if self._happens(0.3):
            exchange.status = self._random.choice((200, 204, 302, 304, 400, 404, 429, 503, 599))
        for name, values in HEADERS.items():
            if self._happens(0.2):
                exchange.headers[name] = self._random.choice(values)


@pytest.mark.parametrize("seed", rotating(range(300), 10))
def test_the_contract_check_reports_on_a_server_that_sends_junk(seed: int) -> None:
    with suppress(CheckRefused):
        report = TamperedWorld(Junk(seed)).checked()

        assert sum(report["summary"].values()) == len(report["sentences"])


class RefusesAll(Tampering):
    """Gives the same refusal to every request, except on paths with these endings."""

    def __init__(self, status: int, document: dict[str, Any], *except_endings: str) -> None:
        self._status = status
        self._document = document
        self._except_endings = except_endings

    def after(self, exchange: Exchange) -> None:
        if not self._except_endings or not exchange.path.partition("?")[0].endswith(
            self._except_endings
        ):
            exchange.status = self._status
            exchange.json = self._document
            exchange.headers["Content-Type"] = "application/problem+json"
            exchange.headers["X-Request-Id"] = "req_1"


def _refusal(status: int, code: str) -> dict[str, Any]:
    return {
        "type": f"https://docs.example/errors/{code.replace('_', '-')}",
        "title": "No",
        "status": status,
        "code": code,
        "request_id": "req_1",
        "retryable": False,
        "suggested_action": "Go away",
    }


#: The sentences that any refusal shows.
_OF_PROBLEMS = {"json", "problem-media", "problem", "request-id"}


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (404, {"detail": "Not Found"}),
        (400, _refusal(400, "invalid_request")),
        (403, _refusal(403, "forbidden")),
    ],
    ids=["no call exists", "every request is invalid", "every caller is forbidden"],
)
def test_a_server_that_refuses_every_request_conforms_to_no_sentence_about_calls(
    status: int, document: dict[str, Any]
) -> None:
    report = TamperedWorld(RefusesAll(status, document)).checked(api_key="phk_somebody")

    holds = with_verdict(report, "holds").keys()
    assert {key for key in holds if not key.startswith("problem.")} <= _OF_PROBLEMS
    assert "json" in holds
    skipped = with_verdict(report, "skipped")
    assert "no correct request succeeded" in skipped["ulid"][0]


def test_a_missing_call_conforms_to_no_sentence_about_writing() -> None:
    missing = RefusesAll(404, {"detail": "Not Found"}, "/edge-dns", "/deployments", "/compute")

    report = TamperedWorld(missing).checked(allow=frozenset())

    holds = with_verdict(report, "holds")
    skipped = with_verdict(report, "skipped")
    assert {"ulid", "auth.no-cookie", "compute.query"} <= holds.keys()
    writing_sentences = {
        "idempotency-key",
        "limit.idempotency-key",
        "flag.body",
        "flag.request",
        "flag.statuses",
        "flag.owner-only",
        "keys.body",
        "limit.key-name",
        "source.body",
    }
    assert writing_sentences.isdisjoint(holds)
    assert "permit it with --allow flag" in skipped["flag.body"][0]


def test_the_contract_check_expects_a_4xx_problem_instead_of_status_501() -> None:
    missing = RefusesAll(501, {"detail": "?"}, "/edge-dns", "/deployments", "/compute")

    differences = differing(TamperedWorld(missing).checked(allow=frozenset()))

    assert differences["keys.body"][0].endswith(
        "501: it should have been refused with a 4xx problem"
    )
