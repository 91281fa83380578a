"""Comparing: where a new answer is not what was recorded, names and moments apart.

It must not send anything; what it pairs on the way goes into `Names`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hosting_emulator.replay.moments import moment_ms
from hosting_emulator.replay.names import CUT, Names, alike, free, tokens, without_secrets
from hosting_emulator.replay.record import Answered

#: The headers that say something of the answer.
_HEADERS = ("content-type", "location", "retry-after", "allow", "www-authenticate", "x-request-id")
_ABSENT = "(absent)"
_LOST = "(no answer)"
#: A world's name before the zones of this emulator, wherever a record does not tell the name.
_WORLD_LABEL = re.compile(r"(?<=\w)\.[a-z0-9-]+(?=\.(?:dev|prod|mail)\.localhost)")
_OPAQUE = re.compile("[A-Za-z0-9_-]+")


class Difference(NamedTuple):
    """Where an answer differs: `at` is a place in it, such as `body.progress.phase`."""

    at: str
    recorded: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class Moments:
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
        if then_ms == now_ms:
            return True
        if then_ms < self.recorded_start_ms and now_ms < self.new_start_ms:
            return True
        shift_ms = self.new_ms - self.recorded_ms
        return abs(now_ms - then_ms - shift_ms) <= self.tolerance_ms


class Comparison:
    """Compares one answer with the one recorded. `worlds` are the names of the two worlds."""

    def __init__(self, names: Names, moments: Moments, worlds: tuple[str, str]) -> None:
        self._names = names
        self._moments = moments
        self._worlds = worlds

    def differences(self, recorded: Answered | None, new: Answered | None) -> list[Difference]:
        """Return every difference, in the order of the answer, without the secrets in it."""
        return [
            Difference(at, without_secrets(before), without_secrets(now))
            for at, before, now in self._differences(recorded, new)
        ]

    def _differences(self, recorded: Answered | None, new: Answered | None) -> list[Difference]:
        if recorded is None or new is None:
            if recorded is new:
                return []
            return [Difference("answer", _brief(recorded), _brief(new))]
        found = []
        if recorded.status != new.status:
            found.append(Difference("status", recorded.status, new.status))
        found += self._headers(recorded, new)
        if (recorded.status < 400) != (new.status < 400):
            # Of a success and a failure no member is the same: the two are told whole.
            found.append(Difference("body", _told(recorded), _told(new)))
        elif recorded.text is not None and new.text is not None:
            found += self._bodies(recorded.text, new.text)
        return found

    def _headers(self, recorded: Answered, new: Answered) -> Iterator[Difference]:
        for name in _HEADERS:
            before, now = recorded.header(name), new.header(name)
            if before is None or now is None:
                if before is not now:
                    yield Difference(f"header {name}", before or _ABSENT, now or _ABSENT)
            else:
                yield from self._texts(f"header {name}", before, now)

    def _bodies(self, recorded: str, new: str) -> Iterator[Difference]:
        try:
            yield from self._values("body", json.loads(recorded), json.loads(new))
        except ValueError:  # one of them is no JSON
            yield from self._texts("body", recorded, new)

    def _values(self, at: str, recorded: Any, new: Any) -> Iterator[Difference]:
        if isinstance(recorded, dict) and isinstance(new, dict):
            for name in [*recorded, *(name for name in new if name not in recorded)]:
                inner = f"{at}.{name}"
                if name not in recorded or name not in new:
                    yield Difference(inner, recorded.get(name, _ABSENT), new.get(name, _ABSENT))
                else:
                    yield from self._member(inner, name, recorded[name], new[name])
        elif isinstance(recorded, list) and isinstance(new, list):
            if len(recorded) != len(new):
                yield Difference(f"{at}.length", len(recorded), len(new))
            for place, (before, now) in enumerate(zip(recorded, new, strict=False)):
                yield from self._values(f"{at}[{place}]", before, now)
        elif isinstance(recorded, str) and isinstance(new, str):
            yield from self._texts(at, recorded, new)
        elif recorded != new or isinstance(recorded, bool) != isinstance(new, bool):
            yield Difference(at, recorded, new)

    def _member(self, at: str, name: str, recorded: Any, new: Any) -> Iterator[Difference]:
        if name == "type" and isinstance(recorded, str) and isinstance(new, str):
            # A problem's link: where its documentation is says nothing about the service.
            recorded, new = _page_of(recorded), _page_of(new)
        opaque = name.endswith("cursor") and isinstance(recorded, str) and isinstance(new, str)
        if opaque and _OPAQUE.fullmatch(recorded) and _OPAQUE.fullmatch(new):
            yield from self._pair(at, recorded, new)
        else:
            yield from self._values(at, recorded, new)

    def _texts(self, at: str, recorded: str, new: str) -> Iterator[Difference]:
        before = list(tokens(self._at_home(recorded)))
        now = list(tokens(self._at_home(new)))
        if len(before) != len(now) or not all(map(alike, before, now)):
            yield Difference(at, recorded, new)
            return
        for old, made in zip(before, now, strict=True):
            if old.kind == "time":
                if not self._moments.same(old.text, made.text):
                    yield Difference(at, recorded, new)
                    return
            elif old.kind is not None and not free(old.kind):
                yield from self._pair(at, old.text, made.text)

    def _pair(self, at: str, recorded: str, new: str) -> Iterator[Difference]:
        if recorded == CUT:
            return
        known = self._names.learn(recorded, new)
        if known is not None:
            yield Difference(at, f"{recorded}, which is {known} here", new)

    def _at_home(self, text: str) -> str:
        """Return a text without the worlds' own names in hostnames."""
        text = _WORLD_LABEL.sub("", text)
        for name in self._worlds:
            if name:
                text = text.replace(f".{name}.", ".")
        return text


def _page_of(link: str) -> str:
    return link.rpartition("/errors/")[2]


def _told(answer: Answered) -> Any:
    """Return what a body says: of a problem its code and detail, else all of it."""
    try:
        document = json.loads(answer.text or "")
    except ValueError:
        return answer.text
    if answer.status >= 400 and isinstance(document, dict) and "code" in document:
        return f"{document['code']}: {document.get('detail') or document.get('title')}"
    return document


def _brief(answer: Answered | None) -> str:
    return _LOST if answer is None else f"status {answer.status}"
