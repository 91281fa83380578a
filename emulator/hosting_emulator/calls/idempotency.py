"""Idempotency-Key: the first answer is remembered and returned again, byte for byte.

A key belongs to its principal. Whatever else it is used for (another call, path or body) is refused
with `idempotency_key_reused`, as the contract says.
"""

from __future__ import annotations

from hashlib import blake2b

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.records import Remembered
from hosting_emulator.world.tables import REMEMBERED
from hosting_emulator.world.value import Change


def storage_key(change: Change, request: CallRequest) -> str:
    """Return where an answer is remembered: the principal and the key (and the call, if assumed)."""
    key = f"{request.principal.person_id}|{request.idempotency_key}"
    if change.assumptions.idempotency_scope == "principal_and_call":
        key = f"{request.spec.call_id}|{key}"
    return key


def fingerprint(request: CallRequest) -> str:
    """Return what two requests share exactly when they are the same request: call, path and body."""
    text = f"{request.spec.call_id}\n{request.subject_id}\n{request.canonical_body}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def recall(change: Change, request: CallRequest) -> Remembered | None:
    """Return the answer remembered under the request's key, or None when the key is free.

    Raises Refused `idempotency_key_reused` when the key was used for another request.
    """
    found = change.get(REMEMBERED, storage_key(change, request))
    if found is None or found.expires_ms <= change.now_ms:
        return None
    if found.fingerprint != fingerprint(request):
        raise Refused(
            "idempotency_key_reused",
            "This Idempotency-Key was used for another request (the call, the path or the body "
            "differs).",
            why=f"the key first came with {found.call_id}, answered {found.status}",
        )
    return found


def remember(change: Change, request: CallRequest, reply: Reply) -> None:
    """Keep an answer under the request's key, and forget old ones whose time is over."""
    _forget_expired(change)
    retention_ms = parse_duration_ms(change.assumptions.idempotency_retention)
    record = Remembered(
        fingerprint=fingerprint(request),
        call_id=request.spec.call_id,
        status=reply.status,
        # A replay of what shows a secret is made anew, without it (see `table.answer_again`).
        body="" if reply.secret else reply.body.decode(),
        expires_ms=change.now_ms + retention_ms,
        subject=reply.subject,
        content_type=reply.content_type,
        varied=reply.varied or (),
    )
    change.put(REMEMBERED, storage_key(change, request), record)


def _forget_expired(change: Change) -> None:
    # One for each one added keeps the table from growing without ever making a request slow.
    key = change.world.oldest_remembered
    oldest = change.get(REMEMBERED, key) if key else None
    if key and oldest and oldest.expires_ms <= change.now_ms:
        change.delete(REMEMBERED, key)


def replay(found: Remembered) -> Reply:
    """Return the first answer again."""
    return Reply(
        found.status, found.body.encode(), found.subject, found.content_type, varied=found.varied
    )
