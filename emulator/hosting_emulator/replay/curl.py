"""Recorded requests as shell lines: curl for the requests, our own command for the time between."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from hosting_emulator.replay.recording import RecordedCall, Recording, Who
from hosting_emulator.replay.run import key_made

#: Of the headers, what a person would write.
_WORTH = frozenset({"idempotency-key", "content-type", "x-request-id"})
_NOT_PLAIN = re.compile(r'([\\"$`])')
#: Takes the value of a new key out of the answer, however that is laid out.
_VALUE = r"""sed -n 's/.*"value" *: *"\([^"]*\)".*/\1/p'"""


def curl_lines(record: Recording) -> Iterator[str]:
    """Yield lines for a shell where `eval "$(hosting-emulator env)"` was run.

    Ids in them are those of the record; `requests replay` puts others in their place. An API key
    that a request is sent with stands in a variable: an earlier line has filled it.
    """
    keys = _Keys(record)
    before_ms = record.requests[0].at_ms
    for recorded in record.requests:
        passed_ms = recorded.at_ms - before_ms
        if passed_ms > 0:
            yield f"hosting-emulator clock advance {passed_ms}ms"
            before_ms = recorded.at_ms
        yield from keys.before(recorded)
        yield keys.kept(recorded, _curl(recorded, keys))


class _Keys:
    """The API keys that requests of a record are sent with, and the variables they stand in."""

    def __init__(self, record: Recording) -> None:
        self._names: dict[str, str] = {}
        used = {one.who.api_key for one in record.requests if one.who is not None}
        for one in record.requests:
            for key in (one.who.api_key if one.who else None, key_made(one.answer)):
                if key is not None and key in used:
                    place = len(self._names) + 1
                    self._names.setdefault(key, "API_KEY" if place == 1 else f"API_KEY_{place}")
        self._filled: set[str] = set()
        self._organizations = {
            id_: alias for alias, id_ in record.world.ids.get("organizations", {}).items()
        }

    def name(self, key: str) -> str:
        """Return the variable that a key stands in."""
        return self._names[key]

    def before(self, recorded: RecordedCall) -> Iterator[str]:
        """Yield a line that makes a key like the one a request needs, where no line has made it."""
        who = recorded.who
        if who is not None and who.api_key is not None and who.api_key not in self._filled:
            self._filled.add(who.api_key)
            yield f"{self._names[who.api_key]}=$({self._made_like(who)})"

    def kept(self, recorded: RecordedCall, line: str) -> str:
        """Return a line, so that it keeps the key it makes if a later one needs that."""
        made = key_made(recorded.answer)
        if made is None or made not in self._names or made in self._filled:
            return line
        self._filled.add(made)
        return f"{self._names[made]}=$({line} | {_VALUE})"

    def _made_like(self, who: Who) -> str:
        words = ["hosting-emulator", "token", "--api-key", "--as", who.alias or who.person]
        if who.organization is not None:
            organization = self._organizations.get(who.organization, who.organization)
            words += ("--organization", organization)
        for permission in who.permissions or ():
            words += ("--permission", permission)
        return shlex.join(words)


def _curl(recorded: RecordedCall, keys: _Keys) -> str:
    words = ["curl -s"]
    if recorded.method != "GET":
        words.append(f"-X {shlex.quote(recorded.method)}")
    words += (f'-H "Authorization: Bearer {token}"' for token in _token(recorded, keys))
    for name, value in recorded.headers:
        if name.lower() in _WORTH:
            words.append(f"-H {shlex.quote(f'{name}: {value}')}")
    if recorded.body is not None:
        words.append(f"--data-raw {shlex.quote(recorded.body.decode(errors='replace'))}")
    target = _NOT_PLAIN.sub(r"\\\1", recorded.target)
    words.append(f'"$HOSTING_BASE_URL{target}"')
    return " ".join(words)


def _token(recorded: RecordedCall, keys: _Keys) -> Iterator[str]:
    who = recorded.who
    if who is None:
        if recorded.credential is not False:
            yield "$HOSTING_TOKEN" if recorded.credential is None else "unknown"
    elif who.api_key is not None:
        yield f"${keys.name(who.api_key)}"
    elif who.alias in (None, "owner"):
        yield "$HOSTING_TOKEN"
    else:
        flags = "" if who.interactive else " --api-client"
        yield f"$(hosting-emulator token --as {shlex.quote(str(who.alias))}{flags})"
