"""Asking: what a request says is what the call reads, and what the service gave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Recent, Rule, found
from hosting_emulator.conduct.seen import Seen, named
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.resources import RESOURCES

SESSION_NEEDED = Rule(
    id="key-where-session-needed",
    severity="warning",
    title="An API key where an interactive session is needed",
    because="Operation 3 requires a current interactive user session.",
    place=f"{CONTRACT}, Authentication, 4",
    matters="It is refused always: a machine cannot make API keys for itself.",
    instead="Let the person sign in, and make the call with the access token of that session.",
)
MADE_UP_CURSOR = Rule(
    id="made-up-cursor",
    severity="warning",
    title="A cursor that the list did not give out",
    because="a continuation cursor (opaque string from the preceding page's next_cursor, characters "
    "A-Z a-z 0-9 _ -)",
    place=f"{CONTRACT}, Endpoints, 6",
    matters="A cursor means something to the service alone: one that was made up, changed or taken "
    "from another list is refused, or shows the wrong page.",
    instead="Send next_cursor of the page before, unchanged, to the same project; begin without one.",
)
KEY_NOT_LISTED = Rule(
    id="key-not-listed",
    severity="note",
    title="An Idempotency-Key where none is listed",
    because="no such header is listed for operations 5 to 8",
    place=f"{CONTRACT}, Endpoints",
    matters="It does nothing: whoever relies on it is not protected. Two tickets are two tickets.",
    instead="Send it with operations 1 to 4 only.",
)
UNREAD_FIELD = Rule(
    id="unread-field",
    severity="warning",
    title="Sent what nobody reads",
    because="Query: a continuation cursor [...] and a maximum page size (integer 1 to 100).",
    place=f"{CONTRACT}, Endpoints: the body and the query of each",
    matters="What was meant by it does not happen, and nobody says so; another version of the service "
    "may refuse it.",
    instead="Send the fields and parameters that the call lists, spelled as they are there.",
)
#: What the contract lists as the query and as the body of a call: the sentence, and where it stands.
_QUERIES = {
    "list_deployments": (UNREAD_FIELD.because, f"{CONTRACT}, Endpoints, 6"),
    "read_database_compute": (
        "Query: one parameter choosing the environment, allowed values dev, prod.",
        f"{CONTRACT}, Endpoints, 8",
    ),
}
_BODIES = {
    "set_project_powered_by_flag": (
        "Body (required, application/json): { enabled: boolean (required) }, no other properties.",
        f"{CONTRACT}, Endpoints, 1",
    ),
    "initialize_managed_source": (
        "Body (application/json): { expected_source_generation: integer }.",
        f"{CONTRACT}, Endpoints, 2",
    ),
    "create_user_api_key": (
        "Body (application/json): { name: string, length 1 to 64 }.",
        f"{CONTRACT}, Endpoints, 3",
    ),
    "apply_project_domains": ("No request body.", f"{CONTRACT}, Endpoints, 4"),
    "create_dev_access_ticket": ("No request body.", f"{CONTRACT}, Endpoints, 7"),
}
#: Of a call whose body the contract does not name.
_NO_BODY = ("No request body.", f"{CONTRACT}, Endpoints; none is listed for this one either")


class SessionNeeded(Judge):
    """Operation 3 without a session."""

    rules = (SESSION_NEEDED,)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at one refusal alone."""
        principal, spec = seen.entry.principal, seen.spec
        # Another flaw may be refused first: the session is missing all the same.
        if spec is not None and spec.interactive and principal and not principal.interactive:
            what = "an API key" if principal.api_key_id else "a token without a session"
            says = f"{named(seen)} came with {what}."
            yield found(SESSION_NEEDED, [seen], says, group=(principal.person_id, what))


class MadeUpCursor(Judge):
    """Cursors that were refused, and that no page of that project had.

    A page from before the world was put back had them too.
    """

    rules = (MADE_UP_CURSOR,)

    def __init__(self) -> None:
        #: The project whose page had it.
        self._given: Recent[str, str] = Recent()

    def turned(self) -> MadeUpCursor:
        """Go on: what was given out stays given out."""
        return self

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Remember what was given out, and look where it comes back."""
        if seen.call != "list_deployments":
            return
        project, name = str(seen.entry.project), seen.world.assumptions.cursor_parameter
        cursor = seen.query.get(name)
        if cursor is not None and _is_refused(seen, name):
            home = self._given.get(cursor)
            if home != project:  # its own may be refused once the world was put back
                origin = "no page had it" if home is None else f"it is of project {home}"
                says = f"The cursor {cursor[:60]!r} was sent for project {project}: {origin}."
                yield found(MADE_UP_CURSOR, [seen], says, group=project)
        answer = seen.answer if seen.status == 200 else None
        given = answer.get("next_cursor") if isinstance(answer, dict) else None
        if isinstance(given, str):
            self._given.keep(given, project)


def _is_refused(seen: Seen, name: str) -> bool:
    # What was noted of it: the answer's own words may be any.
    return seen.status >= 400 and bad_cursor(name).detail in seen.entry.why


class KeyNotListed(Judge):
    """Idempotency-Keys that no operation reads."""

    rules = (KEY_NOT_LISTED,)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at one request alone."""
        if seen.spec is not None and not seen.spec.idempotent and seen.key is not None:
            says = f"{named(seen)} came with an Idempotency-Key."
            yield found(KEY_NOT_LISTED, [seen], says, group=seen.call)


class UnreadField(Judge):
    """Body fields, bodies and query parameters that their call does not have."""

    rules = (UNREAD_FIELD,)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at one request alone."""
        if seen.spec is None:
            return
        for what, quote in _unread(seen):
            says = f"{named(seen)} came with {what}, which it does not read."
            # An empty object where no body is listed is what some libraries send by themselves.
            mild = what == _EMPTY
            yield found(
                UNREAD_FIELD,
                [seen],
                says,
                group=(seen.call, what),
                severity="note" if mild else None,
                quote=quote,
            )


_EMPTY = "an empty body"


def _unread(seen: Seen) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name what is not read, each with what the contract says of the call."""
    spec, entry = seen.spec, seen.entry
    assert spec is not None
    lists = _QUERIES.get(spec.call_id, ("", ""))
    takes = _BODIES.get(spec.call_id, _NO_BODY)
    if entry.query:
        known = _parameters(spec.call_id, seen.world.assumptions)
        for name in seen.query:
            if name not in known:
                yield f"the query parameter {name[:60]!r}", lists
    if not entry.body_bytes:
        return
    if spec.body is None:
        yield (_EMPTY if entry.body.strip() in (b"{}", b"null", b"") else "a body"), takes
    elif isinstance(seen.sent, dict):
        for name in seen.sent:
            if name not in RESOURCES[spec.body].names:
                yield f"the body field {name[:60]!r}", takes


def _parameters(call: str, assumptions: Assumptions) -> tuple[str, ...]:
    if call == "list_deployments":
        return assumptions.cursor_parameter, assumptions.limit_parameter
    return (assumptions.environment_parameter,) if call == "read_database_compute" else ()
