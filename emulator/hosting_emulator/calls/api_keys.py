"""Creates API keys, and replays their creation. A key's full value is returned only once, and is
never stored.
"""

from __future__ import annotations

from typing import Any

from hosting_emulator.calls.replies import success_reply
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world import views
from hosting_emulator.world.records import ApiKey, Organization, RememberedResponse
from hosting_emulator.world.sessions import put_key
from hosting_emulator.world.streams import digest, new_id, new_secret
from hosting_emulator.world.tables import API_KEYS, ORGANIZATIONS
from hosting_emulator.world.value import Change


def create_user_api_key(change: Change, request: CallRequest, organization: Organization) -> Reply:
    """Create an API key.

    Creating a key does not require credits, but the organization must have enabled a product
    permission. Raises Refused.
    """
    permissions = organization.permissions
    if not permissions:
        raise Refused(
            change.assumptions.code_of("no_permission_enabled"),
            "The organization has enabled no product permission that a key could have.",
        )
    user_id = request.principal.user_id
    key, value = make_key(change, organization, user_id, request.values["name"], permissions)
    document = _document(change, request, key, value)
    return success_reply(change, request, document, key.id, secret=True)


def make_key(
    change: Change,
    organization: Organization,
    user_id: str,
    name: str,
    permissions: tuple[str, ...],
) -> tuple[ApiKey, str]:
    """Store a new API key. Return the key and its full value, which is not stored."""
    value = change.assumptions.key_prefix + new_secret(change)
    key = put_key(
        change,
        new_id(change),
        organization_id=organization.id,
        user_id=user_id,
        name=name,
        digest=digest(value),
        last_characters=value[-4:],
        permissions=permissions,
    )
    return key, value


def replay_key_creation(
    change: Change, request: CallRequest, remembered: RememberedResponse
) -> Reply:
    """Return the response to an exact replay of a key creation: the current metadata, without the
    key's value.

    The product permissions are revalidated (contract, section Endpoints, operation 3). Raises Refused.
    """
    key = change.row(API_KEYS, str(remembered.subject))
    enabled = change.row(ORGANIZATIONS, request.subject_id).permissions
    if not any(permission in enabled for permission in key.permissions):
        raise Refused(
            change.assumptions.code_of("no_permission_enabled"),
            "The organization has disabled all product permissions of this key.",
            why="the organization no longer enables any of the key's permissions",
            assumption="replayed_key_permissions",
        )
    body = views.encode(_document(change, request, key, None), change.assumptions)
    return Reply(change.assumptions.key_replayed_status, body, key.id)


def _document(
    change: Change, request: CallRequest, key: ApiKey, value: str | None
) -> dict[str, Any]:
    return {
        "replayed": value is None,
        "value": value,
        "request_id": request.request_id(),
        "key": views.api_key(key, change.assumptions),
    }
