"""Issues access tokens for the identity provider and the control API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.json_web_tokens import unverified_claims
from hosting_emulator.engine.sign_ins import RedeemedGrant
from hosting_emulator.messages import AccessToken
from hosting_emulator.world.records import User

#: The default and maximum lifetime of a token that a tool issues: ten years, in seconds of world
#: time.
TOOL_TOKEN_LIFETIME_S: Final = 10 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """The content of an access token.

    `interactive` means that the token belongs to an interactive session. `lifetime_s` is the
    lifetime of a token that a tool issues, in seconds of world time. It is None for a token from a
    sign-in, because an assumption sets that lifetime.
    """

    user: User
    organization_id: str | None
    interactive: bool
    lifetime_s: int | None = None


def mint_token(
    engine: Engine, base_url: str, claims: TokenClaims, redeemed: RedeemedGrant | None = None
) -> AccessToken:
    """Issue an access token.

    Returns the token in the same form as a token endpoint does, with the token's expiry time added.

    `redeemed` is the grant for which the token is issued, if the user signed in with a browser.
    """
    engine.run_due()
    lifetime_s = claims.lifetime_s or engine.token_lifetime_s
    token = engine.mint(
        claims.user,
        claims.organization_id,
        base_url,
        interactive=claims.interactive,
        lifetime_s=claims.lifetime_s,
        redeemed=redeemed,
    )
    return AccessToken(
        access_token=token,
        token_type="Bearer",
        expires_in=lifetime_s,
        expires_at=format_timestamp(unverified_claims(token)["exp"] * 1000),
    )
