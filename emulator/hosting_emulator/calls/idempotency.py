"""Idempotency-Key: the first answer is remembered and returned again, byte for byte.

A key belongs to its principal. Whatever else it is used for (another call, path or body) is refused
with `idempotency_key_reused`, as the contract says.
"""

from __future__ import annotations

from hashlib import blake2b

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.records import RememberedAnswer
from hosting_emulator.world.tables import REMEMBERED
from hosting_emulator.world.value import Change


def recall(change: Change, request: CallRequest) -> RememberedAnswer | None:
    """Return the answer remembered under the request's key, or None when the key is free.

    Raises Refused `idempotency_key_reused` when the key was used for another request.
    """
    text = f"{request.spec.call_id}\n{request.subject_id}\n{request.canonical_body}"
    request.fingerprint = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    found = change.get(REMEMBERED, request.storage_key)
    if found is None or found.expires_ms <= change.now_ms:
        return None
    if found.fingerprint != request.fingerprint:
        raise Refused(
            "idempotency_key_reused",
            "This Idempotency-Key was used for another request (the call, the path or the body "
            "differs).",
            why=f"the key first came with {found.call_id}, answered {found.status}",
        )
    return found


def remember(change: Change, request: CallRequest, reply: Reply) -> None:
    """Keep an answer under the request's key, and forget an old one whose time is over."""
    # One for each one added keeps the table from growing without ever making a request slow.
    oldest = change.world.oldest_remembered
    if oldest is not None and oldest[1].expires_ms <= change.now_ms:
        change.delete(REMEMBERED, oldest[0])
    record = RememberedAnswer(
        fingerprint=request.fingerprint,
        call_id=request.spec.call_id,
        status=reply.status,
        # A replay of what shows a secret is made anew, without it (see `table.answer_again`).
        body="" if reply.secret else reply.body.decode(),
        expires_ms=change.now_ms + parse_duration_ms(change.assumptions.idempotency_retention),
        subject=reply.subject,
        content_type=reply.content_type,
        varied=reply.varied or (),
    )
    change.put(REMEMBERED, request.storage_key, record)
