"""The routes to a world's identity provider."""

from __future__ import annotations

from hosting_emulator.control.route import Json, Media, Route
from hosting_emulator.messages import (
    JsonObject,
)


def identity_routes(prefix: str) -> list[Route]:
    """Return the routes to a world's identity provider.

    `prefix` is `/worlds/{world}`, or an empty string for the default world.
    """
    return [
        Route(
            "GET",
            prefix + "/idp/.well-known/openid-configuration",
            "identity.discovery:discovery",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/jwks.json",
            "identity.discovery:jwks",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/authorize",
            "identity.sign_in:authorize",
            Media("text/html"),
            is_identity=True,
            tag="sign_in",
        ),
        Route(
            "POST",
            prefix + "/idp/authorize",
            "identity.sign_in:authorize",
            Media("text/html"),
            is_identity=True,
            tag="sign_in",
        ),
        Route(
            "POST",
            prefix + "/idp/token",
            "identity.token_endpoint:token",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/userinfo",
            "identity.discovery:userinfo",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "POST",
            prefix + "/idp/userinfo",
            "identity.discovery:userinfo",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/end-session",
            "identity.sign_out:end_session",
            Media("text/html"),
            tag="sign_in",
            is_identity=True,
        ),
    ]
