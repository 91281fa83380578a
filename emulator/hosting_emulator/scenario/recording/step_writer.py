"""Writes a session's events as the steps of a story."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from hosting_emulator.calls.dev_access import dev_origin
from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import CALLS, GET_OPERATION, REDEEM_TICKET
from hosting_emulator.contract.durations import format_duration, parse_duration_ms, whole_seconds
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.json_values import each_text
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.request_views import header_text, sent_header
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.faults.kinds import needs_running_clock
from hosting_emulator.scenario.recording.connections import RecordedConnections
from hosting_emulator.scenario.recording.heads import Document, FileHead
from hosting_emulator.scenario.recording.references import Producer, References, key_value
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.scenario.recording.responses import any_response, expected_response
from hosting_emulator.scenario.recording.sessions import SessionEvent
from hosting_emulator.scenario.step_keys import ACTIONS, HEADER_OPTIONS, is_page, is_request
from hosting_emulator.scenario.variable_syntax import DEFAULT_ALIASES, VARIABLE
from hosting_emulator.world.records import User
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import API_KEYS, FAULTS, ORGANIZATIONS, OUTCOMES, PROJECTS, USERS
from hosting_emulator.world.value import Change, World

#: Matches headers that a step does not have to list, because they do not affect the response or
#: because another key of the step sets them.
_CLIENT_HEADER = re.compile(
    r"host|user-agent|accept(-.*)?|connection|content-length|transfer-encoding|cookie|origin|referer"
    r"|sec-.*|x-forwarded-.*|forwarded|via|priority|dnt|cache-control|pragma|traceparent|tracestate"
    r"|keep-alive|te|upgrade-insecure-requests|x-control-token|authorization|idempotency-key",
    re.IGNORECASE,
)
#: Matches a byte of an address that is not valid UTF-8.
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_QUOTE = 80
#: Why a request with a long body cannot be repeated.
BODY_CUT = "the request body was not stored completely"
_RULE_TABLES = {"fault": FAULTS, "outcome": OUTCOMES}


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of a recorded story, and the event that it repeats. Notes have no event."""

    document: Document
    event: SessionEvent | None = None


class StepWriter:
    """Writes the steps of a story to `steps`.

    If `exact` is true, the story reproduces the times between events to the millisecond. Otherwise,
    each event's time after the start is rounded down to whole seconds.
    """

    def __init__(
        self, world: World, head: FileHead, connections: RecordedConnections, *, exact: bool
    ) -> None:
        self.steps: list[RecordedStep] = []
        self._exact = exact
        self._connections = connections
        self._start_ms = parse_timestamp(head.document["clock"]["at"])
        self._now_ms = self._start_ms
        self._references = References(world, head.rule_ids)

    def add_note(self, note: str) -> None:
        """Write a step that consists of a note."""
        self.steps.append(RecordedStep({"note": note}))

    def write(self, event: SessionEvent, *, judged: bool) -> None:
        """Write the steps that repeat an event.

        If `judged` is false, the story accepts any response to the event. Raises NotRecordable if
        no step can repeat the event.
        """
        self._advance(event)
        if event.commit is not None:
            self._write_manual_change(event, event.commit)
        elif event.entry is not None:
            self._write_request(event, event.entry, judged=judged)

    def _advance(self, event: SessionEvent) -> None:
        """If time has passed, write a step that advances the clock to the time of an event."""
        at_ms = event.at_ms
        if not self._exact:
            at_ms -= (at_ms - self._start_ms) % 1000
        if at_ms > self._now_ms:
            step = {"advance": format_duration(at_ms - self._now_ms)}
            self.steps.append(RecordedStep(step, event))
            self._now_ms = at_ms

    # --- Manual changes -------------------------------------------------------------------------

    def _write_manual_change(self, event: SessionEvent, commit: Commit) -> None:
        manual_change = dict(commit.manual_change or ())
        if not set(manual_change) & set(ACTIONS):
            raise NotRecordable(f"{event.title}: a story cannot express this change")
        waiting_kinds = [
            kind for kind in manual_change.get("fault") or () if needs_running_clock(kind)
        ]
        if waiting_kinds:
            self._leave_out_fault(waiting_kinds[0], commit)
            return
        step: Document = manual_change
        # The names in an `add` intervention are new, so they must not be replaced with variables.
        if "add" not in (manual_change.get("intervene") or ()):
            step = each_text(manual_change, self._references.text)
        if "" in step.values():
            return  # the change removes a fault that the file omits
        for noun, table in _RULE_TABLES.items():
            if noun in step:
                for id_ in commit.writes[table.name]:
                    self._references.add(id_, Producer(step, noun, "id"))
        if "api_key" in step:
            self._references.add_api_keys(commit.writes[API_KEYS.name], step)
        self.steps.append(RecordedStep(step, event))

    def _leave_out_fault(self, kind: str, commit: Commit) -> None:
        """Write a note in place of a fault that makes requests wait until the clock has advanced."""
        for id_ in commit.writes[FAULTS.name]:
            self._references.omit(id_)
        self.add_note(
            f"Left out: {kind} acts only while the clock runs, and the clock of this story is frozen."
        )

    # --- Requests -------------------------------------------------------------------------------

    def _write_request(self, event: SessionEvent, entry: Entry, *, judged: bool) -> None:
        step = self._request(entry)
        connection = self._connections.name(entry)
        if connection is not None:
            step["connection"] = connection
        if entry.gave_up:
            self.steps.append(RecordedStep({**step, "gives_up": True}, event))
            return
        name_value = self._references.repeated if "call" in step else str
        expect = expected_response(entry.delivered, name_value)
        if not judged and "lost" not in expect:
            expect = any_response()
        step["expect"] = expect
        self.steps.append(RecordedStep(step, event))
        self._references.add_response(entry.delivered, step)

    def _request(self, entry: Entry) -> Document:
        target = entry.path
        if entry.query:
            target = f"{entry.path}?{entry.query}"
        if entry.call == REDEEM_TICKET:
            return {"redeem": self._references.text(self._ticket_url(entry, target))}
        step = self._call(entry)
        if step is None:
            step = {"request": f"{entry.method} {self._references.text(target)}"}
        step |= self._credentials(entry, step)
        key = sent_header(entry, b"idempotency-key")
        if key:
            step["key"] = self._references.text(key)
        if entry.body:
            step |= self._body(entry.body)
        headers = self._headers(entry)
        if headers:
            step["headers"] = headers
        return step

    def _ticket_url(self, entry: Entry, target: str) -> str:
        """Return the URL with which a request redeems a ticket."""
        url = self._references.value_ending_with(target)
        if url is not None:
            return url
        project = entry.world.get(PROJECTS, entry.project or "")
        assert project is not None
        return f"{dev_origin(Change(entry.world, 0), project, None)}{target}"

    def _call(self, entry: Entry) -> Document | None:
        """Return a `call` or `poll` step that sends the recorded request, or None if neither can."""
        if entry.call is None or is_body_cut(entry):
            return None
        match = calls_at(entry.world.assumptions.operation_path).recognize(entry.method, entry.path)
        query_pairs = parse_qsl(entry.query, keep_blank_values=True)
        has_repeated_name = len(dict(query_pairs)) < len(query_pairs)
        if match is None or has_repeated_name:
            return None
        spec = match.spec
        has_key = sent_header(entry, b"idempotency-key") is not None
        if has_key != spec.idempotent:
            return None
        step: Document
        if spec.call_id == GET_OPERATION.call_id:
            step = {"poll": self._references.text(match.subject_id)}
        else:
            alias = self._references.alias(match.subject_id)
            if alias is None:
                return None
            step = {"call": spec.call_id}
            if alias != DEFAULT_ALIASES[spec.subject]:
                step[spec.subject] = alias
        if query_pairs:
            step["query"] = {name: self._references.text(value) for name, value in query_pairs}
        return step

    def _body(self, body: bytes) -> Document:
        """Return the `body` key for a valid JSON body, or the `text` key for any other body."""
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return {"text": "(not text)"}
        try:
            document = read_json(body)
        except JsonRefused:
            return {"text": self._references.text(text)}
        return {"body": each_text(document, self._references.text)}

    def _headers(self, entry: Entry) -> dict[str, str | None]:
        """Return the headers that a step must list in order to repeat a request.

        The value None keeps the step from adding a header that the request did not have.
        """
        headers: dict[str, str | None] = {}
        if entry.body and sent_header(entry, b"content-type") is None:
            headers["Content-Type"] = None
        for raw_name, value in entry.raw_headers:
            name = raw_name.decode("latin-1")
            if _is_relevant_header(entry, name, value):
                headers[name] = self._references.text(header_text(value))
        return headers

    # --- Credentials ----------------------------------------------------------------------------

    def _credentials(self, entry: Entry, step: Document) -> Document:
        """Return the keys that make a step send the same credentials as a request.

        Raises NotRecordable if the request used an API key whose value is unknown.
        """
        authorization = sent_header(entry, b"authorization")
        if authorization is None:
            return {"user": NOBODY}
        token = authorization.partition(" ")[2].strip()
        principal = entry.principal
        key_id = principal.api_key_id or entry.world.indexes.get(f"api_key:{digest(token)}")
        value = token if token in self._references else key_value(key_id)
        if value in self._references:
            return {"token": self._references.variable(value)}
        if key_id is not None and principal:
            raise NotRecordable(
                f"request {entry.n} uses an API key that was created before the recording or with "
                "a chosen value, but a recorded file never contains the value of an API key"
            )
        if not principal:
            return {"token": "refused"}
        user = entry.world.get(USERS, principal.user_id)
        assert user is not None
        return self._token_options(entry, step, user)

    def _token_options(self, entry: Entry, step: Document, user: User) -> Document:
        """Return the keys that make a step create an access token like the request's."""
        principal = entry.principal
        options: Document = {}
        if user.alias != DEFAULT_ALIASES["user"]:
            options["user"] = user.alias
        # The contract requires a current session, so a token whose session has ended is recorded as
        # not interactive.
        if not is_current(entry.world, principal.session_id, user.id):
            options["interactive"] = False
        if principal.organization_id == home_of(entry.world, user):
            return self._with_valid_token(entry, user, options)
        organization = entry.world.get(ORGANIZATIONS, principal.organization_id or "")
        subject = CALLS[step["call"]].subject if "call" in step else ""
        if organization is not None and subject != "organization":
            options["organization"] = organization.alias
            return self._with_valid_token(entry, user, options)
        options.pop("user", None)
        if organization is not None:
            options["organization"] = organization.alias
            return self._sign_in(user, options, len(self.steps))
        return self._sign_in(user, options, self._index_without_organization(user))

    def _with_valid_token(self, entry: Entry, user: User, options: Document) -> Document:
        """Return the keys that make a step send a valid token.

        While the identity provider's clock is skewed, a new token might not be valid, so the step
        sends a token from an earlier step instead.
        """
        if _is_valid_token(entry.world, entry.at_ms, entry.at_ms):
            return options
        for index in reversed(range(len(self.steps))):
            event = self.steps[index].event
            if event is None or event.before.get(USERS, user.id) is None:
                continue
            former_event = self.steps[index - 1].event if index else None
            issued_ms = self._start_ms if former_event is None else former_event.at_ms
            if _is_valid_token(event.before, issued_ms, entry.at_ms):
                options.pop("user", None)
                return self._sign_in(user, options, index)
        return options

    def _sign_in(self, user: User, options: Mapping[str, Any], index: int) -> Document:
        """Insert a step at `index` that signs a user in, and return the key that makes a step send
        the token.
        """
        name = self._references.new_name("token")
        step = {"sign_in": user.alias, **options, "save": {name: "access_token"}}
        self.steps.insert(index, RecordedStep(step))
        return {"token": f"${{{name}}}"}

    def _index_without_organization(self, user: User) -> int:
        """Return the index of the last step before which the user had no organization.

        Returns 0 if there is no such step.
        """
        index = len(self.steps)
        while index:
            if index < len(self.steps):
                event = self.steps[index].event
                if event is not None and home_of(event.before, user) is None:
                    break
            index -= 1
        return index


def inexpressible_part(entry: Entry) -> str | None:
    """Return a clause about the part of a request that no step can express, or None if there is none."""
    variable = _variable_text_of(entry)
    if variable is not None:
        return (
            f"it contains {variable[:_LONGEST_QUOTE]}, which a story would replace with the value "
            "of a variable"
        )
    request = f"{entry.method} {entry.path}"
    quote = request[:_LONGEST_QUOTE]
    if _SURROGATE.search(f"{request}?{entry.query}"):
        return "its address is not valid UTF-8"
    if not is_request(request):
        return (
            f"a step cannot send {quote}: it needs a method that consists of capital letters, and a "
            "path, such as GET /v1/projects"
        )
    if is_page(entry.path):
        return f"a step would send {quote} to the emulator's own pages"
    return None


def inexact_part(entry: Entry) -> str | None:
    """Return a clause about a part of a request that its step does not repeat exactly.

    Returns None if there is no such part. The story may pass even if there is one.
    """
    if is_body_cut(entry):
        return BODY_CUT
    counts = Counter(name.lower() for name, _ in entry.raw_headers)
    for raw_name, value in entry.raw_headers:
        name = raw_name.decode("latin-1")
        count = counts[raw_name.lower()]
        has_key = name.lower() in HEADER_OPTIONS
        if count > 1 and (has_key or _is_relevant_header(entry, name, value)):
            return f"it has {count} {name} headers, but a step can send only one"
    return None


def is_body_cut(entry: Entry) -> bool:
    """Return whether the request log contains only a part of the request's body."""
    return entry.body_bytes > len(entry.body)


def _variable_text_of(entry: Entry) -> str | None:
    """Return a part of a request that a story would replace with the value of a variable, such as
    `${now}`, or None if there is none.
    """
    key = sent_header(entry, b"idempotency-key") or ""
    headers = [
        header_text(value)
        for name, value in entry.raw_headers
        if _is_relevant_header(entry, name.decode("latin-1"), value)
    ]
    target = unquote_plus(f"{entry.path}?{entry.query}")
    for text in (target, key, *headers, entry.body.decode("utf-8", "replace")):
        variable = VARIABLE.search(text)
        if variable is not None:
            return variable[0]
    return None


def _is_valid_token(world: World, issued_ms: int, used_ms: int) -> bool:
    """Return whether an access token issued at `issued_ms` is valid at `used_ms`."""
    written_ms = issued_ms + world.clock.token_skew_ms
    lifetime_s = max(1, whole_seconds(parse_duration_ms(world.assumptions.token_lifetime)))
    expires_ms = (whole_seconds(written_ms) + lifetime_s) * 1000
    return written_ms <= used_ms < expires_ms


def _is_relevant_header(entry: Entry, name: str, value: bytes) -> bool:
    """Return whether a step must list a header from the request.

    It must if the header can affect the response and no other key of the step sets it.
    """
    lower_name = name.lower()
    if lower_name == "content-type":
        is_usual = bool(entry.body) and value.lower() == b"application/json"
        return not is_usual
    if not _CLIENT_HEADER.fullmatch(name):
        return True
    if lower_name == "authorization":
        return False
    if lower_name == "idempotency-key":
        return not value
    return lower_name in _headers_of_faults(entry.world)


def _headers_of_faults(world: World) -> set[str]:
    """Return the names, in lowercase, of the headers that faults match on."""
    headers = [fault.rule.header or {} for _, fault in world.rows(FAULTS)]
    return {name.lower() for names in headers for name in names}
