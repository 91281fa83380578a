"""Which requests are meant: every filter that is given must fit."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypedDict

from hosting_emulator.sdk.calls import known_call
from hosting_emulator.sdk.made import RecordedRequest
from hosting_emulator.sdk.names import Aliases, unknown
from hosting_emulator.sdk.wording import answered


class Filters(TypedDict, total=False):
    """What a request may be told by, beside its call. All that are given must fit.

    `who` and `project` are aliases or ids. `path` is without the world's prefix, and may have `*`
    for any text. `key` is the Idempotency-Key; `lost` and `failed` are whether it was.
    """

    who: str
    project: str
    operation: str
    method: str
    path: str
    key: str
    status: int
    code: str
    replayed: bool
    lost: bool
    failed: bool


@dataclass(frozen=True)
class Aliased:
    """Who and what a world has, by alias."""

    people: Aliases
    projects: Aliases


class Wanted:
    """A call and filters, checked: a name that does not exist is a ValueError or NoSuchName."""

    def __init__(self, call: str | None, filters: Filters, aliased: Aliased) -> None:
        # A filter of None is as if not given, so that a test may hand one through.
        known: dict[str, Any] = {name: filters.get(name) for name in Filters.__annotations__}
        given = {name: value for name, value in known.items() if value is not None}
        for odd in filters.keys() - known.keys():
            raise TypeError(unknown("filter", odd, known))
        if "project" in given:
            given["project"] = aliased.projects.id_of(given["project"])
        if "who" in given:
            given["who"] = aliased.people.id_of(given["who"])
        self._aliases = {id_: alias for alias, id_ in aliased.people.items()}
        self._project_aliases = {id_: alias for alias, id_ in aliased.projects.items()}
        self.call = known_call(call)
        self._filters = given

    def fits(self, made: RecordedRequest) -> bool:
        """Whether a request is one of those meant."""
        return not self.misses(made)

    def misses(self, made: RecordedRequest) -> list[str]:
        """Say in which points a request is not one of those meant."""
        found = [name for name, value in self._filters.items() if not _fits(made, name, value)]
        if self.call is not None and made.call != self.call:
            found.insert(0, "call")
        return found

    @property
    def points(self) -> int:
        """In how many points a request may miss."""
        return len(self._filters) + (self.call is not None)

    def found(self, made: RecordedRequest, name: str) -> str:
        """Say what a request has at the filter `name`, where it does not fit."""
        if name == "call":
            return f"calls {made.call}" if made.call else "calls nothing the API has"
        if name == "who":
            return (
                f"was made by {made.who}" if made.who else "was refused before who asked was known"
            )
        if name == "project":
            return f"was about {self._project_aliases.get(made.project or '', made.project)}"
        if name == "status":
            return f"was {'answered ' if made.status else ''}{answer_of(made)}"
        if name == "key":
            return f"had the key {made.idempotency_key}" if made.idempotency_key else "had no key"
        if name in ("replayed", "lost", "failed"):
            return f"was {'' if _flag(made, name) else 'not '}{_FLAGS[name]}"
        return f"had the {name} {getattr(made, name)}"

    def words(self) -> str:
        """Say which requests are meant."""
        parts = [self.call or "a request", *(self._word(n, v) for n, v in self._filters.items())]
        return " ".join(parts)

    def _word(self, name: str, value: Any) -> str:
        if name == "who":
            return f"by {self._aliases.get(value, value)}"
        if name == "project":
            return f"of {self._project_aliases.get(value, value)}"
        if name in _FLAGS:
            return f"that was {'' if value else 'not '}{_FLAGS[name]}"
        return f"with the {name} {value}"


_FLAGS = {"replayed": "replayed", "lost": "lost", "failed": "refused or lost"}


def answer_of(made: RecordedRequest) -> str:
    """Say how a request was answered."""
    return answered(made.status, made.code, made.lost, made.replayed)


def _flag(made: RecordedRequest, name: str) -> bool:
    return made.lost is not None if name == "lost" else bool(getattr(made, name))


def _fits(made: RecordedRequest, name: str, value: Any) -> bool:
    if name in _FLAGS:
        return _flag(made, name) == bool(value)
    if name == "path":
        return fnmatchcase(made.path, str(value))
    field = {"who": "principal", "key": "idempotency_key"}.get(name, name)
    wanted = str(value).upper() if name == "method" else value
    return bool(getattr(made, field) == wanted)
