"""Signs a world's access tokens, and authenticates requests by access token or API key.

Each world signs tokens with a separate key, derived from the world's seed and name. A world
therefore refuses tokens from worlds with a different seed or name. Whether a token has expired is
decided by the world's clock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.foreign_credentials import describe_foreign
from hosting_emulator.engine.id_tokens import id_token_jwk
from hosting_emulator.engine.json_web_tokens import NO_TIME_CHECKS, base64url, unverified_claims
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.streams import derive, digest
from hosting_emulator.world.tables import API_KEYS, AUTHORIZATION_GRANTS
from hosting_emulator.world.value import Change

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "EdDSA"
#: The maximum number of verified tokens in the cache.
_CACHE_SIZE = 4096
_LONGEST_TOKEN = 8192
#: Three parts in Base64url without padding (RFC 7515). PyJWT on its own would accept other
#: spellings of a token too.
_TOKEN = re.compile(r"[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*")
#: The reasons for refusing an access token, keyed by the name of the exception that PyJWT raises.
_REFUSALS = {
    "InvalidSignatureError": "The access token was not signed by this issuer.",
    "InvalidAudienceError": "The access token is for another audience.",
    "MissingRequiredClaimError": "The access token lacks the {0.claim} claim.",
    "InvalidAlgorithmError": "The access token is signed with a different algorithm; this issuer "
    f"uses {ALGORITHM}.",
}
_ISSUER_PATH = re.compile(r"/_emulator/(?:worlds/([a-z0-9-]+)/)?idp")
_OPTIONS: Any = {**NO_TIME_CHECKS, "require": ["iss", "aud", "sub", "iat", "exp"]}


@dataclass(frozen=True, slots=True)
class _VerifiedToken:
    """The content of a verified access token.

    `grant` is the key of the grant from the browser sign-in, or None if the token was issued
    without one.
    """

    principal: Principal
    not_before_ms: int
    expires_ms: int
    grant: str | None


class AccessTokens:
    """Signs the access tokens of one world, and authenticates requests by access token or API key."""

    def __init__(self, seed: str, world_name: str) -> None:
        self._seed = seed
        self._world_name = world_name
        self._key: Ed25519PrivateKey | None = None
        #: Verified tokens by Authorization header and audience.
        self._verified: dict[tuple[str, str], _VerifiedToken] = {}

    @property
    def _private_key(self) -> Ed25519PrivateKey:
        if self._key is None:
            # Import cryptography lazily, so that a process that only sees API keys never loads it.
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            raw = derive(self._seed, "signing key", self._world_name, size=32)
            self._key = Ed25519PrivateKey.from_private_bytes(raw)
        return self._key

    @property
    def kid(self) -> str:
        """The id of the world's signing key."""
        return derive(self._seed, "key id", self._world_name, size=8).hex()

    def jwks(self) -> dict[str, Any]:
        """Return the JSON Web Key Set (RFC 7517) with the public keys for access tokens and ID
        tokens.
        """
        access_token_jwk = {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": base64url(self._private_key.public_key().public_bytes_raw()),
            "kid": self.kid,
            "use": "sig",
            "alg": ALGORITHM,
        }
        return {"keys": [access_token_jwk, id_token_jwk()]}

    def sign(self, claims: dict[str, Any]) -> str:
        """Return an access token with these claims."""
        # Import PyJWT lazily, so that a process that only sees API keys never loads it.
        import jwt

        return jwt.encode(claims, self._private_key, ALGORITHM, headers={"kid": self.kid})

    def scope_of(self, token: str) -> str | None:
        """Return the scope of an access token that has been authenticated, or None if it has no
        scope.
        """
        scope = unverified_claims(token).get("scope")
        return scope if isinstance(scope, str) else None

    def authenticate(
        self, change: Change, credentials: Sequence[str]
    ) -> tuple[Principal, ApiKey | None]:
        """Return the principal that the Authorization headers identify, and the API key if they
        contain one.

        Raises Refused `unauthenticated`.
        """
        audience = change.assumptions.token_audience
        cache_key = (credentials[0] if len(credentials) == 1 else "", audience)
        verified = self._verified.get(cache_key)
        if (
            verified is not None
            and verified.not_before_ms <= change.now_ms < verified.expires_ms
            and verified.grant is None
        ):
            return verified.principal, None
        token = bearer_token(credentials)
        if token.count(".") != 2:
            return _authenticate_key(change, token)
        if verified is None:
            if len(self._verified) >= _CACHE_SIZE:
                self._verified.clear()
            verified = self._verify(token, audience)
            self._verified[cache_key] = verified
        _check_validity(change, verified)
        return verified.principal, None

    def _verify(self, token: str, audience: str) -> _VerifiedToken:
        """Return the content of a token that this world signed. Raises Refused `unauthenticated`."""
        import jwt

        if len(token) > _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
            raise _unauthenticated("The bearer token is not an access token.")
        try:
            claims = jwt.decode(
                token,
                self._private_key.public_key(),
                algorithms=[
                    ALGORITHM
                ],  # Do not let a token choose a different algorithm, such as `none`.
                audience=audience,
                options=_OPTIONS,
            )
        except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError) as error:
            # A malicious token can cause the parsers to raise any of these exceptions.
            default = "The bearer token is not an access token."
            detail = _REFUSALS.get(type(error).__name__, default).format(error)
            why = None
            if isinstance(error, jwt.InvalidSignatureError):
                why = self._describe_signer(token)
            raise Refused("unauthenticated", detail, why=why) from None
        return self._read_claims(claims)

    def _read_claims(self, claims: dict[str, Any]) -> _VerifiedToken:
        """Return the content of a token whose claims have been verified. Raises Refused
        `unauthenticated`.
        """
        if _path_of(claims["iss"]) != issuer_path(self._world_name):
            raise _unauthenticated("The access token comes from another issuer.")
        expires_s = claims["exp"]
        issued_s = claims["iat"]
        not_before_s = claims.get("nbf", issued_s)
        for moment in (expires_s, issued_s, not_before_s):
            # A JSON parser may accept NaN, which `<=` rejects. The type check rejects booleans.
            if not (type(moment) in (int, float) and abs(moment) <= 1e12):
                raise _unauthenticated("The access token's times are not numbers.")
        texts = [claims["sub"], *(claims.get(name, "") for name in ("org_id", "sid", "jti"))]
        # A JSON string can contain a lone surrogate, which cannot be encoded as UTF-8.
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise _unauthenticated("The access token's claims are not printable strings.")
        session_id = claims.get("sid") or None
        principal = Principal(claims["sub"], claims.get("org_id") or None, session_id)
        return _VerifiedToken(
            principal,
            not_before_ms=int(max(issued_s, not_before_s) * 1000),
            expires_ms=int(expires_s * 1000),
            grant=_grant_in(claims.get("jti", "")),
        )

    def _describe_signer(self, token: str) -> str | None:
        """Return a sentence for the request log that says who signed a token that this world did
        not sign.

        Returns None if the issuer in the token is not a URL.
        """
        path = _path_of(unverified_claims(token).get("iss"))
        if path is None:
            return None
        if path == issuer_path(self._world_name):
            return "the token names this world, but was signed with the key of a different emulator or seed"
        match = _ISSUER_PATH.fullmatch(path)
        if match is None:
            return "the token comes from another issuer"
        return describe_foreign("token", match[1] or DEFAULT_WORLD, self._world_name)


def issuer_path(world_name: str) -> str:
    """Return the path of a world's identity provider."""
    if world_name == DEFAULT_WORLD:
        return "/_emulator/idp"
    return f"/_emulator/worlds/{world_name}/idp"


def bearer_token(credentials: Sequence[str]) -> str:
    """Return the bearer token from the Authorization headers. Raises Refused `unauthenticated`."""
    if not credentials:
        raise _unauthenticated("The request has no Authorization header; send a bearer token.")
    scheme, _, token = credentials[0].partition(" ")
    token = token.strip()
    if len(credentials) > 1 or scheme.lower() != "bearer" or not token:
        raise _unauthenticated(
            "The request must have exactly one Authorization header, `Bearer <token>`."
        )
    return token


def _authenticate_key(change: Change, token: str) -> tuple[Principal, ApiKey]:
    """Return the principal that an API key identifies, and the key's record. Raises Refused
    `unauthenticated`.
    """
    key_id = change.world.indexes.get(f"api_key:{digest(token)}")
    key = change.get(API_KEYS, key_id) if key_id else None
    if key is None:
        raise _unauthenticated("The bearer token is neither an access token nor an API key.")
    if key.revoked:
        raise _unauthenticated("The API key was revoked.")
    if key.expires_ms <= change.now_ms:
        expired = format_timestamp(key.expires_ms)
        raise _unauthenticated(f"The API key expired at {expired}.")
    permissions = frozenset(key.permissions)
    return Principal(key.user_id, key.organization_id, None, permissions, key.id), key


def _check_validity(change: Change, token: _VerifiedToken) -> None:
    """Refuse an access token that is not currently valid, or whose grant was revoked."""
    if token.expires_ms <= change.now_ms:
        expired = format_timestamp(token.expires_ms)
        raise _unauthenticated(f"The access token expired at {expired}.")
    if token.not_before_ms > change.now_ms:
        valid = format_timestamp(token.not_before_ms)
        raise _unauthenticated(f"The access token is not valid before {valid}.")
    if token.grant is None:
        return
    grant = change.get(AUTHORIZATION_GRANTS, token.grant)
    if grant is None:
        # The world has been reset, or rewound to a state before the sign-in.
        raise _unauthenticated(
            "The access token belongs to a sign-in that does not exist in this world."
        )
    if grant.revoked:
        raise _unauthenticated(
            "The access token was revoked: its authorization code or refresh token was used twice."
        )


def _grant_in(token_id: str) -> str | None:
    """Return the grant's key from a `jti` of the form `grant.generation`.

    Returns None if the token was issued without a browser sign-in.
    """
    grant, separator, _ = token_id.partition(".")
    return grant if separator else None


def _path_of(issuer: object) -> str | None:
    """Return the path of an issuer URL, or None if the issuer is not a URL."""
    try:
        return urlsplit(issuer).path if isinstance(issuer, str) else None
    except ValueError:
        return None


def _unauthenticated(detail: str) -> Refused:
    return Refused("unauthenticated", detail)
