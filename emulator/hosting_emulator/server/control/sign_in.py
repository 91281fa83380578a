"""Signing in and out by a browser: a person is chosen, and the client gets a code (RFC 6749, 4.1).

A request whose `redirect_uri` cannot be trusted with an answer is answered by a page; all else that
is wrong is told to the client, at that address (4.1.2.1). Without a word only a client whose address
is local is answered: for any other the page is shown, so that this is no way to send people to other
sites. A browser's session is a cookie that no other path gets. The pages work without a script, and
what a request said is shown in them as text only.
"""

from __future__ import annotations

import re
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_network
from typing import Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of, issuer_path
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.tokens import (
    RESPONSE_MODES,
    SCOPES,
    OAuthRefused,
    choose,
    issuer,
    read_fields,
)
from hosting_emulator.server.hosts import RESERVED, Hosts, address_of, host_name
from hosting_emulator.server.pages.layout import Html, fill, html, sign_in_page
from hosting_emulator.world import sessions
from hosting_emulator.world.naming import id_of
from hosting_emulator.world.records import AuthorizationGrant, Person
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE, SESSIONS
from hosting_emulator.world.value import Change, World

#: Addresses of this machine and of its own network. What else is not global, such as a tunnel's
#: (RFC 4380), may well lead out.
_LOCAL: Final = tuple(
    map(
        ip_network,
        "0.0.0.0/32 127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16"
        " ::1/128 fc00::/7 fe80::/10".split(),
    )
)
_PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})
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
<code>$to</code> gets a sign-in. Choose a person only if you know it.</p>
"""
_KNOWN: Final = ' <span class="mark retry">signed in before</span>'
_BUTTON: Final = """<button name="choice" value="$value">
<b>$name</b><span><code>$alias</code> $about</span></button>"""
_REFUSED: Final = """<h1>This sign-in cannot go on</h1>
<p class="lead" role="alert">$why</p>
<p>The application that sent you here has to change its request. Nothing was told to it: its address
is missing, no good, or not one of this machine's.</p>"""
_SIGNED_OUT: Final = """<h1>Signed out</h1>
<p class="lead">The session has ended, and its refresh tokens with it. Access tokens go on until they
expire, but for what needs a current session.</p>
$onward"""
_ONWARD: Final = """<p>The application asks you to go on to
<a href="$address" rel="noreferrer">$address</a>.</p>"""


class Destination(NamedTuple):
    """Where an answer goes. Only to a `local` one it goes without a person having seen its name."""

    uri: str
    name: str
    local: bool


class Session(NamedTuple):
    """Who signed in with this browser, for which organization, and when (ms of world time)."""

    id: str
    person: Person
    organization_id: str | None
    began_ms: int


async def authorize(context: Context, engine: Engine) -> web.Response:
    """Show the page to choose a user, or redirect back with a code (RFC 6749, 4.1).

    `prompt=none` uses this browser's session and shows no page. `login_hint` (an alias, id or
    email address) chooses the user without a page; `organization` (alias or id) the organization.
    """
    posted = context.request.method == "POST"
    text = (await context.bytes()).decode("utf-8", "replace") if posted else context.query
    try:
        fields = read_fields(text)
        choice = fields.pop("choice", "") if posted else ""
        attempt = _Attempt(context, engine, fields)
    except OAuthRefused as refused:
        return _page("Sign-in refused", html(_REFUSED, why=refused.description), 400)
    try:
        _check(fields)
        return attempt.answer(choice)
    except OAuthRefused as refused:
        if not attempt.to.local and choice != _NOBODY:
            why = f"{refused.description}."
            return _page("Sign-in refused", html(_REFUSED, why=why), 400)
        return attempt.back(error=refused.error, error_description=refused.description)


def end_session(context: Context, engine: Engine) -> web.Response:
    """End a session, and redirect back if that address is local.

    This is the session of this browser and of the `id_token_hint`. Its refresh tokens end with it; access
    tokens stay valid until they expire, except where a current session is needed. For an address that is not
    local a link is shown instead (OpenID Connect RP-Initiated Logout 1.0).
    """
    to, address = None, ""
    try:
        fields = read_fields(context.query)
        hinted = _hinted_session(context, engine, fields)
        if "post_logout_redirect_uri" in fields:
            to = _destination(fields["post_logout_redirect_uri"], context.hosts)
            address = to.uri
            if "state" in fields:
                address = _with_answer(to.uri, {"state": fields["state"]})
    except OAuthRefused as refused:
        body = html(_REFUSED, why=refused.description)
        return answers.html(sign_in_page("Sign-in refused", body), _POLICY, 400)
    if to is not None and to.local:
        response = answers.redirect(address)
    else:
        onward = html(_ONWARD, address=address) if address else ""
        body = html(_SIGNED_OUT, onward=Html(onward))
        response = answers.html(sign_in_page("Signed out", body), _POLICY)
    known = _read_session(context, engine, now_ms := engine.run_due())
    change = Change(engine.world, now_ms)
    for session_id in filter(None, (hinted, known and known.id)):
        sessions.end_session(change, session_id)
    if change.writes:
        ended = next(iter(change.writes[SESSIONS.name].values()))
        turn = {"intervene": {"end_session": {"person": ended.person_id}}}
        engine.commit(change, "signed out", turn)
    path = issuer_path(engine.world.name)
    response.del_cookie(_COOKIE, path=path, httponly=True, samesite="Lax")
    return response


def _hinted_session(context: Context, engine: Engine, fields: dict[str, str]) -> str | None:
    """Return the session that the `id_token_hint` was issued in, if there is one."""
    if "id_token_hint" not in fields:
        return None
    sign_ins, here = engine.identity.sign_ins, issuer(context, engine)
    claims = sign_ins.read_id_token(fields["id_token_hint"], here)
    if claims is None:
        raise _refused("The id_token_hint is not an ID token of this world.")
    if fields.get("client_id", claims["aud"]) != claims["aud"]:
        raise _refused("The id_token_hint was issued to another client_id.")
    return str(claims["sid"])


# --- reading a request ---------------------------------------------------------------------------


def _refused(why: str) -> OAuthRefused:
    return OAuthRefused("invalid_request", why)


def _destination(uri: str, hosts: Hosts) -> Destination:
    """Judge an address that a browser is to be sent to.

    Local are names and addresses that nobody on the internet can have, and the origins that were
    allowed. Raises OAuthRefused for what is no absolute http(s) address without a fragment and no
    private-use address of a native app (RFC 8252, 7.1: its scheme has a dot).
    """
    parts = None
    if _URI.fullmatch(uri):
        try:
            parts = urlsplit(uri)
        except ValueError:
            parts = None
    if parts is None or "@" in parts.netloc:
        raise _refused("The redirect_uri must be an absolute address without a fragment.")
    if parts.scheme not in ("http", "https"):
        if "." not in parts.scheme:
            raise _refused("The redirect_uri is neither http(s) nor a native app's address.")
        return Destination(uri, f"the native app {parts.scheme}", False)
    name = host_name(parts.netloc)
    if not name:
        raise _refused("The redirect_uri names no host.")
    origin = f"{parts.scheme}://{parts.netloc}".lower()
    # One label is a name of this network, unless a dot at its end makes it one of the root's.
    of_the_root = parts.netloc.partition(":")[0] == f"{name}." and "." not in name
    local = _is_local(name) and not of_the_root
    return Destination(uri, origin, local or hosts.lets_in(origin))


def _is_local(name: str) -> bool:
    address = address_of(name)
    if address is not None:
        return any(address in network for network in _LOCAL if network.version == address.version)
    # A browser reads one number, such as 134744072 or 0x8080808, as an address.
    one_label = "." not in name and not name.isdigit() and not name.startswith("0x")
    return name.endswith(RESERVED) or one_label


def _check(fields: dict[str, str]) -> None:
    """Refuse the first thing at the client that is wrong with its request."""
    prompt = frozenset(fields.get("prompt", "").split())
    response_type = "unsupported_response_type" if "response_type" in fields else "invalid_request"
    challenge = fields.get("code_challenge")
    bad_prompt = not prompt <= _PROMPTS or ("none" in prompt and len(prompt) > 1)
    bad_mode = fields.get("response_mode", "query") not in RESPONSE_MODES
    invalid = "invalid_request"
    for wrong, error, description in (
        ("request" in fields, "request_not_supported", "request is not supported"),
        ("request_uri" in fields, "request_uri_not_supported", "request_uri is not supported"),
        (bad_mode, invalid, "response_mode must be query or fragment"),
        (fields.get("response_type") != "code", response_type, "response_type must be code"),
        (bad_prompt, invalid, "prompt must be none, or any of login, consent and select_account"),
        (challenge is None, invalid, "code_challenge is missing: PKCE is needed"),
        (
            fields.get("code_challenge_method", "plain") != "S256",
            invalid,
            "code_challenge_method must be S256",
        ),
        (
            not re.fullmatch(r"[A-Za-z0-9_-]{43}", challenge or ""),
            invalid,
            "code_challenge is not a SHA-256 in base64url",
        ),
        (
            not re.fullmatch(r"[0-9]{1,10}", fields.get("max_age", "0")),
            invalid,
            "max_age must be a number of seconds",
        ),
    ):
        if wrong:
            raise OAuthRefused(error, description)


# --- answering it --------------------------------------------------------------------------------


class _Attempt:
    """One request to sign somebody in. Raises OAuthRefused when its answer has no good address."""

    def __init__(self, context: Context, engine: Engine, fields: dict[str, str]) -> None:
        if "client_id" not in fields or "redirect_uri" not in fields:
            raise _refused("The request needs client_id and redirect_uri.")
        if len(fields["client_id"]) > _LONGEST:
            raise _refused("The client_id is longer than 2000 characters.")
        self.context, self.engine, self.fields = context, engine, fields
        self.to = _destination(fields["redirect_uri"], context.hosts)
        asked = fields.get("scope", "").split()
        self.scope = " ".join(scope for scope in SCOPES if scope in asked)

    def answer(self, choice: str) -> web.Response:
        """Answer with a code for whoever is chosen, or show the page. Raises OAuthRefused."""
        fields, now_ms = self.fields, self.engine.run_due()
        world = self.engine.world
        prompt, hint = fields.get("prompt", "").split(), fields.get("login_hint", "")
        if choice == _NOBODY:
            raise OAuthRefused("access_denied", "no user was chosen")
        if choice:
            person_id, _, organization = choice.partition("/")
            return self._begin(*choose(world, person_id, organization, "access_denied"), now_ms)
        known = _read_session(self.context, self.engine, now_ms)
        hinted = _hinted(world, hint)
        if "none" in prompt:
            return self._renew(known, hinted, now_ms)
        if hinted is not None and self.to.local and not prompt:
            named = fields.get("organization", "")
            person, organization_id = choose(world, hinted.id, named, "access_denied")
            return self._begin(person, organization_id or home_of(world, person), now_ms)
        return _page("Sign in", self._choices(known, hint if hinted is None else ""))

    def _choices(self, known: Session | None, nobody_is: str) -> Html:
        """Return the content of the page to choose a person; `nobody_is` a hint that fits nobody."""
        world, fields, to = self.engine.world, self.fields, self.to
        notes = "" if to.local else html(_NOT_LOCAL, to=to.name)
        if nobody_is:
            note = '<p class="warning">Nobody here is <code>$hint</code>.</p>\n'
            notes += html(note, hint=nobody_is[:80])
        field = '<input type="hidden" name="$name" value="$value">\n'
        granted = "".join(f"<li>{SCOPES[scope]}</li>" for scope in self.scope.split())
        people = (_choice(world, person, known) for person in _people_in_order(world))
        return fill(
            "sign-in",
            client=fields["client_id"][:80],
            world=world.name,
            notes=Html(notes),
            hidden=Html("".join(html(field, name=name, value=fields[name]) for name in fields)),
            people=Html("".join(people)),
            destination=to.name,
            gets=", and it gets:" if granted else ".",
            scopes=Html(f"<ul>{granted}</ul>" if granted else ""),
        )

    def _renew(self, known: Session | None, hinted: Person | None, now_ms: int) -> web.Response:
        """Sign in anew, without a page, who has a session in this browser."""
        if not self.to.local:
            raise OAuthRefused("interaction_required", "the client's address is not local")
        if known is None or (self.fields.get("login_hint") and hinted != known.person):
            raise OAuthRefused("login_required", "this browser has no session of that user")
        max_age = self.fields.get("max_age")
        if max_age is not None and now_ms // 1000 - known.began_ms // 1000 > int(max_age):
            raise OAuthRefused("login_required", "the session is older than max_age")
        return self._sign_in(Change(self.engine.world, now_ms), known)

    def _begin(self, person: Person, organization_id: str | None, now_ms: int) -> web.Response:
        """Begin a session, and sign in with it."""
        change = Change(self.engine.world, now_ms)
        session_id = sessions.begin_session(change, person.id, organization_id)
        return self._sign_in(change, Session(session_id, person, organization_id, now_ms))

    def _sign_in(self, change: Change, session: Session) -> web.Response:
        engine, fields = self.engine, self.fields
        grant = AuthorizationGrant(
            session_id=session.id,
            person_id=session.person.id,
            organization_id=session.organization_id,
            client_id=fields["client_id"],
            scope=self.scope,
            auth_time=session.began_ms // 1000,
            redirect_uri=self.to.uri,
            challenge=fields["code_challenge"],
            expires_ms=change.now_ms,
            nonce=fields.get("nonce"),
        )
        sign_ins = engine.identity.sign_ins
        code = sign_ins.issue_code(change, grant)
        engine.commit(change, f"{session.person.alias} signed in")
        response = self.back(code=code)
        kept = sign_ins.seal_session(session.id, session.began_ms)
        path = issuer_path(engine.world.name)
        response.set_cookie(_COOKIE, kept, path=path, httponly=True, samesite="Lax")
        return response

    def back(self, **answer: str) -> web.Response:
        """Send the browser back to the client with an answer."""
        if "state" in self.fields:
            answer["state"] = self.fields["state"]
        answer["iss"] = issuer(self.context, self.engine)  # RFC 9207
        fragment = self.fields.get("response_mode") == "fragment"
        return answers.redirect(_with_answer(self.to.uri, answer, fragment))


def _with_answer(uri: str, answer: dict[str, str], fragment: bool = False) -> str:
    joint = "#" if fragment else "&" if "?" in uri else "?"
    return f"{uri}{joint}{urlencode(answer)}"


def _page(title: str, body: Html, status: int = 200) -> web.Response:
    response = answers.html(sign_in_page(title, body), _POLICY, status, referrer="same-origin")
    response.headers["Cache-Control"] = "no-store"
    return answers.keep_opener(response)


def _read_session(context: Context, engine: Engine, now_ms: int) -> Session | None:
    """Return the session that a request carries, if it is good in this world as it is now."""
    try:
        sent = SimpleCookie(context.request.headers.get("Cookie", "")).get(_COOKIE)
    except CookieError:
        return None
    change = Change(engine.world, now_ms)
    id_ = engine.identity.sign_ins.open_session(sent.value, change) if sent else None
    found = engine.world.get(SESSIONS, id_ or "")
    if id_ is None or found is None or found.ended_ms is not None:
        return None
    person, organization_id = engine.world.get(PEOPLE, found.person_id), found.organization_id
    if person is None:
        return None
    if organization_id and not engine.world.get(MEMBERSHIPS, f"{organization_id}/{person.id}"):
        return None
    return Session(id_, person, organization_id, found.began_ms)


def _choice(world: World, person: Person, known: Session | None) -> Html:
    """Return a person as buttons: one for each of their organizations, by alias."""
    places = sorted(
        (
            place
            for id_, place in world.rows(ORGANIZATIONS)
            if world.get(MEMBERSHIPS, f"{id_}/{person.id}") is not None
        ),
        key=lambda place: place.alias,
    )
    several = len(places) > 1
    mark = Html(_KNOWN if known and known.person.id == person.id else "")
    if several:
        mark = html("<p>$name$mark, for:</p>", name=person.name, mark=mark)
    buttons = ""
    for place in places or (None,):
        value, name, about = person.id, person.name, "no organization"
        if place is not None:
            value, about = f"{value}/{place.id}", f"{place.name} ({place.alias}, {place.plan})"
            name += f" · {place.alias}" if several else ""
        buttons += html(_BUTTON, value=value, name=name, alias=person.alias, about=about)
    return Html(f"<li>{mark}{buttons}</li>\n")


def _people_in_order(world: World) -> list[Person]:
    """Return everybody: those of an organization by its alias, its owner first; the others last."""
    best: dict[str, tuple[int, str, str]] = {}
    for _, membership in world.rows(MEMBERSHIPS):
        organization = world.get(ORGANIZATIONS, membership.organization_id)
        alias = "" if organization is None else organization.alias
        place = (0, alias, "" if membership.role == "owner" else membership.role)
        best[membership.person_id] = min(place, best.get(membership.person_id, place))
    nowhere = (1, "", "")
    people = (person for _, person in world.rows(PEOPLE))
    return sorted(people, key=lambda person: (best.get(person.id, nowhere), person.alias))


def _hinted(world: World, hint: str) -> Person | None:
    """Return the person whose alias, id or e-mail address a `login_hint` is."""
    if not hint:
        return None
    person = world.get(PEOPLE, id_of(world, PEOPLE, hint))
    return person or next((row for _, row in world.rows(PEOPLE) if row.email == hint), None)
