"""Recorded requests as shell lines: curl for the requests, our own command for the time between."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from hosting_emulator.replay.recording import RecordedCall, Recording, Who

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
    variables = _variables(record)
    filled: set[str] = set()
    before_ms = record.requests[0].at_ms
    for recorded in record.requests:
        passed_ms = recorded.at_ms - before_ms
        if passed_ms > 0:
            yield f"hosting-emulator clock advance {passed_ms}ms"
            before_ms = recorded.at_ms
        who, line, made = (
            recorded.who,
            _curl(recorded, variables),
            recorded.answer and recorded.answer.key_made,
        )
        if who is not None and who.api_key is not None and who.api_key not in filled:
            filled.add(who.api_key)  # no line has made it: one like it is made
            yield f"{variables[who.api_key]}=$({_key_like(who, record)})"
        if made in variables and made not in filled:
            filled.add(made)
            line = f"{variables[made]}=$({line} | {_VALUE})"
        yield line


def _variables(record: Recording) -> dict[str, str]:
    """Return which variable each API key stands in that requests of a recording are sent with."""
    names: dict[str, str] = {}
    used = {one.who.api_key for one in record.requests if one.who is not None}
    for one in record.requests:
        for key in (one.who and one.who.api_key, one.answer and one.answer.key_made):
            if key is not None and key in used:
                names.setdefault(key, f"API_KEY_{len(names) + 1}" if names else "API_KEY")
    return names


def _key_like(who: Who, record: Recording) -> str:
    words = ["hosting-emulator", "token", "--api-key", "--as", who.alias or who.person]
    if who.organization is not None:
        ids = record.world.organizations.items()
        alias = next((alias for alias, id_ in ids if id_ == who.organization), None)
        words += ("--organization", alias or who.organization)
    for permission in who.permissions or ():
        words += ("--permission", permission)
    return shlex.join(words)


def _curl(recorded: RecordedCall, variables: Mapping[str, str]) -> str:
    words = ["curl -s"]
    if recorded.method != "GET":
        words.append(f"-X {shlex.quote(recorded.method)}")
    words += (f'-H "Authorization: Bearer {token}"' for token in _token(recorded, variables))
    for name, value in recorded.headers:
        if name.lower() in _WORTH:
            words.append(f"-H {shlex.quote(f'{name}: {value}')}")
    if recorded.body is not None:
        words.append(f"--data-raw {shlex.quote(recorded.body.decode(errors='replace'))}")
    target = _NOT_PLAIN.sub(r"\\\1", recorded.target)
    words.append(f'"$HOSTING_BASE_URL{target}"')
    return " ".join(words)


def _token(recorded: RecordedCall, variables: Mapping[str, str]) -> Iterator[str]:
    who = recorded.who
    if who is None:
        if recorded.credential is not False:
            yield "$HOSTING_TOKEN" if recorded.credential is None else "unknown"
    elif who.api_key is not None:
        yield f"${variables[who.api_key]}"
    elif who.alias in (None, "owner"):
        yield "$HOSTING_TOKEN"
    else:
        flags = "" if who.interactive else " --api-client"
        yield f"$(hosting-emulator token --as {shlex.quote(str(who.alias))}{flags})"
