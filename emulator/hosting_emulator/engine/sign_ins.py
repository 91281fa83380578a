"""Browser sign-ins with one world's identity provider: authorization codes, refresh tokens and sessions.

A sign-in creates a grant for a client. Grants are part of the world's state, so they survive a
restart, and a rewind removes those that were created later. Refresh tokens and browser sessions are
signed and contain their own data, so the world does not store them.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from msgspec.structs import replace

from hosting_emulator.contract.durations import whole_seconds
from hosting_emulator.engine.json_web_tokens import base64url, verified_claims
from hosting_emulator.world.naming import in_order
from hosting_emulator.world.records import AuthorizationGrant, User
from hosting_emulator.world.streams import derive, digest, next_number
from hosting_emulator.world.tables import AUTHORIZATION_GRANTS, MEMBERSHIPS, ORGANIZATIONS
from hosting_emulator.world.value import Change, World

#: The lifetime of an authorization code, in milliseconds of world time.
CODE_LIFETIME_MS = 60_000
#: The lifetime of a refresh token, in seconds of world time.
REFRESH_LIFETIME_S = 30 * 86_400
#: The lifetime of a browser session with the identity provider, in seconds of world time.
SESSION_LIFETIME_S = 7 * 86_400
#: Deleting expired grants requires reading all grants, so it is done only once per this many new
#: codes.
_CODES_BETWEEN_DELETIONS = 100
_SEALING_ALGORITHM = "HS256"
SealKind = Literal["refresh", "session"]


class GrantRefused(Exception):
    """A code or refresh token is invalid (`invalid_grant`). The message gives the reason."""


@dataclass(frozen=True, slots=True)
class RedeemedGrant:
    """The grant to which a redeemed code or refresh token belongs, and its key."""

    key: str
    grant: AuthorizationGrant


class SignIns:
    """The sign-ins of one world."""

    def __init__(self, seed: str, world_name: str) -> None:
        self._seed = seed
        self._world_name = world_name
        #: Whether a warning has been logged that clients will refuse tokens because of this world's
        #: time.
        self.has_warned_of_time = False

    # --- Authorization codes ----------------------------------------------------------------------

    def issue_code(self, change: Change, grant: AuthorizationGrant) -> str:
        """Store a grant, and return its authorization code, which is valid for CODE_LIFETIME_MS."""
        count = next_number(change, "authorization codes")
        code = base64url(derive(self._seed, "code", self._world_name, str(count), size=32))
        if count % _CODES_BETWEEN_DELETIONS == 0:
            for key, old in change.world.rows(AUTHORIZATION_GRANTS):
                if old.expires_ms < change.now_ms:
                    change.delete(AUTHORIZATION_GRANTS, key)
        grant = replace(grant, expires_ms=change.now_ms + CODE_LIFETIME_MS)
        change.put(AUTHORIZATION_GRANTS, _grant_key(code), grant)
        return code

    def redeem_code(
        self, change: Change, code: str, client_id: str, redirect_uri: str, verifier: str
    ) -> RedeemedGrant:
        """Redeem an authorization code. Every attempt uses up the code. Raises GrantRefused.

        A second attempt also revokes the tokens issued by the first (RFC 6749, section 4.1.2). The
        caller must commit the change even if the code is refused.
        """
        key = _grant_key(code)
        grant = change.get(AUTHORIZATION_GRANTS, key)
        if grant is None:
            raise GrantRefused("the code was not issued by this world, or expired long ago")
        if grant.redeemed:
            _revoke(change, key, grant)
            raise GrantRefused("the code was used before; its tokens are revoked")
        redeemed = replace(grant, redeemed=True)
        change.put(AUTHORIZATION_GRANTS, key, redeemed)
        if grant.expires_ms <= change.now_ms:
            raise GrantRefused("the code expired: it is valid for 60 s of world time")
        if grant.client_id != client_id:
            raise GrantRefused("the code was issued to a different client_id")
        if grant.redirect_uri != redirect_uri:
            raise GrantRefused(
                "redirect_uri differs from the redirect URI for which the code was issued"
            )
        if base64url(sha256(verifier.encode()).digest()) != grant.challenge:
            raise GrantRefused("code_verifier does not match the code_challenge")
        return RedeemedGrant(key, redeemed)

    def has_issued_code(self, world: World, code: str) -> bool:
        """Return whether `world`, to which these sign-ins belong, still contains the grant for a
        code.
        """
        return world.get(AUTHORIZATION_GRANTS, _grant_key(code)) is not None

    # --- Refresh tokens ---------------------------------------------------------------------------

    def keep_grant(
        self, change: Change, redeemed: RedeemedGrant, until_ms: int
    ) -> tuple[RedeemedGrant, str | None]:
        """Store a redeemed grant for as long as its tokens are valid.

        The grant's access token is valid until world time `until_ms`. Returns the grant and a new
        refresh token, or None in its place if the grant lacks the `offline_access` scope. All
        earlier refresh tokens for the grant become invalid.
        """
        key = redeemed.key
        grant = redeemed.grant
        has_refresh_token = grant.has("offline_access")
        if has_refresh_token:
            until_ms = max(until_ms, change.now_ms + REFRESH_LIFETIME_S * 1000)
            grant = replace(grant, generation=grant.generation + 1)
        grant = replace(grant, expires_ms=max(until_ms, grant.expires_ms))
        change.put(AUTHORIZATION_GRANTS, key, grant)
        token = None
        if has_refresh_token:
            claims = {"grant": key, "generation": grant.generation}
            token = self._seal("refresh", claims, change.now_ms, REFRESH_LIFETIME_S)
        return RedeemedGrant(key, grant), token

    def redeem_refresh_token(self, change: Change, token: str, client_id: str) -> RedeemedGrant:
        """Redeem a refresh token. Each refresh token can be redeemed only once. Raises GrantRefused.

        A second attempt revokes all tokens issued under the grant (RFC 9700, section 4.14.2). The
        caller must commit the change even if the refresh token is refused.
        """
        claims = self._unseal("refresh", token, change)
        key = "" if claims is None else str(claims["grant"])
        grant = change.get(AUTHORIZATION_GRANTS, key)
        if claims is None or grant is None:
            raise GrantRefused("the refresh token was not issued by this world, or has expired")
        if grant.revoked or claims["generation"] != grant.generation:
            _revoke(change, key, grant)
            raise GrantRefused("the refresh token has already been used or revoked; sign in again")
        if grant.client_id != client_id:
            raise GrantRefused("the refresh token was issued to a different client_id")
        return RedeemedGrant(key, grant)

    def has_issued_refresh_token(self, token: str) -> bool:
        """Return whether this world issued a refresh token, even if the token has expired."""
        key = self._sealing_key("refresh")
        return verified_claims(token, key, _SEALING_ALGORITHM) is not None

    # --- The browser's session --------------------------------------------------------------------

    def session_cookie(self, session_id: str, began_ms: int) -> str:
        """Return the cookie that keeps a browser signed in with a session."""
        return self._seal("session", {"session_id": session_id}, began_ms, SESSION_LIFETIME_S)

    def session_id_from_cookie(self, cookie: str, change: Change) -> str | None:
        """Return the session id from a browser's cookie, or None if the cookie is invalid or has
        expired.
        """
        claims = self._unseal("session", cookie, change)
        return None if claims is None else str(claims["session_id"])

    # --- Seals ------------------------------------------------------------------------------------

    def _seal(self, kind: SealKind, claims: dict[str, Any], now_ms: int, lifetime_s: int) -> str:
        # Import PyJWT lazily, so that a process that only sees API keys never loads it.
        import jwt

        times = {"iat": now_ms // 1000, "exp": whole_seconds(now_ms) + lifetime_s}
        return jwt.encode(claims | times, self._sealing_key(kind), _SEALING_ALGORITHM)

    def _unseal(self, kind: SealKind, sealed: str, change: Change) -> dict[str, Any] | None:
        claims = verified_claims(sealed, self._sealing_key(kind), _SEALING_ALGORITHM)
        if claims is None:
            return None
        if claims["iat"] * 1000 > change.now_ms or claims["exp"] * 1000 <= change.now_ms:
            return None
        return claims

    def _sealing_key(self, kind: SealKind) -> bytes:
        return derive(self._seed, "sealing key", kind, self._world_name, size=32)


def home_of(world: World, user: User) -> str | None:
    """Return the id of the first organization in the world to which a user belongs, or None.

    A sign-in that does not name an organization uses this organization.
    """
    for organization in in_order(world, ORGANIZATIONS):
        if world.get(MEMBERSHIPS, f"{organization.id}/{user.id}"):
            return organization.id
    return None


def _revoke(change: Change, key: str, grant: AuthorizationGrant) -> None:
    if not grant.revoked:
        change.put(AUTHORIZATION_GRANTS, key, replace(grant, revoked=True))


def _grant_key(code: str) -> str:
    return digest(code)[:24]
