"""Browser sign-in: the authorization endpoint of OAuth 2.0 and OpenID Connect.

Users have no passwords. A page lists all users, and the browser is signed in as the user chosen
there. The client then receives a code (RFC 6749, section 4.1).

If the `client_id` or the `redirect_uri` is invalid, a page shows the refusal. All other refusals
are sent to the client in a redirect if its address is local (RFC 6749, section 4.1.2.1). If the
address is not local, a page shows the refusal, unless the user canceled the sign-in. The page that
lists the users is skipped only for clients with a local address, so that no browser is redirected
to another site unnoticed. The pages work without scripts, and show data from a request only as
plain text.
"""

from __future__ import annotations

import re
from typing import Final

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.http import responses
from hosting_emulator.identity import pages, session_cookie
from hosting_emulator.identity.destinations import read_destination, with_parameters
from hosting_emulator.identity.oauth import (
    PROMPTS,
    RESPONSE_MODES,
    SCOPES,
    OAuthRefusal,
    choose_user,
    read_fields,
    user_named,
)
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.world import sessions
from hosting_emulator.world.records import AuthorizationGrant, InteractiveSession, User
from hosting_emulator.world.tables import SESSIONS, USERS
from hosting_emulator.world.value import Change

_LONGEST_CLIENT_ID: Final = 2_000
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_SECONDS: Final = re.compile(r"[0-9]{1,10}")


def authorize(request: IdentityRequest, engine: Engine) -> web.Response:
    """Show the page for choosing a user, or redirect to the client with a code (RFC 6749, section
    4.1).

    With `prompt=none`, the browser's existing session is used and no page is shown. For a client
    with a local address, `login_hint` (an alias, id or email address) selects the user without
    showing a page, and `organization` (an alias or id) then selects the organization.
    """
    is_form = request.head.method == "POST"
    attempt = None
    choice = ""
    try:
        if is_form:
            fields = read_fields(request.body.decode("utf-8", "replace"))
            choice = fields.pop("choice", "")
        else:
            fields = read_fields(request.query)
        attempt = _Attempt(request, engine, fields)
        _check(fields)
        return attempt.respond(choice)
    except OAuthRefusal as refusal:
        if attempt is None:
            return pages.refused_page(refusal.description)
        if attempt.destination.local or choice == pages.CANCEL:
            parameters = {"error": refusal.error, "error_description": refusal.description}
            return attempt.redirect(parameters)
        return pages.refused_page(f"{refusal.description}.")


def _check(fields: dict[str, str]) -> None:
    """Raise OAuthRefusal for the first invalid field in a client's request."""
    if "request" in fields:
        raise OAuthRefusal("the parameter request is not supported", "request_not_supported")
    if "request_uri" in fields:
        raise OAuthRefusal(
            "the parameter request_uri is not supported", "request_uri_not_supported"
        )
    if fields.get("response_mode", "query") not in RESPONSE_MODES:
        raise OAuthRefusal("response_mode must be query or fragment")
    if "response_type" not in fields:
        raise OAuthRefusal("response_type must be code")
    if fields["response_type"] != "code":
        raise OAuthRefusal("response_type must be code", "unsupported_response_type")
    if not _is_prompt(fields.get("prompt", "")):
        raise OAuthRefusal("prompt must be none, or any of login, consent and select_account")
    if "code_challenge" not in fields:
        raise OAuthRefusal("code_challenge is missing; PKCE is required")
    if fields.get("code_challenge_method", "plain") != "S256":
        raise OAuthRefusal("code_challenge_method must be S256")
    if not _CHALLENGE.fullmatch(fields["code_challenge"]):
        raise OAuthRefusal("code_challenge must be a SHA-256 digest in base64url")
    if not _SECONDS.fullmatch(fields.get("max_age", "0")):
        raise OAuthRefusal("max_age must be a number of seconds")


def _is_prompt(text: str) -> bool:
    prompts = set(text.split())
    if "none" in prompts and len(prompts) > 1:
        return False
    return prompts <= set(PROMPTS)


class _Attempt:
    """One attempt to sign a user in.

    Raises OAuthRefusal if the `client_id` or the `redirect_uri` is missing or invalid.
    """

    def __init__(self, request: IdentityRequest, engine: Engine, fields: dict[str, str]) -> None:
        if "client_id" not in fields or "redirect_uri" not in fields:
            raise OAuthRefusal("The request needs client_id and redirect_uri.")
        if len(fields["client_id"]) > _LONGEST_CLIENT_ID:
            raise OAuthRefusal(f"The client_id is longer than {_LONGEST_CLIENT_ID} characters.")
        self._request = request
        self._engine = engine
        self._fields = fields
        self._prompts = fields.get("prompt", "").split()
        requested_scopes = fields.get("scope", "").split()
        self._scope = " ".join(scope for scope in SCOPES if scope in requested_scopes)
        self.destination = read_destination(fields["redirect_uri"], request.site)

    def respond(self, choice: str) -> web.Response:
        """Redirect with a code for the chosen user, or show the page if a user has to be chosen
        first.

        Raises OAuthRefusal.
        """
        now_ms = self._engine.run_due()
        if choice == pages.CANCEL:
            raise OAuthRefusal("no user was chosen", "access_denied")
        if choice:
            return self._sign_in_chosen(choice, now_ms)
        session = session_cookie.read_session(self._request, self._engine, now_ms)
        user = self._hinted_user()
        if "none" in self._prompts:
            return self._continue_session(session, user, now_ms)
        if user is not None and self.destination.local and not self._prompts:
            return self._sign_in_hinted(user, now_ms)
        signed_in_id = ""
        if session is not None:
            signed_in_id = session[1].user_id
        return self._show_choices(signed_in_id, user)

    def redirect(self, parameters: dict[str, str]) -> web.Response:
        """Redirect the browser back to the client with these parameters."""
        if "state" in self._fields:
            parameters["state"] = self._fields["state"]
        parameters["iss"] = self._request.issuer(self._engine)  # RFC 9207
        fragment = self._fields.get("response_mode") == "fragment"
        uri = with_parameters(self.destination.uri, parameters, fragment=fragment)
        return responses.redirect(uri)

    def _hinted_user(self) -> User | None:
        """Return the user whose alias, id or email address is in `login_hint`, or None if there is
        none.
        """
        hint = self._fields.get("login_hint", "")
        if not hint:
            return None
        return user_named(self._engine.world, hint)

    def _sign_in_chosen(self, choice: str, now_ms: int) -> web.Response:
        """Sign in the user whose button on the page was clicked."""
        user_id, _, organization = choice.partition("/")
        user, organization_id = choose_user(
            self._engine.world, user_id, organization, "access_denied"
        )
        return self._begin_session(user, organization_id, now_ms)

    def _sign_in_hinted(self, user: User, now_ms: int) -> web.Response:
        world = self._engine.world
        organization = self._fields.get("organization", "")
        user, organization_id = choose_user(world, user.id, organization, "access_denied")
        return self._begin_session(user, organization_id or home_of(world, user), now_ms)

    def _continue_session(
        self, session: tuple[str, InteractiveSession] | None, user: User | None, now_ms: int
    ) -> web.Response:
        """Sign in with the browser's existing session, without showing a page (`prompt=none`).

        Raises OAuthRefusal if the client's address is not local, or if there is no suitable
        session.
        """
        if not self.destination.local:
            raise OAuthRefusal("the client's address is not local", "interaction_required")
        if session is None or not self._is_hinted(session[1], user):
            raise OAuthRefusal("this browser has no session for the user", "login_required")
        age_s = now_ms // 1000 - session[1].began_ms // 1000
        if "max_age" in self._fields and age_s > int(self._fields["max_age"]):
            raise OAuthRefusal("the session is older than max_age", "login_required")
        return self._sign_in(Change(self._engine.world, now_ms), *session)

    def _is_hinted(self, session: InteractiveSession, user: User | None) -> bool:
        if not self._fields.get("login_hint"):
            return True
        return user is not None and user.id == session.user_id

    def _begin_session(self, user: User, organization_id: str | None, now_ms: int) -> web.Response:
        change = Change(self._engine.world, now_ms)
        session_id = sessions.begin_session(change, user.id, organization_id)
        return self._sign_in(change, session_id, change.row(SESSIONS, session_id))

    def _sign_in(
        self, change: Change, session_id: str, session: InteractiveSession
    ) -> web.Response:
        engine = self._engine
        grant = AuthorizationGrant(
            session_id=session_id,
            user_id=session.user_id,
            organization_id=session.organization_id,
            client_id=self._fields["client_id"],
            scope=self._scope,
            auth_time=session.began_ms // 1000,
            redirect_uri=self.destination.uri,
            challenge=self._fields["code_challenge"],
            expires_ms=change.now_ms,
            nonce=self._fields.get("nonce"),
        )
        code = engine.sign_ins.issue_code(change, grant)
        user = change.row(USERS, session.user_id)
        engine.commit(change, f"{user.alias} signed in")
        response = self.redirect({"code": code})
        session_cookie.set_session(response, engine, session_id, session)
        return response

    def _show_choices(self, signed_in_id: str, hinted_user: User | None) -> web.Response:
        unknown_hint = ""
        if hinted_user is None:
            unknown_hint = self._fields.get("login_hint", "")
        return pages.choices_page(
            self._engine.world,
            self._fields,
            self.destination,
            scopes=self._scope.split(),
            signed_in_id=signed_in_id,
            unknown_hint=unknown_hint,
        )
