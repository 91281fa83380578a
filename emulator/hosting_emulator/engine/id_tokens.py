"""ID tokens: what tells a client who signed in (OpenID Connect Core 1.0, section 2).

They are signed with RS256, the one algorithm that every OpenID client must know. Access tokens are
signed with another key and another algorithm, so that neither can be taken for the other.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hosting_emulator.world.streams import derive

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

ALGORITHM = "RS256"
_BITS = 2048
_EXPONENT = 65537
#: How far from its beginning a prime is looked for, in odd numbers; one in about 355 is prime.
_REACH = 16_384
_SMALL = 8_000


@lru_cache(maxsize=16)
def signing_key(seed: str) -> RSAPrivateKey:
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


def jwk(seed: str) -> dict[str, Any]:
    """Return the public key of a seed as a JSON Web Key (RFC 7517)."""
    numbers = signing_key(seed).public_key().public_numbers()
    return {
        "kty": "RSA",
        "n": _encoded(numbers.n.to_bytes(_BITS // 8)),
        "e": _encoded(numbers.e.to_bytes(3)),
        "kid": _kid(seed),
        "use": "sig",
        "alg": ALGORITHM,
    }


def sign(seed: str, claims: dict[str, Any], access_token: str) -> str:
    """Return an ID token with these claims, and with what ties it to its access token."""
    import jwt

    half = sha256(access_token.encode()).digest()[:16]
    bound = claims | {"at_hash": _encoded(half)}
    return jwt.encode(bound, signing_key(seed), ALGORITHM, headers={"kid": _kid(seed)})


def read(seed: str, token: str, issuer: str) -> dict[str, Any] | None:
    """Return the claims of an ID token of this issuer, expired or not; None if it is not one."""
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            signing_key(seed).public_key(),
            algorithms=[ALGORITHM],
            issuer=issuer,
            options={"verify_aud": False, "verify_exp": False, "verify_iat": False},
        )
    except (jwt.PyJWTError, LookupError, RuntimeError, TypeError, ValueError):
        return None
    return claims


def _kid(seed: str) -> str:
    return derive(seed, "id token key id", size=8).hex()


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def _prime(seed: str, which: str) -> int:
    """Return the first fitting prime from a number on that the seed draws; both top bits are set."""
    drawn = (derive(seed, "id token key", which, str(part), size=64) for part in range(2))
    begin = int.from_bytes(b"".join(drawn)) | (0b11 << (_BITS // 2 - 2)) | 1
    composite = bytearray(_REACH)
    for small in _small_primes():
        first = -begin * pow(2, -1, small) % small
        composite[first::small] = b"\1" * len(range(first, _REACH, small))
    for step in range(_REACH):
        found = begin + 2 * step
        if not composite[step] and _is_prime(found) and (found - 1) % _EXPONENT:
            return found
    raise ArithmeticError(f"no prime near {which} of the seed {seed!r}")


def _is_prime(odd: int) -> bool:
    """Miller and Rabin's test. For numbers that were drawn, not chosen, few bases are plenty."""
    exponent, twos = odd - 1, 0
    while exponent % 2 == 0:
        exponent, twos = exponent // 2, twos + 1
    return all(_passes(odd, base, exponent, twos) for base in (2, 3, 5, 7, 11, 13, 17, 19))


def _passes(odd: int, base: int, exponent: int, twos: int) -> bool:
    power = pow(base, exponent, odd)
    if power in (1, odd - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % odd
        if power == odd - 1:
            return True
    return False


def _small_primes() -> list[int]:
    sieve = bytearray(b"\1") * _SMALL
    for number in range(3, int(_SMALL**0.5) + 1, 2):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, _SMALL, number)))
    return [number for number in range(3, _SMALL, 2) if sieve[number]]
