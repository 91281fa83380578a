"""The pages of signing in: who are you, that cannot be, and you are signed out.

They work without a script. What a request said is shown as text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from hosting_emulator.server.pages.layout import BASE_STYLE_PATH, STYLE_PATH
from hosting_emulator.server.pages.static_files import STATIC_PATH
from hosting_emulator.world.records import Organization, Person

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
)
"""What the pages may load. It says nothing of forms: a browser would hold that against wherever the
client sends it on to after its sign-in, and the form's own target is fixed in the page."""

_SCOPES: Final = {
    "openid": "who you are",
    "profile": "your name",
    "email": "your e-mail address",
    "offline_access": "staying signed in",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A person, and the organizations they can sign in to."""

    person: Person
    organizations: Sequence[Organization]


def sign_in_page(
    *,
    client_id: str,
    destination: str,
    local: bool,
    world: str,
    scope: str,
    people: Sequence[Choice],
    chosen: str,
    nobody_is: str,
    fields: Mapping[str, str],
) -> str:
    """Return the page to choose a person.

    Args:
        client_id: What the client calls itself.
        destination: Where its answer goes: an origin, or a native app.
        local: Whether that is an address of this machine or network.
        world: The world whose people these are.
        scope: What was granted, in OpenID's words.
        people: Whom to choose from.
        chosen: The id of the person this browser last signed in as, if any.
        nobody_is: A `login_hint` that fits nobody.
        fields: The request's parameters, sent again with the choice.
    """
    hidden = "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">\n'
        for name, value in fields.items()
    )
    known = "".join(f"<li>{says}</li>" for word, says in _SCOPES.items() if word in scope.split())
    body = f"""<h1>Who signs in?</h1>
<p class="lead"><b>{escape(client_id[:80])}</b> asks. Choose a person of the world
<b>{escape(world)}</b>: no password is needed.</p>
{_warning(destination, local)}{_note(nobody_is)}
<form method="post">
{hidden}<ul class="people">
{"".join(_person(choice, choice.person.id == chosen) for choice in people)}</ul>
<p><button class="nobody" name="choice" value="nobody">Cancel: sign nobody in</button></p>
</form>
<h2>What will happen</h2>
<p>The browser goes back to <code>{escape(destination)}</code> with a code, which the client changes
for tokens of the person that you chose. It may then call the API as that person{
        ", and it gets:" if known else "."
    }</p>
{f"<ul>{known}</ul>" if known else ""}"""
    return _document("Sign in", body)


def _warning(destination: str, local: bool) -> str:
    if local:
        return ""
    return f"""<p class="warning" role="alert"><b>Not an address of this machine.</b> If you go on,
<code>{escape(destination)}</code> gets a sign-in. Choose a person only if you know it.</p>
"""


def _note(nobody_is: str) -> str:
    if not nobody_is:
        return ""
    return f'<p class="warning">Nobody here is <code>{escape(nobody_is[:80])}</code>.</p>\n'


def _person(choice: Choice, known: bool) -> str:
    person = choice.person
    places = choice.organizations or (None,)
    buttons = "".join(_button(person, place, len(places) > 1) for place in places)
    mark = ' <span class="mark retry">signed in before</span>' if known else ""
    several = f"<p>{escape(person.name)}{mark}, for:</p>" if len(places) > 1 else mark
    return f"<li>{several}{buttons}</li>\n"


def _button(person: Person, place: Organization | None, several: bool) -> str:
    value = person.id if place is None else f"{person.id}/{place.id}"
    told = "no organization" if place is None else f"{place.name} ({place.alias}, {place.plan})"
    name = f"{person.name} · {place.alias}" if several and place is not None else person.name
    return f"""<button name="choice" value="{escape(value)}">
<b>{escape(name)}</b><span><code>{escape(person.alias)}</code> {escape(told)}</span></button>"""


def refused_page(why: str) -> str:
    """Return the page of a request that is not answered at its client."""
    body = f"""<h1>This sign-in cannot go on</h1>
<p class="lead" role="alert">{escape(why)}</p>
<p>The application that sent you here has to change its request. Nothing was told to it: its address
is missing, no good, or not one of this machine's.</p>"""
    return _document("Sign-in refused", body)


def signed_out_page(address: str) -> str:
    """Return the page after signing out; `address` is where the client would like to go on."""
    onward = ""
    if address:
        onward = f"""<p>The application asks you to go on to
<a href="{escape(address)}" rel="noreferrer">{escape(address)}</a>.</p>"""
    body = f"""<h1>Signed out</h1>
<p class="lead">This browser no longer has a session here. Tokens go on until they expire.</p>
{onward}"""
    return _document("Signed out", body)


def _document(title: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)} - hosting-emulator</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{BASE_STYLE_PATH}">
<link rel="stylesheet" href="{STYLE_PATH}">
<link rel="stylesheet" href="{STATIC_PATH}/sign-in.css">
</head>
<body class="sign-in">
<main id="main">
{body}
</main>
<footer><p>The hosting emulator's own identity provider. It is not the real service, and its people
are made up.</p></footer>
</body>
</html>
"""
