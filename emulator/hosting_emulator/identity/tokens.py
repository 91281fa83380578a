"""Access tokens as the identity provider and the control API hand them out."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.sign_ins import RedeemedGrant
from hosting_emulator.messages import AccessToken
from hosting_emulator.world.records import User


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What an access token says.

    `interactive` tells whether it is of an interactive session. `lifetime_s` is in seconds of world
    time; None: the world's usual lifetime.
    """

    user: User
    organization_id: str | None
    interactive: bool
    lifetime_s: int | None = None


def mint_token(
    engine: Engine, base_url: str, claims: TokenClaims, redeemed: RedeemedGrant | None = None
) -> AccessToken:
    """Mint an access token and return the document of a token endpoint, with the time of expiry.

    `redeemed` is the grant that the token is issued for, if a user signed in with a browser.
    """
    now_ms = engine.run_due()
    lifetime_s = claims.lifetime_s or engine.token_lifetime_s
    token = engine.mint(
        claims.user,
        claims.organization_id,
        base_url,
        interactive=claims.interactive,
        lifetime_s=lifetime_s,
        redeemed=redeemed,
    )
    expires_at_s = now_ms // 1000 + lifetime_s
    return AccessToken(
        access_token=token,
        token_type="Bearer",
        expires_in=lifetime_s,
        expires_at=format_timestamp(expires_at_s * 1000),
    )
