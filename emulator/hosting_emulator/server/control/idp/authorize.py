"""The authorization endpoint: a person is chosen, and the client gets a code (RFC 6749, 4.1).

Without a word it answers only a client whose address is local. For any other the page is shown, so
that this is no way to send people to other sites.
"""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of, issuer_path
from hosting_emulator.engine.sign_in import SignIn
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.idp import session
from hosting_emulator.server.control.idp.asking import (
    Asked,
    ClientRefused,
    Destination,
    PageRefused,
    read_asked,
    read_destination,
    read_fields,
)
from hosting_emulator.server.control.idp.people import (
    hinted,
    in_order,
    organization_of,
    organizations_of,
)
from hosting_emulator.server.control.people import find
from hosting_emulator.server.pages import sign_in_page as pages
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import PEOPLE
from hosting_emulator.world.value import World

_CHOICE = "choice"
_NOBODY = "nobody"


async def authorize(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET and POST …/idp/authorize: the page to choose a person, or the way back with a code.

    `prompt=none` answers without a page from this browser's session. `login_hint` (an alias, id or
    e-mail address) chooses the person without a page; `organization` (alias or id) the organization.
    """
    engine = context.engine(world)
    posted = context.request.method == "POST"
    text = (await context.bytes()).decode("utf-8", "replace") if posted else context.query
    try:
        fields = read_fields(text)
        choice = fields.pop(_CHOICE, "") if posted else ""
        to = read_destination(fields, context.origins)
    except PageRefused as refused:
        return _page(pages.refused_page(str(refused)), status=400)
    try:
        asked = read_asked(fields, to)
        return _answer(context, engine, asked, fields, choice)
    except ClientRefused as refused:
        if not to.local and choice != _NOBODY:
            return _page(pages.refused_page(f"{refused.description}."), status=400)
        error = {"error": refused.error, "error_description": refused.description}
        return _back(context, engine, to, fields, error)


def _answer(
    context: Context, engine: Engine, asked: Asked, fields: Mapping[str, str], choice: str
) -> web.Response:
    now_ms = engine.run_due()
    if choice == _NOBODY:
        raise ClientRefused("access_denied", "nobody was chosen")
    if choice:
        person, organization_id = _chosen(engine.world, choice)
        return _sign_in(context, engine, asked, fields, person, organization_id, now_ms)
    known = session.read(context, engine, now_ms)
    person_hinted = hinted(engine.world, asked.login_hint)
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
        organization_id = _named(engine.world, person_hinted, asked) or home_of(
            engine.world, person_hinted
        )
        return _sign_in(context, engine, asked, fields, person_hinted, organization_id, now_ms)
    shown = pages.sign_in_page(
        client_id=asked.client_id,
        destination=asked.destination.name,
        local=asked.destination.local,
        world=engine.world.name,
        scope=asked.scope,
        people=[
            pages.Choice(person, organizations_of(engine.world, person))
            for person in in_order(engine.world)
        ],
        chosen=known.person.id if known else "",
        nobody_is=asked.login_hint if person_hinted is None else "",
        fields=fields,
    )
    return _page(shown)


def _chosen(world: World, choice: str) -> tuple[Person, str | None]:
    person_id, _, organization = choice.partition("/")
    try:
        person = find(world, PEOPLE, person_id)
        return person, organization_of(world, person, organization)
    except ControlRefused as refused:
        raise ClientRefused("access_denied", refused.detail) from None


def _named(world: World, person: Person, asked: Asked) -> str | None:
    try:
        return organization_of(world, person, asked.organization)
    except ControlRefused as refused:
        raise ClientRefused("access_denied", refused.detail) from None


def _sign_in(
    context: Context,
    engine: Engine,
    asked: Asked,
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
    session.keep(response, engine, sign_ins.session(person.id, organization_id, since_ms))
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
    answer["iss"] = context.base_url + issuer_path(engine.world.name)  # RFC 9207
    return answers.redirect(to.url(answer))


def _page(text: str, status: int = 200) -> web.Response:
    response = answers.html(text, pages.POLICY, status, referrer="same-origin")
    response.headers["Cache-Control"] = "no-store"
    return answers.keep_opener(response)
