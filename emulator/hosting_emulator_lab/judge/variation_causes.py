"""The causes that varied responses show: assumptions of a client that the contract does not support.

Several variation points may show the same mistake, such as a client that expects a fixed set of
values. They count as one cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hosting_emulator.messages import Severity
from hosting_emulator_lab.judge.cause_texts import CauseText


@dataclass(frozen=True, slots=True)
class VariationCause:
    """A cause, and the variation points that show it."""

    text: CauseText
    points: tuple[str, ...]


_UNDEFINED = "Such a client works today, and breaks on the day that the service uses this freedom."
_GAPS = "contract, section Resources, Gaps"


def _cause(
    id_: str,
    points: tuple[str, ...],
    title: str,
    *,
    severity: Severity = "warning",
    because: str,
    place: str,
    instead: str,
) -> VariationCause:
    text = CauseText(
        id=id_,
        severity=severity,
        title=title,
        matters=_UNDEFINED,
        because=because,
        place=place,
        instead=instead,
    )
    return VariationCause(text, points)


_CAUSES = (
    _cause(
        "expects-one-success-status",
        ("accepted-status", "key-created-status", "key-replayed-status", "ticket-created-status"),
        "It expects one success status where the contract names none.",
        because="Success status codes of operations 2, 3 and 4: not shown.",
        place="contract, section Endpoints, operation 3",
        instead="Treat every status from 200 to 299 as success.",
    ),
    _cause(
        "decides-by-problem-status",
        ("problem-status",),
        "It decides by the HTTP status of a problem, not by its code.",
        because=(
            "Which HTTP status each other code uses, and which code follows which other "
            "condition: not shown."
        ),
        place="contract, section Errors",
        instead=(
            "Read `code` and `retryable` of the problem document. Use the status only to tell "
            "success from failure."
        ),
    ),
    _cause(
        "rejects-unknown-value",
        (
            "unknown-phase",
            "unknown-reconciliation-state",
            "unknown-error-code",
            "unknown-deployment-status",
            "unknown-database-state",
            "unknown-data-mode",
        ),
        "It does not accept a value that it does not know.",
        because=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not shown."
        ),
        place=_GAPS,
        instead=(
            "Treat an unknown value as one that needs no special handling: show it, and continue. "
            "Decide by the fields whose values the contract lists, such as state."
        ),
    ),
    _cause(
        "rejects-unknown-field",
        ("extra-fields", "problem-extras"),
        "It does not accept a field that it does not know.",
        because="No additional properties [said of PoweredByFlag alone].",
        place="contract, section Resources, PoweredByFlag",
        instead="Ignore unknown fields when you read a response.",
    ),
    _cause(
        "needs-unpromised-field",
        ("absent-fields",),
        "It needs a field that the contract does not promise.",
        severity="note",
        because=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        place=_GAPS,
        instead="Use a default for each field that the client can do without.",
    ),
    _cause(
        "needs-optional-field",
        ("progress-absent",),
        "It needs a field that is sometimes absent.",
        because=(
            "progress: current deployment dependency observation, separate from immutable operation "
            "history"
        ),
        place="contract, section Resources, Operation",
        instead=(
            "Treat every field as optional that the contract does not require, and have a default"
            " for it."
        ),
    ),
    _cause(
        "expects-queued-operation",
        ("starts-running",),
        "It expects each new operation to be queued first.",
        because="States: queued, running, succeeded, failed, cancelled.",
        place="contract, section States and transitions, Operation.state",
        instead=(
            "Treat queued and running alike: poll the operation until its state is succeeded, failed "
            "or cancelled."
        ),
    ),
    _cause(
        "needs-optional-problem-field",
        (),
        "It needs a field of a problem that the contract does not require.",
        because="detail | string | no |",
        place="contract, section Errors",
        instead="Use the status and the code of a problem, and show its other fields if there are any.",
    ),
    _cause(
        "depends-on-result",
        ("result-content",),
        "It depends on the content of an operation's result.",
        because="Operation.result: content not shown.",
        place=_GAPS,
        instead=(
            "Use `state` to learn how an operation ended, and read what it changed with a separate "
            "call."
        ),
    ),
    _cause(
        "expects-timestamp-form",
        ("timestamp-form",),
        "It expects one form of timestamps.",
        because="timestamp | string | date-time (ISO 8601 / RFC 3339)",
        place="contract, section Common types",
        instead=(
            "Parse timestamps with a library for RFC 3339. Offsets other than Z and any number of "
            "fraction digits are valid. Never compare timestamps as text."
        ),
    ),
    _cause(
        "depends-on-json-form",
        ("key-order", "json-whitespace", "json-escapes"),
        "It depends on how the JSON of a response is written.",
        because="All bodies are JSON.",
        place="contract, introduction",
        instead="Parse responses with a JSON parser, not with patterns or positions in the text.",
    ),
    _cause(
        "depends-on-order",
        ("deployment-order", "scope-order"),
        "It depends on an order that the contract does not promise.",
        because=(
            "Query parameter names for the cursor and the page size, default page size and "
            "ordering: not shown."
        ),
        place="contract, section Endpoints, operation 6",
        instead="Sort or search by the fields that you need, such as created_at.",
    ),
    _cause(
        "depends-on-id-form",
        ("id-order",),
        "It reads a time or an order from an id.",
        because="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        place="contract, section Common types",
        instead="Use created_at. An id is only a name.",
    ),
    _cause(
        "depends-on-cursor-form",
        ("cursor-form",),
        "It depends on the form of a cursor.",
        because="next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)",
        place="contract, section Page of deployments",
        instead="Send the cursor back as it is, as a query parameter, without parsing it.",
    ),
    _cause(
        "expects-full-pages",
        ("page-size",),
        "It treats a page that is not full as the last page.",
        because=(
            "Query parameter names for the cursor and the page size, default page size and "
            "ordering: not shown."
        ),
        place="contract, section Endpoints, operation 6",
        instead="Read on as long as there is a next_cursor, however many items a page has.",
    ),
    _cause(
        "expects-exact-page-size",
        (),
        "It expects each page to have as many items as its limit.",
        because=(
            "Query: a continuation cursor (opaque string from the preceding page's next_cursor, "
            "characters A-Z a-z 0-9 _ -) and a maximum page size (integer 1 to 100)."
        ),
        place="contract, section Endpoints, operation 6",
        instead=(
            "Expect at most as many items as the limit, and read on as long as there is a next_cursor."
        ),
    ),
    _cause(
        "needs-fixed-polling-time",
        ("next-poll", "lifecycle-longer"),
        "It expects an operation to end after a fixed time.",
        because="next_poll_after_seconds (integer; a value of 60 appears)",
        place="contract, section Resources, Operation",
        instead=(
            "Wait as long as next_poll_after_seconds says, and poll until the operation has ended"
            " or your own deadline has passed."
        ),
    ),
    _cause(
        "depends-on-response-headers",
        ("content-type-parameter", "request-id-on-success", "extra-headers"),
        "It depends on response headers that may differ.",
        because="Errors use the media type application/problem+json.",
        place="contract, introduction",
        instead=(
            "Compare the media type without its parameters and without regard to case, and ignore"
            " unknown headers."
        ),
    ),
    _cause(
        "depends-on-wording",
        ("problem-wording",),
        "It depends on the wording of a problem.",
        because='Consumers SHOULD NOT parse the "detail" member for information',
        place="RFC 9457, section 3.1.4",
        instead="Decide by `code`. The texts are for people, and may change.",
    ),
    _cause(
        "expects-permission-names",
        ("permission-names",),
        "It depends on the names of permissions.",
        because="Names of the permissions carried in key.permissions: not shown.",
        place=_GAPS,
        instead="Treat the permissions of a key as a list of unknown names.",
    ),
    _cause(
        "expects-fixed-replay",
        ("operation-replay", "flag-reenabled"),
        "It expects a replay or a repeated change to return one particular response.",
        because="first result returned, no second switch",
        place="contract, section States and transitions, Flag",
        instead="After a replay, read the current state with a separate call.",
    ),
    _cause(
        "sends-what-may-be-refused",
        (
            "unknown-body-fields",
            "unexpected-body",
            "unknown-query-parameters",
            "malformed-id",
            "wrong-method",
        ),
        "It sends something that the contract does not list, and that may be refused.",
        because="which code follows which other condition: not shown.",
        place="contract, section Errors",
        instead="Send only the methods, fields, parameters and bodies that the contract lists.",
    ),
)

_BY_POINT: Mapping[str, VariationCause] = {
    point: cause for cause in _CAUSES for point in cause.points
}
#: The causes that varied responses can show, by id.
VARIATION_CAUSES: Mapping[str, VariationCause] = {cause.text.id: cause for cause in _CAUSES}
#: Points that make a client wait longer. A judge leaves them out, because it cannot distinguish a
#: client that waits as long as a response says from a client that hangs.
_WAITING_POINTS = ("next-poll", "lifecycle-longer")
#: The variation points that a judge tries.
JUDGED_POINTS = tuple(point for point in _BY_POINT if point not in _WAITING_POINTS)


def points_of_same_causes(points: Iterable[str]) -> list[str]:
    """Return these variation points, and all other points that show the same causes."""
    same: dict[str, None] = dict.fromkeys(points)
    for point in tuple(same):
        cause = _BY_POINT.get(point)
        if cause is not None:
            same.update(dict.fromkeys(cause.points))
    return list(same)


def causes_of_points(points: Iterable[str]) -> list[CauseText]:
    """Return the causes that these variation points show, without duplicates.

    A point that belongs to no cause becomes a cause by itself, so that a new point is never
    ignored.
    """
    texts: dict[str, CauseText] = {}
    for point in points:
        cause = _BY_POINT.get(point)
        text = _unknown(point) if cause is None else cause.text
        texts[text.id] = text
    return list(texts.values())


def _unknown(point: str) -> CauseText:
    return CauseText(
        id=f"depends-on-{point}",
        severity="warning",
        title=f"It depends on something that the contract leaves open ({point}).",
        matters=_UNDEFINED,
        because="The contract leaves this open.",
        place=f"`hosting-emulator contract variation-points`, {point}",
        instead="Accept every response that the contract allows.",
    )
