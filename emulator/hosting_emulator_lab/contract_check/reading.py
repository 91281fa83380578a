"""What can be asked without changing anything: what there is to read, who may, and what is refused."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from hosting_emulator.contract.calls import ALL_CALLS, CALLS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.judge import CALL_CLAUSES, CLAUSES
from hosting_emulator_lab.contract_check.run import NOWHERE, PREFIX, READ, Run, alike, check
from hosting_emulator_lab.contract_check.wire import Answer

#: Names that services give to the parameters that the contract does not name, by the assumption.
_NAMES = {
    "environment_parameter": "environment env stage target database_environment",
    "limit_parameter": "limit page_size per_page pageSize max_results size first",
    "cursor_parameter": "cursor page_token after next_cursor starting_after pageToken page",
}


def _find(
    run: Run, assumption: str, works: Callable[[str], bool], keys: str, does: str
) -> str | None:
    """Return the name of a parameter, the one given or a usual one that works; or skip `keys`."""
    known, usual = run.options.assumed.get(assumption), _NAMES[assumption].split()
    for name in (known,) if known else usual:
        if works(name) or known:
            run.see(assumption, name)
            return name
    run.skips(keys, f"none of {', '.join(usual)} {does}: set it with --assume {assumption}=NAME")
    return None


@check()
def read_dns(run: Run) -> None:
    """Read the DNS authorization as the owner."""
    answer = run.read()
    if not run.succeeded("dns.call", answer):
        run.unreadable = f"{answer}: the DNS authorization cannot be read"
        return
    run.holds("bearer", answer)
    run.see_token(run.options.token)
    if answer.header("X-Request-Id") is None:
        run.see("request_id_on_success", "absent")
    unknown = run.read("an unknown query parameter", query="?hosting-emulator-check=1")
    run.ignored_or_refused("unknown_query_parameters", unknown)


@check()
def read_compute(run: Run) -> None:
    """Read database compute for dev and prod: find the parameter, and hold what it does."""

    def read(query: str = "", about: str = "") -> Answer:
        return run.call("read_database_compute", about, query)

    plain = read(about="without an environment")
    if plain.ok or plain.status == 400:
        run.see("missing_environment", plain["environment"] if plain.ok else "refused")
    asked: dict[str, list[Answer]] = {}

    def works(name: str) -> bool:
        dev, prod = asked[name] = [read(f"?{name}=dev"), read(f"?{name}=prod")]
        if [dev["environment"], prod["environment"]] == ["dev", "prod"]:
            return True
        # A name that is asked for, or whose values are looked at, is the right one all the same.
        told = {dev.text("environment"), prod.text("environment")} <= {"dev", "prod"}
        return told and (plain.status == 400 or read(f"?{name}=staging").status == 400)

    keys = "compute.call compute.query"
    name = _find(run, "environment_parameter", works, keys, "chooses it")
    if name is None:
        if not plain.refused:
            run.succeeded(keys, plain)
        return
    dev, prod = asked[name]
    for environment, answer in (("dev", dev), ("prod", prod)):
        if run.succeeded(keys, answer):
            wrong = f"it is not that of {environment}"
            run.judge("compute.query", alike(answer["environment"], environment), answer, wrong)
    run.wrong_input("compute.query", read(f"?{name}=staging", "no environment"))
    shared = all(a["data_mode"] == "shared" and "database" in a.fields for a in (dev, prod))
    if shared:  # any setting may be left out, and the states are those of different moments
        one, other = dev["database"], prod["database"]
        same = one == other
        if isinstance(one, dict) and isinstance(other, dict):
            told = RESOURCES["DatabasePlacement"].names & one.keys() & other.keys()
            same = all(one[name] == other[name] for name in told - {"state", "pending_state"})
        wrong = "data is shared, and the databases of dev and prod are not the same"
        run.judge("compute.data_mode", same, prod, wrong)


@check()
def read_nothing(run: Run) -> None:
    """Ask for projects and an organization that nobody has."""
    for call_id in run.askable():
        missing = run.call(call_id, f"no such {CALLS[call_id].subject}", subject=NOWHERE)
        run.missing(missing)
        link = missing.text("type")
        if link is not None and missing.code == "resource_not_found":
            docs_url = link.removesuffix("/errors/resource-not-found")
            own = "/".join(run.options.base_url.split("/", 3)[:3]) + "/_emulator/docs"
            run.see("docs_url", "own" if docs_url == own else docs_url)
    malformed = run.read("an id that is not a Ulid", subject="not-a-ulid")
    found = {404: "not_found", 400: "invalid_request"}.get(malformed.status)
    if run.refused("ulid", malformed) and found is not None:
        run.see("malformed_project_id", found)


@check()
def request_ids(run: Run) -> None:
    """Send an X-Request-Id within and outside the bounds."""
    if run.unreadable:
        run.skips("request-id limit.request-id", run.unreadable)
        return

    def ask(request_id: str, subject: str | None = None) -> Answer:
        about = f"X-Request-Id of {len(request_id)}" if request_id else "X-Request-Id empty"
        return run.read(about, subject=subject, headers={"X-Request-Id": request_id})

    for request_id in (PREFIX[-1:], (PREFIX * 6)[-128:]):
        answer = ask(request_id)
        if run.succeeded("request-id limit.request-id", answer):
            run.holds("limit.request-id", answer)
            echoed = answer.header("X-Request-Id") is not None
            run.see("request_id_on_success", "echoed" if echoed else "absent")
        ask(request_id, NOWHERE)
    outside = [ask(""), ask("x" * 129)]
    for call_id in run.askable():
        for request_id in ("", "x" * 129):  # the header of a refusal may not repeat it
            about = "X-Request-Id of 129" if request_id else "X-Request-Id empty"
            headers = {"X-Request-Id": request_id}
            run.call(call_id, about, subject=NOWHERE, headers=headers)
    if all(answer.ok for answer in outside):
        run.see("request_id_invalid", "ignored")
    elif all(answer.status == 400 for answer in outside):
        run.see("request_id_invalid", "refused")
    else:
        run.note("an empty X-Request-Id is not treated like one that is too long")


def accepts_request_ids(run: Run, ask: Callable[..., Answer]) -> None:
    """Repeat a request that succeeded, with the shortest and the longest X-Request-Id."""
    keys = "request-id limit.request-id"
    for length in (1, 128):
        headers = {"X-Request-Id": (PREFIX * 6)[-length:]}
        answer = ask(f"X-Request-Id of {length}", headers=headers)
        if answer.code == "idempotency_key_reused":  # then every retry is refused
            run.skips(keys, answer)
        elif run.succeeded(keys, answer):
            run.holds(keys, answer)


# --- Deployments, page by page -------------------------------------------------------------------

#: The largest page that the contract allows; and how many pages are read of a long list.
_LARGEST, _MOST_PAGES = 100, 12
_QUERY = "deployments.query limit.page-size"
_THROUGH = "deployments.page-through"


def _list(run: Run, query: str = "", about: str = "") -> Answer:
    return run.call("list_deployments", about, query)


@check()
def list_deployments(run: Run) -> None:
    """List deployments: the first page, then the parameters' names, then page after page."""
    plain = _list(run)
    if not run.succeeded(f"deployments.call deployments.query {_THROUGH}", plain):
        return
    if (count := len(items_of(plain))) > _LARGEST:
        run.differs(_QUERY, plain, f"it has {count} items")
    if _cursor(plain) is not None:
        run.see("default_page_size", count)
    if not items_of(plain):
        run.skips(" ".join(RESOURCES["Deployment"].sentences), "the project has no deployments")

    def works(name: str) -> bool:
        one = _list(run, f"?{name}=1")
        shorter = len(items_of(one)) <= 1 < len(items_of(plain))
        return one.ok and (shorter or _list(run, f"?{name}=0").status == 400)

    limit = _find(run, "limit_parameter", works, f"{_QUERY} {_THROUGH}", "is the page size")
    if limit is not None:
        _bounds(run, limit)
        _page_through(run, limit)


def _bounds(run: Run, limit: str) -> None:
    for most in (1, _LARGEST):
        answer = _list(run, f"?{limit}={most}")
        if run.succeeded(_QUERY, answer):
            count = len(items_of(answer))
            run.judge(_QUERY, count <= most, answer, f"it has {count} items")
    # The contract bounds the size, and does not say whether what is beyond is refused or cut.
    for size in ("0", "-1", "101", "1000"):
        answer = _list(run, f"?{limit}={size}")
        seen = f"{answer}: it has {len(items_of(answer))} items"
        if not answer.ok:
            run.wrong_input(_QUERY, answer)
        elif len(items_of(answer)) > _LARGEST:
            run.differs(_QUERY, seen)
        else:
            run.cannot_decide(_QUERY, f"{seen}, so the server may have limited the size")
    for size in ("x", "1.5"):
        run.wrong_input("deployments.query", _list(run, f"?{limit}={size}"))


def _page_through(run: Run, limit: str) -> None:
    whole = _list(run, f"?{limit}={_LARGEST}")
    if not whole.ok:
        return
    total = len(items_of(whole))
    if _cursor(whole) is None:
        _see_last(run, whole)
        made = [moment(item.get("created_at")) for item in items_of(whole)]
        times = [at for at in made if at is not None]
        oldest_first = times == sorted(times)
        if len(set(times)) > 1 and (oldest_first or times == sorted(times, reverse=True)):
            run.see("deployment_order", "oldest_first" if oldest_first else "newest_first")
        elif len(set(times)) > 1:
            run.note("deployments are ordered neither by newest nor by oldest first")
    if total < 2:
        why = f"the project has {total} deployments: use a project with more"
        run.skips(f"{_THROUGH} page.next_cursor", why)
        return
    query = f"?{limit}={max(1, min(total // 3, 25))}"
    first = _list(run, query)
    if not run.succeeded(_THROUGH, first):
        return
    if _cursor(first) is None:
        wrong = f"it has no next_cursor, although there are {total} deployments"
        run.differs(_THROUGH, first, wrong)
        return

    def following(page: Answer, name: str, about: str) -> Answer:
        return _list(run, f"{query}&{name}={quote(_cursor(page) or '', safe='')}", about)

    def works(name: str) -> bool:
        second = following(first, name, "next page")
        if second.ok and _ids(second) and _ids(second) != _ids(first):
            return True
        # What is looked at is the right one all the same, where other names are ignored.
        ignored = run.values.get("unknown_query_parameters") == "ignored"
        return ignored and _list(run, f"{query}&{name}=!").status == 400

    cursor = _find(run, "cursor_parameter", works, _THROUGH, "takes the cursor")
    if cursor is None:
        return
    run.wrong_input("deployments.query", _list(run, f"{query}&{cursor}=!", "a cursor of !"))
    pages = [first]
    # Two pages with nothing on them, one after the other, lead nowhere.
    while _cursor(pages[-1]) and len(pages) < _MOST_PAGES and any(map(_ids, pages[-2:])):
        page = following(pages[-1], cursor, f"page {len(pages) + 1}")
        if not run.succeeded(f"{_THROUGH} deployments.query", page):
            break
        pages.append(page)
    _compare(run, whole, pages)


def _compare(run: Run, whole: Answer, pages: list[Answer]) -> None:
    """Each deployment once: none twice, and none of a page that holds all left out."""
    ids = [found for page in pages for found in _ids(page)]
    twice, left_out = len(ids) - len(set(ids)), len(set(_ids(whole)) - set(ids))
    filled, seen = any(map(_ids, pages[-2:])) or not ids, f"{pages[0]}, in {len(pages)} pages"
    run.judge(_THROUGH, not twice, seen, f"{twice} deployments are on more than one page")
    run.judge(_THROUGH, filled, seen, "its cursors lead to empty pages only")
    if _cursor(pages[-1]) is None:  # we have read to the end of the list
        _see_last(run, pages[-1])
        wrong = f"{left_out} deployments of one long page are on none of the short ones"
        run.judge(_THROUGH, not left_out, seen, wrong)


def _cursor(answer: Answer) -> str | None:
    """Where the list goes on; None where it does not. An empty text leads nowhere either."""
    return answer.text("next_cursor") or None


def _see_last(run: Run, last: Answer) -> None:
    if last["next_cursor"] == "":
        run.note("the last page's next_cursor is empty, which no assumption can express")
    else:
        run.see("last_page_cursor", "null" if "next_cursor" in last.fields else "absent")


def items_of(answer: Answer) -> list[dict[str, Any]]:
    """Return the deployments of a page."""
    items = answer["items"]
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _ids(answer: Answer) -> list[str]:
    # In one case: what else is wrong with an id is judged elsewhere.
    return [str(item["id"]).upper() for item in items_of(answer) if item.get("id") is not None]


# --- Who may ask what ----------------------------------------------------------------------------

_UNKNOWN = ("auth.unauthenticated", "unauthenticated")


def nobody(run: Run, ask: Callable[..., Answer]) -> None:
    """Ask with no token, and with those that nobody issued. `ask` is told why, and the token."""
    run.refused_as("auth.bearer bearer", ask("without a token", token=""), *_UNKNOWN)
    strangers = {"a made-up token": "hosting-emulator-check"}
    signed, dot, signature = run.options.token.rpartition(".")
    if signed.count(".") == 1 and len(signature) > 1:
        other = "A" if signature[0] != "A" else "B"
        strangers["another signature"] = f"{signed}{dot}{other}{signature[1:]}"
        unsigned = urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
        strangers["no signature"] = f"{unsigned}.{signed.partition('.')[2]}."
    for about, token in strangers.items():
        run.refused_as("auth.bearer auth.kinds", ask(about, token=token), *_UNKNOWN)


def others_replay(
    run: Run, ask: Callable[..., Answer], refused: Callable[[Answer], object]
) -> None:
    """Send a request under its own key again, as nobody and as an outsider, who must be `refused`."""
    answer = ask("the same key, without a token", token="")
    run.refused_as("auth.bearer bearer", answer, *_UNKNOWN)
    if (outsider := run.options.outsider_token) is not None:
        refused(ask("the same key, as an outsider", token=outsider))


@check()
def unauthenticated(run: Run) -> None:
    """Make each call without a token, and with what is none."""
    for call_id in run.askable():
        nobody(run, partial(run.call, call_id))
    token = run.options.token
    packed = b64encode(f"user:{token}".encode()).decode()
    others = {
        "another scheme": "Basic aG9zdGluZy1lbXVsYXRvcjpjaGVjaw==",
        "the token under the scheme Basic": f"Basic {token}",
        "the token as a password": f"Basic {packed}",
        "the token under the scheme Token": f"Token {token}",
        "the token without a scheme": token,
    }
    cookies = {"Cookie": f"token={token}; access_token={token}; session={token}"}
    for call_id in run.askable():
        for about, value in others.items():
            answer = run.call(call_id, about, token="", headers={"Authorization": value})
            run.refused_as("auth.bearer bearer auth.kinds", answer, *_UNKNOWN)
        with_cookies = run.call(call_id, "the token in cookies", token="", headers=cookies)
        run.refused("auth.no-cookie", with_cookies)


@check(
    needs="reader_token",
    judges="flag.owner-only tickets.owner-only auth.roles auth.forbidden compute.readers",
)
def as_reader(run: Run) -> None:
    """A reader is refused what is the owner's, and may read."""
    token, about, reads = run.options.reader_token, "as a reader", "compute.readers auth.roles"
    stranger = "--reader-token is not from a reader of this project"
    if not _is_refused_owners_calls(run, token, "reader"):
        run.skips(reads, stranger)
        return
    for call_id in (spec.call_id for spec in CALLS.values() if spec.role == "reader"):
        own_clause = CALL_CLAUSES[call_id][0].replace(".call", ".readers")
        reads = f"{own_clause} auth.roles" if own_clause in CLAUSES else "auth.roles"
        if call_id not in run.askable():
            run.skips(reads, "the query parameter's name is not known")
            continue
        answer = run.call(call_id, about, token=token)
        if answer.code == "forbidden" == run.read(about, token=token).code:
            run.skips(reads, stranger)
        elif run.succeeded(reads, answer):
            run.holds(reads, answer)


@check(needs="maintainer_token", judges="flag.owner-only tickets.owner-only")
def as_maintainer(run: Run) -> None:
    """A maintainer is refused what is the owner's."""
    _is_refused_owners_calls(run, run.options.maintainer_token, "maintainer")


def _is_refused_owners_calls(run: Run, token: str | None, role: str) -> bool:
    for call_id in (spec.call_id for spec in CALLS.values() if spec.role == "owner"):
        key = CALL_CLAUSES[call_id][0].replace(".call", ".owner-only")
        answer = run.call(call_id, f"as a {role}", token=token)
        if answer.code in ("resource_not_found", "organization_required", "unauthenticated"):
            why = f"{answer}: --{role}-token is not from a {role} of this project"
            run.skips(f"{key} auth.forbidden", why)
            return False
        run.refused_as(f"{key} auth.roles", answer, "auth.forbidden", "forbidden")
    return True


@check()
def roles(run: Run) -> None:
    """Read as each of those whose tokens were given."""
    for spec in CALLS.values():
        if spec.method == "GET" and spec.role != "reader":
            run.least_role(spec.call_id)


@check(needs="outsider_token")
def as_outsider(run: Run) -> None:
    """Everything lies outside the scope of somebody of another organization."""
    token = run.options.outsider_token
    answers = [run.call(call_id, "as an outsider", token=token) for call_id in run.askable()]
    strangers = [a for a in answers if a.code in ("unauthenticated", "organization_required")]
    if len(strangers) == len(answers):
        why = f"{answers[0]}: --outsider-token is not from a member of another organization"
        run.skips("condition.missing", why)
        return
    for answer in answers:
        if ALL_CALLS[answer.call_id].subject == "organization":
            run.refused("keys.session", answer)
        elif answer.code == "unauthenticated":
            wrong = "other calls know this token: its code should be resource_not_found"
            run.differs("condition.missing", answer, wrong)
        else:
            run.missing(answer)


@check(needs="no_organization_token", judges="auth.organization")
def without_organization(run: Run) -> None:
    """Somebody whose token names no organization is told to name one."""
    token, about = run.options.no_organization_token, "without an organization"
    for call_id in (id_ for id_ in run.askable() if CALLS[id_].method == "GET"):
        answer = run.call(call_id, about, token=token)
        if answer.ok or answer.code in ("resource_not_found", "unauthenticated"):
            why = f"{answer}: the contract does not say whether this call needs an organization"
            run.skips("auth.organization", why)
        else:
            run.refused("auth.organization", answer, "organization_required")


# --- Requests that are not in order: a server that accepts one is at fault ------------------------


@check()
def idempotency_keys(run: Run) -> None:
    """Make calls that need an Idempotency-Key without one, and with ones out of bounds."""
    bounds = "idempotency-key limit.idempotency-key"
    for call_id in (spec.call_id for spec in CALLS.values() if spec.idempotent):
        run.wrong_input("idempotency-key", run.call(call_id, "without Idempotency-Key", key=None))
        run.wrong_input(bounds, run.call(call_id, "Idempotency-Key empty", key=""))
        run.wrong_input(bounds, run.call(call_id, "Idempotency-Key of 129", key="k" * 129))


#: Bodies that are not in order, and what is wrong with each: by the bodies' resource and clauses.
_WRONG_BODIES: dict[tuple[str, str], tuple[tuple[Any, str], ...]] = {
    ("SetPoweredByFlagRequest", "flag.body flag.request"): (
        ({}, "an empty body"),
        ({"enabled": "true"}, "enabled a string"),
        ({"enabled": 1}, "enabled a number"),
        ({"enabled": None}, "enabled null"),
        ({"enabled": True, "hosting_emulator_check": 1}, "a property more"),
        ([True], "an array"),
        (b'{"enabled":', "half a body"),
        (b"", "no body"),
    ),
    ("CreateUserApiKeyRequest", "keys.body limit.key-name"): (
        ({"name": ""}, "name empty"),
        ({"name": PREFIX.ljust(65, "x")}, "name of 65"),
    ),
    ("CreateUserApiKeyRequest", "keys.body"): (
        ({"name": 7}, "name a number"),
        ({"name": None}, "name null"),
        ({}, "no name"),
        ([PREFIX], "an array"),
        (b'{"name":', "half a body"),
    ),
    ("InitializeManagedSourceRequest", "source.body"): (
        ({"expected_source_generation": "0"}, "a string"),
        ({"expected_source_generation": 1.5}, "no integer"),
        ({"expected_source_generation": True}, "a boolean"),
        ({"expected_source_generation": None}, "null"),
        ([0], "an array"),
        (b'{"expected_source_generation":', "half a body"),
    ),
}


@check()
def bodies(run: Run) -> None:
    """Send each call that has a body something that the body may not be."""
    for (resource, keys), wrong in _WRONG_BODIES.items():
        call_id = next(spec.call_id for spec in CALLS.values() if spec.body == resource)
        for body, about in wrong:
            run.wrong_input(keys, run.call(call_id, about, body=body))


@check()
def request_ids_of_reads(run: Run) -> None:
    """Send an X-Request-Id within the bounds to the other calls that only read."""
    for call_id in run.askable():
        is_read = CALLS[call_id].method == "GET" and call_id != READ
        if is_read and CALL_CLAUSES[call_id][0] in run.working:
            accepts_request_ids(run, partial(run.call, call_id))
