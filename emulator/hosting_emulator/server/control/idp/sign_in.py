"""Signing in and out by a browser: a person is chosen, and the client gets a code (RFC 6749, 4.1).

Without a word this answers only a client whose address is local. For any other the page is shown, so
that this is no way to send people to other sites. A browser's session is a cookie that no other path
gets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of, issuer_path
from hosting_emulator.engine.sign_in import SignIn
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused, find
from hosting_emulator.server.control.idp.authorization import (
    AuthorizationRequest,
    ClientRefused,
    Destination,
    PageRefused,
    destination,
    read_authorization,
    read_destination,
    read_fields,
)
from hosting_emulator.server.control.idp.tokens import issuer, organization_of
from hosting_emulator.server.pages import sign_in_page as pages
from hosting_emulator.world.naming import id_of
from hosting_emulator.world.records import Organization, Person
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE
from hosting_emulator.world.value import World

_COOKIE = "hosting_emulator_session"
_CHOICE = "choice"
_NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Session:
    """Who signed in with this browser, for which organization, and when (s of world time)."""

    person: Person
    organization_id: str | None
    since: int


async def authorize(context: Context, engine: Engine) -> web.Response:
    """GET and POST …/idp/authorize: the page to choose a person, or the way back with a code.

    `prompt=none` answers without a page from this browser's session. `login_hint` (an alias, id or
    e-mail address) chooses the person without a page; `organization` (alias or id) the organization.
    """
    posted = context.request.method == "POST"
    text = (await context.bytes()).decode("utf-8", "replace") if posted else context.query
    try:
        fields = read_fields(text)
        choice = fields.pop(_CHOICE, "") if posted else ""
        to = read_destination(fields, context.origins)
    except PageRefused as refused:
        return _page(pages.refused_page(str(refused)), status=400)
    try:
        asked = read_authorization(fields, to)
        return _answer(context, engine, asked, fields, choice)
    except ClientRefused as refused:
        if not to.local and choice != _NOBODY:
            return _page(pages.refused_page(f"{refused.description}."), status=400)
        error = {"error": refused.error, "error_description": refused.description}
        return _back(context, engine, to, fields, error)


def _answer(
    context: Context,
    engine: Engine,
    asked: AuthorizationRequest,
    fields: Mapping[str, str],
    choice: str,
) -> web.Response:
    now_ms = engine.run_due()
    if choice == _NOBODY:
        raise ClientRefused("access_denied", "nobody was chosen")
    if choice:
        person, organization_id = _chosen(engine.world, choice)
        return _sign_in(context, engine, asked, fields, person, organization_id, now_ms)
    known = _read_session(context, engine, now_ms)
    person_hinted = _hinted(engine.world, asked.login_hint)
    if "none" in asked.prompt:
        if not asked.destination.local:
            raise ClientRefused("interaction_required", "the client's address is not local")
        if known is None or (asked.login_hint and person_hinted != known.person):
            raise ClientRefused("login_required", "this browser has no session of that person")
        if asked.max_age is not None and now_ms // 1000 - known.since > asked.max_age:
            raise ClientRefused("login_required", "the session is older than max_age")
        return _sign_in(
            context, engine, asked, fields, known.person, known.organization_id, known.since * 1000
        )
    if person_hinted is not None and asked.destination.local and not asked.prompt:
        with _denied():
            organization_id = organization_of(engine.world, person_hinted, asked.organization)
        organization_id = organization_id or home_of(engine.world, person_hinted)
        return _sign_in(context, engine, asked, fields, person_hinted, organization_id, now_ms)
    shown = pages.sign_in_page(
        client_id=asked.client_id,
        destination=asked.destination.name,
        local=asked.destination.local,
        world=engine.world.name,
        scope=asked.scope,
        people=[
            pages.Choice(person, _organizations_of(engine.world, person))
            for person in _people_in_order(engine.world)
        ],
        chosen=known.person.id if known else "",
        nobody_is=asked.login_hint if person_hinted is None else "",
        fields=fields,
    )
    return _page(shown)


def _chosen(world: World, choice: str) -> tuple[Person, str | None]:
    person_id, _, organization = choice.partition("/")
    with _denied():
        person = find(world, PEOPLE, person_id)
        return person, organization_of(world, person, organization)


@contextmanager
def _denied() -> Iterator[None]:
    try:
        yield
    except ControlRefused as refused:
        raise ClientRefused("access_denied", refused.detail) from None


def _sign_in(
    context: Context,
    engine: Engine,
    asked: AuthorizationRequest,
    fields: Mapping[str, str],
    person: Person,
    organization_id: str | None,
    since_ms: int,
) -> web.Response:
    found = SignIn(
        person_id=person.id,
        organization_id=organization_id,
        client_id=asked.client_id,
        scope=asked.scope,
        auth_time=since_ms // 1000,
        nonce=asked.nonce,
    )
    now_ms, sign_ins = engine.now_ms(), engine.identity.sign_ins
    code = sign_ins.issue_code(found, asked.destination.uri, asked.challenge, now_ms)
    response = _back(context, engine, asked.destination, fields, {"code": code})
    response.set_cookie(
        _COOKIE,
        sign_ins.session(person.id, organization_id, since_ms),
        path=issuer_path(engine.world.name),
        httponly=True,
        samesite="Lax",
    )
    return response


def _back(
    context: Context,
    engine: Engine,
    to: Destination,
    fields: Mapping[str, str],
    answer: dict[str, str],
) -> web.Response:
    answer = dict(answer)
    if "state" in fields:
        answer["state"] = fields["state"]
    answer["iss"] = issuer(context, engine)  # RFC 9207
    return answers.redirect(to.url(answer))


def _page(text: str, status: int = 200) -> web.Response:
    response = answers.html(text, pages.POLICY, status, referrer="same-origin")
    response.headers["Cache-Control"] = "no-store"
    return answers.keep_opener(response)


def _read_session(context: Context, engine: Engine, now_ms: int) -> Session | None:
    """Return the session that a request carries, if it is good in this world as it is now."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(context.request.headers.get("Cookie", ""))
    except CookieError:
        return None
    sent = cookies.get(_COOKIE)
    found = engine.identity.sign_ins.open_session(sent.value, now_ms) if sent else None
    if found is None:
        return None
    person_id, organization_id, since = found
    person = engine.world.get(PEOPLE, person_id)
    if person is None:
        return None
    if organization_id and not engine.world.get(MEMBERSHIPS, f"{organization_id}/{person_id}"):
        return None
    return Session(person, organization_id, since)


def _organizations_of(world: World, person: Person) -> list[Organization]:
    """Return the organizations that a person belongs to, by alias."""
    found = (
        row
        for key, row in world.rows(ORGANIZATIONS)
        if world.get(MEMBERSHIPS, f"{key}/{person.id}") is not None
    )
    return sorted(found, key=lambda organization: organization.alias)


def _people_in_order(world: World) -> list[Person]:
    """Return everybody: those of an organization by its alias, its owner first; the others last."""
    best: dict[str, tuple[int, str, str]] = {}
    for _, membership in world.rows(MEMBERSHIPS):
        organization = world.get(ORGANIZATIONS, membership.organization_id)
        alias = "" if organization is None else organization.alias
        place = (0, alias, "" if membership.role == "owner" else membership.role)
        best[membership.person_id] = min(place, best.get(membership.person_id, place))
    people = (person for _, person in world.rows(PEOPLE))
    nowhere = (1, "", "")
    return sorted(people, key=lambda person: (best.get(person.id, nowhere), person.alias))


def _hinted(world: World, hint: str) -> Person | None:
    """Return the person whose alias, id or e-mail address a `login_hint` is."""
    if not hint:
        return None
    found = world.get(PEOPLE, id_of(world, PEOPLE, hint))
    return found or next((row for _, row in world.rows(PEOPLE) if row.email == hint), None)


# --- signing out ---------------------------------------------------------------------------------


def end_session(context: Context, engine: Engine) -> web.Response:
    """GET …/idp/end-session: end this browser's session, and go back where that is local.

    Tokens go on until they expire. To an address that is not local a link leads.
    """
    try:
        fields = read_fields(context.query)
        _check_hint(context, engine, fields)
        to = None
        if "post_logout_redirect_uri" in fields:
            to = destination(fields["post_logout_redirect_uri"], context.origins)
    except PageRefused as refused:
        return answers.html(pages.refused_page(str(refused)), pages.POLICY, 400)
    state = {"state": fields["state"]} if "state" in fields else {}
    address = (to.url(state) if state else to.uri) if to else ""
    if to is not None and to.local:
        response = answers.redirect(address)
    else:
        response = answers.html(pages.signed_out_page(address), pages.POLICY)
    path = issuer_path(engine.world.name)
    response.del_cookie(_COOKIE, path=path, httponly=True, samesite="Lax")
    return response


def _check_hint(context: Context, engine: Engine, fields: dict[str, str]) -> None:
    hint = fields.get("id_token_hint")
    here, sign_ins = issuer(context, engine), engine.identity.sign_ins
    claims = sign_ins.read_id_token(hint, here) if hint else None
    if hint and claims is None:
        raise PageRefused("The id_token_hint is no ID token of this world.")
    if claims is not None and fields.get("client_id", claims["aud"]) != claims["aud"]:
        raise PageRefused("The id_token_hint was issued to another client_id.")
