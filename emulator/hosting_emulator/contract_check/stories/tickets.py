"""Dev access tickets are issued and, where dev origins can be reached, redeemed.

Needs --allow tickets: each new ticket revokes the principal's earlier unused one.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from hosting_emulator.contract_check.kinds import redeem_url
from hosting_emulator.contract_check.moments import moment
from hosting_emulator.contract_check.scene import Scene, story
from hosting_emulator.contract_check.wire import Answer, Line, Unreachable

_MINUTES_MS = 600_000
_ONCE = "states.ticket-once limit.ticket"
_REVOKED = "states.ticket-revoked tickets.revokes"
_FIELDS = "ticket_id project_id environment_id origin redeem_url expires_at".split()


@story(
    "dev access tickets",
    allow=("tickets",),
    judges=f"tickets.call tickets.response {_ONCE} {_REVOKED} "
    + " ".join(f"ticket.{name}" for name in _FIELDS),
)
def tickets(scene: Scene) -> None:
    """Issue two, and redeem both."""
    before = scene.now()
    first = scene.ask.call("create_dev_access_ticket", about="the first")
    after = scene.now()
    if not scene.succeeded("tickets.call", first):
        return
    scene.ask.created.append("dev access tickets, valid ten minutes")
    _ten_minutes(scene, first, before, after)
    _place(scene, first)
    second = scene.ask.call("create_dev_access_ticket", about="the second")
    if scene.succeeded("tickets.call", second):
        _two(scene, first, second)
        _redeem(scene, first, second)
    with_body = scene.ask.call("create_dev_access_ticket", body={}, about="with a body")
    if with_body.ok or with_body.status == 400:
        scene.observed.see("unexpected_body", "ignored" if with_body.ok else "refused")


def _ten_minutes(
    scene: Scene,
    ticket: Answer,
    before: tuple[int | None, int | None],
    after: tuple[int | None, int | None],
) -> None:
    ends = moment(ticket.fields.get("expires_at"))
    right = None if ends is None else scene.happened_between(ends - _MINUTES_MS, before, after)
    if right is not None:
        wrong = "expires_at is not ten minutes after it was issued"
        if not scene.ledger.judge("ticket.expires_at", right, ticket.said, wrong):
            scene.ledger.differs(_ONCE, f"{ticket.said}: {wrong}")


def _place(scene: Scene, ticket: Answer) -> None:
    project, origin = ticket.fields.get("project_id"), ticket.fields.get("origin")
    if project is not None:
        same = project == scene.options.project_id
        scene.ledger.judge("ticket.project_id", same, ticket.said, "it is another project's")
    if isinstance(origin, str) and origin.startswith("https://dev-"):
        scene.observed.zone(origin)


def _two(scene: Scene, first: Answer, second: Answer) -> None:
    ledger, said = scene.ledger, second.said
    origins = [answer.fields.get("origin") for answer in (first, second)]
    if None not in origins:
        same = origins[0] == origins[1]
        ledger.judge("ticket.origin", same, said, "the project's dev origin changed")
    for name in ("ticket_id", "redeem_url"):
        if name in first.fields:
            other = first.fields[name] != second.fields.get(name)
            wrong = f"its {name} is that of the ticket before"
            ledger.judge(f"ticket.{name}", other, said, wrong)


def _redeem(scene: Scene, first: Answer, second: Answer) -> None:
    urls = [answer.fields.get("redeem_url") for answer in (first, second)]
    if any(redeem_url(url) for url in urls):
        why = "a redeem_url has not the form that the contract gives"
        scene.ledger.skips(f"{_ONCE} {_REVOKED}", why)
        return
    try:
        revoked = _open(scene, str(urls[0]), "the first ticket, revoked by the second")
        used = _open(scene, str(urls[1]), "the second ticket")
        again = _open(scene, str(urls[1]), "the second ticket again")
    except Unreachable as error:
        why = f"the dev origin cannot be reached ({error}): --origin-url says where it answers"
        scene.ledger.skips(f"{_ONCE} {_REVOKED}", why)
        return
    if not 200 <= used.status < 400:
        why = f"{used.said}: it was not accepted, and how a ticket is redeemed is not shown"
        scene.ledger.skips(f"{_ONCE} {_REVOKED}", why)
        return
    _dead(scene, _ONCE, again, used)
    _dead(scene, _REVOKED, revoked, used)
    if again.refused:
        scene.observed.see("ticket_refused_status", again.status)


def _dead(scene: Scene, keys: str, answer: Answer, used: Answer) -> None:
    """Judge what a ticket is answered that is not good any more, beside one that was.

    How it is refused is not shown: it may be sent elsewhere, or shown a page.
    """
    if answer.refused:
        scene.ledger.holds(keys, answer.said)
    elif _entrance(answer) == _entrance(used):
        wrong = "a ticket that is not good any more was accepted"
        scene.ledger.differs(keys, f"{answer.said}: {wrong}")
    else:
        why = f"{answer.said}: it is answered otherwise than a good ticket, and not with 4xx"
        scene.ledger.skips(keys, why)


def _entrance(answer: Answer) -> tuple[object, ...]:
    """What makes two answers let somebody in alike: where they lead, and the cookies they set."""
    sent = [value for name, value in answer.headers if name.lower() == "set-cookie"]
    set_now = (text.partition(";")[0].partition("=") for text in sent)
    cookies = {name for name, _, value in set_now if value}  # an empty one is taken away
    shown = answer.body if answer.ok and not cookies else b""
    return answer.status, answer.header("Location"), cookies, shown


def _open(scene: Scene, url: str, about: str) -> Answer:
    """Open a redeem URL as a browser would. Raises Unreachable."""
    options, parts = scene.options, urlsplit(url)
    line = Line(
        f"https://{parts.netloc}",
        at=options.origin_url,
        timeout_s=options.timeout_s,
        ca_file=options.ca_file,
    )
    title = f"GET {parts.path} ({about})"
    scene.ask.requests += 1
    options.ask_before(title)
    try:
        return line.exchange(title, "GET", f"{parts.path}?{parts.query}", {}, None)
    finally:
        line.close()
