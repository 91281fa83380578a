"""Decodes JSON Web Tokens without checking their times. Callers check the times against the world's
clock.

PyJWT is imported lazily so that a process that only sees API keys never loads cryptography.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

#: PyJWT can check times only against the machine's clock, so these checks are disabled.
NO_TIME_CHECKS: Any = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
}


def verified_claims(
    token: str,
    key: Any,
    algorithm: str,
    *,
    issuer: str | None = None,
    options: Any = NO_TIME_CHECKS,
) -> dict[str, Any] | None:
    """Return the claims in a token, or None if the token or its signature is invalid."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token, key, algorithms=[algorithm], issuer=issuer, options=options
        )
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return None
    return claims


def unverified_claims(token: str) -> dict[str, Any]:
    """Return the claims in a token without checking its signature, or {} if it cannot be decoded."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return {}
    return claims


def base64url(value: bytes) -> str:
    """Encode bytes as Base64url without padding (RFC 7515)."""
    return urlsafe_b64encode(value).rstrip(b"=").decode()
