"""Doors beside the calls, by the words that a fault's `call` names them with.

They are what the contract tells of beside its calls: a ticket is redeemed at a dev origin, and people
sign in at an identity provider. A fault without a `call` is about the API and meets none of them.
"""

from __future__ import annotations

from typing import Literal, get_args

DoorName = Literal[
    "redeem_ticket",
    "idp_discovery",
    "idp_jwks",
    "idp_authorize",
    "idp_token",
    "idp_userinfo",
    "idp_end_session",
]
DOORS: tuple[DoorName, ...] = get_args(DoorName)
REDEEM_TICKET = "redeem_ticket"
#: What the words of the identity provider's doors begin with.
IDENTITY_PROVIDER = "idp_"
