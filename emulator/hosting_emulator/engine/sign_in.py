"""Signing in by a browser: authorization codes, refresh tokens, sessions and ID tokens of one world.

Codes live in memory and for a minute. Sessions are state of the world; what a browser keeps of one,
and refresh tokens, are sealed: they say themselves what they are about. Which refresh token of a
family is the newest is remembered only while this process runs and the world is not replaced.
ID tokens (OpenID Connect Core 1.0, section 2) are signed with RS256, the one algorithm that every
OpenID client must know; access tokens with another key and algorithm, so that neither can be taken
for the other.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from math import gcd, prod
from typing import TYPE_CHECKING, Any, Literal

from hosting_emulator.world.streams import derive
from hosting_emulator.world.value import Change

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

ID_TOKEN_ALGORITHM = "RS256"
_KEY_BITS, _EXPONENT = 2048, 65537
CODE_LIFETIME_MS = 60_000
"""How long an authorization code can be redeemed, in milliseconds of world time."""
REFRESH_LIFETIME_S = 30 * 86_400
"""How long a refresh token is good for, in seconds of world time."""
SESSION_LIFETIME_S = 7 * 86_400
"""How long a browser stays signed in at the provider, in seconds of world time."""
#: Codes that nobody redeems are forgotten, the oldest first, beyond so many.
_MOST_CODES = 1_000
_ALGORITHM = "HS256"
Kind = Literal["refresh", "session"]


class GrantRefused(Exception):
    """A code or refresh token that gives nothing (`invalid_grant`); the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Who signed in to which client, and for what. `auth_time` in seconds of world time."""

    session_id: str
    person_id: str
    organization_id: str | None
    client_id: str
    scope: str
    auth_time: int
    nonce: str | None = None

    def has(self, scope: str) -> bool:
        """Tell whether a scope was granted."""
        return scope in self.scope.split()


@dataclass(slots=True)
class _Code:
    sign_in: SignIn
    redirect_uri: str
    challenge: str
    expires_ms: int
    redeemed: bool = False


@dataclass(frozen=True, slots=True)
class Redeemed:
    """What a code or a refresh token gives: a sign-in, and the family its next token belongs to."""

    sign_in: SignIn
    family: str
    generation: int


class SignIns:
    """The codes, refresh tokens and sessions of one world."""

    def __init__(self, seed: str, world_name: str) -> None:
        self._seed = seed
        self._world_name = world_name
        self._count = 0
        self._codes: dict[str, _Code] = {}
        #: The newest generation of each family of refresh tokens; None: the family was revoked.
        self._newest: dict[str, int | None] = {}

    def issue_code(self, sign_in: SignIn, redirect_uri: str, challenge: str, now_ms: int) -> str:
        """Return a new authorization code; `challenge` is the S256 one of RFC 7636."""
        self._count += 1
        raw = derive(self._seed, "code", self._world_name, str(self._count), size=32)
        code = _encoded(raw)
        for old in [old for old, kept in self._codes.items() if kept.expires_ms < now_ms]:
            del self._codes[old]
        while len(self._codes) >= _MOST_CODES:
            del self._codes[next(iter(self._codes))]
        self._codes[code] = _Code(sign_in, redirect_uri, challenge, now_ms + CODE_LIFETIME_MS)
        return code

    def redeem_code(
        self, code: str, client_id: str, redirect_uri: str, verifier: str, change: Change
    ) -> Redeemed:
        """Redeem a code, once: whoever tries has spent it. Raises GrantRefused.

        A second try also ends what the first one gave (RFC 6749, 4.1.2).
        """
        found = self._codes.get(code)
        if found is None:
            raise GrantRefused("the code is none of this world's, or was forgotten")
        family = sha256(code.encode()).hexdigest()[:24]
        if found.redeemed:
            self._newest[family] = None
            raise GrantRefused("the code was used before; its refresh tokens are revoked")
        found.redeemed = True
        if change.assumptions.is_over(found.expires_ms, change.now_ms):
            raise GrantRefused("the code expired: it is good for 60 s of world time")
        if found.sign_in.client_id != client_id:
            raise GrantRefused("the code was issued to another client_id")
        if found.redirect_uri != redirect_uri:
            raise GrantRefused("redirect_uri is not the one that the code was issued for")
        if _encoded(sha256(verifier.encode()).digest()) != found.challenge:
            raise GrantRefused("code_verifier does not match the code_challenge")
        return Redeemed(found.sign_in, family, 0)

    def refresh_token(self, redeemed: Redeemed, now_ms: int) -> str:
        """Return the next refresh token of a family; the ones before it are used up."""
        following = redeemed.generation + 1
        self._newest[redeemed.family] = following
        claims = {"family": redeemed.family, "generation": following, **asdict(redeemed.sign_in)}
        return self._seal("refresh", claims, now_ms, REFRESH_LIFETIME_S)

    def redeem_refresh_token(self, token: str, client_id: str, change: Change) -> Redeemed:
        """Redeem a refresh token, once. Raises GrantRefused.

        One that was used before ends its whole family (RFC 9700, 4.14.2).
        """
        claims = self._open("refresh", token, change)
        if claims is None:
            raise GrantRefused("the refresh token is none of this world's, or has expired")
        family, generation = claims.pop("family"), claims.pop("generation")
        newest = self._newest.get(family, generation)
        if newest != generation:
            self._newest[family] = None
            raise GrantRefused("the refresh token was used before, or revoked; sign in again")
        sign_in = SignIn(**claims)
        if sign_in.client_id != client_id:
            raise GrantRefused("the refresh token was issued to another client_id")
        return Redeemed(sign_in, family, generation)

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
        headers = {"kid": _key_id(self._seed)}
        return jwt.encode(bound, id_token_key(self._seed), ID_TOKEN_ALGORITHM, headers=headers)

    def read_id_token(self, token: str, issuer: str) -> dict[str, Any] | None:
        """Return the claims of an ID token of this issuer, expired or not; None if it is not one."""
        return _decoded(
            token,
            id_token_key(self._seed).public_key(),
            ID_TOKEN_ALGORITHM,
            issuer=issuer,
            options={"verify_aud": False, "verify_exp": False, "verify_iat": False},
        )

    def jwk(self) -> dict[str, Any]:
        """Return the public key of ID tokens as a JSON Web Key (RFC 7517)."""
        numbers = id_token_key(self._seed).public_key().public_numbers()
        n, e = _encoded(numbers.n.to_bytes(_KEY_BITS // 8)), _encoded(numbers.e.to_bytes(3))
        key = {"kty": "RSA", "n": n, "e": e, "kid": _key_id(self._seed)}
        return key | {"use": "sig", "alg": ID_TOKEN_ALGORITHM}

    def _seal(self, kind: Kind, claims: dict[str, Any], now_ms: int, lifetime_s: int) -> str:
        import jwt

        issued = now_ms // 1000
        times = {"iat": issued, "exp": issued + lifetime_s}
        return jwt.encode(claims | times, self._sealing_key(kind), _ALGORITHM)

    def _open(self, kind: Kind, sealed: str, change: Change) -> dict[str, Any] | None:
        options = {"verify_exp": False, "verify_iat": False}  # time is the world's
        claims = _decoded(sealed, self._sealing_key(kind), _ALGORITHM, options=options)
        if claims is None:
            return None
        began_ms, ends_ms = claims["iat"] * 1000, claims["exp"] * 1000
        if began_ms > change.now_ms or change.assumptions.is_over(ends_ms, change.now_ms):
            return None
        if kind == "refresh":
            del claims["iat"], claims["exp"]
        return claims

    def _sealing_key(self, kind: Kind) -> bytes:
        return derive(self._seed, "sealing key", kind, self._world_name, size=32)


def _decoded(token: str, key: Any, algorithm: str, **how: Any) -> dict[str, Any] | None:
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=[algorithm], **how)
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return None
    return claims


@lru_cache(maxsize=16)
def id_token_key(seed: str) -> RSAPrivateKey:
    """Return the key of a seed. The first time, finding it takes up to a second of real time.

    Worlds of one seed share it, since each fresh world of a test would else pay that second: what
    keeps their ID tokens apart is the issuer, which every client has to check.
    """
    from cryptography.hazmat.primitives.asymmetric import rsa

    p, q = _prime(seed, "p"), _prime(seed, "q")
    d = pow(_EXPONENT, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(_EXPONENT, p * q)
    halves = (rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q))
    return rsa.RSAPrivateNumbers(p, q, d, *halves, public).private_key()


def _prime(seed: str, which: str) -> int:
    """Return the first fitting prime from a number on that the seed draws; both top bits are set."""
    drawn = (derive(seed, "id token key", which, str(part), size=64) for part in range(2))
    found = int.from_bytes(b"".join(drawn)) | (0b11 << (_KEY_BITS // 2 - 2)) | 1
    # Most numbers have a small factor: to look for those first saves nine of ten slow tests.
    small = prod(n for n in range(3, 8000, 2) if all(n % d for d in range(3, int(n**0.5) + 1, 2)))
    while gcd(found, small) > 1 or not _is_prime(found) or (found - 1) % _EXPONENT == 0:
        found += 2
    return found


def _is_prime(odd: int) -> bool:
    """Miller and Rabin's test. For numbers that were drawn, not chosen, few bases are plenty."""
    exponent, twos = odd - 1, 0
    while exponent % 2 == 0:
        exponent, twos = exponent // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19):
        power = pow(base, exponent, odd)
        if power != 1 and all(pow(power, 1 << two, odd) != odd - 1 for two in range(twos)):
            return False
    return True


def _key_id(seed: str) -> str:
    return derive(seed, "id token key id", size=8).hex()


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()
