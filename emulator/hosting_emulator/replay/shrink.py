"""Shrinking: the shortest part of a recording that still shows an answer; and as lines for a shell.

Each try is in a world of its own, forked from one beginning.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from hosting_emulator.contract.resources import FAILURES
from hosting_emulator.contract.words import unknown
from hosting_emulator.delta_debugging import read_target, smallest
from hosting_emulator.replay.recording import (
    RecordedAnswer,
    RecordedCall,
    Recording,
    Who,
    header_of,
    moment_ms,
)
from hosting_emulator.replay.run import (
    Beginning,
    Replayed,
    ReplayRun,
    like_recorded,
)
from hosting_emulator.sdk import ControlClient, HostingEmulator, JsonObject, known_call

Calls = tuple[RecordedCall, ...]
#: What tells an answer: `status=409 code=idempotency_key_reused call=… method=… path=… n=…`. And what
#: requests came to: a rule of conduct that was broken; a call that did the same twice; a call whose
#: failure was heard (and overlooked, where the client claims success).
FIELDS = ("status", "code", "call", "method", "path", "n", "conduct", "doubled", "blind")


class NotShown(ValueError):
    """No request of the recording is answered so; the message says what comes nearest."""


class Shows:
    """An answer, told by `name=value` words (FIELDS), or what requests came to.

    A `status` of 0 is an answer that was lost; `path` may have `*` for any text; `n` is a request's
    number. Raises ValueError, naming what is known or nearest.
    """

    def __init__(self, text: str) -> None:
        example = "name a response, such as status=409 code=idempotency_key_reused"
        given: dict[str, Any] = {**read_target(text, FIELDS, example)}
        for name in given.keys() & {"status", "n"}:
            if not given[name].isascii() or not given[name].isdigit() or len(given[name]) > 9:
                raise ValueError(f"{name} is a number, not {given[name]!r}")
            given[name] = int(given[name])
        for name in ("call", "doubled", "blind"):
            known_call(given.get(name))
        if "method" in given:
            given["method"] = given["method"].upper()
        self._given = given

    def check(self, control: ControlClient) -> None:
        """Refuse a rule of conduct that an emulator does not have. Raises NotShown."""
        if (rule := self._given.get("conduct")) is not None:
            known = [row["id"] for row in control.contract("conduct-rules")]
            if rule not in known:
                raise NotShown(unknown("rule", rule, known))

    def last_of(self, done: Sequence[Replayed], world: HostingEmulator) -> bool:
        """Whether the last of replayed requests shows it, in the world that answered them."""
        if not self.by(done[-1]):
            return False
        given = self._given
        if "conduct" in given:
            findings = world.conduct.read(final=True)["findings"]
            if given["conduct"] not in {finding["rule"] for finding in findings}:
                return False
        doubled = "doubled" not in given or _doubled(done, given["doubled"])
        return doubled and ("blind" not in given or _failed(done, given["blind"]))

    def by(self, one: Replayed) -> bool:
        """Whether a replayed request was answered so."""
        return self.about(one.recorded) and one.skipped is None and self.answered(one.answer)

    def about(self, recorded: RecordedCall) -> bool:
        """Whether a request is one of those meant, whatever its answer."""
        fits = self._fits(n=recorded.n, call=recorded.call, method=recorded.method)
        return fits and fnmatchcase(recorded.path, self._given.get("path", "*"))

    def answered(self, answer: RecordedAnswer | None) -> bool:
        """Whether an answer is the one meant."""
        return self._fits(status=answer.status if answer else 0, code=answer and answer.code)

    def _fits(self, **found: Any) -> bool:
        return all(self._given.get(name, value) == value for name, value in found.items())


def _doubled(done: Sequence[Replayed], call: str) -> bool:
    """Whether the last request of a call made what an earlier one like it had made already."""
    last = done[-1].recorded
    asked = (last.target, last.body)
    alike = [_made(one) for one in done if (one.recorded.target, one.recorded.body) == asked]
    return last.call == call and alike[-1] is not None and len({*alike} - {None}) > 1


def _failed(done: Sequence[Replayed], call: str) -> bool:
    """Whether the last answer says that what a call asked for is not done, or is of no use."""
    last, members = done[-1], _members(done[-1])
    if last.recorded.call == call:
        refused = last.answer is None or last.answer.status >= 400
        return refused or ("value" in members and members["value"] is None)
    begun = {_made(one) for one in done if one.recorded.call == call}
    return members.get("state") in FAILURES and members.get("id") in begun


def _made(one: Replayed) -> str | None:
    """Return the id of what a request made, or had made before; None: nothing that has one."""
    members = _members(one)
    made: str | None = (members.get("key") or members).get("id")
    return made


def _members(one: Replayed) -> dict[str, Any]:
    return one.answer.members if one.answer and one.answer.status < 400 else {}


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The requests that are left, and their recording, `har`, in a world that began at `began_ms`.

    `runs` is how many worlds were tried; `shortest`: none of them can be left out.
    """

    requests: Calls
    of: int
    runs: int
    shortest: bool
    har: JsonObject
    began_ms: int


def shrink(
    control: ControlClient,
    record: Recording,
    shows: Shows,
    *,
    beginning: Beginning | None = None,
    as_: str | None = None,
    move_time: bool = True,
    max_runs: int = 500,
) -> Shrunk:
    """Find the shortest part that shows an answer, in `max_runs` + 2 worlds; else as `replay`.

    Raises NotShown, ControlError.
    """
    runs = 0

    def sent(world: HostingEmulator, requests: Calls) -> Iterator[Replayed]:
        nonlocal runs
        runs += 1
        return ReplayRun(world, record, as_=as_, move_time=move_time).send(requests)

    def holds(kept: Calls) -> bool:
        with base.fork() as world:
            return shows.last_of(list(sent(world, (*kept, shown))), world)

    shows.check(control)
    with like_recorded(control, record, beginning or Beginning()) as base:
        with base.fork() as world:
            done: list[Replayed] = []
            for one in sent(world, record.requests):
                done.append(one)
                if shows.last_of(done, world):
                    break
            else:
                raise NotShown(_nearest(shows, done))
        shown, before = one.recorded, tuple(other.recorded for other in done[:-1])
        left, shortest = before, True
        if before and holds(()):
            left = ()
        elif before:
            found = smallest(before, holds, max_runs - 1)
            left, shortest = found.items, found.finished
        with base.fork() as world:
            began_ms = moment_ms(world.clock.now)
            list(sent(world, (*left, shown)))
            har = world.requests.har(state=True)
    return Shrunk((*left, shown), len(record.requests), runs, shortest, har, began_ms)


def _nearest(shows: Shows, done: Sequence[Replayed]) -> str:
    meant = [one for one in done if shows.about(one.recorded)]
    if not meant:
        return "no request of the recording matches"
    if any(map(shows.by, meant)):
        return "this does not happen after any request of the recording"
    before = next((one for one in meant if shows.answered(one.recorded.answer)), None)
    if before is not None:
        return (
            f"request {before.recorded.n} got this response when recorded, "
            f"but now it {_brief(before)}"
        )
    last = meant[-1]
    return f"no request gets this response; request {last.recorded.n} {_brief(last)}"


def _brief(one: Replayed) -> str:
    if one.skipped is not None:
        return f"is not sent: {one.skipped}"
    answer = one.answer
    return f"gets {answer.status} {answer.code or ''}".strip() if answer else "gets no response"


# --- As lines for a shell ----------------------------------------------------------------------

#: Of the headers, what a person would write.
_WORTH = frozenset({"idempotency-key", "content-type", "content-encoding", "x-request-id"})
_NOT_PLAIN = re.compile(r'([\\"$`])')
_NOT_FOR_CURL = re.compile(r"[][{}]|/\.")
_OWNERS = "$HOSTING_TOKEN"
#: Takes the value of a new key out of the answer, however that is laid out.
_VALUE = r"""sed -n 's/.*"value" *: *"\([^"]*\)".*/\1/p'"""


def curl_lines(record: Recording, began_ms: int | None = None) -> Iterator[str]:
    """Yield lines for a shell where `eval "$(hosting-emulator env)"` was run.

    Ids are those of the record; API keys stand in variables that an earlier line fills. `began_ms` is
    when the world began: until the first request, time has to pass too.
    """
    used = {one.who.api_key for one in record.requests if one.who is not None}
    #: Which variable each API key stands in that requests are sent with.
    variables: dict[str, str] = {}
    for one in record.requests:
        for key in (one.who and one.who.api_key, one.answer and one.answer.key_made):
            if key is not None and key in used:
                name = f"API_KEY_{len(variables) + 1}" if variables else "API_KEY"
                variables.setdefault(key, name)
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
        who, line = recorded.who, _curl(recorded, token)
        made = recorded.answer and recorded.answer.key_made
        if who is not None and who.api_key is not None and who.api_key not in filled:
            filled.add(who.api_key)  # no line has made it: one like it is made
            yield f"{variables[who.api_key]}=$({_key_like(who, record)})"
        if made in variables and made not in filled:
            filled.add(made)
            line = f"{variables[made]}=$({line} | {_VALUE})"
        yield line


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
        if header_of(recorded.headers, "content-type") is None:
            words.append("-H Content-Type:")  # or curl would say that it is a form
        words.append(f"--data-raw {shlex.quote(recorded.body.decode(errors='replace'))}")
    target = _NOT_PLAIN.sub(r"\\\1", recorded.target)
    words.append(f'"$HOSTING_BASE_URL{target}"')
    return " ".join(words)


def _token(recorded: RecordedCall, variables: Mapping[str, str], record: Recording) -> str | None:
    who = recorded.who
    if who is None:
        absent = None if record.own else _OWNERS
        return absent if recorded.authorization is None else "unknown"
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
