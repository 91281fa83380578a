"""JSON Web Tokens without their time checks, which are made against the world's clock.

PyJWT is imported where it is used: a process that sees only API keys starts without cryptography.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

#: PyJWT has no injectable clock, so its time checks are off.
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
    """Return the claims of a token that a key has signed. None: it has not, or it is not a token."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token, key, algorithms=[algorithm], issuer=issuer, options=options
        )
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return None
    return claims


def unverified_claims(token: str) -> dict[str, Any]:
    """Return the claims of a token, without a check of its signature. Empty: it is not a token."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return {}
    return claims


def base64url(value: bytes) -> str:
    """Return bytes in Base64url without padding, as RFC 7515 writes them."""
    return urlsafe_b64encode(value).rstrip(b"=").decode()
