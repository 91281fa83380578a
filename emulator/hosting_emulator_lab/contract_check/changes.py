"""What a check changes there, each where it is permitted: the flag, keys, tickets, operations.

The contract has no call that reads the flag. How it was is seen from the first answer: a flag that
was on already was switched on before we came. Each new ticket revokes the principal's earlier one.
Operations are polled to their end, as often as they say.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator.contract.calls import CALLS, CallName
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES, TERMINAL
from hosting_emulator.contract.value_checks import is_timestamp, moment, redeem_url_complaint
from hosting_emulator_lab.contract_check.reading import (
    accepts_request_ids,
    items_of,
    nobody,
    others_replay,
)
from hosting_emulator_lab.contract_check.run import (
    BLAMES,
    EXCUSES,
    NOWHERE,
    PREFIX,
    Accepted,
    Run,
    alike,
    check,
)
from hosting_emulator_lab.contract_check.wire import (
    Answer,
    Unreachable,
    http_date,
)

# --- The flag ------------------------------------------------------------------------------------

_OTHER_REFUSALS = ("unauthenticated", "forbidden", "organization_required", "invalid_request")
_ONCE = "flag.retry flag.replay"
_OFF_REFUSED = "flag.off-refused flag.hiding-refused"
_REUSED = "flag.reused condition.reused"
#: Long enough for a clock to show another time.
_LATER_S = 1.1


def _put(run: Run, enabled: bool, about: str = "", **how: Any) -> Answer:
    about = ("show" if enabled else "hide") + (about and f", {about}")
    return run.call("set_project_powered_by_flag", about, body={"enabled": enabled}, **how)


@check(
    allow=("flag",),
    judges="flag.call flag.project_id flag.enabled flag.enabled_at flag.closed flag.200 flag.on "
    f"flag.off {_OFF_REFUSED} {_ONCE} {_REUSED}",
)
def switch(run: Run) -> None:
    """Show the flag, retry, reuse the key, hide it, show it again, and put it back."""
    before, key = run.now(), run.new_key()
    first = _put(run, True, key=key)
    if not first.status:
        run.note("whether the flag was switched on is unknown: no response came")
    if not run.succeeded("flag.call flag.on", first):
        return
    run.used_key = (key, first.call_id)
    just_now: bool | None = None
    try:
        if (switched := moment(first["enabled_at"])) is not None:
            just_now = run.happened_between(switched, before, run.now(), 0)
        run.judge("flag.enabled flag.on", first["enabled"] is True, first, "it is not shown")
        _same(run, first, _put(run, True, "the same key and body", key=key))
        accepts_request_ids(run, partial(_put, run, True, key=key))
        others_replay(run, partial(_put, run, True, key=key), run.missing)
        if (reader := run.options.reader_token) is not None:
            theirs = _put(run, True, "as a reader, with the owner's key", key=key, token=reader)
            run.refused("flag.owner-only auth.roles", theirs)
        changed = _put(run, False, "the same key, another body", key=key)
        if changed.ok:
            run.differs(_REUSED, changed, "the key was used for another request")
        else:
            run.refused(_REUSED, changed, "idempotency_key_reused")
        _hide_and_show(run, first, key)
        other = _put(run, False, "the first key in other letters", key=key.swapcase())
        _differs_in_case(run, other, other.document != first.document)
    finally:
        if just_now is None:
            run.note("the flag's earlier state is unknown: it stays shown")
        try:
            back = _put(run, just_now is not True, "as it was")
            if back.ok:
                run.put_back.add(back.call_id)
        finally:
            if not run.put_back:
                how = "hidden" if just_now else "shown"
                run.note(f"the flag could not be switched back: it was {how} before")


def _differs_in_case(run: Run, answer: Answer, is_done: bool) -> None:
    """Judge a request under a key that differs from a used one in the case of its letters only.

    It is another key, so the request is neither a changed request nor a replay.
    """
    if answer.code == "idempotency_key_reused" or (answer.ok and not is_done):
        run.differs("idempotency-key", answer, "two keys that differ in case are taken for one")
    elif answer.ok:
        run.holds("idempotency-key", answer)


def _same(run: Run, first: Answer, again: Answer) -> None:
    if run.succeeded(_ONCE, again):
        run.judge(_ONCE, again.document == first.document, again, "it is not the first result")


def _hide_and_show(run: Run, first: Answer, first_key: str) -> None:
    hidden = _put(run, False)
    _judge_hidden(run, hidden)
    began = run.now()
    if hidden.ok:
        _same(run, first, _put(run, True, "the first key and body", key=first_key))
    retried = run.now()
    run.wait(_LATER_S)
    before, long_key = run.now(), (run.new_key() + "-").ljust(128, "x")
    shown = _put(run, True, "an Idempotency-Key of 128", key=long_key)
    after, written = run.now(), shown["enabled_at"]
    if not _accepts_key(run, shown) or not run.succeeded("flag.on", shown):
        return
    at_ms, keys = moment(written), "flag.on flag.enabled_at"
    if hidden.ok and _was_then(at_ms, began[0], retried[0], before[0]):
        run.differs(_ONCE, shown, "the retry before it had switched the flag on")
    elif hidden.ok:
        if at_ms is None and not is_timestamp(written):
            run.differs(keys, shown, "enabled_at is not a timestamp")
        right = run.happened_between(at_ms, before, after)
        run.judge(keys, right, shown, "enabled_at is not the time it was switched on")
    elif written == first["enabled_at"]:
        # After a refusal the flag is on as it was, unless showing it again renews the time.
        run.holds("flag.off-refused", shown)
    if run.wait(_LATER_S):
        again = _put(run, True, "although it is shown")
        if again.ok:
            kept = again["enabled_at"] == written
            run.see("flag_reenabled", "kept" if kept else "renewed")
            if kept and _depends(hidden) and written != first["enabled_at"]:
                wrong = "it had been hidden although that was refused"
                run.differs("flag.off-refused", shown, wrong)
    # An earlier check may have used it, so nothing may depend on its answer.
    _accepts_short_key(run, partial(_put, run, True))


def _was_then(at_ms: int | None, began: int | None, ended: int | None, now: int | None) -> bool:
    """Whether a moment lies in a span of time that was over a second ago: of no other it could be."""
    if at_ms is None or began is None or ended is None or now is None:
        return False
    return began <= at_ms <= ended <= now - 1000


def _depends(hidden: Answer) -> bool:
    """Whether hiding was refused because a Free workspace's domain depends on the flag, it seems."""
    return hidden.refused and hidden.code not in (*_OTHER_REFUSALS, *EXCUSES)


def _judge_hidden(run: Run, hidden: Answer) -> None:
    if hidden.ok:
        run.judge("flag.off flag.enabled", hidden["enabled"] is False, hidden, "it is not hidden")
        run.judge("flag.off", hidden["enabled_at"] is None, hidden, "enabled_at is not null")
        run.skips(_OFF_REFUSED, "no Free workspace's domain depends on this project's flag")
    elif _depends(hidden):
        if hidden.code == "powered_by_flag_required":
            run.holds(_OFF_REFUSED, hidden)
        else:
            why = f"{hidden}: this code does not say that a Free workspace's domain is the reason"
            run.cannot_decide(_OFF_REFUSED, why)
        run.skips("flag.off", f"{hidden}: a Free workspace's domain may depend on it")
    elif hidden.code == "forbidden":
        why = f"{hidden}: the response does not say whether a Free workspace's domain is the reason"
        run.skips(f"flag.off {_OFF_REFUSED}", why)
    elif not run.succeeded("flag.off", hidden):
        run.skips(_OFF_REFUSED, hidden)


def _accepts_key(run: Run, answer: Answer) -> bool:
    keys = "idempotency-key limit.idempotency-key"
    if answer.code == "invalid_request":
        run.differs(keys, answer, "the key is within bounds")
        return False
    if answer.ok or answer.code == "idempotency_key_reused":
        run.holds(keys, answer)
    else:
        run.skips(keys, answer)
    return True


def _accepts_short_key(run: Run, ask: Callable[..., Answer]) -> None:
    """Send a request under a key of one character, one that was used already if there is one."""
    key = run.short_key or secrets.choice(string.ascii_letters)
    if _accepts_key(run, ask("an Idempotency-Key of 1", key=key)):
        run.short_key = key


# --- A user API key ------------------------------------------------------------------------------

_DAYS_MS = 90 * 86_400_000
_REPLAYED = "keys.replay keys.uncertainty"
_KEYS_JUDGED = (
    f"keys.call keys.response keys.days limit.key keys.value-once {_REPLAYED} "
    "key.replayed key.value key.request_id key.key key.metadata auth.key-bound"
)


@check(allow=("keys",), judges=_KEYS_JUDGED)
def create(run: Run) -> None:
    """Create a user API key, and ask for the same again."""
    name, key = f"{PREFIX}{run.options.run_id}-".ljust(64, "x"), run.new_key()
    body: dict[str, object] = {"name": name, "hosting_emulator_check": 1}

    def make(about: str, *, name: str = "", **how: Any) -> Answer:
        content = {**body, "name": name} if name else body
        return run.call("create_user_api_key", about, body=content, **{"key": key, **how})

    first = make("a name of 64, a field more")
    run.ignored_or_refused("unknown_body_fields", first)
    if first.status == 400:
        body, key = {"name": name}, run.new_key()
        first = make("a name of 64")
    if first.code in ("interactive_login_required", "forbidden"):
        run.skips(_KEYS_JUDGED, f"{first}: --token must be from an interactive session")
        return
    if not run.succeeded("keys.call keys.body limit.key-name", first):
        return
    run.holds("keys.body limit.key-name", first)
    run.see("key_created_status", first.status)
    run.used_key = run.used_key or (key, first.call_id)
    _creation(run, first, name)
    _replay(run, first, make("exact replay"))
    accepts_request_ids(run, make)
    others_replay(run, make, partial(run.refused, "keys.session"))
    if value := first.text("value"):
        replay = make("exact replay, with the user API key it created", token=value)
        run.refused("keys.session auth.session", replay)
    reused = make("the same key, another name", name=name[:-1] + "y")
    run.refused_as("condition.reused", reused, "condition.reused", "idempotency_key_reused")
    _keys_at_bounds(run, make)


def _keys_at_bounds(run: Run, make: Callable[..., Answer]) -> None:
    """Create keys with names and Idempotency-Keys that are as short and as long as they may be."""
    long_key = (run.new_key() + "-").ljust(128, "x")
    about = "an Idempotency-Key of 128"
    named = make(f"{about}, a name of 1", name=PREFIX[0], key=long_key)
    if named.code != "invalid_request":
        _accepts_key(run, named)
        if named.ok:
            run.holds("keys.body limit.key-name", named)
    elif _accepts_key(run, make(about, key=long_key)):
        run.differs("keys.body limit.key-name", named, "the name is within bounds")
    # A character counts as one, however many bytes it takes.
    wide = f"{PREFIX}{run.options.run_id}-".ljust(64, "é")
    other = make("the same key in other letters, a name of 64", name=wide, key=long_key.swapcase())
    if other.code == "invalid_request":
        run.differs("keys.body limit.key-name", other, "the name is within bounds")
    else:
        is_another = alike(_key_id(named), _key_id(other)) is not True
        _differs_in_case(run, other, is_another or other["replayed"] is False)
    _accepts_short_key(run, make)


def _key_id(creation: Answer) -> object:
    key = creation["key"]
    return key.get("id") if isinstance(key, dict) else None


def _creation(run: Run, first: Answer, name: str) -> None:
    value, key = first.text("value"), first["key"]
    run.judge("key.replayed", first["replayed"] is False, first, "replayed is not false")
    run.judge("key.value keys.value-once", bool(value), first, "the first creation shows no value")
    if value:
        run.api_key = value
        run.secrets[value] = "keys.value-once"
        if prefix := re.match("[a-z]{2,8}_", value):
            run.see("key_prefix", prefix.group())
    if not isinstance(key, dict):
        return
    if alike(key.get("name"), name) is False:
        run.differs("key.metadata", first, "the key has another name")
    mine = alike(key.get("organization_id"), run.options.organization_id)
    if mine is None:
        run.skips("auth.key-bound", f"{first}: the key names no organization")
    run.judge("auth.key-bound", mine, first, "it is bound to another organization")
    shown = str(key.get("obfuscated_value"))
    if value and any(value[at : at + 20] in shown for at in range(max(1, len(value) - 19))):
        run.differs("key.metadata", first, "obfuscated_value shows the value")
    made, ends = moment(key.get("created_at")), moment(key.get("expires_at"))
    fresh = run.made_now(first, made, "key.metadata")
    if made is not None and ends is not None:
        wrong = f"it is valid {(ends - made) / 86_400_000:.4g} days from {key['created_at']}"
        right = fresh and abs(ends - made - _DAYS_MS) <= 1_000
        run.judge("keys.days limit.key", right, first, wrong)


def _replay(run: Run, first: Answer, again: Answer) -> None:
    if not run.succeeded(_REPLAYED, again):
        return
    run.see("key_replayed_status", again.status)
    run.judge("key.replayed", again["replayed"] is True, again, "replayed is not true")
    wrong, hidden = "an exact replay shows the value", again["value"] is None
    run.judge("key.value keys.value-once keys.replay", hidden, again, wrong)
    keys = [answer["key"] for answer in (first, again)]
    same = alike(*(key.get("id") if isinstance(key, dict) else None for key in keys))
    if same is None:
        run.skips(_REPLAYED, f"{again}: the key has no id to compare")
    run.judge(_REPLAYED, same, again, "it is another key")
    if same:
        for name in ("name", "organization_id", "obfuscated_value", "created_at", "expires_at"):
            if alike(*(moment(key.get(name)) or key.get(name) for key in keys)) is False:
                run.differs("keys.replay", again, f"the key's {name} is another")


@check()
def use(run: Run) -> None:
    """Read with a user API key, and be refused where a session is needed."""
    key, session = run.api_key, "keys.session auth.session"
    if key is None:
        why = "it needs --api-key, or --allow keys to create one"
        run.skips(f"{session} auth.kinds auth.key-bound", why)
        return
    read = run.read("with a user API key", token=key)
    if run.unreadable:
        run.skips("auth.kinds", run.unreadable)
    elif read.ok or read.code == "forbidden":
        run.judge("auth.kinds", True, read, "", call="" if read.ok else "dns.call")
    elif read.code == "resource_not_found":
        run.skips("auth.kinds", f"{read}: the key may not have the permission")
    else:  # what the check created itself is good, if it is the whole key
        run.succeeded("auth.kinds" if run.options.api_key else "auth.kinds key.value", read)
    body = {"name": f"{PREFIX}no-session"}
    made = run.call("create_user_api_key", "with a user API key", body=body, token=key)
    run.refused(session, made)


# --- Dev access tickets --------------------------------------------------------------------------

_MINUTES_MS = 600_000
_OUTLIVED_S = 605.0
_SINGLE_USE = "states.ticket-once limit.ticket"
_REVOKED = "states.ticket-revoked tickets.revokes"
_TICKET = " ".join(RESOURCES["DevAccessTicket"].sentences)


@check(
    allow=("tickets",), judges=f"tickets.call tickets.response {_SINGLE_USE} {_REVOKED} {_TICKET}"
)
def tickets(run: Run) -> None:
    """Issue two dev access tickets and, where dev origins can be reached, redeem both."""

    def issue(about: str, **how: Any) -> Answer:
        answer = run.call("create_dev_access_ticket", about, **how)
        if not redeem_url_complaint(answer["redeem_url"]):
            run.secrets[answer["redeem_url"].rpartition("=")[2]] = "ticket.once"
        return answer

    before = run.now()
    first = issue("the first")
    after = run.now()
    if not run.succeeded("tickets.call", first):
        return
    ends, wrong = moment(first["expires_at"]), "expires_at is not ten minutes after it was issued"
    right = run.happened_between(ends and ends - _MINUTES_MS, before, after)
    if run.judge("ticket.expires_at", right, first, wrong) is False:
        run.differs(_SINGLE_USE, first, wrong)
    origin = first.text("origin")
    if origin is not None and origin.startswith("https://dev-"):
        zone = origin.removeprefix("https://").partition(":")[0].partition(".")[2]
        # This emulator's worlds put their own name before it.
        run.see("dev_zone", zone.removeprefix(f"{run.world}.") if run.world else zone)
    second = issue("the second")
    if run.succeeded("tickets.call", second):
        wrong = "the project's dev origin changed"
        run.judge("ticket.origin", alike(first["origin"], second["origin"]), second, wrong)
        for name in ("ticket_id", "redeem_url"):
            if name in first.fields:
                wrong = f"its {name} is that of the ticket before"
                run.judge(f"ticket.{name}", first[name] != second[name], second, wrong)
        _redeem(run, first, second)
    accepts_request_ids(run, issue)
    run.ignored_or_refused("unexpected_body", issue("with a body", body={}))


def _redeem(run: Run, first: Answer, second: Answer) -> None:
    keys, urls = f"{_SINGLE_USE} {_REVOKED}", (first["redeem_url"], second["redeem_url"])
    if any(redeem_url_complaint(url) for url in urls):
        run.skips(keys, "a redeem_url does not have the contract's form")
        return
    try:
        revoked = _open(run, urls[0], "the first ticket, revoked by the second")
        used = _open(run, urls[1], "the second ticket")
        again = _open(run, urls[1], "the second ticket again")
        unknown = _open(run, f"{urls[1][:-43]}{'x' * 43}", "a ticket that nobody issued")
    except Unreachable as error:
        why = f"the dev origin cannot be reached ({error}): give its URL with --origin-url"
        run.skips(keys, why)
        return
    if not 200 <= used.status < 400:
        why = "not accepted, and the contract does not say how to redeem a ticket"
        run.skips(keys, f"{used}: {why}")
        return
    run.entrance = _entrance(used)
    for dead, answer in ((_SINGLE_USE, again), (_REVOKED, revoked), (_SINGLE_USE, unknown)):
        _is_dead(run, dead, answer)


def _is_dead(run: Run, dead: str, answer: Answer) -> None:
    # How a ticket is refused is not shown: it may be sent elsewhere, or shown a page.
    if not answer.refused and _entrance(answer) != run.entrance:
        run.skips(dead, f"{answer}: the response differs from a valid ticket's, and is not 4xx")
    else:
        run.judge(dead, answer.refused, answer, "a ticket that is not valid was accepted")


def _entrance(answer: Answer) -> tuple[object, ...]:
    """What makes two answers let somebody in alike: where they lead, and the cookies they set."""
    sent = [value for name, value in answer.headers if name.lower() == "set-cookie"]
    set_now = (text.partition(";")[0].partition("=") for text in sent)
    cookies = {name for name, _, value in set_now if value}  # an empty one is taken away
    shown = answer.body if answer.ok and not cookies else b""
    return answer.status, answer.header("Location"), cookies, shown


def _open(run: Run, url: str, about: str) -> Answer:
    """Open a redeem URL as a browser would. Raises Unreachable."""
    options, parts = run.options, urlsplit(url)
    told = {"timeout_s": options.timeout_s, "ca_file": options.ca_file}
    address = options.connect(f"https://{parts.netloc}", at=options.origin_url, **told)
    run.requests += 1
    title = f"GET {parts.path} ({about})"
    return address.exchange(title, "GET", f"{parts.path}?{parts.query}", {}, None)


# --- Operations ----------------------------------------------------------------------------------

#: What all checks judge that start or poll an operation.
_OPERATION = (
    "durable operation.id operation.state operation.times states.operation operation.progress "
    "progress-object operation.result"
)
_SOURCE: CallName = "initialize_managed_source"
_DOMAINS: CallName = "apply_project_domains"
#: No project is at a generation like this.
_SURELY_WRONG = 987_654
_MOST_GENERATIONS = 20
#: How long to wait between polls where the operation does not say; and longer than any patience.
_POLL_S, _LONGEST_S = 1.0, 10**9


@check(
    allow=("source",), judges=f"source.call source.accepted operation.deployment_id {_OPERATION}"
)
def initialize(run: Run) -> None:
    """Initialize the source: find its generation by asking, start, and ask for the same again."""
    started = _start_source(run)
    if started is None:
        return
    generation, key, answer = started
    again = partial(_source, run, generation, key)
    run.accept(answer, again)
    others_replay(run, again, run.missing)
    retried = again("the same key and body")
    if retried.code == "idempotency_key_reused":
        run.differs("condition.reused", retried, "the request is the same")
    if retried.ok and retried["id"] not in (None, answer["id"]):
        # What a retry of this call answers is not shown: the second is polled to its end too.
        run.note(f"a retry of {_SOURCE} starts another operation")
    changed = _source(run, generation + 1, key, "the same key, another generation")
    run.refused("condition.reused", changed, "idempotency_key_reused")
    other = _source(
        run, _SURELY_WRONG, key.swapcase(), "the key in other letters, a wrong generation"
    )
    _differs_in_case(run, other, other["id"] != answer["id"])
    if retried.ok and retried["id"] == answer["id"]:
        accepts_request_ids(run, again)
    long_key = (run.new_key() + "-").ljust(128, "x")
    short_key = run.short_key or secrets.choice(string.ascii_letters)
    for bound in (short_key, long_key):
        about = f"an Idempotency-Key of {len(bound)}, a wrong generation"
        at_bound = _source(run, _SURELY_WRONG, bound, about)
        # A service that calls a wrong generation an invalid request shows nothing by that code.
        if other.code != "invalid_request":
            _accepts_key(run, at_bound)


def _source(run: Run, generation: int, key: str, about: str, **how: Any) -> Answer:
    body = {"expected_source_generation": generation}
    return run.call(_SOURCE, about, key=key, body=body, **how)


def _without_a_key(run: Run, generation: int) -> list[tuple[Answer, str]]:
    """Send a generation under no key, an empty one and one that is too long, each with its clauses."""
    bounds = "idempotency-key limit.idempotency-key"
    body = {"expected_source_generation": generation}

    def send(about: str, key: str | None) -> Answer:
        return run.call(_SOURCE, f"generation {generation}, {about}", key=key, body=body)

    return [
        (send("without Idempotency-Key", None), "idempotency-key"),
        (send("Idempotency-Key empty", ""), bounds),
        (send("Idempotency-Key of 129", "k" * 129), bounds),
    ]


def _start_source(run: Run) -> tuple[int, str, Answer] | None:
    key = run.new_key()
    answer = _source(run, _SURELY_WRONG, key, "a wrong generation")
    if answer.ok:
        run.see("source_generation", "ignored")
        return _SURELY_WRONG, key, answer
    if answer.code in ("forbidden", "resource_not_found") or not answer.refused:
        run.succeeded("source.call", answer)
        return None
    refusal = answer.code
    for generation in range(_MOST_GENERATIONS):
        keyless = _without_a_key(run, generation)
        if started := next((answer for answer, _ in keyless if answer.ok), None):
            run.wrong_input("idempotency-key", started)
            run.see("source_generation", "checked")
            return None
        answer = _source(run, generation, key, f"generation {generation}")
        if generation == 0:
            kept = answer.code == "idempotency_key_reused"
            run.see("idempotency_remembers", "all_answers" if kept else "successes")
            if kept:
                key = run.new_key()
                answer = _source(run, generation, key, f"generation {generation}")
        if answer.ok:
            # The generation was right: only the key can have been the reason of these refusals.
            for refusal_without_key, keys in keyless:
                run.wrong_input(keys, refusal_without_key)
            run.see("source_generation", "checked")
            return generation, key, answer
        if answer.code != refusal:
            break
        key = run.new_key()
    why = f"no expected_source_generation up to {_MOST_GENERATIONS} is accepted"
    run.skips("source.call source.accepted operation.deployment_id", f"{answer}: {why}")
    return None


@check(
    allow=("domains",),
    judges=f"domains.call domains.accepted domains.idempotent domains.reused {_OPERATION}",
)
def apply_domains(run: Run) -> None:
    """Apply domains, and ask for the same again; then with a key that another call has used."""
    key = (run.new_key() + "-").ljust(128, "x")

    def again(about: str, **how: Any) -> Answer:
        return run.call(_DOMAINS, about, **{"key": key, **how})

    answer = again("an Idempotency-Key of 128")
    if answer.code == "invalid_request":
        key = run.new_key()
        shorter = again("")
        if shorter.ok:
            _accepts_key(run, answer)
        answer = shorter
    if not run.succeeded("domains.call", answer):
        return
    run.accept(answer, again)
    others_replay(run, again, run.missing)
    retried = again("the same key")
    if run.succeeded("domains.idempotent", retried):
        same = alike(answer["id"], retried["id"])
        run.judge("domains.idempotent", same, retried, "it is another operation")
    accepts_request_ids(run, again)
    other = again("the same key in other letters", key=key.swapcase())
    is_done = other["id"] != answer["id"]
    # A service may return the operation that is active already, whatever the key is.
    if is_done or again("a new key", key=run.new_key())["id"] != answer["id"]:
        _differs_in_case(run, other, is_done)
    _accepts_short_key(run, again)
    # A call without a body can only be changed by its path: the key of another call is that.
    if run.used_key is None:
        run.skips("domains.reused", "a key to reuse needs --allow flag or --allow keys")
        return
    used, call_id = run.used_key
    answer = run.call(_DOMAINS, f"the key of {call_id}", key=used)
    if answer.ok:
        run.see("idempotency_scope", "principal_and_call")
        why = "here a key belongs to one call, and this call has no body that could change"
        run.skips("domains.reused", why)
    elif answer.code in PROBLEMS and answer.code not in BLAMES:
        run.skips("domains.reused", answer)
    elif run.refused("domains.reused", answer, "idempotency_key_reused"):
        run.see("idempotency_scope", "principal")


@check(allow=("source", "domains"))
def starting_roles(run: Run) -> None:
    """Start operations as those whose tokens were given."""

    def source(token: str, about: str) -> Answer:
        return _source(run, _SURELY_WRONG, run.new_key(), about, token=token)

    if "source" in run.options.allow:
        run.least_role(_SOURCE, source)
    if "domains" in run.options.allow:
        run.least_role(_DOMAINS)


# --- Polling them --------------------------------------------------------------------------------

#: Where services let operations be polled; an answer's Location comes first.
_PATHS = ("/v1/operations/{operation_id}", "/v1/projects/{project_id}/operations/{operation_id}")


@check(allow=("source", "domains"))
def follow(run: Run) -> None:
    """Poll operations: each once, at once, and then one after the other to its end."""
    if not run.accepted:
        return
    _find_path(run, run.accepted[0])
    if not run.operation_path:
        why = "where to poll operations is unknown: set it with --assume operation_path=/v1/…"
        run.skips(_OPERATION, why)
        return
    for found in run.accepted:
        run.states[found.id] = found.answer.text("state") or ""
        _blocking(run, found, found.answer)
    at_first = [(found, _poll(run, found, 1)) for found in run.accepted]
    for found, answer in at_first:
        if answer.text("state") in TERMINAL and found.waited_s == run.waited_s:
            profile = CALLS[found.answer.call_id].success_assumption
            assert profile is not None
            run.see(profile, "immediate")
    for found, answer in at_first:
        last = _to_its_end(run, answer, partial(_poll, run, found))
        if last.ok and last.text("state") in TERMINAL:
            _ended(run, found, last)
        elif last.ok:
            why = "an operation had not ended within --patience"
            run.skips("operation.result operation.error error-object", why)
            run.note(why)


def _find_path(run: Run, accepted: Accepted) -> None:
    known = run.options.assumed.get("operation_path")
    location = accepted.answer.header("Location") or ""
    told = location[location.find("/v1/") :]
    told = told.replace(accepted.id, "{operation_id}").replace(
        run.options.project_id, "{project_id}"
    )
    fine = told.startswith("/v1/") and "{operation_id}" in told
    first = [told.replace(" ", "")] if fine and told.isascii() and told.isprintable() else []
    for path in [known] if known else [*first, *_PATHS]:
        run.operation_path = path
        answer = run.poll(accepted.id, "to find where", judged=False)
        if known or (answer.ok and "state" in answer.fields):
            run.see("operation_path", path)
            return
    run.operation_path = ""


def _poll(run: Run, accepted: Accepted, number: int) -> Answer:
    answer = run.poll(accepted.id, f"{accepted.answer.call_id}, poll {number}")
    if run.succeeded("durable", answer):
        same = alike(answer["id"], accepted.id)
        run.judge("durable operation.id", same, answer, "it is another operation")
        made = [each["deployment_id"] for each in (accepted.answer, answer)]
        if made != [None, None]:
            wrong = "it does not name its deployment in every state"
            run.judge("operation.deployment_id", made[0] == made[1], answer, wrong)
        made = [moment(each["created_at"]) for each in (accepted.answer, answer)]
        run.judge("operation.times", alike(*made), answer, "created_at is another")
        _blocking(run, accepted, answer)
        # A state may go back, but an end is kept.
        state, before = answer.text("state"), run.states.get(accepted.id)
        run.states[accepted.id] = state or before or ""
        if before in TERMINAL and state is not None:
            run.judge("durable", state == before, answer, f"it had ended as {before}")
        elif before == "running" and state == "queued":
            told = "it was running and is queued again; the contract shows no transitions"
            run.note(f"{answer}: {told}")
    return answer


def _blocking(run: Run, accepted: Accepted, answer: Answer) -> None:
    blocking = answer.text("blocking_operation_id")
    if blocking is None:
        return
    run.judge("states.blocking", blocking != accepted.id, answer, "it waits on itself")
    if blocking not in (*(found.id for found in run.accepted), *run.states):
        run.states[blocking] = ""
        if run.poll(blocking, "which another waits on", judged=False).code == "resource_not_found":
            run.differs("operation.blocking_operation_id", answer, "nothing is there that it names")


def _to_its_end(run: Run, answer: Answer, poll: Callable[[int], Answer]) -> Answer:
    """Poll on from a first answer while an operation has not ended and there is patience."""
    for number in count(2):
        progress: Any = answer["progress"]
        told = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
        wait_s = float(min(told, _LONGEST_S)) if type(told) is int and told >= 0 else _POLL_S
        if not answer.ok or answer.text("state") in TERMINAL or not run.wait(wait_s):
            break
        answer = poll(number)
    return answer


def _ended(run: Run, accepted: Accepted, ended: Answer) -> None:
    """What has ended stays as it ended; and what its replay answers is observed."""
    state, first = ended["state"], accepted.answer
    after = run.poll(accepted.id, f"{first.call_id}, after its end")
    if run.succeeded("durable", after):
        keys = "durable operation.reconciliation" if "reconciliation" in after.fields else "durable"
        run.judge(keys, after["state"] == state, after, f"it had ended as {state}")
        for name in ("result", "error"):
            if alike(ended[name], after[name]) is False:
                run.differs("durable", after, f"it had ended with another {name}")
        _deployed(run, accepted)
    if first.text("state") not in TERMINAL:
        replay = accepted.again("the same key, after its end")
        if replay.ok and replay["id"] == accepted.id:
            same = replay["state"] == state
            run.see("operation_replay", "current" if same else "first_response")


def _deployed(run: Run, accepted: Accepted) -> None:
    """Find the deployment that an operation created: it says by which."""
    made, limit = accepted.answer["deployment_id"], run.name_of("limit_parameter")
    if made is None:
        return
    page = run.call("list_deployments", "for what was deployed", f"?{limit}=100" if limit else "")
    listed = {str(item.get("id")).upper(): item for item in items_of(page)}
    if (found := listed.get(str(made).upper())) is not None:
        same = alike(found.get("operation_id"), accepted.id)
        run.judge("deployment.operation_id", same, page, "it names another operation")
    elif listed and not page["next_cursor"] and "NONE" not in listed:
        run.differs("operation.deployment_id", page, "it does not list the deployment")


@check(allow=("source", "domains"))
def polling_roles(run: Run) -> None:
    """Poll an operation as nobody and as those whose tokens were given, and one that is not there."""
    if not run.operation_path:
        return
    poll = partial(run.poll, run.accepted[0].id)
    nobody(run, poll)
    if (outsider := run.options.outsider_token) is not None:
        run.missing(poll("as an outsider", token=outsider))
    run.missing(run.poll(NOWHERE, "no such operation"))
    run.least_role("get_operation", lambda token, about: poll(about, token=token))


@check(allow=("source", "domains"))
def leave_nothing(run: Run) -> None:
    """Poll whatever else was started, so that the project is free for others, and the next check."""
    made = [*run.made.get(_SOURCE, ()), *run.made.get(_DOMAINS, ())] if run.operation_path else []
    for operation_id in (one for one in made if run.states.get(one) not in TERMINAL):

        def poll(number: int, id_: str = operation_id) -> Answer:
            return run.poll(id_, f"the rest, poll {number}")

        _to_its_end(run, poll(1), poll)


@check(allow=("tickets",))
def outlive_ticket(run: Run) -> None:
    """Issue a ticket and open it when its ten minutes are over, where there is patience for that."""
    if run.entrance is None:
        return
    if run.waited_s + _OUTLIVED_S > run.options.patience_s:
        why = "whether a ticket ends after ten minutes takes more --patience, such as 15m"
        run.cannot_decide(_SINGLE_USE, why)
        return
    ticket, (issued_ms, _) = run.call("create_dev_access_ticket", "to outlive it"), run.now()
    if redeem_url_complaint(ticket["redeem_url"]) or not run.wait(_OUTLIVED_S):
        return
    ended_ms, _ = run.now()
    if issued_ms is not None and ended_ms is not None and ended_ms - issued_ms > _MINUTES_MS:
        _is_dead(run, _SINGLE_USE, _open(run, ticket["redeem_url"], "a ticket after ten minutes"))
    else:
        run.cannot_decide(_SINGLE_USE, "the server's clock did not move by ten minutes")


# --- Fresh observations ---------------------------------------------------------------------------

#: The call that observes something.
_COMPUTE = next(s.call_id for s in CALLS.values() if s.response == "DatabaseCompute")
#: Long enough for a Date header to show another time.
_FRESH_AFTER_S = 2.1


@check()
def fresh_observations(run: Run) -> None:
    """Read database compute twice, some time apart: each response is a fresh observation."""
    if _COMPUTE not in run.askable():
        return
    first = run.call(_COMPUTE, "to compare its observed_at")
    if not first.ok or moment(first["observed_at"]) is None:
        return
    keys = "compute.observed_at"
    if not run.wait(_FRESH_AFTER_S):
        run.cannot_decide(keys, "whether it is fresh takes more --patience")
        return
    second = run.call(_COMPUTE, "again, later")
    if not second.ok or moment(second["observed_at"]) is None:
        return
    dates = [http_date(answer.header("Date") or "") for answer in (first, second)]
    if first["observed_at"] != second["observed_at"]:
        run.holds(keys, second)
    elif run.has_gone_on_since(moment(second["observed_at"])):
        run.differs(keys, second, "observed_at is that of an earlier response")
    elif dates[0] is not None and dates[1] is not None and dates[1] - dates[0] >= 1_000:
        run.cannot_decide(keys, f"{second}: observed_at did not move, and the Date header did")
    else:
        run.cannot_decide(keys, f"{second}: the server's clock did not move in between")
