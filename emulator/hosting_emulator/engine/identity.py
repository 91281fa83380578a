"""Identity: the world's own identity provider, and who a bearer token speaks for.

Each world signs with a key of its own, derived from its seed and name, so a token of one world is
refused in another. Time is the world's: PyJWT's own time checks are off, and made here.

What a sign-in by a browser gave a client is state of the world: it outlives a restart, and goes back
with a rewind. What a browser keeps of a session, and refresh tokens, are sealed: they say themselves
what they are about. ID tokens (OpenID Connect Core 1.0, section 2) are signed with RS256, the one
algorithm that every OpenID client must know, by a published test key; access tokens with another key
and algorithm, so that neither can be taken for the other.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.id_token_key import KEY_ID as ID_TOKEN_KEY_ID
from hosting_emulator.engine.id_token_key import id_token_key
from hosting_emulator.world.naming import DEFAULT_WORLD, in_order
from hosting_emulator.world.records import ApiKey, AuthorizationGrant, User
from hosting_emulator.world.streams import derive, digest, next_number
from hosting_emulator.world.tables import (
    API_KEYS,
    AUTHORIZATION_GRANTS,
    MEMBERSHIPS,
    ORGANIZATIONS,
)
from hosting_emulator.world.value import Change, World

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "EdDSA"
ID_TOKEN_ALGORITHM = "RS256"
CODE_LIFETIME_MS = 60_000
"""How long an authorization code can be redeemed, in milliseconds of world time."""
REFRESH_LIFETIME_S = 30 * 86_400
"""How long a refresh token is valid, in seconds of world time."""
SESSION_LIFETIME_S = 7 * 86_400
"""How long a browser stays signed in at the provider, in seconds of world time."""
#: At each code of so many, the grants that are of no use any more are forgotten: all are walked then.
_CODES_BETWEEN = 100
_SEALING_ALGORITHM = "HS256"
Kind = Literal["refresh", "session"]
_CACHE_SIZE = 4096
_LONGEST_TOKEN = 8192
#: Base64url without padding, as RFC 7515 writes it: PyJWT reads other spellings too.
_TOKEN = re.compile(r"[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*")
#: What is wrong with an access token, by what PyJWT raises.
_REFUSALS = {
    "InvalidSignatureError": "The access token's signature is not this issuer's.",
    "InvalidAudienceError": "The access token is for another audience.",
    "MissingRequiredClaimError": "The access token lacks the claim {0.claim}.",
    "InvalidAlgorithmError": "The access token is signed with another algorithm; this issuer "
    f"uses {ALGORITHM}.",
}
_ISSUER_PATH = re.compile(r"/_emulator/(?:worlds/([a-z0-9-]+)/)?idp")
_OPTIONS: Any = {
    "require": ["iss", "aud", "sub", "iat", "exp"],
    **dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat"), False),  # time is the world's
}


class GrantRefused(Exception):
    """A code or refresh token that gives nothing (`invalid_grant`); the message says why."""


class RedeemedGrant(NamedTuple):
    """What a code or a refresh token gives: its grant, as it now is, and the grant's key."""

    key: str
    grant: AuthorizationGrant


@dataclass(frozen=True, slots=True)
class _VerifiedToken:
    """What an access token says; `grant` is the key of the grant that it came from, if it did."""

    principal: Principal
    not_before_ms: int
    expires_ms: int
    grant: str | None


def issuer_path(world_name: str) -> str:
    """Return the path under which a world's identity provider answers."""
    if world_name == DEFAULT_WORLD:
        return "/_emulator/idp"
    return f"/_emulator/worlds/{world_name}/idp"


class Identity:
    """One world's identity provider: mints access tokens and knows them again."""

    def __init__(self, seed: str, world_name: str) -> None:
        self._seed = seed
        self._world_name = world_name
        self._key: Ed25519PrivateKey | None = None
        self._verified: dict[tuple[str, str], _VerifiedToken] = {}
        #: Whether it was said that clients will refuse tokens of this world's time.
        self.told_of_time = False

    @property
    def _private_key(self) -> Ed25519PrivateKey:
        if self._key is None:
            # Imported here: a process that only sees API keys starts without cryptography.
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            raw = derive(self._seed, "signing key", self._world_name, size=32)
            self._key = Ed25519PrivateKey.from_private_bytes(raw)
        return self._key

    def jwks(self) -> dict[str, Any]:
        """Return the JSON Web Key Set (RFC 7517): the keys of access tokens and of ID tokens."""
        x = _encoded(self._private_key.public_key().public_bytes_raw())
        access = {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid}
        id_token_numbers = id_token_key().public_key().public_numbers()
        n = _encoded(id_token_numbers.n.to_bytes(256))
        e = _encoded(id_token_numbers.e.to_bytes(3))
        identity = {"kty": "RSA", "n": n, "e": e, "kid": ID_TOKEN_KEY_ID}
        named = ((access, ALGORITHM), (identity, ID_TOKEN_ALGORITHM))
        return {"keys": [key | {"use": "sig", "alg": algorithm} for key, algorithm in named]}

    @property
    def kid(self) -> str:
        """The id of the world's signing key."""
        return derive(self._seed, "key id", self._world_name, size=8).hex()

    def sign(self, claims: dict[str, Any]) -> str:
        """Return an access JWT with these claims."""
        import jwt

        return jwt.encode(claims, self._private_key, ALGORITHM, headers={"kid": self.kid})

    def scope_of(self, token: str) -> str | None:
        """Return the scope of an access token that was authenticated; None if it names none."""
        scope = (_decoded(token) or {}).get("scope")
        return scope if isinstance(scope, str) else None

    def authenticate(self, change: Change, sent: Sequence[str]) -> tuple[Principal, ApiKey | None]:
        """Return who speaks by Authorization headers, and the API key that says so, if one does.

        Raises Refused `unauthenticated`.
        """
        known = (sent[0] if len(sent) == 1 else "", change.assumptions.token_audience)
        found = self._verified.get(known)
        if (
            found is not None
            and found.not_before_ms <= change.now_ms < found.expires_ms
            and found.grant is None
        ):
            return found.principal, None  # it was here before, and still holds
        token = bearer_token(sent)
        if token.count(".") == 2:
            if found is None:
                if len(self._verified) >= _CACHE_SIZE:
                    self._verified.clear()
                found = self._verified[known] = self._verify(token, known[1])
            _check_token(change, found)
            return found.principal, None
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

    def _verify(self, token: str, audience: str) -> _VerifiedToken:
        import jwt

        if len(token) > _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
            raise _unauthenticated("The bearer token is not an access token.")
        try:
            claims = jwt.decode(
                token,
                self._private_key.public_key(),
                algorithms=[ALGORITHM],  # the one algorithm: neither `none` nor a confused HS256
                audience=audience,
                options=_OPTIONS,
            )
        except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError) as error:
            # Whatever a hostile token makes the parsers say, it is no token of ours.
            told = _REFUSALS.get(type(error).__name__, "The bearer token is not an access token.")
            why = self._signer(token) if isinstance(error, jwt.InvalidSignatureError) else None
            raise Refused("unauthenticated", told.format(error), why=why) from None
        if _path_of(claims["iss"]) != issuer_path(self._world_name):
            raise _unauthenticated("The access token comes from another issuer.")
        moments = [claims["exp"], claims["iat"], claims.get("nbf", claims["iat"])]
        # `<=` is false for NaN, which a JSON parser may let through; a boolean is a number in Python.
        if not all(type(moment) in (int, float) and abs(moment) <= 1e12 for moment in moments):
            raise _unauthenticated("The access token's times are not numbers.")
        texts = [claims["sub"], *(claims.get(name, "") for name in ("org_id", "sid", "jti"))]
        # Half of a surrogate pair is text to a JSON parser, but could never be written down.
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise _unauthenticated("The access token's claims are not text.")
        session_id = claims.get("sid") or None
        principal = Principal(claims["sub"], claims.get("org_id") or None, session_id)
        not_before = max(moments[1], moments[2])
        grant = claims.get("jti", "").partition(".")[0] or None
        return _VerifiedToken(principal, int(not_before * 1000), int(moments[0] * 1000), grant)

    def _signer(self, token: str) -> str | None:
        """Say whose a token seems to be that this world did not sign, for its request log only."""
        path = _path_of((_decoded(token) or {}).get("iss"))
        if path is None:
            return None
        if path == issuer_path(self._world_name):
            return "its issuer is this world, but it was signed with the key of another emulator or seed"
        found = _ISSUER_PATH.fullmatch(path)
        if found is None:
            return "it comes from another issuer"
        name = found[1] or DEFAULT_WORLD
        return f"it is a token of world {name}, but this is world {self._world_name}"

    # --- signing in by a browser -----------------------------------------------------------------

    def issue_code(self, change: Change, grant: AuthorizationGrant) -> str:
        """Return a new authorization code for a grant, which is good for a minute of world time."""
        count = next_number(change, "authorization codes")
        code = _encoded(derive(self._seed, "code", self._world_name, str(count), size=32))
        kept = () if count % _CODES_BETWEEN else change.world.rows(AUTHORIZATION_GRANTS)
        for key, old in kept:
            if old.expires_ms < change.now_ms:
                change.delete(AUTHORIZATION_GRANTS, key)
        grant = replace(grant, expires_ms=change.now_ms + CODE_LIFETIME_MS)
        change.put(AUTHORIZATION_GRANTS, _key_of(code), grant)
        return code

    def redeem_code(
        self, change: Change, code: str, client_id: str, redirect_uri: str, verifier: str
    ) -> RedeemedGrant:
        """Redeem a code, once: whoever tries has spent it. Raises GrantRefused.

        A second try also revokes all that the first one gave (RFC 6749, 4.1.2). What is written
        counts even if it is refused.
        """
        key = _key_of(code)
        grant = change.get(AUTHORIZATION_GRANTS, key)
        if grant is None:
            raise GrantRefused("the code is not from this world, or was forgotten")
        if grant.redeemed:
            self._revoke(change, key, grant)
            raise GrantRefused("the code was used before; its tokens are revoked")
        spent = replace(grant, redeemed=True)
        change.put(AUTHORIZATION_GRANTS, key, spent)
        if grant.expires_ms <= change.now_ms:
            raise GrantRefused("the code expired: it is valid for 60 s of world time")
        if grant.client_id != client_id:
            raise GrantRefused("the code was issued to another client_id")
        if grant.redirect_uri != redirect_uri:
            raise GrantRefused("redirect_uri is not the one the code was issued for")
        if _encoded(sha256(verifier.encode()).digest()) != grant.challenge:
            raise GrantRefused("code_verifier does not match the code_challenge")
        return RedeemedGrant(key, spent)

    def keep_grant(
        self, change: Change, redeemed: RedeemedGrant, until_ms: int
    ) -> tuple[RedeemedGrant, str | None]:
        """Keep a grant that was redeemed while its tokens may be good, the last of them `until_ms`.

        Returns it, and the next refresh token if the client may have one; those before are used up.
        """
        key, grant = redeemed
        refreshed = grant.has("offline_access")
        if refreshed:
            until_ms = max(until_ms, change.now_ms + REFRESH_LIFETIME_S * 1000)
            grant = replace(grant, generation=grant.generation + 1)
        kept = replace(grant, expires_ms=max(until_ms, grant.expires_ms))
        change.put(AUTHORIZATION_GRANTS, key, kept)
        token = None
        if refreshed:
            claims = {"grant": key, "generation": kept.generation}
            token = self._seal("refresh", claims, change.now_ms, REFRESH_LIFETIME_S)
        return RedeemedGrant(key, kept), token

    def redeem_refresh_token(self, change: Change, token: str, client_id: str) -> RedeemedGrant:
        """Redeem a refresh token, once. Raises GrantRefused.

        One that was used before revokes all that its grant gave (RFC 9700, 4.14.2). What is written
        counts even if it is refused.
        """
        claims = self._open("refresh", token, change)
        key = "" if claims is None else str(claims["grant"])
        grant = change.get(AUTHORIZATION_GRANTS, key)
        if claims is None or grant is None:
            raise GrantRefused("the refresh token is not from this world, or has expired")
        if grant.revoked or claims["generation"] != grant.generation:
            self._revoke(change, key, grant)
            raise GrantRefused("the refresh token was used before, or revoked; sign in again")
        if grant.client_id != client_id:
            raise GrantRefused("the refresh token was issued to another client_id")
        return RedeemedGrant(key, grant)

    @staticmethod
    def _revoke(change: Change, key: str, grant: AuthorizationGrant) -> None:
        if not grant.revoked:
            change.put(AUTHORIZATION_GRANTS, key, replace(grant, revoked=True))

    def seal_session(self, session_id: str, began_ms: int) -> str:
        """Return what a browser keeps of a session to stay signed in at the provider."""
        return self._seal("session", {"session_id": session_id}, began_ms, SESSION_LIFETIME_S)

    def open_session(self, sealed: str, change: Change) -> str | None:
        """Return the id of a session that a browser has kept; None if it is none."""
        claims = self._open("session", sealed, change)
        return None if claims is None else str(claims["session_id"])

    def id_token(self, claims: dict[str, Any], access_token: str) -> str:
        """Return an ID token with these claims, and with what ties it to its access token."""
        import jwt

        bound = claims | {"at_hash": _encoded(sha256(access_token.encode()).digest()[:16])}
        headers = {"kid": ID_TOKEN_KEY_ID}
        return jwt.encode(bound, id_token_key(), ID_TOKEN_ALGORITHM, headers=headers)

    def read_id_token(self, token: str, issuer: str) -> dict[str, Any] | None:
        """Return the claims of an ID token of this issuer, expired or not; None if it is not one.

        It has an audience and a session. Anyone can sign one (see `id_token_key`), so it proves nothing.
        """
        options = {
            "require": ["aud", "sid"],
            "verify_aud": False,
            "verify_exp": False,
            "verify_iat": False,
        }
        return _decoded(
            token,
            id_token_key().public_key(),
            ID_TOKEN_ALGORITHM,
            issuer=issuer,
            options=options,
        )

    def _seal(self, kind: Kind, claims: dict[str, Any], now_ms: int, lifetime_s: int) -> str:
        import jwt

        issued = now_ms // 1000
        times = {"iat": issued, "exp": issued + lifetime_s}
        return jwt.encode(claims | times, self._sealing_key(kind), _SEALING_ALGORITHM)

    def _open(self, kind: Kind, sealed: str, change: Change) -> dict[str, Any] | None:
        options = {"verify_exp": False, "verify_iat": False}  # time is the world's
        claims = _decoded(sealed, self._sealing_key(kind), _SEALING_ALGORITHM, options=options)
        if claims is None:
            return None
        began_ms, ends_ms = claims["iat"] * 1000, claims["exp"] * 1000
        if began_ms > change.now_ms or ends_ms <= change.now_ms:
            return None
        return claims

    def _sealing_key(self, kind: Kind) -> bytes:
        return derive(self._seed, "sealing key", kind, self._world_name, size=32)


def _path_of(issuer: object) -> str | None:
    """Return the path of an issuer's URL; None where it is no URL."""
    try:
        return urlsplit(issuer).path if isinstance(issuer, str) else None
    except ValueError:
        return None


def _check_token(change: Change, found: _VerifiedToken) -> None:
    """Refuse an access token that is good at another time, or whose sign-in gives nothing more."""
    if found.expires_ms <= change.now_ms:
        expired = format_timestamp(found.expires_ms)
        raise _unauthenticated(f"The access token expired at {expired}.")
    if found.not_before_ms > change.now_ms:
        valid = format_timestamp(found.not_before_ms)
        raise _unauthenticated(f"The access token is not valid before {valid}.")
    if found.grant is not None:
        grant = change.get(AUTHORIZATION_GRANTS, found.grant)
        if grant is None:  # the world was put back to before it, or begun again
            told = "The access token is from a sign-in that this world did not have."
            raise _unauthenticated(told)
        if grant.revoked:
            raise _unauthenticated(
                "The access token was revoked: its authorization code or refresh "
                "token was used twice."
            )


def _unauthenticated(detail: str) -> Refused:
    return Refused("unauthenticated", detail)


def home_of(world: World, user: User) -> str | None:
    """Return the organization a user signs in to when none is named: the first that they are in."""
    ids = (organization.id for organization in in_order(world, ORGANIZATIONS))
    return next((id_ for id_ in ids if world.get(MEMBERSHIPS, f"{id_}/{user.id}")), None)


def bearer_token(found: Sequence[str]) -> str:
    """Return the token of the Authorization headers. Raises Refused `unauthenticated`."""
    if not found:
        raise _unauthenticated("The request has no Authorization header; send a bearer token.")
    scheme, _, token = found[0].partition(" ")
    token = token.strip()
    if len(found) > 1 or scheme.lower() != "bearer" or not token:
        raise _unauthenticated("The Authorization header must be `Bearer <token>`, once.")
    return token


def _key_of(code: str) -> str:
    return digest(code)[:24]


def _decoded(token: str, key: Any = None, algorithm: str = "", **how: Any) -> dict[str, Any] | None:
    """Return a JWT's claims, whoever signed it where no key is given; None: it is none."""
    import jwt

    how = {"options": {"verify_signature": False}} if key is None else how
    try:
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=[algorithm], **how)
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return None
    return claims


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()
