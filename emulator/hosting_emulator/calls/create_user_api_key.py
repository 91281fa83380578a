"""Call 3: create a user-owned API key. Its full value is shown once and kept nowhere."""

from __future__ import annotations

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world import views
from hosting_emulator.world.records import ApiKey, Organization, RememberedAnswer
from hosting_emulator.world.sessions import put_key
from hosting_emulator.world.streams import digest, new_id, new_secret
from hosting_emulator.world.tables import API_KEYS
from hosting_emulator.world.value import Change


def answer(change: Change, request: CallRequest, organization: Organization) -> Reply:
    """Create the key. Needs no credits, but at least one product permission to carry."""
    permissions = organization.permissions
    if change.assumptions.new_key_permissions == "reading":
        permissions = tuple(one for one in permissions if one.endswith(".read"))
    if not permissions:
        raise Refused(
            change.assumptions.code_of("no_permission_enabled"),
            "The organization has enabled no product permission that a key could have.",
        )
    key, value = make_key(
        change,
        organization,
        request.principal.person_id,
        request.values["name"],
        permissions,
    )
    status = request.spec.success_status(change.assumptions)
    return Reply(status, _body(change, request, key, value), key.id, secret=True)


def make_key(
    change: Change,
    organization: Organization,
    person_id: str,
    name: str,
    permissions: tuple[str, ...],
) -> tuple[ApiKey, str]:
    """Write a new key and return it with its full value, which is not kept."""
    value = change.assumptions.key_prefix + new_secret(change, "secrets")
    of, kept = (organization.id, person_id, name), (digest(value), value[-4:])
    return put_key(change, new_id(change), of, kept, permissions), value


def answer_again(change: Change, request: CallRequest, found: RememberedAnswer) -> Reply:
    """Answer an exact replay: the key's metadata as it now is, and no value."""
    key = change.row(API_KEYS, str(found.subject))
    status = change.assumptions.key_replayed_status
    return Reply(status, _body(change, request, key, None), key.id)


def _body(change: Change, request: CallRequest, key: ApiKey, value: str | None) -> bytes:
    document = {
        "replayed": value is None,
        "value": value,
        "request_id": request.request_id(),
        "key": views.api_key(key, change.assumptions),
    }
    return views.encode(document, change.assumptions)
