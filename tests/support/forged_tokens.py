"""Making tokens that an attacker might make, and some that only the identity provider could."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hosting_emulator.engine.id_token_key import id_token_key
from hosting_emulator.world.streams import derive
from tests.support.checked_world import CheckedWorld


def b64(data: bytes | str | dict[str, Any]) -> str:
    """Write a part of a token."""
    if isinstance(data, dict):
        data = json.dumps(data)
    return urlsafe_b64encode(data.encode() if isinstance(data, str) else data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """Read a part of a token."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Return header, claims and signature of a token."""
    header, claims, signature = token.split(".")
    return json.loads(unb64(header)), json.loads(unb64(claims)), unb64(signature)


def claims_of(api: CheckedWorld, user: str = "owner") -> dict[str, Any]:
    """Return the claims of a good token."""
    return parts(api.emulator.token(user))[1]


def world_key(api: CheckedWorld) -> Ed25519PrivateKey:
    """Return the world's own signing key, which no client ever sees."""
    summary = api.emulator.summary
    raw = derive(summary.seed, "signing key", api.emulator.name, size=32)
    return Ed25519PrivateKey.from_private_bytes(raw)


def signed(api: CheckedWorld, claims: dict[str, Any], **headers: Any) -> str:
    """Return claims, however odd, signed as the world's identity provider would."""
    header = {"alg": "EdDSA", "typ": "JWT", "kid": jwks(api)["keys"][0]["kid"], **headers}
    text = f"{b64(header)}.{b64(claims)}"
    return f"{text}.{b64(world_key(api).sign(text.encode()))}"


def signed_id_token(claims: dict[str, Any]) -> str:
    """Return claims, however odd, signed by the published test key of all ID tokens."""
    return jwt.encode(claims, id_token_key(), "RS256")


def jwks(api: CheckedWorld) -> dict[str, Any]:
    """Return the world's published keys."""
    keys: dict[str, Any] = api.emulator.control.get(f"worlds/{api.emulator.name}/idp/jwks.json")
    return keys
