"""ID tokens (OpenID Connect Core 1.0, section 2).

ID tokens are signed with RS256, the default algorithm of OpenID Connect. Access tokens use a
different key and algorithm, so that neither kind of token can be mistaken for the other.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from hosting_emulator.engine.id_token_key import KEY_ID, id_token_key
from hosting_emulator.engine.json_web_tokens import NO_TIME_CHECKS, base64url, verified_claims

ALGORITHM = "RS256"
_OPTIONS = {**NO_TIME_CHECKS, "require": ["aud", "sid"], "verify_aud": False}


def id_token_jwk() -> dict[str, Any]:
    """Return the public key that verifies ID tokens, as a JSON Web Key (RFC 7517)."""
    numbers = id_token_key().public_key().public_numbers()
    return {
        "kty": "RSA",
        "n": base64url(numbers.n.to_bytes(256)),
        "e": base64url(numbers.e.to_bytes(3)),
        "kid": KEY_ID,
        "use": "sig",
        "alg": ALGORITHM,
    }


def sign_id_token(claims: dict[str, Any], access_token: str) -> str:
    """Return an ID token with these claims. Its `at_hash` claim binds it to the access token."""
    # Import PyJWT lazily, so that a process that only sees API keys never loads it.
    import jwt

    at_hash = base64url(sha256(access_token.encode()).digest()[:16])
    return jwt.encode(
        {**claims, "at_hash": at_hash}, id_token_key(), ALGORITHM, headers={"kid": KEY_ID}
    )


def read_id_token(token: str, issuer: str) -> dict[str, Any] | None:
    """Return the claims in an ID token, or None if it is not an ID token from this issuer.

    The token is allowed to be expired, but must name an audience and a session. Anyone can sign an
    ID token (see `id_token_key`), so the claims prove nothing.
    """
    public_key = id_token_key().public_key()
    return verified_claims(token, public_key, ALGORITHM, issuer=issuer, options=_OPTIONS)
