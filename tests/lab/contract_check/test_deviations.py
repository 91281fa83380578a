"""A deliberately wrong server: the check names what is wrong at the right sentence, and no other."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.contract_check import CheckRefused, check
from tests.lab.contract_check import mutations as mutations
from tests.lab.contract_check import people as people
from tests.lab.contract_check.check_run import checked, differing, options, with_verdict
from tests.lab.contract_check.deviations import DEVIATIONS, Deviation
from tests.lab.contract_check.mutations import refused
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering, wrong_server
from tests.support.sampling import rotating


@pytest.fixture
def emulator(hosting_emulator: HostingEmulator) -> HostingEmulator:
    hosting_emulator.clock.skip()
    return hosting_emulator


@pytest.mark.parametrize("planted", DEVIATIONS, ids=lambda planted: planted.name)
def test_the_contract_check_reports_exactly_the_sentences_that_a_deviation_breaks(
    planted: Deviation,
) -> None:
    served = TamperedWorld()
    options = served.options()
    served.tampering = planted.make(options)

    found = differing(check(options))

    assert set(found) == set(planted.breaks), found


@pytest.mark.parametrize("planted", DEVIATIONS[::100], ids=lambda planted: planted.name)
def test_the_contract_check_reports_a_deviation_over_a_real_connection(
    emulator: HostingEmulator, planted: Deviation
) -> None:
    used = options(emulator)

    with wrong_server(emulator.base_url, planted.make(used)) as url:
        found = differing(checked(emulator, base_url=url, origin_url=origin_of(url)))

    assert set(found) == set(planted.breaks), found


class HidesInSecret(Tampering):
    """Refuses to hide the flag, which is hidden all the same."""

    def before(self, exchange: Exchange) -> None:
        self._free = exchange.content == b'{"enabled": false}'

    def after(self, exchange: Exchange) -> None:
        if self._free and exchange.ok:
            refused(exchange, 409, "powered_by_flag_required")


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
    assert report["assumptions"].keys() <= {"docs_url"}  # its links lead past what is in between


def origin_of(url: str) -> str:
    """Where the wrong server answers for dev origins."""
    return url.partition("/worlds/")[0]


class Spoils(Tampering):
    """Spoils every answer in one way."""

    def __init__(self, how: str, *, after: int = 0) -> None:
        self._how = how
        self._left = after

    def after(self, exchange: Exchange) -> None:
        self._left -= 1
        if self._left >= 0:
            return
        if self._how == "hangs":
            exchange.hangs = True
        elif self._how == "drips":
            exchange.drips = True
        elif self._how == "cut":
            exchange.cut = 3
        elif self._how == "HTML":
            exchange.status, exchange.body = 200, b"<html>Welcome</html>"
            exchange.headers["Content-Type"] = "text/html"
        elif self._how == "redirects":
            exchange.status, exchange.body = 301, b""
            exchange.headers["Location"] = "https://elsewhere.example/"
        elif self._how == "deep":
            exchange.status, exchange.body = 200, b"[" * 100_000
        elif self._how == "types":
            exchange.status, exchange.body = 200, b'{"items": 7, "next_cursor": {}, "key": [1]}'
        elif self._how == "errors":
            exchange.status, exchange.body = 500, b"Traceback (most recent call last)"
        elif self._how == "null":
            exchange.body = b"null"
        elif self._how == "bytes":
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
#: Where no answer at all is JSON, there is nothing to check.
NO_JSON = ("HTML", "redirects", "deep", "errors", "bytes")
#: What a connection does; a client might follow a redirect by itself.
OF_A_SOCKET = ("hangs", "drips", "cut", "redirects")


@pytest.mark.parametrize("how", SHOWS)
def test_the_contract_check_completes_when_every_response_is_broken(
    request: pytest.FixtureRequest, how: str
) -> None:
    spoils = Spoils(how, after=2 if how in NO_JSON else 0)
    if how in OF_A_SOCKET:
        emulator = request.getfixturevalue("emulator")
        with wrong_server(emulator.base_url, spoils) as url:
            report = checked(emulator, base_url=url, timeout_s=0.2)
    else:
        report = TamperedWorld(spoils).checked()

    assert set(differing(report)) >= set(SHOWS[how].split())
    assert report["summary"]["holds"] < 70


@pytest.mark.parametrize("how", NO_JSON)
def test_the_contract_check_refuses_a_server_that_sends_no_json(
    emulator: HostingEmulator, how: str
) -> None:
    with (
        wrong_server(emulator.base_url, Spoils(how)) as url,
        pytest.raises(CheckRefused, match=r"No response there is JSON: is this the API\? \(http"),
    ):
        checked(emulator, base_url=url)


JUNK: list[Any] = [
    *(None, True, -1, 1.5, 10**400, "", "x", [], {}, [{"id": 1}], {"a": [None]}),
    *(
        "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "https://u:p@x/",
        "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    ),
]
HEADERS = {
    "Retry-After": ["0", "-1", "9" * 30, "Thu, 99 Foo", " 2 "],
    "Date": ["", "x", "Thu, 01 Jan 1970 00:00:00 GMT"],
    "Location": ["/v1/", "http://["],
}


class Junk(Tampering):
    """Puts junk of every type anywhere, leaves things out, and changes statuses and headers."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._rate = self._random.choice((0.01, 0.05, 0.2, 0.5))

    def _takes(self, share: float = 1.0) -> bool:
        return self._random.random() < self._rate * share

    def _spoiled(self, found: Any) -> Any:
        if self._takes():
            return self._random.choice(JUNK)
        if isinstance(found, dict):
            return {n: self._spoiled(v) for n, v in found.items() if not self._takes(0.3)}
        return [self._spoiled(each) for each in found] if isinstance(found, list) else found

    def after(self, exchange: Exchange) -> None:
        if exchange.body and exchange.body[:1] in b"{[":
            exchange.json = self._spoiled(exchange.json)
        if self._takes(0.3):
            exchange.status = self._random.choice((200, 204, 302, 304, 400, 404, 429, 503, 599))
        for name, values in HEADERS.items():
            if self._takes(0.2):
                exchange.headers[name] = self._random.choice(values)


@pytest.mark.parametrize("seed", rotating(range(300), 10))
def test_the_contract_check_reports_on_a_server_that_sends_junk(seed: int) -> None:
    with suppress(CheckRefused):
        report = TamperedWorld(Junk(seed)).checked()

        assert sum(report["summary"].values()) == len(report["sentences"])


class RefusesAll(Tampering):
    """Answers everything with one and the same refusal, or all but some calls."""

    def __init__(self, status: int, document: dict[str, Any], *but: str) -> None:
        self._status, self._document, self._but = status, document, but

    def after(self, exchange: Exchange) -> None:
        if not self._but or not exchange.path.partition("?")[0].endswith(self._but):
            exchange.status, exchange.json = self._status, self._document
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


#: What an answer that is a refusal shows of itself, whatever it refuses.
_OF_PROBLEMS = {"json", "problem-media", "problem", "request-id"}


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (404, {"detail": "Not Found"}),
        (400, _refusal(400, "invalid_request")),
        (403, _refusal(403, "forbidden")),
    ],
    ids=["knows no call", "takes no request", "lets nobody in"],
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

    holds, skipped = with_verdict(report, "holds"), with_verdict(report, "skipped")
    assert {"ulid", "auth.no-cookie", "auth.bearer", "compute.query"} <= holds.keys()
    of_writing = {
        *("idempotency-key", "limit.idempotency-key", "flag.body", "flag.request"),
        *("flag.statuses", "flag.owner-only", "keys.body", "limit.key-name", "source.body"),
    }
    assert of_writing.isdisjoint(holds)
    assert "permit it with --allow flag" in skipped["flag.body"][0]


def test_the_contract_check_expects_a_4xx_problem_instead_of_status_501() -> None:
    missing = RefusesAll(501, {"detail": "?"}, "/edge-dns", "/deployments", "/compute")

    found = differing(TamperedWorld(missing).checked(allow=frozenset()))

    assert found["keys.body"][0].endswith("501: it should have been refused with a 4xx problem")
