"""The checks of dev access tickets redeem them, and judge what an invalid ticket is good for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.address import Unreachable
from hosting_emulator_lab.contract_check.checks.dev_access_tickets import (
    issue_tickets,
    outwait_ticket,
)
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    Reply,
    Request,
    faults_of,
    new_run,
    problem,
    verdict_of,
)

_ORIGIN = "https://dev-calm-green-lake.dev.example"
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_ACCEPTED = Reply("", 303, {"Location": "/", "Set-Cookie": "dev_access=abc; Path=/"})
_REFUSED = Reply("", 404)
_TICKET_KEYS = ("states.ticket-once", "limit.ticket", "states.ticket-revoked", "tickets.revokes")


class Server:
    """A server that issues tickets, and sends these replies to redemptions.

    The replies are, in this order: to the ticket that was revoked, to a valid ticket, to this
    ticket again, to a ticket that nobody issued, and to a ticket that has expired.
    """

    def __init__(
        self,
        *redemptions: Reply,
        ticket: dict[str, Any] | None = None,
        second_ticket: dict[str, Any] | None = None,
        lifetime_s: float = 600,
        advance_s: float = 0,
    ) -> None:
        self._redemptions = list(redemptions)
        self._changes = [ticket or {}, second_ticket or ticket or {}]
        self._lifetime = timedelta(seconds=lifetime_s)
        self._advance_s = advance_s
        self._now = _NOON
        self._count = 0
        self.opened: list[str] = []

    def pause(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds + self._advance_s)

    def __call__(self, request: Request) -> Reply:
        headers = {"Date": format_datetime(self._now, usegmt=True)}
        if request.path.endswith("/redeem"):
            self.opened.append(request.query["ticket"])
            return self._redemptions.pop(0)
        if request.path.endswith("/compute"):
            return Reply({"environment": "dev", "observed_at": self._now.isoformat()}, 200, headers)
        if request.method == "GET":
            return Reply({}, 200, headers)
        self._count += 1
        ticket = {
            "ticket_id": f"01KJFYX1AR0002R33RZ3WT{self._count:04d}",
            "project_id": PROJECT_ID,
            "environment_id": PROJECT_ID,
            "origin": _ORIGIN,
            "redeem_url": f"{_ORIGIN}/.service/dev-access/redeem?stage=dev&ticket={self._count:043d}",
            "expires_at": (self._now + self._lifetime).isoformat(),
            **(self._changes.pop(0) if self._changes else {}),
        }
        return Reply({name: value for name, value in ticket.items() if value != ...}, 201, headers)


def checked(server: Server, **options: Any) -> CheckRun:
    run = new_run(server, pause=server.pause, **options)
    run.behavior.record("environment_parameter", "environment")
    issue_tickets.make(run)
    return run


def ticket_faults(run: CheckRun) -> list[str]:
    return [
        f"{' '.join(row.keys)}: {row.fault}"
        for row in run.evidence.differences
        if not row.keys[0].startswith("compute.")
    ]


def test_a_ticket_is_good_once_until_the_next_is_issued() -> None:
    server = Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED)

    run = checked(server)

    assert server.opened == [f"{1:043d}", f"{2:043d}", f"{2:043d}", "x" * 43]
    assert ticket_faults(run) == []
    assert {verdict_of(run, key).partition(":")[0] for key in _TICKET_KEYS} == {"holds"}
    assert [run.secrets[f"{number:043d}"] for number in (1, 2)] == ["ticket.once"] * 2
    assert run.behavior.values["dev_zone"] == "dev.example"
    assert run.behavior.values["unexpected_body"] == "ignored"


_GOOD_AGAIN = "a ticket that is not valid was accepted"
_ONCE = "states.ticket-once limit.ticket"
_REVOKED = "states.ticket-revoked tickets.revokes"
_SIGN_IN = Reply("", 303, {"Location": "/signin", "Set-Cookie": "dev_access=; Path=/"})
_OTHER_COOKIE = Reply("", 303, {"Location": "/", "Set-Cookie": "visitor=abc"})
_WELCOME, _GOODBYE = Reply("Welcome"), Reply("Goodbye")
_WELCOME_AND_COOKIE = Reply("Welcome, 1", 200, {"set-cookie": "dev_access=a"})
_WELCOME_AGAIN = Reply("Welcome, 2", 200, {"set-cookie": "dev_access=b"})


@pytest.mark.parametrize(
    ("redemptions", "faults"),
    [
        ((_ACCEPTED, _ACCEPTED, _REFUSED, _REFUSED), [f"{_REVOKED}: {_GOOD_AGAIN}"]),
        ((_REFUSED, _ACCEPTED, _ACCEPTED, _REFUSED), [f"{_ONCE}: {_GOOD_AGAIN}"]),
        ((_REFUSED, _ACCEPTED, _REFUSED, _ACCEPTED), [f"{_ONCE}: {_GOOD_AGAIN}"]),
        ((_REFUSED, _WELCOME, _WELCOME, _REFUSED), [f"{_ONCE}: {_GOOD_AGAIN}"]),
        ((_REFUSED, _WELCOME, _GOODBYE, _REFUSED), []),
        ((_REFUSED, _ACCEPTED, _SIGN_IN, _OTHER_COOKIE), []),
        (
            (_REFUSED, _WELCOME_AND_COOKIE, _WELCOME_AGAIN, _REFUSED),
            [f"{_ONCE}: {_GOOD_AGAIN}"],
        ),
    ],
)
def test_an_invalid_ticket_was_accepted_if_it_has_the_effect_of_a_valid_one(
    redemptions: tuple[Reply, ...], faults: list[str]
) -> None:
    assert ticket_faults(checked(Server(*redemptions))) == faults


def test_a_refusal_of_another_form_shows_nothing() -> None:
    run = checked(Server(_SIGN_IN, _ACCEPTED, _SIGN_IN, _SIGN_IN))

    title = "GET /.service/dev-access/redeem"
    suffix = "303: the response differs from a valid ticket's, and is not 4xx"
    assert verdict_of(run, "states.ticket-once") == (
        f"skipped: {title} (the second ticket again): {suffix}"
    )
    assert verdict_of(run, "tickets.revokes") == (
        f"skipped: {title} (the first ticket, revoked by the second): {suffix}"
    )


@pytest.mark.parametrize("status", [199, 400, 503])
def test_a_valid_ticket_that_is_not_accepted_shows_nothing(status: int) -> None:
    run = checked(Server(_REFUSED, Reply("", status), _REFUSED, _REFUSED))

    assert ticket_faults(run) == []
    for key in _TICKET_KEYS:
        assert verdict_of(run, key) == (
            f"skipped: GET /.service/dev-access/redeem (the second ticket): {status}: "
            "not accepted, and the contract does not say how to redeem a ticket"
        )
    assert run.entrance is None


@pytest.mark.parametrize(
    ("server", "faults"),
    [
        (Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED, lifetime_s=605), []),
        (Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED, lifetime_s=595), []),
        *(
            (
                Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED, lifetime_s=lifetime_s),
                [
                    "ticket.expires_at: expires_at is not ten minutes after the issuance",
                    f"{_ONCE}: expires_at is not ten minutes after the issuance",
                ],
            )
            for lifetime_s in (605.001, 594.999)
        ),
        (
            Server(
                _REFUSED,
                _ACCEPTED,
                _REFUSED,
                _REFUSED,
                second_ticket={
                    "ticket_id": "01KJFYX1AR0002R33RZ3WT0001",
                    "origin": _ORIGIN.replace("calm", "wild"),
                    "redeem_url": (
                        f"{_ORIGIN}/.service/dev-access/redeem?stage=dev&ticket={1:043d}"
                    ),
                },
            ),
            [
                "ticket.once: it shows a credential that was sent or shown before",
                "ticket.redeem_url: redeem_url does not start with the origin",
                "ticket.origin: the project's dev origin changed",
                "ticket.ticket_id: the earlier ticket has the same ticket_id",
                "ticket.redeem_url: the earlier ticket has the same redeem_url",
            ],
        ),
    ],
)
def test_a_ticket_lasts_ten_minutes_and_differs_from_the_one_before(
    server: Server, faults: list[str]
) -> None:
    assert ticket_faults(checked(server)) == faults


@pytest.mark.parametrize(
    ("origin", "zone"),
    [
        ("https://dev-a-b-c.dev.example:8443", "dev.example"),
        ("https://dev-a-b-c.shop.dev.example", "shop.dev.example"),
        ("https://prod-a-b-c.dev.example", None),
        (7, None),
        (..., None),
    ],
)
def test_the_zone_of_dev_origins_is_observed(origin: Any, zone: str | None) -> None:
    ticket = {"origin": origin, "redeem_url": ...}

    run = checked(Server(ticket=ticket))

    assert run.behavior.values.get("dev_zone") == zone
    for key in _TICKET_KEYS:
        assert verdict_of(run, key) == "skipped: a redeem_url does not have the contract's form"


@pytest.mark.parametrize(
    ("expired", "lifetime_s", "advance_s", "verdict"),
    [
        (_REFUSED, 605.0, 0.0, "holds"),
        (_ACCEPTED, 605.0, 0.0, "differs"),
        (_REFUSED, 605.0, -5.0, "undecided"),  # exactly ten minutes
        (_REFUSED, 605.0, -4.0, "holds"),
    ],
)
def test_an_expired_ticket_is_opened_if_the_clock_advanced_by_more_than_ten_minutes(
    expired: Reply, lifetime_s: float, advance_s: float, verdict: str
) -> None:
    server = Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED, expired, advance_s=advance_s)
    run = checked(server, patience_s=lifetime_s)

    outwait_ticket.make(run)

    assert run.waited_s == 605.0
    assert verdict_of(run, "limit.ticket").partition(":")[0] == verdict
    if verdict == "undecided":
        reason = "the server's clock did not advance by ten minutes"
        assert verdict_of(run, "states.ticket-once") == f"undecided: {reason}"
        assert len(server.opened) == 4


def test_without_the_patience_for_605_seconds_no_ticket_is_outwaited() -> None:
    run = checked(Server(_REFUSED, _ACCEPTED, _REFUSED, _REFUSED), patience_s=604.9)
    requests = run.requests

    outwait_ticket.make(run)

    assert run.requests == requests
    assert verdict_of(run, "limit.ticket") == (
        "undecided: waiting for a ticket to expire needs more --patience, such as 15m"
    )


def test_without_an_accepted_ticket_no_ticket_is_outwaited() -> None:
    run = checked(Server(_REFUSED, _REFUSED, _REFUSED, _REFUSED), patience_s=0)

    outwait_ticket.make(run)

    assert verdict_of(run, "limit.ticket").startswith("skipped: GET")


def test_a_dev_origin_that_cannot_be_reached_needs_an_option() -> None:
    def connect(*_: object, **__: object) -> Any:
        raise Unreachable("its name cannot be resolved")

    run = checked(Server(), connect=connect)

    for key in _TICKET_KEYS:
        assert verdict_of(run, key) == (
            "skipped: the dev origin cannot be reached (its name cannot be resolved): "
            "give its URL with --origin-url"
        )


def test_a_limited_ticket_leaves_the_sentences_skipped() -> None:
    run = new_run(lambda request: problem(503, "service_unavailable"))

    issue_tickets.make(run)

    assert faults_of(run) == []
    assert verdict_of(run, "tickets.call").endswith("(the first): 503 service_unavailable")
