"""The pages of signing in: who are you, that cannot be, and you are signed out.

They work without a script. What a request said is shown as text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from hosting_emulator.server.pages.layout import Html, fill, html
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


class Choice(NamedTuple):
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
    notes = ""
    if not local:
        notes += html(
            '<p class="warning" role="alert"><b>Not an address of this machine.</b> If you go on,\n'
            "<code>$to</code> gets a sign-in. Choose a person only if you know it.</p>\n",
            to=destination,
        )
    if nobody_is:
        note = '<p class="warning">Nobody here is <code>$hint</code>.</p>\n'
        notes += html(note, hint=nobody_is[:80])
    field = '<input type="hidden" name="$name" value="$value">\n'
    granted = "".join(f"<li>{says}</li>" for word, says in _SCOPES.items() if word in scope.split())
    body = fill(
        "sign-in",
        client=client_id[:80],
        world=world,
        notes=Html(notes),
        hidden=Html("".join(html(field, name=name, value=fields[name]) for name in fields)),
        people=Html("".join(_person(choice, choice.person.id == chosen) for choice in people)),
        destination=destination,
        gets=", and it gets:" if granted else ".",
        scopes=Html(f"<ul>{granted}</ul>" if granted else ""),
    )
    return fill("sign-in-frame", title="Sign in", body=body)


def _person(choice: Choice, known: bool) -> Html:
    person = choice.person
    places = choice.organizations or (None,)
    several = len(places) > 1
    buttons = "".join(_button(person, place, several) for place in places)
    mark = Html(' <span class="mark retry">signed in before</span>' if known else "")
    if several:
        mark = html("<p>$name$mark, for:</p>", name=person.name, mark=mark)
    return Html(f"<li>{mark}{buttons}</li>\n")


def _button(person: Person, place: Organization | None, several: bool) -> Html:
    value, name, about = person.id, person.name, "no organization"
    if place is not None:
        value += f"/{place.id}"
        name += f" · {place.alias}" if several else ""
        about = f"{place.name} ({place.alias}, {place.plan})"
    return html(
        '<button name="choice" value="$value">\n'
        "<b>$name</b><span><code>$alias</code> $about</span></button>",
        value=value,
        name=name,
        alias=person.alias,
        about=about,
    )


def refused_page(why: str) -> str:
    """Return the page of a request that is not answered at its client."""
    body = html(
        '<h1>This sign-in cannot go on</h1>\n<p class="lead" role="alert">$why</p>\n'
        "<p>The application that sent you here has to change its request. Nothing was told to it:"
        " its address\nis missing, no good, or not one of this machine's.</p>",
        why=why,
    )
    return fill("sign-in-frame", title="Sign-in refused", body=body)


def signed_out_page(address: str) -> str:
    """Return the page after signing out; `address` is where the client would like to go on."""
    onward = Html("")
    if address:
        onward = html(
            "<p>The application asks you to go on to\n"
            '<a href="$address" rel="noreferrer">$address</a>.</p>',
            address=address,
        )
    body = html(
        '<h1>Signed out</h1>\n<p class="lead">This browser no longer has a session here. Tokens go'
        " on until they expire.</p>\n$onward",
        onward=onward,
    )
    return fill("sign-in-frame", title="Signed out", body=body)
