"""Issues dev access tickets, redeems them at the dev origin, and waits until one of them has expired.

Each new ticket revokes the user's earlier ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import moment, redeem_url_complaint
from hosting_emulator_lab.contract_check.address import Unreachable
from hosting_emulator_lab.contract_check.checks.request_ids import accept_request_ids
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse, same_value
from hosting_emulator_lab.contract_check.run import CheckRun
from hosting_emulator_lab.contract_check.service_times import ServiceTime, happened_between

#: How long a ticket is valid, in milliseconds.
_VALID_MS = 600_000
#: A wait in seconds after which a ticket has certainly expired.
_OUTWAIT_S = 605.0
_SINGLE_USE_KEYS = ("states.ticket-once", "limit.ticket")
_REVOKED_KEYS = ("states.ticket-revoked", "tickets.revokes")
_KEYS = (
    "tickets.call",
    "tickets.response",
    *_SINGLE_USE_KEYS,
    *_REVOKED_KEYS,
    *RESOURCES["DevAccessTicket"].sentences,
)
_TICKET_LENGTH = 43


@declare_check(allow=("tickets",), judges=_KEYS)
def issue_tickets(run: CheckRun) -> None:
    """Issue two dev access tickets, and redeem both if the dev origin can be reached."""

    def issue(purpose: str, **request: Any) -> ServerResponse:
        response = run.call("create_dev_access_ticket", purpose, **request)
        if not redeem_url_complaint(response["redeem_url"]):
            run.secrets[response["redeem_url"].rpartition("=")[2]] = "ticket.once"
        return response

    before = run.now()
    first = issue("the first")
    after = run.now()
    if not run.expect.success("tickets.call", first):
        return
    _judge_expiry(run, first, before, after)
    _record_zone(run, first)
    second = issue("the second")
    if run.expect.success("tickets.call", second):
        _compare_tickets(run, first, second)
        _redeem_tickets(run, first, second)
    accept_request_ids(run, issue)
    run.expect.ignored_or_refused("unexpected_body", issue("with a body", body={}))


def _judge_expiry(
    run: CheckRun, ticket: ServerResponse, before: ServiceTime, after: ServiceTime
) -> None:
    expires_ms = moment(ticket["expires_at"])
    issued_ms = None
    if expires_ms is not None:
        issued_ms = expires_ms - _VALID_MS
    is_right = happened_between(issued_ms, before, after)
    fault = "expires_at is not ten minutes after the issuance"
    run.evidence.judge("ticket.expires_at", is_right, ticket, fault)
    if is_right is False:
        run.evidence.differs(_SINGLE_USE_KEYS, ticket, fault)


def _record_zone(run: CheckRun, ticket: ServerResponse) -> None:
    """Record the zone of the dev origins. A world of the emulator puts its name before the zone."""
    origin = ticket.text("origin")
    if origin is None or not origin.startswith("https://dev-"):
        return
    host = origin.removeprefix("https://").partition(":")[0]
    zone = host.partition(".")[2]
    if run.world:
        zone = zone.removeprefix(f"{run.world}.")
    run.behavior.record("dev_zone", zone)


def _compare_tickets(run: CheckRun, first: ServerResponse, second: ServerResponse) -> None:
    run.evidence.judge(
        "ticket.origin",
        same_value(first["origin"], second["origin"]),
        second,
        "the project's dev origin changed",
    )
    for name in ("ticket_id", "redeem_url"):
        if name in first.fields:
            run.evidence.judge(
                f"ticket.{name}",
                first[name] != second[name],
                second,
                f"the earlier ticket has the same {name}",
            )


def _redeem_tickets(run: CheckRun, first: ServerResponse, second: ServerResponse) -> None:
    keys = (*_SINGLE_USE_KEYS, *_REVOKED_KEYS)
    first_url = first["redeem_url"]
    second_url = second["redeem_url"]
    if redeem_url_complaint(first_url) or redeem_url_complaint(second_url):
        run.evidence.skips(keys, "a redeem_url does not have the contract's form")
        return
    unknown_url = f"{second_url[:-_TICKET_LENGTH]}{'x' * _TICKET_LENGTH}"
    try:
        revoked = _open(run, first_url, "the first ticket, revoked by the second")
        redeemed = _open(run, second_url, "the second ticket")
        used = _open(run, second_url, "the second ticket again")
        unknown = _open(run, unknown_url, "a ticket that nobody issued")
    except Unreachable as error:
        run.evidence.skips(
            keys,
            f"the dev origin cannot be reached ({error}): give its URL with --origin-url",
        )
        return
    if not 200 <= redeemed.status < 400:
        reason = "not accepted, and the contract does not say how to redeem a ticket"
        run.evidence.skips(keys, f"{redeemed}: {reason}")
        return
    run.entrance = _entrance(redeemed)
    _judge_invalid_ticket(run, _SINGLE_USE_KEYS, used)
    _judge_invalid_ticket(run, _REVOKED_KEYS, revoked)
    _judge_invalid_ticket(run, _SINGLE_USE_KEYS, unknown)


def _judge_invalid_ticket(run: CheckRun, keys: tuple[str, ...], response: ServerResponse) -> None:
    """Judge whether an invalid ticket was refused.

    The contract does not show what such a refusal looks like. A redirect or a page may be a refusal
    too, if it differs from the response to a valid ticket.
    """
    if not response.refused and _entrance(response) != run.entrance:
        run.evidence.skips(
            keys, f"{response}: the response differs from a valid ticket's, and is not 4xx"
        )
    else:
        run.evidence.judge(
            keys, response.refused, response, "a ticket that is not valid was accepted"
        )


def _entrance(response: ServerResponse) -> tuple[object, ...]:
    """Return the signs of an accepted ticket: the status, the redirect target, and the cookies that are set.

    The content of a page counts only if the response sets no cookie. An empty value deletes a
    cookie.
    """
    cookie_names = set()
    for name, value in response.headers:
        if name.lower() == "set-cookie":
            cookie_name, _, cookie_value = value.partition(";")[0].partition("=")
            if cookie_value:
                cookie_names.add(cookie_name)
    page = b""
    if response.ok and not cookie_names:
        page = response.body
    return response.status, response.header("Location"), cookie_names, page


def _open(run: CheckRun, url: str, purpose: str) -> ServerResponse:
    """Open a redeem URL like a browser. Raises Unreachable."""
    parts = urlsplit(url)
    address = run.options.connect(
        f"https://{parts.netloc}",
        at=run.options.origin_url,
        timeout_s=run.options.timeout_s,
        ca_file=run.options.ca_file,
    )
    run.requests += 1
    title = f"GET {parts.path} ({purpose})"
    response = address.exchange(title, "GET", f"{parts.path}?{parts.query}", {}, None)
    return replace(response, purpose=purpose, number=run.requests)


@declare_check(allow=("tickets",))
def outwait_ticket(run: CheckRun) -> None:
    """Issue a ticket and open it after its ten minutes, if the check may wait that long."""
    if run.entrance is None:
        return
    if run.waited_s + _OUTWAIT_S > run.options.patience_s:
        reason = "waiting for a ticket to expire needs more --patience, such as 15m"
        run.evidence.cannot_decide(_SINGLE_USE_KEYS, reason)
        return
    ticket = run.call("create_dev_access_ticket", "to wait until it expires")
    issued_ms = run.now().observed_ms
    if redeem_url_complaint(ticket["redeem_url"]) or not run.wait(_OUTWAIT_S):
        return
    ended_ms = run.now().observed_ms
    if issued_ms is not None and ended_ms is not None and ended_ms - issued_ms > _VALID_MS:
        response = _open(run, ticket["redeem_url"], "a ticket after ten minutes")
        _judge_invalid_ticket(run, _SINGLE_USE_KEYS, response)
    else:
        reason = "the server's clock did not advance by ten minutes"
        run.evidence.cannot_decide(_SINGLE_USE_KEYS, reason)
