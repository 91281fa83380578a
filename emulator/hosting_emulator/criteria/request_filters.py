"""The request filters: the type and the possible values of each filter.

Stories (`log`), the SDK (`assert_made`), the CLI (`requests list`) and the control API use the
request filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import ALL_CALLS, REDEEM_TICKET, call_named
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.criteria.compound_types import NameSet
from hosting_emulator.criteria.patterns import Expression
from hosting_emulator.criteria.simple_types import Boolean, Number, Text, Ulid, Word
from hosting_emulator.criteria.type_messages import display_value
from hosting_emulator.criteria.value_types import Impossible, Path, Result, ValueType

#: The word in the `call` filter for requests that match no call.
NO_CALL = "none"
#: The faults after which the client does not receive a complete response.
LOST_WORDS = (
    "connection_reset",
    "refuse_connections",
    "empty_response",
    "timeout",
    "truncate",
    "wrong_content_length",
    "malformed_response",
    "reset_in_body",
    "reset_in_upload",
)
#: The word for a response that was lost because its client stopped waiting.
GAVE_UP = "gives_up"
#: The HTTP methods that the `method` filter accepts.
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT")
_STATUS_CLASS = re.compile("([2-5])xx", re.IGNORECASE)


@dataclass(frozen=True)
class Status(Number):
    """An HTTP status, or a class of statuses such as 4xx.

    If `may_be_missing` is true, the status 0 means that there was no response.
    """

    form: str = "a status from 200 to 599, or a class such as 4xx"
    whole: bool = True
    least: float = 200
    greatest: float = 599
    may_be_missing: bool = False

    def check_plain(self, expected: Any, path: Path) -> None:
        if isinstance(expected, str):
            if _STATUS_CLASS.fullmatch(expected) is None:
                hint = ""
                if expected.isdecimal():
                    hint = f"; write {expected} without quotes"
                raise Impossible(
                    f"it must be {self.form}, not {display_value(expected)}{hint}", path
                )
        elif expected != 0 or isinstance(expected, bool) or not self.may_be_missing:
            super().check_plain(expected, path)

    def equals(self, expected: Any, actual: Any) -> Result:
        if isinstance(expected, str):
            status_class = _STATUS_CLASS.fullmatch(expected)
            if status_class is None:
                return None
            return bool(actual // 100 == int(status_class[1]))
        return super().equals(expected, actual)

    def limits(self) -> tuple[float, float]:
        if self.may_be_missing:
            return 0, self.greatest
        return self.least, self.greatest

    def possible_values(self) -> Sequence[int]:
        statuses = [*range(200, 600)]
        if self.may_be_missing:
            return [0, *statuses]
        return statuses

    def schema(self) -> dict[str, Any]:
        choices: list[dict[str, Any]] = [{"type": "integer", "minimum": 200, "maximum": 599}]
        if self.may_be_missing:
            choices.append({"const": 0})
        choices.append({"type": "string", "pattern": "^[2-5][xX][xX]$"})
        return {"anyOf": choices}


@dataclass(frozen=True)
class CallWord(Word):
    """The name of a call. `none` or null stands for a request that matches no call."""

    form: str = "a call"
    nullable: bool = True
    words: tuple[str, ...] = (*ALL_CALLS, REDEEM_TICKET, NO_CALL)
    aliases: Callable[[str], str] = call_named

    def means_nothing(self, expected: Any) -> bool:
        return expected is None or expected == NO_CALL

    def other_spellings(self) -> Sequence[str]:
        return [spec.operation_id for spec in ALL_CALLS.values()]


@dataclass(frozen=True)
class LostWord(Word):
    """The kind of fault that caused a response to be lost.

    The value `true` matches every lost response. The values `false` and null match a response that
    was not lost.
    """

    form: str = "a kind of lost response"
    nullable: bool = True
    words: tuple[str, ...] = LOST_WORDS
    json_type: ClassVar[str] = "string"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, bool):
            super().check_plain(expected, path)

    def means_nothing(self, expected: Any) -> bool:
        return expected is None or expected is False

    def equals(self, expected: Any, actual: Any) -> Result:
        if isinstance(expected, bool):
            return expected
        return super().equals(expected, actual)

    def schema(self) -> dict[str, Any]:
        return {"enum": [*self.words, True, False, None]}


@dataclass(frozen=True)
class RequestPath(Text):
    """A request path, without the prefix `/worlds/{world}` and without a query.

    `*` matches any text. A name in braces, such as `{project_id}`, matches one segment.
    """

    form: str = "a path such as /v1/projects/*/domains or /v1/projects/{project_id}/domains"

    def is_pattern(self, text: str) -> bool:
        # A path that starts and ends with a slash also looks like a pattern.
        return super().is_pattern(text) and not re.fullmatch(r"/v1/[\w/.*{}:~%-]*", text)

    def check_plain(self, expected: Any, path: Path) -> None:
        super().check_plain(expected, path)
        reason = ""
        if "://" in expected:
            reason = "; it must not have a scheme or a host"
        elif "?" in expected or "#" in expected:
            reason = "; it must not have a query"
        elif expected.startswith("/worlds/"):
            reason = "; it must not have the prefix of a world"
        elif not expected.startswith(("/", "*", "{")) or re.search(r"\s", expected):
            reason = "; it must start with / or *, and must not contain spaces"
        elif re.search("[{}]", re.sub(r"\{\w+\}", "", expected)):
            reason = "; the braces must contain a name, such as {project_id}"
        if reason:
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}{reason}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        if not isinstance(expected, str) or not isinstance(actual, str):
            return None
        return path_matches(actual, expected)


def path_matches(path: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern.

    `*` matches any text, and `{name}` matches one segment.
    """
    return _path_expression(pattern).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _path_expression(pattern: str) -> re.Pattern[str]:
    first, *parts = (
        re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(part)) for part in pattern.split("*")
    )
    # Atomic groups prevent backtracking, which would take time exponential in the number of stars.
    between = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(first + between + "".join(f".*{part}" for part in parts[-1:]), re.DOTALL)


@dataclass(frozen=True)
class MethodWord(Word):
    """An HTTP method in uppercase or lowercase."""

    form: str = "an HTTP method"
    words: tuple[str, ...] = METHODS
    aliases: Callable[[str], str] = str.upper

    def other_spellings(self) -> Sequence[str]:
        return [word.lower() for word in self.words]


@dataclass(frozen=True)
class FaultWord(Word):
    """A fault kind, or a fault id such as fault-2."""

    form: str = "a fault kind or fault id"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str) or not re.fullmatch("fault-[1-9][0-9]{0,8}", expected):
            super().check_plain(expected, path)

    def possible_values(self) -> None:
        """Return None, because there are too many fault ids to list."""

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        if "fault" not in pattern.pattern:
            super().check_pattern(pattern, path)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [super().schema(), {"type": "string", "pattern": "^fault-[1-9][0-9]*$"}]}


def request_filters(
    users: Iterable[str] | None = None,
    projects: Iterable[str] | None = None,
    fault_kinds: Iterable[str] = (),
) -> dict[str, ValueType]:
    """Return the type of each request filter, by filter name.

    `users` and `projects` are the aliases and ids in the world. If `users` or `projects` is None,
    the corresponding filter accepts any name.
    """

    def names(form: str, aliases: Iterable[str] | None, *more: str) -> ValueType:
        if aliases is None:
            return NameSet(form, True, Text(form))
        return NameSet(form, True, Word(form, words=(*sorted(aliases), *more)))

    return {
        "call": CallWord(),
        "method": MethodWord(),
        "path": RequestPath(),
        "user": names("a user", users, NOBODY),
        "project": names("a project", projects),
        "operation": Ulid("the id of an operation", True),
        "status": Status(may_be_missing=True),
        "code": Word("a problem code", True, words=tuple(PROBLEMS)),
        "key": Text("the text of an Idempotency-Key", True),
        "replayed": Boolean(),
        "lost": LostWord(),
        "failed": Boolean(),
        "fault": NameSet("a fault kind or fault id", True, FaultWord(words=tuple(fault_kinds))),
        "why": NameSet(
            "a sentence that explains the response",
            True,
            Text("a sentence that explains the response"),
        ),
    }


def may_have_path(template: str, pattern: str) -> bool:
    """Tell whether a path that is built from a template can match a pattern.

    The template's placeholders are filled with segments of the pattern. A wildcard in a segment matches
    itself.
    """
    if "?" in pattern:
        return False
    format_text = re.sub(r"\{\w+\}", "{}", template)
    ending = format_text.rpartition("}")[2]
    segments = pattern.removesuffix(ending).split("/")
    ids = {segment or "x" for segment in segments}
    id_count = format_text.count("{")
    return any(
        path_matches(format_text.format(*path_ids), pattern)
        for path_ids in product(ids, repeat=id_count)
    )


#: The type of an expected number of requests.
COUNT = Number("a count, 0 or greater", whole=True, least=0)


def has_failed(view: Mapping[str, Any]) -> bool:
    """Tell whether a request received an error status, or its response was lost."""
    return bool(view["status"] >= 400 or view["lost"])
