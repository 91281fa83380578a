"""The pages of the identity provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aiohttp import web

from hosting_emulator.http import responses
from hosting_emulator.http.pages import STATIC_PATH, Html, Templates, frame, html
from hosting_emulator.identity.destinations import Destination
from hosting_emulator.identity.oauth import SCOPES
from hosting_emulator.world.records import Organization, User
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, USERS
from hosting_emulator.world.value import World

#: The value of the cancel button, which is sent if no user was chosen.
CANCEL: Final = "nobody"
#: The pages' Content-Security-Policy. It does not restrict form targets, because browsers would
#: also apply that restriction to the redirect after a sign-in.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
_TEMPLATES: Final = Templates(__package__)
_NOT_LOCAL: Final = """<p class="warning" role="alert"><b>Not an address of this machine.</b> If you continue,
<code>$to</code> receives the sign-in. Choose a user only if you trust this address.</p>
"""
_UNKNOWN_HINT: Final = '<p class="warning">There is no user <code>$hint</code> in this world.</p>\n'
_HIDDEN_FIELD: Final = '<input type="hidden" name="$name" value="$value">\n'
_SIGNED_IN_MARK: Final = ' <span class="mark retry">signed in before</span>'
_BUTTON: Final = """<button name="choice" value="$value">
<b>$name</b><span><code>$alias</code> $about</span></button>"""
_ONWARD: Final = """<p>The application asks you to continue to
<a href="$address" rel="noreferrer">$address</a>.</p>"""


def refused_page(why: str) -> web.Response:
    """Return a page that explains why the sign-in was refused."""
    body = _TEMPLATES.fill("sign-in-refused", why=why)
    return _form_page("Sign-in refused", body, 400)


def refused_sign_out_page(why: str) -> web.Response:
    """Return a page that explains why the sign-out was refused."""
    body = _TEMPLATES.fill("sign-in-refused", why=why)
    return responses.html(_document("Sign-out refused", body), _POLICY, 400)


def signed_out_page(destination: Destination | None) -> web.Response:
    """Return the page shown after a sign-out, with a link to the destination that the client
    requested.
    """
    onward = Html("")
    if destination is not None:
        onward = html(_ONWARD, address=destination.uri)
    body = _TEMPLATES.fill("signed-out", onward=onward)
    return responses.html(_document("Signed out", body), _POLICY)


def choices_page(
    world: World,
    fields: Mapping[str, str],
    destination: Destination,
    *,
    scopes: Sequence[str],
    signed_in_id: str,
    unknown_hint: str,
) -> web.Response:
    """Return the page on which a user is chosen.

    `fields` are the fields of the client's request. The form includes them again. `unknown_hint` is
    a `login_hint` that does not match any user.
    """
    notes = Html("")
    if not destination.local:
        notes = html(_NOT_LOCAL, to=destination.name)
    if unknown_hint:
        notes = Html(notes + html(_UNKNOWN_HINT, hint=unknown_hint[:80]))
    hidden_fields = [html(_HIDDEN_FIELD, name=name, value=fields[name]) for name in fields]
    gets = "."
    scope_list = ""
    if scopes:
        gets = ", and receives:"
        items = "".join(f"<li>{SCOPES[scope]}</li>" for scope in scopes)
        scope_list = f"<ul>{items}</ul>"
    body = _TEMPLATES.fill(
        "sign-in",
        client=fields["client_id"][:80],
        world=world.name,
        notes=notes,
        hidden=Html("".join(hidden_fields)),
        users=Html(_choices(world, signed_in_id)),
        destination=destination.name,
        gets=gets,
        scopes=Html(scope_list),
    )
    return _form_page("Sign in", body)


def _document(title: str, body: Html) -> str:
    """Return an identity provider page, which has no links to the emulator's other pages."""
    head = Html(f'<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">\n')
    kind = Html(' class="sign-in"')
    foot = _TEMPLATES.fill("sign-in-foot")
    return frame(title, body, head=head, kind=kind, top="", foot=foot)


def _form_page(title: str, body: Html, status: int = 200) -> web.Response:
    """Return a page with a form. The page also works in a popup window that a client opened."""
    text = _document(title, body)
    response = responses.html(text, _POLICY, status, referrer="same-origin")
    response.headers["Cache-Control"] = "no-store"
    return responses.keep_opener(response)


def _choices(world: World, signed_in_id: str) -> str:
    """Return a list of all users, sorted by organization, with owners first."""
    organizations: dict[str, list[Organization]] = {user_id: [] for user_id, _ in world.rows(USERS)}
    # Users without an organization are listed last.
    order = dict.fromkeys(organizations, (1, "", ""))
    for _, membership in world.rows(MEMBERSHIPS):
        organization = world.get(ORGANIZATIONS, membership.organization_id)
        user_id = membership.user_id
        if organization is None or user_id not in organizations:
            continue
        organizations[user_id].append(organization)
        role = "" if membership.role == "owner" else membership.role
        order[user_id] = min(order[user_id], (0, organization.alias, role))
    users = [user for _, user in world.rows(USERS)]
    users.sort(key=lambda user: (order[user.id], user.alias))
    return "".join(
        _choice(user, organizations[user.id], is_signed_in=user.id == signed_in_id)
        for user in users
    )


def _choice(user: User, organizations: Sequence[Organization], *, is_signed_in: bool) -> str:
    """Return the list item for a user, with a button for each of the user's organizations."""
    mark = Html(_SIGNED_IN_MARK if is_signed_in else "")
    name = user.name
    has_several = len(organizations) > 1
    if has_several:
        mark = html("<p>$name$mark, for:</p>", name=name, mark=mark)
    buttons = []
    for organization in sorted(organizations, key=lambda organization: organization.alias):
        label = name
        if has_several:
            label = f"{name} · {organization.alias}"
        button = html(
            _BUTTON,
            value=f"{user.id}/{organization.id}",
            name=label,
            alias=user.alias,
            about=f"{organization.name} ({organization.alias}, {organization.plan})",
        )
        buttons.append(button)
    if not buttons:
        about = "no organization"
        buttons = [html(_BUTTON, value=user.id, name=name, alias=user.alias, about=about)]
    return f"<li>{mark}{''.join(buttons)}</li>\n"
