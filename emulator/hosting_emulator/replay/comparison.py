"""Comparison: where a new answer is not what was recorded, names and moments apart.

It must not send anything; what it pairs on the way goes into `Names`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hosting_emulator.replay.recording import (
    CUT,
    Names,
    RecordedAnswer,
    moment_ms,
    names_in,
    without_secrets,
)

#: The headers that say something of the answer.
_HEADERS = ("content-type", "location", "retry-after", "allow", "www-authenticate", "x-request-id")
_ABSENT = "(absent)"
_LOST = "(no response)"
#: A world's name before the zones of this emulator, wherever a record does not tell the name.
_WORLD_LABEL = re.compile(r"(?<=\w)\.[a-z0-9-]+(?=\.(?:dev|prod|mail)\.localhost)")
_OPAQUE = re.compile("[A-Za-z0-9_-]+")
#: Plain text and times; and what an emulator of ours may be called at, or where it listens, which
#: says nothing about the service.
_NO_NAMES = ("", "time", "place", "port")


class AnswerDifference(NamedTuple):
    """Where an answer differs: `at` is a place in it, such as `body.progress.phase`."""

    at: str
    recorded: Any
    answered: Any


class Moments(NamedTuple):
    """When a request was answered, and when it is answered now; in milliseconds since 1970.

    What was made before the start of both only has to be before it in both. `tolerance_ms` is how
    exactly time was kept in the replay.
    """

    recorded_ms: int
    new_ms: int
    recorded_start_ms: int
    new_start_ms: int
    tolerance_ms: int

    def same(self, recorded: str, new: str) -> bool:
        """Whether two timestamps say the same, each seen from its own request."""
        try:
            then_ms, now_ms = moment_ms(recorded.upper()), moment_ms(new.upper())
        except ValueError:
            return recorded == new
        before_both = then_ms < self.recorded_start_ms and now_ms < self.new_start_ms
        off_ms = abs(now_ms - then_ms - self.new_ms + self.recorded_ms)
        return then_ms == now_ms or before_both or off_ms <= self.tolerance_ms


@dataclass(frozen=True)
class Comparison:
    """Compares one answer with the one recorded. `worlds` are the names of the two worlds."""

    names: Names
    moments: Moments
    worlds: tuple[str, str]

    def differences(
        self, recorded: RecordedAnswer | None, new: RecordedAnswer | None
    ) -> list[AnswerDifference]:
        """Return every difference, in the order of the answer, without the secrets in it."""
        return [
            AnswerDifference(at, without_secrets(before), without_secrets(now))
            for at, before, now in self._differences(recorded, new)
        ]

    def _differences(
        self, recorded: RecordedAnswer | None, new: RecordedAnswer | None
    ) -> Iterator[AnswerDifference]:
        if recorded is None or new is None:
            brief = [_LOST if one is None else f"status {one.status}" for one in (recorded, new)]
            if recorded is not new:
                yield AnswerDifference("answer", *brief)
            return
        if recorded.status != new.status:
            yield AnswerDifference("status", recorded.status, new.status)
        for name in _HEADERS:
            at, before, now = f"header {name}", recorded.header(name), new.header(name)
            if before is not None and now is not None:
                yield from self._texts(at, before, now)
            elif before is not now:
                yield AnswerDifference(at, before or _ABSENT, now or _ABSENT)
        if (recorded.status < 400) != (new.status < 400):
            # Of a success and a failure no member is the same: the two are told whole.
            yield AnswerDifference("body", _brief(recorded), _brief(new))
        elif recorded.text is not None and new.text is not None:
            try:
                documents = json.loads(recorded.text), json.loads(new.text)
            except ValueError:  # one of them is no JSON
                yield from self._texts("body", recorded.text, new.text)
            else:
                yield from self._values("body", *documents)

    def _values(self, at: str, recorded: Any, new: Any) -> Iterator[AnswerDifference]:
        if isinstance(recorded, dict) and isinstance(new, dict):
            for name in [*recorded, *(name for name in new if name not in recorded)]:
                inner = f"{at}.{name}"
                before, now = recorded.get(name, _ABSENT), new.get(name, _ABSENT)
                if name in recorded and name in new:
                    yield from self._member(inner, name, before, now)
                else:
                    yield AnswerDifference(inner, before, now)
        elif isinstance(recorded, list) and isinstance(new, list):
            if len(recorded) != len(new):
                yield AnswerDifference(f"{at}.length", len(recorded), len(new))
            for place, (before, now) in enumerate(zip(recorded, new, strict=False)):
                yield from self._values(f"{at}[{place}]", before, now)
        elif isinstance(recorded, str) and isinstance(new, str):
            yield from self._texts(at, recorded, new)
        elif recorded != new or isinstance(recorded, bool) != isinstance(new, bool):
            yield AnswerDifference(at, recorded, new)

    def _member(self, at: str, name: str, recorded: Any, new: Any) -> Iterator[AnswerDifference]:
        if name == "type" and isinstance(recorded, str) and isinstance(new, str):
            # A problem's link: where its documentation is says nothing about the service.
            recorded, new = (link.rpartition("/errors/")[2] for link in (recorded, new))
        opaque = name.endswith("cursor") and isinstance(recorded, str) and isinstance(new, str)
        if opaque and _OPAQUE.fullmatch(recorded) and _OPAQUE.fullmatch(new):
            yield from self._pair(at, recorded, new)
        else:
            yield from self._values(at, recorded, new)

    def _texts(self, at: str, recorded: str, new: str) -> Iterator[AnswerDifference]:
        before, now = (list(names_in(self._at_home(text))) for text in (recorded, new))
        pairs = list(zip(before, now, strict=False))
        if len(before) != len(now) or not all(self._alike(*old, *made) for old, made in pairs):
            yield AnswerDifference(at, recorded, new)
            return
        for (kind, old), (_, made) in pairs:
            if kind not in _NO_NAMES:
                yield from self._pair(at, old, made)

    def _alike(self, kind: str, old: str, made_kind: str, made: str) -> bool:
        """Whether two pieces of text may stand for each other; plain text must be the same."""
        if kind == made_kind == "time":
            return self.moments.same(old, made)
        return kind == made_kind and (kind != "" or old == made)

    def _pair(self, at: str, recorded: str, new: str) -> Iterator[AnswerDifference]:
        if recorded == CUT:
            return
        known = self.names.learn(recorded, new)
        if known is not None:
            yield AnswerDifference(at, f"{recorded}, which is {known} here", new)

    def _at_home(self, text: str) -> str:
        """Return a text without the worlds' own names in hostnames."""
        text = _WORLD_LABEL.sub("", text)
        for name in self.worlds:
            if name:
                text = text.replace(f".{name}.", ".")
        return text


def _brief(answer: RecordedAnswer) -> Any:
    """Return what a body says: of a problem its code and detail, else all of it."""
    if answer.code is not None:
        return f"{answer.code}: {answer.members.get('detail') or answer.members.get('title')}"
    return answer.members or answer.text
