"""One run of the check: what it may do, the calls it sends and has judged, and what checks found out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple
from urllib.parse import quote

from hosting_emulator.contract.access import AssumedRole
from hosting_emulator.contract.calls import ALL_CALLS, CALLS, GET_OPERATION, CallName
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.judge import CALL_CLAUSES, Judge
from hosting_emulator_lab.contract_check.wire import Address, Answer, Unreachable, http_date

#: What may be changed at the server, each for the sentences that cannot be seen otherwise.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")
#: Assumptions that a check may be told, where it cannot find them out.
TOLD = ("operation_path", "cursor_parameter", "limit_parameter", "environment_parameter")


class CheckRefused(Exception):
    """The check cannot be made; the message is one clear line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """One check. Ids are Ulids; tokens are bearer tokens of users the service knows.

    `token` is the project owner's, in an interactive session, with the organization of the project.
    `allow` holds words of ALLOWED; `assumed` values of TOLD. `origin_url` is where dev origins answer,
    if their names cannot be resolved. `timeout_s` bounds each answer; `patience_s` all waiting together,
    in seconds of whatever clock `pause` keeps. `connect` makes the way to an address.
    """

    base_url: str
    token: str
    project_id: str
    organization_id: str
    maintainer_token: str | None = None
    reader_token: str | None = None
    outsider_token: str | None = None
    no_organization_token: str | None = None
    api_key: str | None = None
    allow: frozenset[str] = frozenset()
    assumed: dict[str, str] = field(default_factory=dict)
    origin_url: str | None = None
    ca_file: str | None = None
    timeout_s: float = 10.0
    patience_s: float = 120.0
    pause: Callable[[float], None] = time.sleep
    run_id: str = ""
    connect: Callable[..., Address] = Address


#: The options that hold a secret.
TOKENS = [f.name for f in fields(CheckOptions) if f.name.endswith(("token", "api_key"))]
#: The service's time in ms by what it observes, and by its Date header.
Now = tuple[int | None, int | None]
#: What begins the name of everything that a check creates or sends.
PREFIX = "hosting-emulator-check-"
#: A Ulid that no service gave to anything: it lies at the far end of time.
NOWHERE = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
#: The call that reads and needs nothing more; and one whose answer tells the service's time.
READ = next(s.call_id for s in CALLS.values() if s.method == "GET" and not s.query)
_CLOCK = next(s.call_id for s in CALLS.values() if "observed_at" in RESOURCES[s.response].names)
#: What stands in bodies that are in order, by the kind of the field.
_VALUES = {"boolean": True, "integer": 0, "text": PREFIX.rstrip("-")}
#: Codes that say nothing of what was asked: the service is busy, limits or is out of order.
EXCUSES = frozenset(
    "rate_limited payload_too_large service_unavailable insufficient_organization_credits "
    "paid_plan_required project_budget_exceeded api_key_permissions_unavailable "
    "api_key_creation_uncertain".split()
)
#: Codes that blame the request or who sent it. All others tell of a state that the service is in.
BLAMES = frozenset(
    "invalid_request unauthenticated forbidden organization_required resource_not_found "
    "idempotency_key_reused".split()
)
#: Answers to somebody who may not ask at all: they say nothing of what was wrong in a request.
_NOT_ALLOWED = frozenset(
    "unauthenticated forbidden organization_required interactive_login_required".split()
)
#: Codes that say what is wrong with the request itself, or with its token.
_ABOUT_THE_REQUEST = _NOT_ALLOWED | {"invalid_request", "resource_not_found"}
#: The roles that the contract names; who may make the other calls is not shown.
_ROLES = ("owner", "reader")
#: What is shorter is no secret, and would be found in innocent words.
_SHORTEST_SECRET = 8
#: So many answers in a row may stay out before a server counts as gone; and so often the same request
#: is sent again after it was told to wait.
_TOO_MANY, _AGAIN = 3, 5
#: How far a service's clocks may be from each other.
_SLACK_MS = 5_000


class Accepted(NamedTuple):
    """An operation that was started, how to ask for it again, and how long had been waited by then."""

    id: str
    answer: Answer
    again: Callable[..., Answer]
    waited_s: float


class Run(Judge):
    """The server, the ledger of one check, and what it found out. What sends raises Unreachable."""

    def __init__(self, options: CheckOptions, server: Address, world: str) -> None:
        super().__init__(options.project_id)
        self.options, self._server = options, server
        #: The world of this emulator whose answers these are, if any.
        self.world = world
        sent = (getattr(options, name) or "" for name in TOKENS)
        self.secrets = {one: "ticket.once" for one in sent if len(one) >= _SHORTEST_SECRET}
        self.requests = self._silent = self._keys = 0
        self.waited_s = 0.0
        #: A user API key that may be used: the one given, or the one that was created.
        self.api_key = options.api_key
        #: What was made or changed there, by call: the ids, where they have some; and the calls of
        #: which nothing is left, since all is again as it was.
        self.made: dict[str, list[str]] = {}
        self.put_back: set[str] = set()
        #: The states that operations were seen in last, by id.
        self.states: dict[str, str] = {}
        #: What lets somebody in at a dev origin, as a good ticket showed it.
        self.entrance: tuple[object, ...] | None = None
        self.accepted: list[Accepted] = []
        #: Where operations are polled, with {operation_id}; empty until that is found out.
        self.operation_path = ""
        #: An Idempotency-Key under which a call was answered with success, and that call.
        self.used_key: tuple[str, str] | None = None
        #: An Idempotency-Key of one character that a call accepted; empty before.
        self.short_key = ""
        #: Why the plainest call, which many checks make, says nothing; empty where it does.
        self.unreadable = ""

    # --- Calls -------------------------------------------------------------------------------

    def call(
        self,
        call_id: CallName,
        about: str = "",
        query: str | None = None,
        *,
        subject: str | None = None,
        **how: Any,
    ) -> Answer:
        """Make a call with all that it needs; `subject` is the id in its path, `how` goes to `send`."""
        spec, options = CALLS[call_id], self.options
        if spec.idempotent and "key" not in how:
            how["key"] = self.new_key()
        if spec.body:
            content = {f.name: _VALUES[f.kind.name] for f in RESOURCES[spec.body].fields}
            how.setdefault("body", content)
        for needed in spec.query if query is None else ():
            if needed.missing_complaint:
                name = self.name_of(needed.name_assumption) or needed.value
                query = f"?{name}={needed.pattern.partition('|')[0]}"
        path = spec.path.replace("{project_id}", subject or options.project_id)
        path = path.replace("{organization_id}", subject or options.organization_id)
        return self.send(call_id, spec.method, path + (query or ""), about=about, **how)

    def read(self, about: str = "", **how: Any) -> Answer:
        """Make the plainest call."""
        return self.call(READ, about, **how)

    def poll(self, operation_id: str, about: str, **how: Any) -> Answer:
        """Poll an operation."""
        path = self.operation_path.replace("{operation_id}", quote(operation_id, safe=""))
        path = path.replace("{project_id}", self.options.project_id)
        return self.send(GET_OPERATION.call_id, "GET", path, about=about, **how)

    def send(
        self,
        call_id: str,
        method: str,
        path: str,
        *,
        about: str = "",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        judged: bool = True,
    ) -> Answer:
        """Send a request, `about` saying why, and judge its answer. `token` "": none; None: the owner's."""
        sent = {"Accept": "application/json, application/problem+json", **(headers or {})}
        token = self.options.token if token is None else token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if key is not None:
            sent["Idempotency-Key"] = key
        content = None
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        # Ids that were given are left out: they are the same each time.
        short = path.replace(self.options.project_id, "{project_id}")
        short = short.replace(self.options.organization_id, "{organization_id}")
        title = f"{method} {short}" + (f" ({about})" if about else "")
        for _ in range(_AGAIN):
            self.requests += 1
            answer = self._server.exchange(title, method, path, sent, content)
            self._silent = 0 if answer.status else self._silent + 1
            if self._silent >= _TOO_MANY:
                raise Unreachable(f"the server did not respond to {_TOO_MANY} requests in a row")
            told = answer.header("Retry-After") or ""
            answer = replace(answer, call_id=call_id)
            if answer.ok and method != "GET":  # whether it was to succeed or not
                self._note_made(answer)
            limited = answer.status in (429, 503) or answer.code == "rate_limited"
            if judged or limited:
                self.answered(answer)
            waits = limited and told.isascii() and told.isdigit()
            if not (waits and len(told) < 6 and int(told) > 0 and self.wait(int(told))):
                break
        return answer

    def _note_made(self, answer: Answer) -> None:
        key = answer["key"]
        named = key if isinstance(key, dict) else {}
        found = answer.fields | named
        made = self.made.setdefault(answer.call_id, [])
        one = str(found.get("id") or found.get("ticket_id") or "")
        one = f"{named['name']} ({one})" if one and "name" in named else one
        if one and one not in made:
            made.append(one)

    @property
    def created(self) -> list[str]:
        """What was made or changed there."""
        made = []
        for call_id, ids in self.made.items():
            what = ALL_CALLS[call_id].effect or ALL_CALLS[call_id].summary
            what += ", and switched back" * (call_id in self.put_back)
            made.append(f"{what}: {', '.join(ids)}" if ids else what)
        return made

    def new_key(self) -> str:
        """Return a new Idempotency-Key, named as ours."""
        self._keys += 1
        return f"{PREFIX}{self.options.run_id}-{self._keys}"

    def wait(self, seconds: float) -> bool:
        """Wait, if there is patience left for so long; tell whether there was."""
        if self.waited_s + seconds > self.options.patience_s:
            return False
        self.waited_s += seconds
        if seconds > 0:
            self.options.pause(seconds)
        return True

    def name_of(self, assumption: str) -> str | None:
        """Return the name or path that was given or found out, None if neither."""
        found = self.options.assumed.get(assumption, self.values.get(assumption))
        return found if isinstance(found, str) else None

    def askable(self) -> list[CallName]:
        """Return the calls that can be made in order: the name of what one needs may be unknown."""
        return [
            spec.call_id
            for spec in CALLS.values()
            if all(
                self.name_of(needed.name_assumption)
                for needed in spec.query
                if needed.missing_complaint
            )
        ]

    # --- What several checks conclude --------------------------------------------------------

    def accept(self, answer: Answer, again: Callable[..., Answer]) -> None:
        """Keep an operation that was started just now, if it can be told from others."""
        self.made_now(answer, moment(answer["created_at"]), "operation.times")
        if id_ := answer.text("id"):
            self.accepted.append(Accepted(id_, answer, again, self.waited_s))

    def succeeded(self, keys: str, answer: Answer) -> bool:
        """Whether a request that is in order succeeded; if not, its clauses differ, or are skipped.

        A service may be out of order, at a limit, or in a state in which it refuses, and of some calls
        it is not shown who may make them: that breaks no clause.
        """
        if answer.ok:
            return True
        if answer.status == 0 or (answer.code in PROBLEMS and answer.code not in BLAMES):
            self.skips(keys, answer)
        elif answer.code == "forbidden" and ALL_CALLS[answer.call_id].role not in _ROLES:
            why = "the contract does not say which role or permission it needs"
            self.skips(keys, f"{answer}: {why}")
        else:
            self.differs(keys, answer, "it should have succeeded")
        return False

    def refused(self, keys: str, answer: Answer, code: str | None = None) -> bool | None:
        """Whether a request that must be refused was; with `code`, whether by that one."""
        if answer.status == 0:
            self.skips(keys, answer)
            return None
        if answer.code in EXCUSES:
            self.cannot_decide(keys, f"{answer}: the refusal has another reason")
            return None
        wrong = "it should have been refused" + ("" if answer.ok else " with a 4xx problem")
        # Which status a code comes with is not shown, but for two.
        right = answer.refused or (answer.status >= 500 and answer.code in PROBLEMS)
        if right and code is None and self._has_other_reason(answer, _ABOUT_THE_REQUEST):
            self.cannot_decide(keys, f"{answer}: the refusal has another reason")
            return None
        if right and code is not None:
            right, wrong = answer.code == code, f"its code should be {code}"
        return self.judge(keys, right, answer, wrong, call=CALL_CLAUSES[answer.call_id][0])

    def _has_other_reason(self, answer: Answer, reasons: frozenset[str]) -> bool:
        """Whether a refusal names a condition that is none of the `reasons`."""
        return answer.code in PROBLEMS and answer.code not in reasons

    def refused_as(self, keys: str, answer: Answer, code_keys: str, code: str) -> None:
        """Judge that a request was refused, and then by which code."""
        if self.refused(keys, answer, code if answer.code == code else None):
            self.refused(code_keys, answer, code)

    def wrong_input(self, keys: str, answer: Answer) -> None:
        """Judge the refusal of a request that is not in order."""
        if answer.code in _NOT_ALLOWED:
            self.skips(keys, f"{answer}: this token may not use the call at all")
        elif answer.refused and self._has_other_reason(answer, frozenset(["invalid_request"])):
            self.cannot_decide(keys, f"{answer}: the refusal has another reason")
        else:
            self.refused(keys, answer)

    def missing(self, answer: Answer) -> None:
        """Judge that what is not there, or not for who asks, is missing."""
        if answer.code in _NOT_ALLOWED - {"forbidden"} | {"invalid_request"}:
            self.skips("condition.missing", f"{answer}: it says nothing of what is asked for")
        else:
            self.refused("condition.missing", answer, "resource_not_found")

    def ignored_or_refused(self, assumption: str, answer: Answer) -> None:
        """Observe whether something that a call does not name is ignored or refused."""
        if answer.ok or answer.status == 400:
            self.see(assumption, "ignored" if answer.ok else "refused")

    def least_role(
        self, call_id: CallName, ask: Callable[[str, str], Answer] | None = None
    ) -> None:
        """Observe who of reader, maintainer and owner may make a call; `ask` makes it, with a token."""
        role = ALL_CALLS[call_id].role
        assert isinstance(role, AssumedRole)
        name = role.assumption
        ask = ask or (lambda token, about: self.call(call_id, about, token=token))
        tokens = {"reader": self.options.reader_token, "maintainer": self.options.maintainer_token}
        answers = {role: ask(token, f"as a {role}") for role, token in tokens.items() if token}
        refused = [role for role, answer in answers.items() if answer.code == "forbidden"]
        unclear = {*_NOT_ALLOWED, *EXCUSES, "resource_not_found"}
        allowed = [r for r, a in answers.items() if a.code not in unclear and 0 < a.status < 500]
        if allowed:
            if allowed[0] == "reader" or "reader" in refused:
                self.see(name, allowed[0])
        elif "maintainer" in refused:
            self.see(name, "owner")
        elif refused:
            self.note(f"{name} is maintainer or owner: use --maintainer-token to find out")

    def now(self) -> Now:
        """Return the service's time."""
        answer = self.call(_CLOCK if _CLOCK in self.askable() else READ, "for its time")
        return moment(answer["observed_at"]), http_date(answer.header("Date") or "")

    def happened_between(
        self, at_ms: int | None, before: Now, after: Now, slack_ms: int = _SLACK_MS
    ) -> bool | None:
        """Whether a moment lies between two, by either clock; None if that cannot be said.

        A Date header alone refutes nothing: it may be a proxy's, or a server's whose service lives
        in another time.
        """
        if at_ms is None:
            return None
        spans = [
            a is not None and b is not None and a - slack_ms <= at_ms <= b + slack_ms
            for a, b in zip(before, after, strict=True)
        ]
        observed = before[0] is not None and after[0] is not None
        return True if any(spans) else False if observed else None


def alike(one: Any, other: Any) -> bool | None:
    """Whether two answers say the same; None: one of them does not say it."""
    return None if one is None or other is None else one == other


class Check(NamedTuple):
    """One thing to try. Without what it `needs`, or one of `allow`, what it `judges` is skipped."""

    make: Callable[[Run], None]
    judges: str
    needs: str | None
    allow: tuple[str, ...]

    def lacking(self, options: CheckOptions) -> str | None:
        """Say which option would enable this check; None if it can be made."""
        if self.needs is not None and getattr(options, self.needs) is None:
            return f"it needs --{self.needs.replace('_', '-')}"
        if self.allow and not options.allow.intersection(self.allow):
            return f"it changes the project: permit it with --allow {' or '.join(self.allow)}"
        return None


#: Every check, in the order in which they are made.
CHECKS: list[Check] = []


def check(
    *, judges: str = "", needs: str | None = None, allow: tuple[str, ...] = ()
) -> Callable[[Callable[[Run], None]], Callable[[Run], None]]:
    """Add a function to the checks: its docstring says what it tries."""

    def add(make: Callable[[Run], None]) -> Callable[[Run], None]:
        CHECKS.append(Check(make, judges, needs, allow))
        return make

    return add
