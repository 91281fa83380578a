"""Which answer is meant: `status=409 code=idempotency_key_reused call=… method=… path=… n=…`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase

from hosting_emulator.replay.record import Answered, Recorded
from hosting_emulator.replay.replay import Replayed
from hosting_emulator.sdk import known_call

_FIELDS = ("status", "code", "call", "method", "path", "n")


@dataclass(frozen=True, slots=True)
class Shows:
    """An answer, told by what is given; None: anything. A `status` of 0 is an answer that was lost.

    `path` may have `*` for any text; `n` is a request's number in the record.
    """

    status: int | None = None
    code: str | None = None
    call: str | None = None
    method: str | None = None
    path: str | None = None
    n: int | None = None

    @classmethod
    def read(cls, text: str) -> Shows:
        """Read `name=value` words. Raises ValueError, saying which are known, or the nearest call."""
        given: dict[str, str] = {}
        for word in text.split():
            name, equals, value = word.partition("=")
            if name not in _FIELDS or not equals or not value:
                raise ValueError(f"{word!r} is not one of {', '.join(f'{f}=…' for f in _FIELDS)}")
            given[name] = value
        if not given:
            raise ValueError("say which answer, such as status=409 code=idempotency_key_reused")
        return cls(
            status=_number("status", given.get("status")),
            code=given.get("code"),
            call=known_call(given.get("call")),
            method=None if "method" not in given else given["method"].upper(),
            path=given.get("path"),
            n=_number("n", given.get("n")),
        )

    def by(self, one: Replayed) -> bool:
        """Whether a replayed request was answered so."""
        return self.about(one.recorded) and one.skipped is None and self.answered(one.answer)

    def about(self, recorded: Recorded) -> bool:
        """Whether a request is one of those meant, whatever its answer."""
        path = recorded.target.partition("?")[0]
        return (
            self.n in (None, recorded.n)
            and self.call in (None, recorded.call)
            and self.method in (None, recorded.method)
            and (self.path is None or fnmatchcase(path, self.path))
        )

    def answered(self, answer: Answered | None) -> bool:
        """Whether an answer is the one meant."""
        status = 0 if answer is None else answer.status
        return self.status in (None, status) and self.code in (None, code_of(answer))


def code_of(answer: Answered | None) -> str | None:
    """Return the code of the problem that an answer is; None for any other."""
    if answer is None or answer.status < 400 or answer.text is None:
        return None
    try:
        document = json.loads(answer.text)
    except ValueError:
        return None
    code = document.get("code") if isinstance(document, dict) else None
    return code if isinstance(code, str) else None


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f"{name} is a number, not {text!r}")
    return int(text)
