"""One request that a world was asked, as its log tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hosting_emulator.sdk.observed import Exchange, Message, WholeExchange


class Headers(Mapping[str, str]):
    """Headers by name, whose case does not matter; a header given twice is joined by a comma."""

    def __init__(self, pairs: Iterable[Iterable[str]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in pairs:
            key = name.lower()
            self._values[key] = f"{self._values[key]}, {value}" if key in self._values else value

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Headers({self._values!r})"


@dataclass(frozen=True)
class RecordedRequest:
    """A request and its answer. `at` is world time; `why` explains the answer, in sentences.

    `call` is None for a path that is no call's; `who` is the alias of the person, `nobody` without a
    known token, and None where nobody was looked for. `operation` is the id in the path, `project`
    that in the path or of the operation, `code` that of a problem. `status` is 0 when the
    connection was lost before there was an answer; `lost` names the fault that ate it. `replayed`:
    the answer was the remembered first one of its `idempotency_key`.

    Headers and bodies are fetched when first asked for. They are redacted, and bodies longer than
    16 KiB are cut. Once the log has dropped the request, asking raises ControlRefused (404).
    """

    n: int
    at: str
    call: str | None
    method: str
    path: str
    query: str
    project: str | None
    operation: str | None
    who: str | None
    principal: str | None
    status: int
    code: str | None
    idempotency_key: str | None
    replayed: bool
    lost: str | None
    why: tuple[str, ...]
    duration_us: float
    _fetch: Callable[[int], WholeExchange] = field(repr=False, compare=False)

    @property
    def failed(self) -> bool:
        """Whether the client saw no success: a status from 400 on, or a lost answer."""
        return self.status >= 400 or self.lost is not None

    @property
    def body(self) -> Any:
        """The body that was sent: JSON read, other text as it was, None for none."""
        return _content(self._whole["request"])

    @property
    def headers(self) -> Headers:
        """The headers that were sent."""
        return Headers(self._whole["request"]["headers"])

    @property
    def answer(self) -> Any:
        """The body that was answered: JSON read, other text as it was, None for none."""
        return _content(self._whole["answer"])

    @property
    def answer_headers(self) -> Headers:
        """The headers that were answered."""
        return Headers(self._whole["answer"]["headers"])

    @cached_property
    def _whole(self) -> WholeExchange:
        return self._fetch(self.n)


def recorded_request(told: Exchange, fetch: Callable[[int], WholeExchange]) -> RecordedRequest:
    """Read one line of the request log; `fetch` gets the whole exchange of a number."""
    return RecordedRequest(
        n=told["n"],
        at=told["at"],
        call=told["call"],
        method=told["method"],
        path=told["path"],
        query=told["query"],
        project=told["project"],
        operation=told["operation"],
        who=told["who"],
        principal=told["principal"],
        status=told["status"],
        code=told["code"],
        idempotency_key=told["idempotency_key"],
        replayed=told["replayed"],
        lost=told["lost"],
        why=tuple(told["why"]),
        duration_us=told["duration_us"],
        _fetch=fetch,
    )


def _content(message: Message) -> Any:
    text = message["body"]
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:  # no JSON, or JSON that was cut
        return text
