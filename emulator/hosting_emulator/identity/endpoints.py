"""Tokens and keys for anyone in a world: by name, and as an identity provider gives them to clients.

Each world is its own OpenID provider, where nobody has a password. In a browser a user is chosen, and
the client gets a code (RFC 6749, 4.1). Where `redirect_uri` cannot be trusted a page answers; all else
that is wrong is told to the client, at that address (4.1.2.1). Only a client whose address is local is
answered without the page: this is no way to send people to other sites. A session is a cookie that no
other path gets. The pages work without a script, and show what a request said as text only.
"""

from __future__ import annotations

import logging
import re
from ipaddress import ip_network
from typing import Annotated, Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from aiohttp import web
from msgspec import UNSET, Meta, UnsetType

from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control.routes import (
    Body,
    Context,
    ControlRefusal,
    KeyName,
    find,
    refused_as,
)
from hosting_emulator.engine import identity as provider
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http import guard, responses
from hosting_emulator.http.pages import Html, html
from hosting_emulator.http.public import read_cookie
from hosting_emulator.identity.pages import TEMPLATES, sign_in_page
from hosting_emulator.messages import JsonObject
from hosting_emulator.world import records as r
from hosting_emulator.world import sessions
from hosting_emulator.world.naming import id_of, usual_user
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, SESSIONS, USERS
from hosting_emulator.world.value import Change, World

_log: Final = logging.getLogger("hosting_emulator")
#: How far ahead of a client's time a token may have been issued, as most of them see it.
_SKEW_MS: Final = 60_000
_LONGEST_LIFETIME_S: Final = 10 * 365 * 86_400
#: Scopes that mean something here, in words; others are left out of what is granted.
_SCOPES: Final = {
    "openid": "who you are",
    "profile": "your name",
    "email": "your e-mail address",
    "offline_access": "staying signed in",
}
_RESPONSE_MODES: Final = ("query", "fragment")
_PROMPTS: Final = ("none", "login", "consent", "select_account")
#: Grants that prove that a user has chosen to sign in; a web app of another origin has no others.
_PROVEN: Final = ("authorization_code", "refresh_token")
_GRANTS: Final = (*_PROVEN, "password", "client_credentials")
#: What a token that was not made by a browser's sign-in may read: it was asked for no scope.
_WITHOUT_SCOPE: Final = "openid profile email"
#: Addresses of this machine and of its own network. What else is not global, such as a tunnel's
#: (RFC 4380), may well lead out.
_LOCAL: Final = [
    ip_network(one)
    for one in "0.0.0.0/32 127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16"
    " ::1/128 fc00::/7 fe80::/10".split()
]
#: What RFC 3986 lets a URI consist of. Browsers and parsers differ on what is outside of it.
_URI: Final = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]{1,2000}")
_LONGEST: Final = 2_000
_COOKIE: Final = "hosting_emulator_session"
_NOBODY: Final = "nobody"

#: What the pages may load. It says nothing of forms: a browser would hold that against wherever the
#: client sends it on to after its sign-in, and the form's own target is fixed in the page.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
_NOT_LOCAL: Final = """<p class="warning" role="alert"><b>Not an address of this machine.</b> If you go on,
<code>$to</code> gets a sign-in. Choose a user only if you know it.</p>
"""
_KNOWN: Final = ' <span class="mark retry">signed in before</span>'
_BUTTON: Final = """<button name="choice" value="$value">
<b>$name</b><span><code>$alias</code> $about</span></button>"""
_ONWARD: Final = """<p>The application asks you to go on to
<a href="$address" rel="noreferrer">$address</a>.</p>"""

#: As the OpenAPI document tells it.
Lifetime = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": _LONGEST_LIFETIME_S})]


class NewToken(Body, rename={"who": "as"}):
    """The user a token is for, by alias or id. Its lifetime is in seconds of world time.

    Without `as` it is for the user `owner`, or for an owner of the first organization.
    """

    who: str | None = None
    organization: str | UnsetType | None = UNSET
    interactive: bool = True
    expires_in_seconds: Lifetime | None = None


#: What a token says: user, organization, whether it carries a sign-in, and its lifetime.
Claims: TypeAlias = tuple[r.User, str | None, bool, int | None]


class NewKey(Body, rename={"who": "as"}):
    """The user a key is for, as for a token. Default permissions: all of the organization's."""

    who: str | None = None
    organization: str | None = None
    name: KeyName = "created by the control API"
    permissions: list[str] | None = None


class OAuthRefused(Exception):
    """A request that is refused in OAuth's or OpenID's way; `error` is one of their codes."""

    def __init__(self, description: str, error: str = "invalid_request") -> None:
        super().__init__(description)
        self.error, self.description = error, description


# --- by name -------------------------------------------------------------------------------------


def create_token(context: Context, engine: Engine, body: NewToken) -> JsonObject:
    """Create an access JWT for a user, as if they had signed in."""
    return mint(context, engine, claims_for(engine.world, body))


def claims_for(world: World, body: NewToken) -> Claims:
    """Return what a token is to say, for `mint`. Raises ControlRefusal."""
    user = _user(world, body.who)
    if isinstance(body.organization, str):
        organization_id: str | None = find(world, ORGANIZATIONS, body.organization).id
    else:
        organization_id = provider.home_of(world, user) if body.organization is UNSET else None
    lifetime = body.expires_in_seconds
    if lifetime is not None and not 1 <= lifetime <= _LONGEST_LIFETIME_S:
        message = f"expires_in_seconds must be 1 to {_LONGEST_LIFETIME_S}"
        raise ControlRefusal(400, "Bad lifetime", message)
    return user, organization_id, body.interactive, lifetime


def _user(world: World, name: str | None) -> r.User:
    if name is not None:
        return find(world, USERS, name)
    if (usual := usual_user(world)) is None:
        raise ControlRefusal(409, "Nobody", "no organization has an owner: name a user with `as`")
    return usual


def mint(
    context: Context, engine: Engine, claims: Claims, redeemed: provider.RedeemedGrant | None = None
) -> JsonObject:
    """Mint a token and describe it as OAuth 2.0 token endpoints do (and when it expires).

    `redeemed` is what gives it, if somebody signed in by a browser.
    """
    now_ms = engine.run_due()
    user, organization_id, interactive, lifetime_s = claims
    lifetime_s = lifetime_s or engine.token_lifetime_s
    token = engine.mint(
        user,
        organization_id,
        context.base_url,
        interactive=interactive,
        lifetime_s=lifetime_s,
        redeemed=redeemed,
    )
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": lifetime_s,
        "expires_at": format_timestamp((now_ms // 1000 + lifetime_s) * 1000),
    }


def create_api_key(engine: Engine, body: NewKey) -> JsonObject:
    """Create a user API key with chosen permissions; its value is returned once."""
    user, named = _user(engine.world, body.who), body.organization
    organization_id = provider.home_of(engine.world, user) if named is None else named
    if organization_id is None:
        raise ControlRefusal(409, "No organization", f"{user.alias} belongs to no organization")
    organization = find(engine.world, ORGANIZATIONS, organization_id)
    if not 1 <= len(body.name) <= 64:
        raise ControlRefusal(400, "Bad name", "a key's name has 1 to 64 characters")
    with refused_as(400, "Unknown permission", ValueError):
        return engine.make_key(user, organization, body.name, body.permissions)


# --- the token endpoint --------------------------------------------------------------------------


async def token(context: Context, engine: Engine) -> Any:
    """The token endpoint (RFC 6749). Users have no passwords, and every client secret is accepted.

    `authorization_code` (with PKCE, RFC 7636) and `refresh_token` (which changes each time)
    follow a sign-in at `…/authorize`. `password` with `username` signs a user in by
    name; `client_credentials` with `client_id` is for a user without a session; for both,
    `organization` chooses the organization.
    """
    try:
        fields = _read_fields((await context.bytes()).decode("utf-8", "replace"))
        if fields.get("grant_type") not in _GRANTS:
            one_of = f"grant_type must be one of {', '.join(_GRANTS)}"
            raise OAuthRefused(one_of, "unsupported_grant_type")
        if client := guard.basic_credentials(context.request)[0]:
            fields["client_id"] = unquote_plus(client)
        if fields["grant_type"] in _PROVEN:
            return await _signed_in(context, engine, fields)
        named, headers = fields.get("organization", ""), context.request.headers
        origin = headers.get("Origin", "").lower().partition("://")[2]
        if "Origin" in headers and origin != headers.get("Host", "").lower():
            only = f"a web page may only use {' and '.join(_PROVEN)}"
            raise OAuthRefused(only, "unauthorized_client")
        interactive = fields["grant_type"] == "password"
        who = fields.get("username" if interactive else "client_id", "")
        user, home = _choose(engine.world, who, named, "invalid_grant")
        home = home or provider.home_of(engine.world, user)
        return mint(context, engine, (user, home, interactive, None))
    except provider.GrantRefused as refused:
        error, description = "invalid_grant", str(refused)
    except OAuthRefused as refused:
        error, description = refused.error, refused.description
    return responses.json({"error": error, "error_description": description}, 400)


def _read_fields(text: str) -> dict[str, str]:
    """Return a form or query; what is empty counts as left out (RFC 6749, 3.1). Raises OAuthRefused."""
    fields: dict[str, str] = {}
    try:
        pairs = parse_qsl(text, max_num_fields=100)
    except ValueError:
        raise OAuthRefused("The request has more than 100 parameters.") from None
    for name, value in pairs:
        if name in fields:
            raise OAuthRefused(f"The parameter {name[:80]} was sent twice.")
        fields[name] = value
    return fields


def _choose(world: World, who: str, organization: str, error: str) -> tuple[r.User, str | None]:
    """Return a named user, and their named organization. Raises OAuthRefused with this `error`."""
    try:
        user = find(world, USERS, who)
        place = find(world, ORGANIZATIONS, organization) if organization else None
    except ControlRefusal as refused:
        raise OAuthRefused(refused.detail, error) from None
    if place is None:
        return user, None
    if not _belongs(world, user, place.id):
        raise OAuthRefused(f"the user does not belong to {place.alias}", error)
    return user, place.id


def _belongs(world: World, user: r.User, organization_id: str) -> bool:
    return world.get(MEMBERSHIPS, f"{organization_id}/{user.id}") is not None


async def _signed_in(context: Context, engine: Engine, fields: dict[str, str]) -> JsonObject:
    sign_ins, now_ms, world = engine.identity, engine.run_due(), engine.world
    by_code = fields["grant_type"] == "authorization_code"
    needed = ("code", "redirect_uri", "code_verifier") if by_code else ("refresh_token",)
    for name in ("client_id", *needed):
        if not fields.get(name):
            raise OAuthRefused(f"{name} is missing")
    client_id, first, *more = (fields[name] for name in ("client_id", *needed))
    change = Change(world, now_ms)
    try:
        if by_code:
            redeemed = sign_ins.redeem_code(change, first, client_id, *more)
        else:
            redeemed = sign_ins.redeem_refresh_token(change, first, client_id)
        user = _still_there(world, redeemed.grant)
        until_ms = (now_ms // 1000 + engine.token_lifetime_s) * 1000
        redeemed, refresh_token = sign_ins.keep_grant(change, redeemed, until_ms)
    finally:  # a code is spent by whoever tries
        engine.commit(change, "token issued")
    grant, organization_id = redeemed.grant, redeemed.grant.organization_id
    document = mint(context, engine, (user, organization_id, True, None), redeemed)
    document["scope"] = grant.scope
    if refresh_token is not None:
        document["refresh_token"] = refresh_token
    if grant.has("openid"):
        claims = {
            "iss": _issuer(context, engine),
            "aud": grant.client_id,
            "iat": now_ms // 1000,
            "exp": now_ms // 1000 + engine.token_lifetime_s,
            "auth_time": grant.auth_time,
            "sid": grant.session_id,
            **_claims(user, grant.scope, organization_id),
        }
        if grant.nonce is not None:
            claims["nonce"] = grant.nonce
        _tell_of_time(context, engine, now_ms)
        document["id_token"] = sign_ins.id_token(claims, document["access_token"])
    return document


def _still_there(world: World, grant: r.AuthorizationGrant) -> r.User:
    """Return whom a grant is for, if they could still sign in so. Raises GrantRefused."""
    user = world.get(USERS, grant.user_id)
    if not sessions.is_current(world, grant.session_id, grant.user_id):
        raise provider.GrantRefused("the session has ended; sign in again")
    if user is None:
        raise provider.GrantRefused("the user is no longer in this world")
    if grant.organization_id and not _belongs(world, user, grant.organization_id):
        raise provider.GrantRefused("the user no longer belongs to that organization")
    return user


def _tell_of_time(context: Context, engine: Engine, now_ms: int) -> None:
    """Warn, once for a world, where clients will refuse an ID token by their own machine's time."""
    sign_ins, ahead_ms = engine.identity, now_ms - engine.machine_ms
    if sign_ins.told_of_time or -engine.token_lifetime_s * 1000 < ahead_ms <= _SKEW_MS:
        return
    sign_ins.told_of_time = True
    name = engine.world.name
    forward = command_line("clock set now", context.base_url, name)
    _log.warning(
        "a user signed in to world %s at world time %s; OpenID clients compare with this machine's "
        "time, %s, and refuse the tokens: start the world with `--at now`%s",
        name,
        format_timestamp(now_ms),
        format_timestamp(engine.machine_ms),
        f", or move it there: `{forward}`" if ahead_ms < 0 else "",
    )


def _claims(user: r.User, scope: str, organization_id: str | None) -> JsonObject:
    """Return what a client with this scope may know (OpenID Connect Core 1.0, 5.4)."""
    scopes = scope.split()
    claims: JsonObject = {"sub": user.id}
    if "profile" in scopes:
        claims |= {"name": user.name, "preferred_username": user.alias}
    if "email" in scopes:
        claims |= {"email": user.email, "email_verified": True}
    return claims if organization_id is None else claims | {"org_id": organization_id}


# --- what else clients fetch ---------------------------------------------------------------------


def userinfo(context: Context, engine: Engine) -> Any:
    """Return the user of the access token in the Authorization header (OpenID Connect)."""
    sent = context.request.headers.getall("Authorization", [])
    try:
        token = provider.bearer_token(sent)
        principal, key = engine.identity.authenticate(engine.begin_change(), sent)
        user = engine.world.get(USERS, principal.user_id)
        if key is not None or user is None:
            raise Refused("unauthenticated", "An access token of a user is needed.")
    except Refused as refused:
        error, detail = "invalid_token" if sent else "invalid_request", refused.detail
        challenge = f'Bearer error="{error}", error_description="{detail}"' if sent else "Bearer"
        response = responses.json({"error": error, "error_description": detail}, 401)
        response.headers["WWW-Authenticate"] = challenge
        return response
    scope = engine.identity.scope_of(token)
    return _claims(user, _WITHOUT_SCOPE if scope is None else scope, principal.organization_id)


def _issuer(context: Context, engine: Engine) -> str:
    return context.base_url + provider.issuer_path(engine.world.name)


def discovery(context: Context, engine: Engine) -> JsonObject:
    """Describe the identity provider (OpenID Connect Discovery 1.0)."""
    here = _issuer(context, engine)
    return {
        "issuer": here,
        "jwks_uri": f"{here}/jwks.json",
        "token_endpoint": f"{here}/token",
        "authorization_endpoint": f"{here}/authorize",
        "userinfo_endpoint": f"{here}/userinfo",
        "end_session_endpoint": f"{here}/end-session",
        "scopes_supported": list(_SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": _RESPONSE_MODES,
        "grant_types_supported": _GRANTS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "prompt_values_supported": _PROMPTS,
        "token_endpoint_auth_methods_supported": (
            "none client_secret_post client_secret_basic".split()
        ),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [provider.ID_TOKEN_ALGORITHM],
        "claims_supported": (
            "iss aud sub iat exp auth_time nonce at_hash org_id sid client_id scope"
            " name preferred_username email email_verified"
        ).split(),
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }


def jwks(context: Context, engine: Engine) -> Any:
    """Return the keys that verify tokens (RFC 7517)."""
    return engine.identity.jwks()


# --- a browser's sign-in -------------------------------------------------------------------------


async def authorize(context: Context, engine: Engine) -> web.Response:
    """Show the page to choose a user, or redirect back with a code (RFC 6749, 4.1).

    `prompt=none` uses this browser's session and shows no page. `login_hint` (an alias, id or
    email address) chooses the user without a page; `organization` (alias or id) the organization.
    """
    posted, attempt, choice = context.request.method == "POST", None, ""
    text = (await context.bytes()).decode("utf-8", "replace") if posted else context.query
    try:
        fields = _read_fields(text)
        choice = fields.pop("choice", "") if posted else ""
        attempt = _Attempt(context, engine, fields)
        _check(fields)
        return attempt.answer(choice)
    except OAuthRefused as refused:
        if attempt is not None and (attempt.to.local or choice == _NOBODY):
            return attempt.back(error=refused.error, error_description=refused.description)
        why = refused.description if attempt is None else f"{refused.description}."
        return _page("Sign-in refused", TEMPLATES.fill("sign-in-refused", why=why), 400)


def end_session(context: Context, engine: Engine) -> web.Response:
    """End a session, and redirect back if that address is local.

    This is the session of this browser and of the `id_token_hint`. Its refresh tokens end with it; access
    tokens stay valid until they expire, except where a current session is needed. For an address that is not
    local a link is shown instead (OpenID Connect RP-Initiated Logout 1.0).
    """
    to, address, ended = None, "", []
    sign_ins, path = engine.identity, provider.issuer_path(engine.world.name)
    try:
        fields = _read_fields(context.query)
        if "id_token_hint" in fields:
            here = _issuer(context, engine)
            claims = sign_ins.read_id_token(fields["id_token_hint"], here)
            if claims is None:
                raise OAuthRefused("The id_token_hint is not an ID token of this world.")
            if fields.get("client_id", claims["aud"]) != claims["aud"]:
                raise OAuthRefused("The id_token_hint was issued to another client_id.")
            ended.append(str(claims["sid"]))
        if "post_logout_redirect_uri" in fields:
            to = _destination(fields["post_logout_redirect_uri"], context.site)
            address = to.uri
            if "state" in fields:
                address = _with_answer(to.uri, {"state": fields["state"]})
    except OAuthRefused as refused:
        body = TEMPLATES.fill("sign-in-refused", why=refused.description)
        return responses.html(sign_in_page("Sign-in refused", body), _POLICY, 400)
    if to is not None and to.local:
        response = responses.redirect(address)
    else:
        onward = html(_ONWARD, address=address) if address else ""
        body = TEMPLATES.fill("signed-out", onward=Html(onward))
        response = responses.html(sign_in_page("Signed out", body), _POLICY)
    change = Change(engine.world, engine.run_due())
    if (known := _read_session(context, engine, change.now_ms)) is not None:
        ended.append(known[0])
    for session_id in ended:
        sessions.end_session(change, session_id)
    if change.writes:
        first = next(iter(change.writes[SESSIONS.name].values()))
        turn = {"intervene": {"end_session": {"user": first.user_id}}}
        engine.commit(change, "signed out", turn)
    response.del_cookie(_COOKIE, path=path, httponly=True, samesite="Lax")
    return response


class Destination(NamedTuple):
    """Where an answer goes. Only to a `local` one it goes without a user having seen its name."""

    uri: str
    name: str
    local: bool


def _destination(uri: str, site: guard.Site) -> Destination:
    """Judge an address that a browser is to be sent to.

    Local are names and addresses that nobody on the internet can have, and the origins that were
    allowed. Raises OAuthRefused for what is no absolute http(s) address without a fragment and no
    private-use address of a native app (RFC 8252, 7.1: its scheme has a dot).
    """
    try:
        parts = urlsplit(uri) if _URI.fullmatch(uri) else None
    except ValueError:
        parts = None
    if parts is None or "@" in parts.netloc:
        raise OAuthRefused("The redirect_uri must be an absolute address without a fragment.")
    if parts.scheme not in ("http", "https"):
        if "." not in parts.scheme:
            raise OAuthRefused("The redirect_uri is neither http(s) nor a native app's address.")
        return Destination(uri, f"the native app {parts.scheme}", False)
    name = guard.host_name(parts.netloc)
    if not name:
        raise OAuthRefused("The redirect_uri names no host.")
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    if (address := guard.address_of(name)) is not None:
        local = any(address in network for network in _LOCAL)
    else:
        # One label is a name of this network, unless a dot at its end makes it one of the root's. A
        # browser reads one number, such as 134744072 or 0x8080808, as an address.
        of_the_root = parts.netloc.partition(":")[0] == f"{name}."
        label = "." not in name and not (of_the_root or name.isdigit() or name.startswith("0x"))
        local = name.endswith(guard.RESERVED) or label
    return Destination(uri, origin, local or site.lets_in(origin))


def _check(fields: dict[str, str]) -> None:
    """Refuse the first thing at the client that is wrong with its request."""
    prompt = fields.get("prompt", "").split()
    response_type = "unsupported_response_type" if "response_type" in fields else "invalid_request"
    challenge = fields.get("code_challenge")
    bad_prompt = not {*prompt} <= {*_PROMPTS} or ("none" in prompt and len({*prompt}) > 1)
    bad_mode = fields.get("response_mode", "query") not in _RESPONSE_MODES
    bad_method = fields.get("code_challenge_method", "plain") != "S256"
    bad_challenge = not re.fullmatch(r"[A-Za-z0-9_-]{43}", challenge or "")
    bad_age = not re.fullmatch(r"[0-9]{1,10}", fields.get("max_age", "0"))
    invalid = "invalid_request"
    for wrong, error, description in (
        ("request" in fields, "request_not_supported", "request is not supported"),
        ("request_uri" in fields, "request_uri_not_supported", "request_uri is not supported"),
        (bad_mode, invalid, "response_mode must be query or fragment"),
        (fields.get("response_type") != "code", response_type, "response_type must be code"),
        (bad_prompt, invalid, "prompt must be none, or any of login, consent and select_account"),
        (challenge is None, invalid, "code_challenge is missing: PKCE is needed"),
        (bad_method, invalid, "code_challenge_method must be S256"),
        (bad_challenge, invalid, "code_challenge is not a SHA-256 in base64url"),
        (bad_age, invalid, "max_age must be a number of seconds"),
    ):
        if wrong:
            raise OAuthRefused(description, error)


class _Attempt:
    """One request to sign somebody in. Raises OAuthRefused when its answer has no good address."""

    def __init__(self, context: Context, engine: Engine, fields: dict[str, str]) -> None:
        if "client_id" not in fields or "redirect_uri" not in fields:
            raise OAuthRefused("The request needs client_id and redirect_uri.")
        if len(fields["client_id"]) > _LONGEST:
            raise OAuthRefused("The client_id is longer than 2000 characters.")
        self.context, self.engine, self.fields = context, engine, fields
        self.to = _destination(fields["redirect_uri"], context.site)
        asked = fields.get("scope", "").split()
        self.scope = " ".join(scope for scope in _SCOPES if scope in asked)

    def answer(self, choice: str) -> web.Response:
        """Answer with a code for whoever is chosen, or show the page. Raises OAuthRefused."""
        fields, now_ms = self.fields, self.engine.run_due()
        world, prompt = self.engine.world, self.fields.get("prompt", "").split()
        hint, named = fields.get("login_hint", ""), fields.get("organization", "")
        if choice == _NOBODY:
            raise OAuthRefused("no user was chosen", "access_denied")
        if choice:
            user_id, _, organization = choice.partition("/")
            return self._begin(*_choose(world, user_id, organization, "access_denied"), now_ms)
        known = _read_session(self.context, self.engine, now_ms)
        hinted = world.get(USERS, id_of(world, USERS, hint)) if hint else None
        if hint and hinted is None:
            hinted = next((row for _, row in world.rows(USERS) if row.email == hint), None)
        if "none" in prompt:
            if not self.to.local:
                raise OAuthRefused("the client's address is not local", "interaction_required")
            if known is None or (hint and (not hinted or hinted.id != known[1].user_id)):
                raise OAuthRefused("this browser has no session of that user", "login_required")
            max_age, age_s = fields.get("max_age"), now_ms // 1000 - known[1].began_ms // 1000
            if max_age is not None and age_s > int(max_age):
                raise OAuthRefused("the session is older than max_age", "login_required")
            return self._sign_in(Change(world, now_ms), *known)
        if hinted is not None and self.to.local and not prompt:
            user, organization_id = _choose(world, hinted.id, named, "access_denied")
            return self._begin(user, organization_id or provider.home_of(world, user), now_ms)
        known_id = known[1].user_id if known else ""
        return _page("Sign in", self._choices(known_id, hint if hinted is None else ""))

    def _choices(self, known_id: str, nobody_is: str) -> Html:
        """Return the content of the page to choose a user; `nobody_is` a hint that fits nobody."""
        world, fields, to = self.engine.world, self.fields, self.to
        notes = "" if to.local else html(_NOT_LOCAL, to=to.name)
        if nobody_is:
            note = '<p class="warning">Nobody here is <code>$hint</code>.</p>\n'
            notes += html(note, hint=nobody_is[:80])
        field = '<input type="hidden" name="$name" value="$value">\n'
        granted = "".join(f"<li>{_SCOPES[scope]}</li>" for scope in self.scope.split())
        return TEMPLATES.fill(
            "sign-in",
            client=fields["client_id"][:80],
            world=world.name,
            notes=Html(notes),
            hidden=Html("".join(html(field, name=name, value=fields[name]) for name in fields)),
            users=Html(_users_to_choose(world, known_id)),
            destination=to.name,
            gets=", and it gets:" if granted else ".",
            scopes=Html(f"<ul>{granted}</ul>" if granted else ""),
        )

    def _begin(self, user: r.User, organization_id: str | None, now_ms: int) -> web.Response:
        change = Change(self.engine.world, now_ms)
        session_id = sessions.begin_session(change, user.id, organization_id)
        return self._sign_in(change, session_id, change.row(SESSIONS, session_id))

    def _sign_in(self, change: Change, id_: str, session: r.InteractiveSession) -> web.Response:
        engine, fields, sign_ins = self.engine, self.fields, self.engine.identity
        grant = r.AuthorizationGrant(
            session_id=id_,
            user_id=session.user_id,
            organization_id=session.organization_id,
            client_id=fields["client_id"],
            scope=self.scope,
            auth_time=session.began_ms // 1000,
            redirect_uri=self.to.uri,
            challenge=fields["code_challenge"],
            expires_ms=change.now_ms,
            nonce=fields.get("nonce"),
        )
        code = sign_ins.issue_code(change, grant)
        engine.commit(change, f"{change.row(USERS, session.user_id).alias} signed in")
        response = self.back(code=code)
        kept = sign_ins.seal_session(id_, session.began_ms)
        path = provider.issuer_path(engine.world.name)
        response.set_cookie(_COOKIE, kept, path=path, httponly=True, samesite="Lax")
        return response

    def back(self, **answer: str) -> web.Response:
        if "state" in self.fields:
            answer["state"] = self.fields["state"]
        answer["iss"] = _issuer(self.context, self.engine)  # RFC 9207
        fragment = self.fields.get("response_mode") == "fragment"
        return responses.redirect(_with_answer(self.to.uri, answer, fragment))


def _with_answer(uri: str, answer: dict[str, str], fragment: bool = False) -> str:
    joint = "#" if fragment else "&" if "?" in uri else "?"
    return f"{uri}{joint}{urlencode(answer)}"


def _page(title: str, body: Html, status: int = 200) -> web.Response:
    response = responses.html(sign_in_page(title, body), _POLICY, status, referrer="same-origin")
    response.headers["Cache-Control"] = "no-store"
    return responses.keep_opener(response)


def _read_session(
    context: Context, engine: Engine, now_ms: int
) -> tuple[str, r.InteractiveSession] | None:
    """Return the session that a request carries, with its id, if it is good in this world now."""
    sent, world = read_cookie(context.request, _COOKIE), engine.world
    id_ = engine.identity.open_session(sent, Change(world, now_ms)) if sent else None
    found = world.get(SESSIONS, id_ or "")
    if id_ is None or found is None or found.ended_ms is not None:
        return None
    user, home = world.get(USERS, found.user_id), found.organization_id
    return (id_, found) if user and (not home or _belongs(world, user, home)) else None


def _users_to_choose(world: World, known_id: str) -> str:
    """Return everybody as buttons, by organization, owners first: one button for each organization."""
    places: dict[str, list[r.Organization]] = {user_id: [] for user_id, _ in world.rows(USERS)}
    order = dict.fromkeys(places, (1, "", ""))
    for _, membership in world.rows(MEMBERSHIPS):
        organization = world.get(ORGANIZATIONS, membership.organization_id)
        user_id, role = membership.user_id, membership.role
        if organization is not None and user_id in places:
            places[user_id].append(organization)
            first = (0, organization.alias, "" if role == "owner" else role)
            order[user_id] = min(first, order[user_id])
    items = ""
    users = (user for _, user in world.rows(USERS))
    for user in sorted(users, key=lambda user: (order[user.id], user.alias)):
        several = len(places[user.id]) > 1
        mark = Html(_KNOWN if user.id == known_id else "")
        if several:
            mark = html("<p>$name$mark, for:</p>", name=user.name, mark=mark)
        buttons = ""
        for place in sorted(places[user.id], key=lambda place: place.alias) or (None,):
            value, name, about = user.id, user.name, "no organization"
            if place is not None:
                value, about = f"{value}/{place.id}", f"{place.name} ({place.alias}, {place.plan})"
                name += f" · {place.alias}" if several else ""
            buttons += html(_BUTTON, value=value, name=name, alias=user.alias, about=about)
        items += f"<li>{mark}{buttons}</li>\n"
    return items
