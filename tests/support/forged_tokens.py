"""Creates tokens that an attacker could create, and tokens that only the identity provider could."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hosting_emulator.engine.id_token_key import id_token_key
from hosting_emulator.world.streams import derive
from tests.support.checked_world import CheckedWorld


def encode_part(data: bytes | str | dict[str, Any]) -> str:
    """Encode a part of a token as base64url without padding."""
    if isinstance(data, dict):
        data = json.dumps(data)
    return urlsafe_b64encode(data.encode() if isinstance(data, str) else data).rstrip(b"=").decode()


def decode_part(text: str) -> bytes:
    """Decode a part of a token from base64url without padding."""
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def token_parts(token: str) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Return the header, the claims and the signature of a token."""
    header, claims, signature = token.split(".")
    return json.loads(decode_part(header)), json.loads(decode_part(claims)), decode_part(signature)


def claims_of(api: CheckedWorld, user: str = "owner") -> dict[str, Any]:
    """Return the claims of a valid token for a user."""
    return token_parts(api.emulator.token(user))[1]


def world_key(api: CheckedWorld) -> Ed25519PrivateKey:
    """Return the world's own signing key, which no client ever sees."""
    summary = api.emulator.summary
    raw = derive(summary.seed, "signing key", api.emulator.name, size=32)
    return Ed25519PrivateKey.from_private_bytes(raw)


def sign_token(api: CheckedWorld, claims: dict[str, Any], **headers: Any) -> str:
    """Return a token with any claims, signed with the key of the world's identity provider."""
    header = {"alg": "EdDSA", "typ": "JWT", "kid": jwks(api)["keys"][0]["kid"], **headers}
    text = f"{encode_part(header)}.{encode_part(claims)}"
    return f"{text}.{encode_part(world_key(api).sign(text.encode()))}"


def sign_id_token(claims: dict[str, Any]) -> str:
    """Return an ID token with any claims, signed with the published test key of all ID tokens."""
    return jwt.encode(claims, id_token_key(), "RS256")


def jwks(api: CheckedWorld) -> dict[str, Any]:
    """Return the JSON Web Key Set that a world publishes."""
    keys: dict[str, Any] = api.emulator.control.get(f"worlds/{api.emulator.name}/idp/jwks.json")
    return keys
