"""Recorded requests as shell lines: curl for the requests, our own command for the time between."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from hosting_emulator.replay.recording import RecordedCall, Recording, Who

#: Of the headers, what a person would write.
_WORTH = frozenset({"idempotency-key", "content-type", "content-encoding", "x-request-id"})
_NOT_PLAIN = re.compile(r'([\\"$`])')
_NOT_FOR_CURL = re.compile(r"[][{}]|/\.")
_OWNERS = "$HOSTING_TOKEN"
#: Takes the value of a new key out of the answer, however that is laid out.
_VALUE = r"""sed -n 's/.*"value" *: *"\([^"]*\)".*/\1/p'"""


def curl_lines(record: Recording, began_ms: int | None = None) -> Iterator[str]:
    """Yield lines for a shell where `eval "$(hosting-emulator env)"` was run.

    Ids in them are those of the record; `requests replay` puts others in their place. An API key
    that a request is sent with stands in a variable: an earlier line has filled it. `began_ms` is
    when the world began: until the first request, time has to pass too.
    """
    variables = _variables(record)
    filled: set[str] = set()
    before_ms, waited = record.requests[0].at_ms if began_ms is None else began_ms, False
    for recorded in record.requests:
        passed_ms = recorded.at_ms - before_ms
        if passed_ms > 0:
            yield f"hosting-emulator clock advance {passed_ms}ms"
            before_ms, waited = recorded.at_ms, True
        token = _token(recorded, variables, record)
        if waited and token == _OWNERS:
            token = "$(hosting-emulator token)"  # the other may have expired meanwhile
        who, line, made = (
            recorded.who,
            _curl(recorded, token),
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


def _curl(recorded: RecordedCall, token: str | None) -> str:
    # Left alone, curl takes brackets in an address for a range, and "/../" for a way up.
    words = ["curl -s" + " -g --path-as-is" * bool(_NOT_FOR_CURL.search(recorded.target))]
    if recorded.method == "HEAD":
        words.append("--head")  # else it would wait for a body
    elif recorded.method != "GET" or recorded.body is not None:
        words.append(f"-X {shlex.quote(recorded.method)}")
    if token is not None:
        words.append(f'-H "Authorization: Bearer {token}"')
    for name, value in recorded.headers:
        if name.lower() in _WORTH:
            words.append(f"-H {shlex.quote(f'{name}: {value}' if value else f'{name};')}")
    if recorded.body is not None:
        if all(name.lower() != "content-type" for name, _ in recorded.headers):
            words.append("-H Content-Type:")  # or curl would say that it is a form
        words.append(f"--data-raw {shlex.quote(recorded.body.decode(errors='replace'))}")
    target = _NOT_PLAIN.sub(r"\\\1", recorded.target)
    words.append(f'"$HOSTING_BASE_URL{target}"')
    return " ".join(words)


def _token(recorded: RecordedCall, variables: Mapping[str, str], record: Recording) -> str | None:
    who = recorded.who
    if who is None:
        return {None: _OWNERS, True: "unknown", False: None}[recorded.credential]
    if who.api_key is not None:
        return f"${variables[who.api_key]}"
    flags = " --api-client" * (not who.interactive)
    # Whoever belongs to several organizations gets a token for the first of them, by alias.
    others = sorted(record.world.organizations.items())[1:]
    flags += "".join(f" --organization {a}" for a, id_ in others if id_ == who.organization)
    name = shlex.quote(who.alias or who.person)
    if name == "owner" and not flags:
        return _OWNERS
    return f"$(hosting-emulator token --as {name}{flags})"
