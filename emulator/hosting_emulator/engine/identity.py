"""Identity: the world's own identity provider, and who a bearer token speaks for.

Each world signs with a key of its own, derived from its seed and name, so a token of one world is
refused in another. Time is the world's: PyJWT's own time checks are off, and made here.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.sign_in import Redeemed, SignIns
from hosting_emulator.world.naming import DEFAULT_WORLD, in_order
from hosting_emulator.world.records import ApiKey, Person
from hosting_emulator.world.streams import derive, digest
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
_CACHE_SIZE = 4096
_LONGEST_TOKEN = 8192
#: What is wrong with an access token, by what PyJWT raises.
_REFUSALS = {
    "InvalidSignatureError": "The access token's signature is not this issuer's.",
    "InvalidAudienceError": "The access token is for another audience.",
    "MissingRequiredClaimError": "The access token lacks the claim {0.claim}.",
    "InvalidAlgorithmError": "The access token is signed with another algorithm; this issuer "
    f"uses {ALGORITHM}.",
}
_ISSUER_PATH = re.compile(r"/_emulator/(?:worlds/([a-z0-9-]+)/)?idp")
_REQUIRED = ["iss", "aud", "sub", "iat", "exp"]
#: Time is the world's.
_TIMELESS = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}


@dataclass(frozen=True, slots=True)
class _Verified:
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
        self._verified: dict[tuple[str, str], _Verified] = {}
        self.sign_ins = SignIns(seed, world_name)

    @property
    def _private_key(self) -> Ed25519PrivateKey:
        if self._key is None:
            # Imported here: a process that only sees API keys starts without cryptography.
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

            raw = derive(self._seed, "signing key", self._world_name, size=32)
            self._key = Ed25519PrivateKey.from_private_bytes(raw)
        return self._key

    def jwks(self) -> dict[str, Any]:
        """Return the JSON Web Key Set (RFC 7517): the keys of access tokens and of ID tokens.

        The first time, finding the latter takes up to a second of real time.
        """
        public = self._private_key.public_key().public_bytes_raw()
        x = urlsafe_b64encode(public).rstrip(b"=").decode()
        key = {"kty": "OKP", "crv": "Ed25519", "x": x, "kid": self.kid}
        return {"keys": [key | {"use": "sig", "alg": ALGORITHM}, self.sign_ins.jwk()]}

    @property
    def kid(self) -> str:
        """The id of the world's signing key."""
        return derive(self._seed, "key id", self._world_name, size=8).hex()

    def mint(
        self,
        person: Person,
        organization_id: str | None,
        *,
        issuer: str,
        audience: str,
        now_ms: int,
        lifetime_s: int,
        session_id: str | None,
        redeemed: Redeemed | None = None,
    ) -> str:
        """Return a signed access JWT. Lifetime in seconds of world time, from the second of now.

        It speaks for a session, if there is one. That of a grant also says for which client and
        scope (RFC 9068, 2.2), and ends when the grant is revoked.
        """
        import jwt

        issued = now_ms // 1000
        claims: dict[str, Any] = {
            "iss": issuer,
            "aud": audience,
            "sub": person.id,
            "iat": issued,
            "exp": issued + lifetime_s,
        }
        if organization_id is not None:
            claims["org_id"] = organization_id
        if session_id is not None:
            claims["sid"] = session_id
        claims |= {"name": person.name, "email": person.email}
        if redeemed is not None:
            key, grant = redeemed
            claims |= {"client_id": grant.client_id, "scope": grant.scope}
            claims["jti"] = f"{key}.{grant.generation}"
        return jwt.encode(claims, self._private_key, ALGORITHM, headers={"kid": self.kid})

    def scope_of(self, token: str) -> str | None:
        """Return the scope of an access token that was authenticated; None if it names none."""
        import jwt

        scope = jwt.decode(token, options={"verify_signature": False}).get("scope")
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
        if change.assumptions.is_over(key.expires_ms, change.now_ms):
            expired = format_timestamp(key.expires_ms)
            raise _unauthenticated(f"The API key expired at {expired}.")
        permissions = frozenset(key.permissions)
        return Principal(key.person_id, key.organization_id, None, permissions, key.id), key

    def _verify(self, token: str, audience: str) -> _Verified:
        import jwt

        options: Any = {"require": _REQUIRED, **_TIMELESS}
        if len(token) > _LONGEST_TOKEN or not token.isascii():
            raise _unauthenticated("The bearer token is not an access token.")
        try:
            claims = jwt.decode(
                token,
                self._private_key.public_key(),
                algorithms=[ALGORITHM],  # the one algorithm: neither `none` nor a confused HS256
                audience=audience,
                options=options,
            )
        except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError) as error:
            # Whatever a hostile token makes the parsers say, it is no token of ours.
            told = _REFUSALS.get(type(error).__name__, "The bearer token is not an access token.")
            why = self._signer(token) if isinstance(error, jwt.InvalidSignatureError) else None
            raise Refused("unauthenticated", told.format(error), why=why) from None
        issuer = claims["iss"]
        path = urlsplit(issuer).path if isinstance(issuer, str) else None
        if path != issuer_path(self._world_name):
            raise _unauthenticated("The access token comes from another issuer.")
        moments = [claims["exp"], claims["iat"], claims.get("nbf", claims["iat"])]
        # `<=` is false for NaN, which a JSON parser may let through; a boolean is a number in Python.
        if not all(type(moment) in (int, float) and abs(moment) <= 1e12 for moment in moments):
            raise _unauthenticated("The access token's times are not numbers.")
        texts = [claims["sub"], *(claims.get(name, "") for name in ("org_id", "sid", "jti"))]
        if not all(isinstance(text, str) for text in texts):
            raise _unauthenticated("The access token's claims are not text.")
        session_id = claims.get("sid") or None
        principal = Principal(claims["sub"], claims.get("org_id") or None, session_id)
        not_before = max(moments[1], moments[2])
        grant = claims.get("jti", "").partition(".")[0] or None
        return _Verified(principal, int(not_before * 1000), int(moments[0] * 1000), grant)

    def _signer(self, token: str) -> str | None:
        """Say whose a token seems to be that this world did not sign, for its request log only."""
        import jwt

        try:
            claims = jwt.decode(token, options={"verify_signature": False})
            path = urlsplit(claims["iss"]).path
        except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError, AttributeError):
            return None
        if path == issuer_path(self._world_name):
            return "its issuer is this world, but it was signed with the key of another emulator or seed"
        found = _ISSUER_PATH.fullmatch(path)
        if found is None:
            return "it comes from another issuer"
        name = found[1] or DEFAULT_WORLD
        return f"it is a token of world {name}, but this is world {self._world_name}"


def _check_token(change: Change, found: _Verified) -> None:
    """Refuse an access token that is good at another time, or whose sign-in gives nothing more."""
    if change.assumptions.is_over(found.expires_ms, change.now_ms):
        expired = format_timestamp(found.expires_ms)
        raise _unauthenticated(f"The access token expired at {expired}.")
    if found.not_before_ms > change.now_ms:
        valid = format_timestamp(found.not_before_ms)
        raise _unauthenticated(f"The access token is not valid before {valid}.")
    if found.grant is not None:
        grant = change.get(AUTHORIZATION_GRANTS, found.grant)
        if grant is None:  # the world was put back to before it, or begun again
            raise _unauthenticated(
                "The access token is from a sign-in that this world did not have."
            )
        if grant.revoked:
            raise _unauthenticated(
                "The access token was revoked: its authorization code or refresh "
                "token was used twice."
            )


def _unauthenticated(detail: str) -> Refused:
    return Refused("unauthenticated", detail)


def home_of(world: World, person: Person) -> str | None:
    """Return the organization a person signs in to when none is named: the first that they are in."""
    found = (
        organization.id
        for organization in in_order(world, ORGANIZATIONS)
        if world.get(MEMBERSHIPS, f"{organization.id}/{person.id}")
    )
    return next(found, None)


def bearer_token(found: Sequence[str]) -> str:
    """Return the token of the Authorization headers. Raises Refused `unauthenticated`."""
    if not found:
        raise _unauthenticated("The request has no Authorization header; send a bearer token.")
    scheme, _, token = found[0].partition(" ")
    token = token.strip()
    if len(found) > 1 or scheme.lower() != "bearer" or not token:
        raise _unauthenticated("The Authorization header must be `Bearer <token>`, once.")
    return token
