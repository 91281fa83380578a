"""What every story has in hand, and what several of them say: it should have succeeded, or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Literal

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract_check.asking import BLAMES, EXCUSES, Asker
from hosting_emulator.contract_check.judging import ENDPOINTS
from hosting_emulator.contract_check.ledger import Ledger
from hosting_emulator.contract_check.moments import moment
from hosting_emulator.contract_check.observing import Observed
from hosting_emulator.contract_check.options import CheckOptions
from hosting_emulator.contract_check.wire import Answer

Need = Literal["reader_token", "outsider_token", "no_organization_token"]
#: A Ulid that no service gave to anything: it lies at the far end of time.
NOWHERE = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
#: Answers to somebody who may not ask at all: they say nothing of what was wrong in a request.
_NOT_ALLOWED = frozenset(
    {"unauthenticated", "forbidden", "organization_required", "interactive_login_required"}
)
_ROLES_NOT_SHOWN = frozenset(
    {
        *("initialize_managed_source", "create_user_api_key", "apply_project_domains"),
        *("get_dns_authorization", "list_deployments", "get_operation"),
    }
)
#: What the stories judge that start or poll an operation.
OPERATION = (
    "durable operation.id operation.state operation.times states.operation operation.progress "
    "progress-object operation.result"
)
#: How far a service's clocks may be from each other.
_SLACK_MS = 5_000


@dataclass(slots=True)
class Accepted:
    """An operation that a story started, and how to ask for it once more with the same key."""

    call_id: str
    answer: Answer
    again: Callable[[str], Answer]

    @property
    def id(self) -> str:
        """The operation's id; empty if the answer had none."""
        found = self.answer.fields.get("id")
        return found if isinstance(found, str) else ""


@dataclass(slots=True)
class Scene:
    """The server, the ledger, and what earlier stories found out."""

    ask: Asker
    ledger: Ledger
    observed: Observed
    options: CheckOptions
    accepted: list[Accepted] = field(default_factory=list)
    #: Ids of further operations that came of trying things out.
    started: list[str] = field(default_factory=list)
    #: Where operations are polled, once that is found out.
    operation_path: str | None = None
    #: An Idempotency-Key under which a call was answered with success, and that call.
    used_key: tuple[str, str] | None = None
    #: A user API key that may be used: the one given, or the one that was created.
    api_key: str | None = None
    #: Why reading the DNS authorization, which many stories do, says nothing; empty where it does.
    unreadable: str = ""

    def name_of(self, assumption: str) -> str | None:
        """Return the name or path that was given or found out, None if neither."""
        found = self.options.assumed.get(assumption, self.observed.values.get(assumption))
        return found if isinstance(found, str) else None

    def succeeded(self, keys: str, answer: Answer) -> bool:
        """Whether a request that is in order succeeded; if not, its sentences differ, or are skipped.

        The service may be out of order, at a limit, or in a state in which it refuses; and of some
        calls it is not shown who may make them. That breaks no sentence.
        """
        if answer.ok:
            return True
        if answer.status == 0 or (answer.code in PROBLEMS and answer.code not in BLAMES):
            self.ledger.skips(keys, answer.said)
        elif answer.code == "forbidden" and answer.call_id in _ROLES_NOT_SHOWN:
            why = f"{answer.said}: which role or permission it needs is not shown"
            self.ledger.skips(keys, why)
        else:
            self.ledger.differs(keys, f"{answer.said}: it should have succeeded")
        return False

    def refused(self, keys: str, answer: Answer, code: str | None = None) -> bool:
        """Whether a request that must be refused was; with `code`, whether by that one.

        It bears its sentences out only where the call succeeds when it is asked rightly.
        """
        if answer.status == 0 or answer.code in EXCUSES:
            self.ledger.skips(keys, answer.said)
            return False
        wrong = "it should have been refused" + ("" if answer.ok else " with a 4xx problem")
        # Which status a code comes with is not shown, but for two.
        right = answer.refused or (answer.status >= 500 and answer.code in PROBLEMS)
        if right and code is not None:
            right, wrong = answer.code == code, f"its code should be {code}"
        if right:
            self.ledger.refusal(keys, ENDPOINTS[answer.call_id][0], answer.said)
        else:
            self.ledger.differs(keys, f"{answer.said}: {wrong}")
        return right

    def wrong_input(self, keys: str, answer: Answer) -> None:
        """Judge the refusal of a request that is not in order."""
        if answer.code in _NOT_ALLOWED:
            self.ledger.skips(keys, f"{answer.said}: this token may not ask at all")
        else:
            self.refused(keys, answer)

    def least_role(self, name: str, ask: Callable[[str, str], Answer]) -> None:
        """Observe an assumption about roles: who of reader, maintainer and owner may ask.

        `ask` makes the call with a token, and says as whom.
        """
        answers = {
            role: ask(token, f"as a {role}")
            for role, token in (
                ("reader", self.options.reader_token),
                ("maintainer", self.options.maintainer_token),
            )
            if token is not None
        }
        refused = [role for role, answer in answers.items() if answer.code == "forbidden"]
        allowed = [
            role
            for role, answer in answers.items()
            if role not in refused
            and answer.code not in (*_NOT_ALLOWED, *EXCUSES, "resource_not_found")
            and answer.status < 500
            and answer.status
        ]
        if allowed:
            if allowed[0] == "reader" or "reader" in refused:
                self.observed.see(name, allowed[0])
        elif "maintainer" in refused:
            self.observed.see(name, "owner")
        elif refused:
            self.observed.note(f"{name} is maintainer or owner: --maintainer-token tells which")

    # --- Time --------------------------------------------------------------------------------

    def now(self) -> tuple[int | None, int | None]:
        """Return the service's time in ms by what it observes, and by its Date header."""
        name = self.name_of("environment_parameter")
        if name is None:
            answer = self.ask.call("get_dns_authorization", about="for its time")
        else:
            query = f"?{name}=dev"
            answer = self.ask.call("read_database_compute", query, about="for its time")
        return moment(answer.fields.get("observed_at")), _date(answer.header("Date"))

    def happened_between(
        self,
        at_ms: int,
        before: tuple[int | None, int | None],
        after: tuple[int | None, int | None],
        slack_ms: int = _SLACK_MS,
    ) -> bool | None:
        """Whether a moment lies between two, by either clock; None if that cannot be said.

        A Date header alone refutes nothing: it may be a proxy's, or a server's whose service lives
        in another time.
        """
        spans = [
            a is not None and b is not None and a - slack_ms <= at_ms <= b + slack_ms
            for a, b in zip(before, after, strict=True)
        ]
        observed = before[0] is not None and after[0] is not None
        return True if any(spans) else False if observed else None


def _date(text: str | None) -> int | None:
    try:
        return int(parsedate_to_datetime(text or "").timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Story:
    """One thing to try. Without what it `needs`, the sentences it `judges` are skipped, saying why.

    `allow` are words of ALLOWED: any one of them lets it be tried.
    """

    title: str
    tell: Callable[[Scene], None]
    judges: str
    needs: Need | None
    allow: tuple[str, ...]

    def lacking(self, options: CheckOptions) -> str | None:
        """Say which option would enable this story; None if it can be told."""
        if self.needs is not None and getattr(options, self.needs) is None:
            return f"it needs --{self.needs.replace('_', '-')}"
        if self.allow and not options.allow.intersection(self.allow):
            return f"it changes something there: --allow {' or '.join(self.allow)} permits it"
        return None


#: Every story, in the order in which they are told.
STORIES: list[Story] = []


def story(
    title: str, *, judges: str = "", needs: Need | None = None, allow: tuple[str, ...] = ()
) -> Callable[[Callable[[Scene], None]], Callable[[Scene], None]]:
    """Add a function to the stories."""

    def add(tell: Callable[[Scene], None]) -> Callable[[Scene], None]:
        STORIES.append(Story(title, tell, judges, needs, allow))
        return tell

    return add
