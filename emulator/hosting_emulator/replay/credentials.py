"""Credentials: each request is sent again as whoever sent it, for the record has no secrets."""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator.replay.names import CUT, Names
from hosting_emulator.replay.record import Answered, Headers, Record, Recorded, Who
from hosting_emulator.sdk import ControlClient

#: Longer than any record: what expired in it does so by the answer that was recorded.
_TEN_YEARS_S = 10 * 365 * 86_400
_UNKNOWN = "not-a-token"


class Credentials:
    """What to put into the Authorization headers of one replay.

    `as_` is a person, by alias or id, who sends everything that was sent with a credential.
    """

    def __init__(
        self, control: ControlClient, world: str, record: Record, names: Names, as_: str | None
    ) -> None:
        self._control = control
        self._world = world
        self._record = record
        self._names = names
        self._as = as_
        self._tokens: dict[tuple[str, str | None, bool], str] = {}
        self._key_values: dict[str, str] = {}
        #: What could not be as it was, in sentences.
        self.said: list[str] = []

    def headers(self, recorded: Recorded) -> Headers:
        """Return a request's headers with the new names and its sender's credential in them."""
        credential = self._credential(recorded)
        found = []
        for name, value in recorded.headers:
            if name.lower() != "authorization":
                found.append((name, self._names.in_text(value)))
            elif credential is not None:
                scheme = value.partition(" ")[0] if " " in value else "Bearer"
                found.append((name, f"{scheme} {credential}"))
                credential = None
        if credential is not None:
            found.append(("Authorization", f"Bearer {credential}"))
        return tuple(found)

    def learn_key(self, recorded: Answered | None, new: Answered | None) -> None:
        """Take up the value of an API key that a replayed request has made."""
        made, before = _document(new), _document(recorded)
        value, key = made.get("value"), before.get("key")
        if isinstance(value, str) and isinstance(key, dict) and "id" in key:
            self._key_values[key["id"]] = value
        old_value = before.get("value")
        if isinstance(value, str) and isinstance(old_value, str) and old_value != CUT:
            self._names.learn(old_value, value)  # a record of somebody who kept the secrets

    def _credential(self, recorded: Recorded) -> str | None:
        """Return the bearer token to send; None: none, or none but the recorded one."""
        if recorded.credential is False:
            return None
        if self._as is not None:
            return self._token(self._as, None, interactive=True)
        who = recorded.who
        if who is not None:
            return self._of(who)
        if self._record.own:  # it named nobody then, and must not now
            return _UNKNOWN
        sent = next((v for n, v in recorded.headers if n.lower() == "authorization"), "")
        value = sent.partition(" ")[2]
        known = self._names.new_for(value)
        if value and known != value:
            return known
        self._say("the record does not tell who asked: it is sent as the owner, or as --as says")
        return self._token("owner", None, interactive=True)

    def _of(self, who: Who) -> str:
        if who.api_key is not None:
            value = self._key_values.get(who.api_key)
            return self._new_key(who) if value is None else value
        person = who.alias or self._names.new_for(who.person)
        return self._token(person, who.organization, interactive=who.interactive)

    def _token(self, person: str, organization: str | None, *, interactive: bool) -> str:
        wanted = (person, organization, interactive)
        if wanted not in self._tokens:
            made = self._control.token(
                person,
                world=self._world,
                organization=None if organization is None else self._names.new_for(organization),
                interactive=interactive,
                expires_in_seconds=_TEN_YEARS_S,
            )
            self._tokens[wanted] = made["access_token"]
        return self._tokens[wanted]

    def _new_key(self, who: Who) -> str:
        assert who.api_key is not None
        made: dict[str, Any] = self._control.create_api_key(
            who.alias or self._names.new_for(who.person),
            world=self._world,
            organization=None
            if who.organization is None
            else self._names.new_for(who.organization),
            permissions=who.permissions,
        )
        self._say(f"the API key {who.api_key} is older than the record: a key like it was made")
        self._key_values[who.api_key] = str(made["value"])
        return str(made["value"])

    def _say(self, sentence: str) -> None:
        if sentence not in self.said:
            self.said.append(sentence)


def key_made(answer: Answered | None) -> str | None:
    """Return the id of the API key whose value an answer shows; None: it shows none."""
    made = _document(answer)
    key = made.get("key")
    if not isinstance(made.get("value"), str) or not isinstance(key, dict):
        return None
    id_ = key.get("id")
    return id_ if isinstance(id_, str) else None


def _document(answer: Answered | None) -> dict[str, Any]:
    if answer is None or answer.text is None or '"key"' not in answer.text:
        return {}
    try:
        document = json.loads(answer.text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
