"""Remembers responses by Idempotency-Key, and replays the remembered response when a key is sent again.

The first successful response for a key is remembered. By default, refusals are not. A replay
repeats the response byte for byte, with two exceptions: a replayed API key creation does not
contain the API key's value, and an operation can be shown in its current state (see the
`operation_replay` assumption).

Each Idempotency-Key belongs to the principal that sent it. A different request with the same key (a
different path or body, and by default a different call) is refused with `idempotency_key_reused`,
as the contract requires.
"""

from __future__ import annotations

from hashlib import blake2b

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.calls.responses import REPLAY_FUNCTIONS
from hosting_emulator.contract.assumption_values import parse_retention_ms
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world import views
from hosting_emulator.world.records import RememberedResponse
from hosting_emulator.world.tables import OPERATIONS, REMEMBERED
from hosting_emulator.world.value import Change

#: The calls that require an Idempotency-Key.
_IDEMPOTENT_CALLS = tuple(call_id for call_id, spec in ALL_CALLS.items() if spec.idempotent)


def recall(
    change: Change, request: CallRequest, in_flight: dict[str, CallRequest]
) -> RememberedResponse | None:
    """Return the response remembered for a request's principal and Idempotency-Key, or None if
    there is none.

    The `idempotency_scope` assumption decides whether the response must also come from the same
    call. Raises Refused with `idempotency_key_reused` if the key was used for a different request.
    If the `idempotency_in_flight` assumption is `refuse`, the first request with a key is recorded
    in `in_flight`. Until that request completes, an identical request with the same key is refused,
    by default with `service_unavailable`.
    """
    assumptions = change.assumptions
    # Store only a digest, because a client's key may be a secret.
    sent_key = request.idempotency_key.encode("utf-8")
    sent_digest = blake2b(sent_key, digest_size=16).hexdigest()
    user_key = f"{request.principal.user_id}|{sent_digest}"
    key = user_key
    if assumptions.idempotency_scope == "principal_and_call":
        key = f"{request.spec.call_id}|{user_key}"
    request.storage_key = key
    text = f"{request.spec.call_id}\n{request.subject_id}\n{request.canonical_body}"
    request.fingerprint = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    first = request
    if assumptions.idempotency_in_flight == "refuse":
        first = in_flight.setdefault(key, request)
    if first.fingerprint != request.fingerprint:
        raise _reused(f"the key is in use by {first.spec.call_id}, which has no response yet")
    if first is not request:
        raise Refused(
            assumptions.code_of("request_in_flight"),
            "The first request with this Idempotency-Key is still in progress.",
            assumption="idempotency_in_flight",
        )
    remembered: RememberedResponse | None = change.world.tables[REMEMBERED.name].get(key)
    if remembered is None:
        remembered = _remembered_elsewhere(change, request, user_key)
    if remembered is None or _is_forgotten(remembered, change):
        return None
    if remembered.fingerprint != request.fingerprint:
        raise _reused(
            f"the key was first used by {remembered.call_id}, which got {remembered.status}"
        )
    return remembered


def _remembered_elsewhere(
    change: Change, request: CallRequest, user_key: str
) -> RememberedResponse | None:
    """Return the response that was remembered for this key under a different `idempotency_scope`.

    When a world's assumptions change, it keeps the responses that it remembered before. A response
    to the same request takes precedence over a response to a different one.
    """
    table = change.world.tables[REMEMBERED.name]
    if not table:
        return None
    matches: list[RememberedResponse] = []
    for storage_key in (user_key, *(f"{call_id}|{user_key}" for call_id in _IDEMPOTENT_CALLS)):
        match: RememberedResponse | None = table.get(storage_key)
        if match is not None:
            matches.append(match)
    if change.assumptions.idempotency_scope == "principal_and_call":
        matches = [match for match in matches if match.call_id == request.spec.call_id]
    matches.sort(key=lambda match: match.fingerprint != request.fingerprint)
    if not matches:
        return None
    return matches[0]


def _reused(why: str) -> Refused:
    detail = "This Idempotency-Key was used for a different call, path or body."
    return Refused("idempotency_key_reused", detail, why=why)


def remember(change: Change, request: CallRequest, reply: Reply) -> None:
    """Remember a response under the request's key, and delete at most one expired response."""
    # Deleting one expired response for each new one limits the size of the table without making any
    # request slow.
    queue = change.world.remembered
    oldest = queue.entries.get(queue.first)
    if oldest is not None and _is_forgotten(oldest[1], change):
        change.delete(REMEMBERED, oldest[0])
    expires_ms = None
    retention_ms = parse_retention_ms(change.assumptions.idempotency_retention)
    if retention_ms is not None:
        expires_ms = change.now_ms + retention_ms
    record = RememberedResponse(
        fingerprint=request.fingerprint,
        call_id=request.spec.call_id,
        status=reply.status,
        # Do not store a body that contains a secret. For a retry, `replay` builds the response from
        # the API key's record instead.
        body="" if reply.secret else reply.body.decode(),
        expires_ms=expires_ms,
        subject=reply.subject,
        content_type=reply.content_type,
        varied=reply.varied or (),
    )
    change.put(REMEMBERED, request.storage_key, record)


def _is_forgotten(remembered: RememberedResponse, change: Change) -> bool:
    """Return whether a remembered response has passed its retention time."""
    expires_ms = remembered.expires_ms
    return expires_ms is not None and expires_ms <= change.now_ms


def replay(change: Change, request: CallRequest, remembered: RememberedResponse) -> Reply:
    """Return the response to a retry, based on the remembered response. Raises Refused."""
    if remembered.status < 400:
        replay_function = REPLAY_FUNCTIONS.get(request.spec.call_id)
        if replay_function is not None:
            return replay_function(change, request, remembered)
        shows_current = change.assumptions.operation_replay == "current"
        if shows_current and request.spec.response == "Operation":
            operation = change.row(OPERATIONS, str(remembered.subject))
            body = views.encode(views.operation(change, operation), change.assumptions)
            return Reply(remembered.status, body, operation.id)
    return Reply(
        remembered.status,
        remembered.body.encode(),
        remembered.subject,
        remembered.content_type,
        varied=remembered.varied,
    )
