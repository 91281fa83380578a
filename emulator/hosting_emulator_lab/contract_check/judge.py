"""Holding any one answer against the contract, what it shows where that is silent, and verdicts.

Checks ask and compare answers with each other; this looks at each answer alone.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.calls import ALL_CALLS, CALLS, AssumedStatus, CallSpec
from hosting_emulator.contract.fields import Field
from hosting_emulator.contract.markdown import read_sections
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES, STATES, with_states
from hosting_emulator.contract.value_checks import (
    BOUNDS,
    brief,
    complaint,
    credential_complaint,
    identifier_complaint,
    is_integer,
    members_of,
    moment,
)
from hosting_emulator_lab.contract_check.wire import Answer, http_date


class Clause(NamedTuple):
    """A sentence of the contract, or a row of a table; `unseen`: why nobody outside sees if it holds."""

    key: str
    section: str
    text: str
    unseen: str = ""


def _read_clauses() -> Iterator[Clause]:
    placed: set[str] = set()
    quotes: set[str] = set()
    for section, items in read_sections(Path(__file__).with_name("clauses.md")):
        for key, quote in items:
            if key.startswith("@"):
                placed.add(key[1:])
                for field_key, text in RESOURCES[key[1:]].sentences.items():
                    yield Clause(field_key, section, text)
            else:
                text, _, unseen = with_states(quote).partition(" (unseen: ")
                quotes.add(text)
                yield Clause(key, section, text, unseen.removesuffix(")"))
    # What the file does not place comes last: a resource's sentences, a call's address and response.
    for name, resource in RESOURCES.items():
        if name not in placed:
            for field_key, text in resource.sentences.items():
                yield Clause(field_key, name, text)
    for spec in CALLS.values():
        address = f"{spec.method} {spec.path}"
        if address not in quotes:
            yield Clause(f"{spec.call_id}.call", spec.section, address)
            yield Clause(f"{spec.call_id}.response", spec.section, f"Response: {spec.response}.")


#: Every clause by its key, in the contract's order.
CLAUSES = {clause.key: clause for clause in _read_clauses()}


def _clauses_of_calls() -> Iterator[tuple[str, tuple[str, str]]]:
    addresses = {clause.text: clause.key for clause in CLAUSES.values()}
    for spec in ALL_CALLS.values():
        call = addresses.get(f"{spec.method} {spec.path}", "durable")
        answers = (call.replace(".call", f".{word}") for word in ("response", "accepted", "200"))
        yield spec.call_id, (call, next((key for key in answers if key in CLAUSES), "durable"))


#: The clause of each call's address, and that of what it answers.
CALL_CLAUSES = dict(_clauses_of_calls())

_NONE, _MISSING = "no operation that was started", "no problem had this field"
#: Why nothing was seen of clauses that only some answers can show.
_UNMET = {
    key: why
    for keys, why in (
        ("operation.blocking_operation_id states.blocking", f"{_NONE} waited on another"),
        ("operation.deployment_id", f"{_NONE} created a deployment"),
        ("operation.result", f"{_NONE} had a result"),
        ("operation.error error-object", f"{_NONE} failed"),
        ("operation.reconciliation reconciliation-object", f"{_NONE} was being reconciled"),
        ("problem.detail problem.instance", _MISSING),
        (
            "problem.retry_after_seconds limit.retry-after",
            f"{_MISSING}: the server limited nothing",
        ),
        ("deployment.artifact_digest deployment.url", "no deployment had this field"),
        ("limit.zone", "no DNS zone is authorized"),
        ("compute.placement", "neither environment has a database"),
    )
    for key in keys.split()
}

Outcome = Literal["holds", "differs", "undecided", "skipped", "cannot be seen from outside"]

#: The words that the contract itself gives for fields whose other values it leaves open, by the
#: field of a response. A sentence that names a word holds once the word was seen.
_NAMED_WORDS = {
    "items[].status": "queued",
    "progress.phase": "queued",
    "reconciliation.state": "required",
    "error.code": "operation_failed",
    "database.state": "init",
    "data_mode": "shared",
}

#: So many differences of one clause are told; a server that gets it wrong does so each time.
MOST = 3
_FORMS = {
    "milliseconds": re.compile(r".*:\d\d\.\d{3}Z"),
    "microseconds": re.compile(r".*:\d\d\.\d{6}Z"),
    "offset": re.compile(r".*:\d\d\.\d{3}\+00:00"),
}
#: Open sets whose words a report lists, by the field of an answer.
_OPEN_SETS = {name: name for name in ("progress.phase", "reconciliation.state", "error.code")}
_OPEN_SETS["items[].status"] = "Deployment.status"
#: So far may two clocks of one server be apart; and what is observed be older than what happened before.
_APART_MS, _STALE_MS = 60_000, 300_000
#: So far apart may the clocks be by which a service makes something and by which it observes.
_CLOCKS_APART_MS = 5_000
#: The resources that show nothing of a provider, by the clauses that say so; names that give it away.
_NO_SECRETS = {
    "DnsAuthorization": "dns.no-credentials",
    "DatabaseCompute": "compute.no-identifiers",
}
#: The clauses of the codes whose status the contract fixes.
_FIXED = {"resource_not_found": "condition.missing", "idempotency_key_reused": "condition.reused"}


class Judge:
    """Looks at answers; takes evidence of what they bear out or break, and what is observed.

    A single difference outweighs everything else. A response that decides nothing outweighs what
    holds, and what holds outweighs a skip. `keys` are those of one
    or more clauses, between spaces. `values` are what was observed, by the name of the assumption;
    `words` those that the contract leaves open; `notes` tell what no assumption has a place for.
    """

    def __init__(self, project_id: str) -> None:
        self._project_id = project_id
        self.values: dict[str, Any] = {}
        self.notes: list[str] = []
        self.words: dict[str, set[str]] = {}
        #: The statuses that a code came with, and how timestamps were written.
        self._statuses: dict[str, set[int]] = {}
        self._forms: set[str] = set()
        #: What was seen, in words, by key and by the name of the method that took it.
        self._evidence = {
            key: {how: list[str]() for how in ("holds", "differs", "skips", "undecided")}
            for key in CLAUSES
        }
        #: The values seen of fields of `_NAMED_WORDS`, by the clause and the field.
        self._named: dict[tuple[str, str], set[str]] = {}
        #: What bears a clause out if a call works, by key: the call's clause, and what was seen.
        self._refusals: dict[str, list[tuple[str, str]]] = {key: [] for key in CLAUSES}
        #: The clauses of the calls that succeed where they are asked rightly.
        self.working: set[str] = set()
        #: What no answer may show any more: the clauses that say so, by the secret.
        self.secrets: dict[str, str] = {}
        #: The latest moment that something was made or changed, and the latest observation.
        self._happened_ms = self._observed_ms = 0

    # --- Evidence and verdicts ---------------------------------------------------------------

    def _note(self, how: str, keys: str, seen: object) -> None:
        for key in keys.split():
            found = self._evidence[key][how]
            if len(found) < MOST and (text := str(seen)) not in found:
                found.append(text)

    def holds(self, keys: str, seen: object) -> None:
        """Note that an answer bears clauses out."""
        self._note("holds", keys, seen)

    def differs(self, keys: str, seen: object, wrong: str = "") -> None:
        """Note that an answer says otherwise: which answer, and what was `wrong` in it."""
        self._note("differs", keys, f"{seen}: {wrong}" if wrong else seen)

    def skips(self, keys: str, why: object) -> None:
        """Note why clauses could not be looked at."""
        self._note("skips", keys, why)

    def cannot_decide(self, keys: str, why: object) -> None:
        """Note that a response came to a request about clauses, and shows nothing either way."""
        self._note("undecided", keys, why)

    def judge(
        self, keys: str, right: bool | None, seen: object, wrong: str, *, call: str = ""
    ) -> bool | None:
        """Note that clauses hold, or differ for what is `wrong`; None: there was nothing to compare.

        With `call`, the clause of one, what bears them out is that it refused. It does so only where
        the call works: a server that knows no such call refuses whatever it is asked.
        """
        if right is False:
            self.differs(keys, seen, wrong)
        elif right and call:
            for key in keys.split():
                self._refusals[key].append((call, str(seen)))
        elif right:
            self.holds(keys, seen)
        return right

    def verdict(self, key: str, unseen: str) -> tuple[Outcome, list[str]]:
        """Return what became of a clause, and what was seen or why nothing was."""
        found, refusals = self._evidence[key], self._refusals[key]
        if found["differs"]:
            return "differs", found["differs"]
        if unseen:
            return "cannot be seen from outside", [unseen]
        if undecided := [*found["undecided"], *self._missing_words(key)]:
            return "undecided", undecided[:MOST]
        shown = found["holds"] + [seen for call, seen in refusals if call in self.working]
        if shown:
            return "holds", shown[:1]
        why = [*found["skips"]]
        for call, seen in refusals:
            reasons = self._evidence[call]["skips"] + self._evidence[call]["differs"]
            tail = f" ({reasons[0]})" if reasons else ""
            why.append(f"{seen}: refused, but no correct request succeeded{tail}")
        return "skipped", [*why, _UNMET.get(key, "no response showed it")][:1]

    def _missing_words(self, key: str) -> list[str]:
        """Say which words that a clause names were not among the values seen."""
        reasons = []
        for (clause, name), words in self._named.items():
            named = _NAMED_WORDS[name]
            if clause == key and named not in words:
                values = ", ".join(brief(word) for word in sorted(words))
                reasons.append(f"{name} was {values}; the contract's {named!r} was not seen")
        return reasons

    # --- What is observed --------------------------------------------------------------------

    def see(self, name: str, value: Any) -> None:
        """Note the value of an assumption."""
        self.values[name] = value

    def note(self, text: str) -> None:
        """Note something for the reader that no assumption has a place for."""
        if text not in self.notes:
            self.notes.append(text)

    def see_token(self, token: str) -> None:
        """Note the audience that an access JWT was issued for, and when."""
        try:
            part = token.split(".")[1]
            claims = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            audience, issued = claims.get("aud"), claims.get("iat")
        except (IndexError, ValueError, AttributeError):
            return
        if isinstance(audience, str):
            self.see("token_audience", audience)
        if is_integer(issued):
            self._happened_ms = max(self._happened_ms, int(issued) * 1000)

    def settled(self) -> dict[str, Any]:
        """Return what was observed of assumptions, as a scenario would write it; for the rest, note it."""
        found = dict(self.values)
        if "other" in self._forms or len(self._forms) > 1:
            self.note(
                "timestamps have more than one format, or one that this emulator cannot write"
            )
        elif self._forms:
            found["timestamp_form"] = next(iter(self._forms))
        found["problem_statuses"] = {
            code: min(statuses)
            for code, statuses in sorted(self._statuses.items())
            if PROBLEMS[code].status not in statuses and "status" not in PROBLEMS[code].specified
        }
        settled = {name: found[name] for name in DEFAULTS.__struct_fields__ if name in found}
        for name, value in [*settled.items()]:
            try:
                Assumptions().changed({name: value})
            except ValueError:
                self.note(f"{name} is {value!r}, which no assumption can express")
                del settled[name]
        return settled

    # --- Answers -----------------------------------------------------------------------------

    def answered(self, answer: Answer) -> None:
        """Judge one answer of a call."""
        spec, (call, response) = ALL_CALLS[answer.call_id], CALL_CLAUSES[answer.call_id]
        self._keeps_secrets(answer)
        if answer.ok:
            self._success(spec, call, response, answer)
        elif 400 <= answer.status < 600:
            self._problem(spec, call, answer)
        else:
            leads = (answer.header("Location") or "").partition("?")[0]
            self.differs(call, f"{answer} to {leads}" if leads else answer)

    def _problem(self, spec: CallSpec, call: str, answer: Answer) -> None:
        judge, media = self.judge, answer.media_type
        request_id = answer.header("X-Request-Id")
        wrong = f"its media type is {media or 'missing'}"
        judge("problem-media problem", media == "application/problem+json", answer, wrong)
        if answer.status in (413, 429):  # too large, too many: refused before it reaches a call
            why = f"{answer}: a limit on all requests, not a response of this call"
            self.skips("flag.statuses" if spec.listed_statuses else "", why)
            self.skips("problem.retry_after_seconds limit.retry-after", f"{answer}: without it")
            if spec.listed_statuses:
                self.see("listed_statuses", "open")
        elif spec.listed_statuses:
            listed = answer.status in spec.listed_statuses
            judge("flag.statuses", listed, answer, "not listed", call=call)
        if request_id is None:
            self.differs("problem request-id", answer, "it has no header X-Request-Id")
        else:
            wrong = f"X-Request-Id has {len(request_id)} characters"
            judge("request-id", 1 <= len(request_id) <= 128, answer, wrong)
        problem = self._json_object(answer, "problem")
        if problem is not None:
            if request_id not in (None, problem.get("request_id")):
                other = "a problem's request_id is not what its X-Request-Id says"
                self.note(f"{other}: the contract does not forbid it")
            self._fields(answer, problem, "ProblemDetails")
            self._problem_as_a_whole(call, answer, problem)
            code, about_http = answer.code, answer.status in (405, 413, 415)
            kept_to_list = spec.listed_statuses and answer.status == 400
            if code is not None and code in PROBLEMS and not (about_http or kept_to_list):
                self._statuses.setdefault(code, set()).add(answer.status)

    def _problem_as_a_whole(self, call: str, answer: Answer, problem: dict[str, Any]) -> None:
        judge = self.judge
        status, code, link = (problem.get(name) for name in ("status", "code", "type"))
        if is_integer(status) and status != answer.status:
            self.differs("problem.status", answer, f"the document says {status}")
        if isinstance(code, str) and isinstance(link, str):
            ending = f"/errors/{code.replace('_', '-')}"
            wrong = f"type is {brief(link)}, which does not end in {ending}"
            judge("problem.type", link.endswith(ending), answer, wrong)
        if (seconds := problem.get("retry_after_seconds")) is not None:
            told = (answer.header("Retry-After") or "").strip()
            until, now = http_date(told), http_date(answer.header("Date") or "")
            right = until is not None  # HTTP allows a date there
            if is_integer(seconds) and told.isascii() and told.isdigit() and len(told) < 10:
                right = int(told) == seconds
            elif is_integer(seconds) and until is not None and now is not None:
                right = abs(until - now - seconds * 1000) <= _APART_MS
            wrong = f"retry_after_seconds is {brief(seconds)}, and Retry-After {told or 'missing'}"
            judge("problem.retry_after_seconds", right, answer, wrong)
        if isinstance(code, str) and code in _FIXED:
            key, fixed = _FIXED[code], PROBLEMS[code].status
            right = answer.status == fixed
            judge(f"{key} condition.statuses", right, answer, f"not {fixed}", call=call)
            retryable = problem.get("retryable")
            if isinstance(retryable, bool):
                judge(key, not retryable, answer, "it is retryable", call=call)

    def _success(self, spec: CallSpec, call: str, response: str, answer: Answer) -> None:
        self.holds(f"{call} paths v1", answer)
        if response == "flag.200":
            self.judge(response, answer.status == 200, answer, "not 200")
        # Without a status of its own, a replay has that of the first response.
        if isinstance(spec.success, AssumedStatus) and spec.replay_status is None:
            self.see(spec.success.assumption, answer.status)
        document = self._json_object(answer, response)
        if document is None:
            return
        media = answer.media_type
        if media and not re.fullmatch(r"application/(?!problem)(\S+\+)?json", media):
            self.differs("json", answer, f"its media type is {media}")
        self.working.add(call)
        if RESOURCES[spec.response].names & document.keys():
            self.holds(response, answer)
        else:
            why = f"{answer}: it has none of the fields of {spec.response}"
            self.cannot_decide(response, why)
        if document.get("next_cursor") == "":  # it leads nowhere, as none would
            document = {name: value for name, value in document.items() if name != "next_cursor"}
        self._fields(answer, document, spec.response)
        self._together(answer, spec.response, document)

    def _together(self, seen: Answer, resource: str, found: dict[str, Any]) -> None:
        """Judge what the contract says of several fields together."""
        judge = self.judge
        if resource == "PoweredByFlag":
            more = sorted(found.keys() - RESOURCES[resource].names)
            judge("flag.closed", not more, seen, f"it also has {', '.join(more)}")
            if found.get("enabled") is False and "enabled_at" in found:
                hidden = found["enabled_at"] is None
                judge("flag.enabled_at", hidden, seen, "enabled_at is set while hidden")
        elif resource == "DnsAuthorization" and found.get("status") == "not_authorized":
            for name in found.keys() & {"zone", "expires_at"}:
                wrong = f"{name} is not null although status is not_authorized"
                judge(f"dns.{name}", found[name] is None, seen, wrong)
            if isinstance(found.get("scopes"), list):
                wrong = "scopes are not empty although status is not_authorized"
                judge("dns.scopes", not found["scopes"], seen, wrong)
        elif resource == "Operation":
            self._operation(seen, found)
        elif resource == "DevAccessTicket":
            origin, url = found.get("origin"), found.get("redeem_url")
            if isinstance(origin, str) and isinstance(url, str):
                wrong = "redeem_url does not start with the origin"
                judge("ticket.redeem_url", url.startswith(origin + "/"), seen, wrong)

    def _operation(self, seen: Answer, found: dict[str, Any]) -> None:
        progress = found.get("progress")
        if isinstance(progress, dict):
            made, observed = moment(found.get("created_at")), moment(progress.get("observed_at"))
            if made is not None and observed is not None and observed < made - _STALE_MS:
                self.differs("progress-object", seen, "it was observed before the operation began")
            deployments = [each.get("deployment_id") for each in (found, progress)]
            if None not in deployments and deployments[0] != deployments[1]:
                self.differs("progress-object", seen, "it is another deployment's progress")
        waits, state = found.get("blocking_operation_id") is not None, found.get("state")
        if waits and state in STATES and state != "queued":
            self.differs("states.blocking", seen, "it waits, and is not queued")

    def _json_object(self, answer: Answer, keys: str) -> dict[str, Any] | None:
        document = answer.document
        if document is None:
            self.differs(f"json {keys}", answer, "its body is not JSON")
            return None
        self.holds("json", answer)
        if not isinstance(document, dict):
            self.differs(keys, answer, "its body is not a JSON object")
        return document if isinstance(document, dict) else None

    def _fields(
        self, seen: Answer, found: Mapping[str, Any], resource: str, inside: str = ""
    ) -> None:
        """Judge the fields of an object, then those of the objects in it."""
        for field in RESOURCES[resource].fields:
            name, value = inside + field.name, found.get(field.name)
            how = "null" if field.name in found else "missing"
            if value is not None or (field.nullable and how == "null"):
                self._field(seen, name, value, field)
            elif field.required or how == "null":  # null stands where the contract says so
                self.differs(f"{field.sentence_key} {field.related_keys}", seen, f"{name} is {how}")
        made, changed = (moment(found.get(name)) for name in ("created_at", "updated_at"))
        known = "updated_at" in RESOURCES[resource].names
        if known and made is not None and changed is not None and changed < made - 1_000:
            wrong = f"{inside}updated_at is before created_at"
            self.differs(f"{resource.lower()}.times", seen, wrong)
        for name, part in RESOURCES[resource].parts.items():
            value = found.get(name)
            inner, place = (
                (value, f"{name}[].") if isinstance(value, list) else ([value], f"{name}.")
            )
            for item in inner:
                if isinstance(item, dict):
                    self._fields(seen, item, part, place)

    def _field(self, seen: Answer, name: str, value: Any, field: Field) -> None:
        if name in _NAMED_WORDS and isinstance(value, str):
            self._named.setdefault((field.sentence_key, name), set()).add(value)
        if name in _OPEN_SETS and isinstance(value, str):
            self.words.setdefault(_OPEN_SETS[name], set()).add(value)
        wrong = None if value is None else complaint(field.kind, value)
        keys = f"{field.sentence_key} {field.related_keys}"
        if wrong is None and field.name == "project_id" and value != self._project_id:
            key = "deployments.page-through" if name.startswith("items") else field.sentence_key
            self.differs(key, seen, f"{name} is another project's")
        if field.kind.name in ("ulid", "timestamp") and value is not None:
            keys += f" {field.kind.name}"
        if wrong is not None:
            bound = field.bound_key if wrong.startswith(BOUNDS) else ""
            self.differs(f"{keys} {bound}", seen, f"{name}: {wrong}")
            return
        self.holds(keys if value is None else f"{keys} {field.bound_key}", seen)
        if field.kind.name == "timestamp" and value is not None:
            forms = (form for form, written in _FORMS.items() if written.fullmatch(value))
            self._forms.add(next(forms, "other"))
        if (at_ms := moment(value)) is None:
            return
        if name.endswith(("created_at", "updated_at")):
            self._happened_ms = max(self._happened_ms, at_ms)
        elif name == "observed_at":  # what is observed is not older than what had happened by then
            self._observed_ms = max(self._observed_ms, at_ms)
            fresh = at_ms >= self._happened_ms - _STALE_MS
            self.judge(
                field.sentence_key, fresh, seen, f"{name} is older than what had happened before"
            )

    def made_now(self, seen: Answer, at_ms: int | None, keys: str) -> bool:
        """Judge the moment of something that was made just now, and by it what was observed before."""
        if at_ms is None:
            return True
        if at_ms < self._happened_ms - _STALE_MS:
            self.differs(keys, seen, "created_at is older than what had happened before")
            return False
        if self._observed_ms > at_ms + _STALE_MS:
            self.differs(
                "compute.observed_at", seen, "observed_at was later than what came after it"
            )
        return True

    def has_gone_on_since(self, at_ms: int | None) -> bool:
        """Tell whether something was made or changed there clearly later than a moment."""
        return at_ms is not None and self._happened_ms > at_ms + _CLOCKS_APART_MS

    def _keeps_secrets(self, answer: Answer) -> None:
        shown = answer.body.decode(errors="replace") + str(answer.headers)
        for secret, keys in self.secrets.items():
            if secret in shown:
                self.differs(keys, answer, "it shows a credential that was sent or shown before")
        key = _NO_SECRETS.get(ALL_CALLS[answer.call_id].response) if answer.ok else None
        for name, value in members_of(answer.document):
            wrong = credential_complaint(name, value)
            if wrong is not None:
                self.differs(key or "ticket.once", answer, wrong)
                continue
            wrong = identifier_complaint(name, value, shows_none=key is not None)
            if wrong is not None:
                self.differs(key or "compute.no-identifiers", answer, wrong)
