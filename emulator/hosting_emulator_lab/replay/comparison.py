"""Compares a response with the recorded response. Generated values and moments may differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from hosting_emulator_lab.replay.generated_values import (
    PLAIN,
    GeneratedValues,
    TextPiece,
    split_text,
    without_secrets,
)
from hosting_emulator_lab.replay.moments import moment_ms
from hosting_emulator_lab.replay.recording import REDACTED, RecordedResponse, header_of

#: The headers that are compared.
_HEADERS = ("content-type", "location", "retry-after", "allow", "www-authenticate", "x-request-id")
_ABSENT = "(absent)"
_NO_RESPONSE = "(no response)"
#: The name of a world in front of the emulator's zones, in recordings that do not name the world.
_WORLD_LABEL = re.compile(r"(?<=\w)\.[a-z0-9-]+(?=\.(?:dev|prod|mail)\.localhost)")
_CURSOR = re.compile("[A-Za-z0-9_-]+")
#: Kinds of text that are not paired: plain text and moments are compared instead, and the address
#: of an emulator says nothing about the service.
_UNPAIRED_KINDS = (PLAIN, "time", "address", "port")


class ResponseDifference(NamedTuple):
    """A difference between two responses. `at` is its path, such as `body.progress.phase`."""

    at: str
    recorded: Any
    replayed: Any


class ReplayTimes(NamedTuple):
    """A moment of the recording and the corresponding moment of the replay, in milliseconds since 1970."""

    recorded_ms: int
    replayed_ms: int


class Comparison:
    """Compares responses of two worlds, and pairs the values that both worlds generated.

    `worlds` are the names of the recorded and the new world, if they have names. `start` is when
    the recording and the replay started. A moment before the start of the recording corresponds to
    any moment before the start of the replay. A moment may be up to `tolerance_ms` milliseconds
    closer to its response or further from it.
    """

    def __init__(
        self,
        values: GeneratedValues,
        worlds: tuple[str, str],
        start: ReplayTimes,
        tolerance_ms: int,
    ) -> None:
        self._values = values
        self._world_labels = [f".{name}." for name in worlds if name]
        self._start = start
        self._now = start
        self._tolerance_ms = tolerance_ms

    def differences(
        self,
        recorded: RecordedResponse | None,
        replayed: RecordedResponse | None,
        now: ReplayTimes,
    ) -> list[ResponseDifference]:
        """Return every difference, without secrets. `now` is when the two responses were sent."""
        self._now = now
        return [
            ResponseDifference(
                difference.at,
                without_secrets(difference.recorded),
                without_secrets(difference.replayed),
            )
            for difference in self._compare(recorded, replayed)
        ]

    def _compare(
        self, recorded: RecordedResponse | None, replayed: RecordedResponse | None
    ) -> Iterator[ResponseDifference]:
        if recorded is None or replayed is None:
            if recorded is not replayed:
                yield ResponseDifference("response", _arrival(recorded), _arrival(replayed))
            return
        if recorded.status != replayed.status:
            yield ResponseDifference("status", recorded.status, replayed.status)
        for name in _HEADERS:
            yield from self._compare_headers(name, recorded, replayed)
        if (recorded.status < 400) != (replayed.status < 400):
            # A success and a failure have no member in common, so the bodies are shown whole.
            yield ResponseDifference("body", _body_of(recorded), _body_of(replayed))
        elif recorded.text is not None and replayed.text is not None:
            yield from self._compare_bodies(recorded.text, replayed.text)

    def _compare_headers(
        self, name: str, recorded: RecordedResponse, replayed: RecordedResponse
    ) -> Iterator[ResponseDifference]:
        at = f"header {name}"
        before = header_of(recorded.headers, name)
        after = header_of(replayed.headers, name)
        if before is not None and after is not None:
            yield from self._compare_texts(at, before, after)
        elif before is not after:
            yield ResponseDifference(at, before or _ABSENT, after or _ABSENT)

    def _compare_bodies(self, recorded: str, replayed: str) -> Iterator[ResponseDifference]:
        try:
            before = json.loads(recorded)
            after = json.loads(replayed)
        except ValueError:  # one of them is not JSON
            yield from self._compare_texts("body", recorded, replayed)
        else:
            yield from self._compare_values("body", before, after)

    def _compare_values(
        self, at: str, recorded: Any, replayed: Any
    ) -> Iterator[ResponseDifference]:
        if isinstance(recorded, dict) and isinstance(replayed, dict):
            yield from self._compare_objects(at, recorded, replayed)
        elif isinstance(recorded, list) and isinstance(replayed, list):
            if len(recorded) != len(replayed):
                yield ResponseDifference(f"{at}.length", len(recorded), len(replayed))
            for index, (before, after) in enumerate(zip(recorded, replayed, strict=False)):
                yield from self._compare_values(f"{at}[{index}]", before, after)
        elif isinstance(recorded, str) and isinstance(replayed, str):
            yield from self._compare_strings(at, recorded, replayed)
        elif recorded != replayed or isinstance(recorded, bool) != isinstance(replayed, bool):
            yield ResponseDifference(at, recorded, replayed)

    def _compare_objects(
        self, at: str, recorded: dict[str, Any], replayed: dict[str, Any]
    ) -> Iterator[ResponseDifference]:
        for name in recorded | replayed:
            before = recorded.get(name, _ABSENT)
            after = replayed.get(name, _ABSENT)
            if name in recorded and name in replayed:
                yield from self._compare_values(f"{at}.{name}", before, after)
            else:
                yield ResponseDifference(f"{at}.{name}", before, after)

    def _compare_strings(
        self, at: str, recorded: str, replayed: str
    ) -> Iterator[ResponseDifference]:
        before = recorded
        after = replayed
        if at.endswith(".type"):
            # Ignore the address before `/errors/`, because it says nothing about the service.
            before = recorded.rpartition("/errors/")[2]
            after = replayed.rpartition("/errors/")[2]
        if at.endswith("cursor") and _CURSOR.fullmatch(before) and _CURSOR.fullmatch(after):
            yield from self._pair(at, before, after)
        else:
            yield from self._compare_texts(at, before, after)

    def _compare_texts(self, at: str, recorded: str, replayed: str) -> Iterator[ResponseDifference]:
        before = list(split_text(self._without_world(recorded)))
        after = list(split_text(self._without_world(replayed)))
        if len(before) != len(after) or not all(map(self._may_correspond, before, after)):
            yield ResponseDifference(at, recorded, replayed)
            return
        for recorded_piece, replayed_piece in zip(before, after, strict=True):
            if recorded_piece.kind not in _UNPAIRED_KINDS:
                yield from self._pair(at, recorded_piece.text, replayed_piece.text)

    def _may_correspond(self, recorded: TextPiece, replayed: TextPiece) -> bool:
        """Return whether two pieces of text may correspond. Plain text must be the same."""
        if recorded.kind != replayed.kind:
            return False
        if recorded.kind == PLAIN:
            return recorded.text == replayed.text
        if recorded.kind == "time":
            return self._is_same_moment(recorded.text, replayed.text)
        return True

    def _is_same_moment(self, recorded: str, replayed: str) -> bool:
        """Return whether two moments are equally far from their responses.

        Two equal moments correspond as well, and so do any two moments before both worlds started.
        """
        try:
            recorded_ms = moment_ms(recorded.upper())
            replayed_ms = moment_ms(replayed.upper())
        except ValueError:
            return recorded == replayed
        is_earlier = recorded_ms < self._start.recorded_ms and replayed_ms < self._start.replayed_ms
        recorded_distance_ms = recorded_ms - self._now.recorded_ms
        replayed_distance_ms = replayed_ms - self._now.replayed_ms
        is_near = abs(replayed_distance_ms - recorded_distance_ms) <= self._tolerance_ms
        return recorded_ms == replayed_ms or is_earlier or is_near

    def _pair(self, at: str, recorded: str, replayed: str) -> Iterator[ResponseDifference]:
        if recorded == REDACTED:
            return
        paired = self._values.pair(recorded, replayed)
        if paired is not None:
            yield ResponseDifference(at, f"{recorded}, which is {paired} here", replayed)

    def _without_world(self, text: str) -> str:
        """Return a text without the names of the worlds in hostnames."""
        text = _WORLD_LABEL.sub("", text)
        for label in self._world_labels:
            text = text.replace(label, ".")
        return text


def _arrival(response: RecordedResponse | None) -> str:
    if response is None:
        return _NO_RESPONSE
    return f"status {response.status}"


def _body_of(response: RecordedResponse) -> Any:
    """Return the code and the detail of a problem, or any other body unchanged."""
    if response.code is not None:
        explanation = response.members.get("detail") or response.members.get("title")
        return f"{response.code}: {explanation}"
    return response.members or response.text
