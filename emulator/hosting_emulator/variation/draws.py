"""Varies the body, the headers and the media type of a response at random, based on a seed.

The draw at one variation point does not depend on any other point. A failure can therefore be
traced to the point that caused it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import msgspec

from hosting_emulator.contract.fields import Resource
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.extra_members import EXTRA_MEMBERS
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.spelling import spell
from hosting_emulator.variation.timestamp_forms import FRACTION_DIGITS, OFFSETS, respell
from hosting_emulator.world.records import Variation
from hosting_emulator.world.streams import ID_ORDER, derive, id_counter, varied_time

T = TypeVar("T")


#: The probability of a variation, as a numerator and a denominator.
Odds: TypeAlias = tuple[int, int]
HALF: Odds = (1, 2)
#: The odds for a choice that a service makes only once: two out of three seeds vary.
OFTEN: Odds = (2, 3)
RARELY: Odds = (1, 3)


def draw_number(seed: str, point: str, *thing: str) -> int:
    """Return a 62-bit integer that is determined by the seed, the point and the names in `thing`."""
    return int.from_bytes(derive(seed, "variation", point, *thing, size=8), "big") >> 2


def draw_index(seed: str, count: int, point: str, *thing: str) -> int:
    """Return a number from 0 to `count` - 1 for the point and the names in `thing`.

    If the seed is a whole number, consecutive seeds cycle through the numbers: the seeds 1 to
    `count` draw each number exactly once, and so do the next `count` seeds. A service makes most
    choices only once, so this ensures that a few seeds are enough to show a small number of
    alternatives.
    """
    if not seed.isdecimal():
        return draw_number(seed, point, *thing) % count
    block, turn = divmod(int(seed) - 1, count)
    # For each point and each block of seeds, the number at which the cycle starts is drawn anew, so
    # that points are independent.
    return (draw_number(str(block), point, str(count), *thing) + turn) % count


class Draws:
    """The random draws for one response.

    `response_name` identifies the response. `varied` contains the points that changed the response.
    The names in `thing` determine what a choice applies to. With no names, it applies to the whole
    world. If the names identify an operation, it applies to that operation. If `response_name` is
    one of the names, it applies only to this response.
    """

    def __init__(self, variation: Variation, response_name: str) -> None:
        self._seed = variation.seed
        self._only = variation.only
        self.response_name = response_name
        self.varied: set[str] = set()

    def wants(self, point: str, *thing: str, odds: Odds = HALF) -> bool:
        """Decide, with the probability `odds`, whether a thing varies at a point.

        Nothing varies at a point that the variation does not include.
        """
        if self._only is not None and point not in self._only:
            return False
        favorable, possible = odds
        return draw_index(self._seed, possible, point, "whether", *thing) < favorable

    def takes(self, point: str, *thing: str, odds: Odds = HALF) -> bool:
        """Decide like `wants`, and add the point to `varied` if the thing varies there."""
        is_taken = self.wants(point, *thing, odds=odds)
        if is_taken:
            self.varied.add(point)
        return is_taken

    def pick(self, point: str, choices: Sequence[T], *thing: str, current: object = None) -> T:
        """Draw one of the choices, excluding a choice that is equal to `current`."""
        others = [choice for choice in choices if current is None or choice != current]
        return others[draw_index(self._seed, len(others), point, "which", *thing)]

    def rank(self, point: str, name: str) -> int:
        """Return a sort key for a name. The resulting order is the same throughout a world."""
        return draw_number(self._seed, point, "rank", name)


@dataclass(frozen=True, slots=True)
class Paging:
    """How a single page of a list varies.

    `size` is the maximum number of items, and `longer` is the number of extra characters in the
    cursor. `varied` contains the points that caused the variation.
    """

    size: int
    longer: int
    varied: frozenset[str]


@dataclass(frozen=True, slots=True)
class ResponseObject:
    """An object in a response, with its resource, its members and its path, such as `/items/3`."""

    resource: Resource
    path: str
    members: dict[str, Any]

    def identity(self, whole: dict[str, Any]) -> tuple[str, ...]:
        """Return names that identify the object, for use in draws.

        `whole` is the whole response. The result identifies the object by its own id or, failing
        that, by the id of `whole`. If `whole` has no id either, the result contains its project
        and, unless both environments share one database, its environment. An id is represented by
        its counter rather than its text. A recording contains no seed, so replaying it creates
        different ids, but with the same counters. The replay therefore gets the same responses.
        """
        for document in (self.members, whole):
            if "id" in document:
                return (id_counter(document["id"]),)
        project = str(whole.get("project_id"))
        if whole.get("data_mode") == "shared":  # both environments share one database
            return (project,)
        return (project, str(whole.get("environment")))


def objects_in(resource_name: str, document: Any, path: str = "") -> Iterator[ResponseObject]:
    """Yield the objects in a response, each before the objects that it contains."""
    if isinstance(document, list):
        for index, item in enumerate(document):
            yield from objects_in(resource_name, item, f"{path}/{index}")
    elif isinstance(document, dict):
        resource = RESOURCES[resource_name]
        yield ResponseObject(resource, path, document)
        for name, part_name in resource.parts.items():
            yield from objects_in(part_name, document.get(name), f"{path}/{name}")


def vary_paging(
    variation: Variation, response_name: str, size: int, longer: Sequence[int]
) -> Paging:
    """Decide at random how a page varies.

    The page size is drawn from 1 to `size`, separately for each page. The number of extra
    characters in the cursor is 0 or one of `longer`, and is the same for all cursors in a world.
    """
    draws = Draws(variation, response_name)
    if size > 1 and draws.takes("page-size", response_name, odds=OFTEN):
        any_size = 1 + draws.pick("page-size", range(size - 1), response_name, "any")
        size = draws.pick("page-size", (1, any_size, size - 1, any_size), response_name)
    extra = 0
    if draws.takes("cursor-form", odds=OFTEN):
        extra = draws.pick("cursor-form", longer)
    return Paging(size, extra, frozenset(draws.varied))


def vary_body(
    variation: Variation,
    response_name: str,
    resource: str,
    body: bytes,
    paging: Paging | None = None,
) -> tuple[bytes, tuple[str, ...]]:
    """Return the varied body of a response, and the points at which it was varied.

    `resource` is the name of the resource in the body.
    """
    draws = Draws(variation, response_name)
    document: dict[str, Any] = msgspec.json.decode(body)
    if resource == "Operation":
        _vary_operation(draws, document)
    elif paging is not None and document.get("next_cursor"):  # this is not the last page
        draws.varied |= paging.varied
    elif resource == "ProblemDetails":
        _vary_problem(draws, document)
    elif len(document.get("scopes", ())) > 1 and draws.takes("scope-order", odds=OFTEN):
        document["scopes"].reverse()  # the contract does not specify the order of scopes
    whole = dict(document)  # `_vary_absent` can omit members that identify the response
    for part in objects_in(resource, document):
        _vary_absent(draws, part)
    parts = list(objects_in(resource, document))
    _vary_times(draws, parts, whole)
    for part in parts:
        ids = (part.members.get(name, "") for name in part.resource.deployment_ids)
        if any(id_ and varied_time(variation, id_) == id_[:10] for id_ in ids):
            draws.varied.add(ID_ORDER)
        _vary_words(draws, part, whole)
        _vary_extra(draws, part)
    varied_body = spell(draws, document)
    if draws.varied:
        body = varied_body
    return body, tuple(sorted(draws.varied))


#: Header fields that a service or a proxy might add. A row can contain several fields.
_HEADERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("X-Edge-Region", "eu-central-1b"),),
    (("Server-Timing", "edge;dur=1.7, origin;dur=12"),),
    (("X-Revision", "2026-11-21.4"),),
    (("Vary", "Accept-Encoding"),),
    (("x-powered-by", "edge/3"),),
    (("Via", "1.1 edge-7"), ("Via", "1.1 origin-2")),
    (("Link", '<https://status.example/>; rel="help"'),),
    (("X-Flags", ""),),
    (("X-Trace", "0123456789abcdef" * 100),),
    (("Content-Language", "de-AT"),),
)
_HEADER_COUNTS = (1, 2, 4)
#: Parameters of a media type. Their names are case-insensitive, their values can be quoted, and
#: whitespace is allowed around the semicolon (RFC 9110, sections 5.6.6 and 8.3.1).
_PARAMETERS = (
    "; charset=utf-8",
    ";charset=UTF-8",
    '; charset="utf-8"',
    "; Charset=Utf-8",
    ' ; CHARSET="UTF-8"',
    ";charset=utf-8;version=1",
    '; profile="https://schemas.example/v1;a=b"; charset=utf-8',
)


def vary_headers(
    variation: Variation,
    response_name: str,
    content_type: str,
    headers: Sequence[tuple[str, str]],
    request_id: str,
) -> tuple[str, list[tuple[str, str]], set[str]]:
    """Return a response's varied media type, its varied headers, and the points at which they were
    varied.

    In a world, all responses with the same media type vary in the same way.
    """
    draws = Draws(variation, response_name)
    varied_headers = list(headers)
    point = "content-type-parameter"
    if ";" not in content_type and draws.takes(point, content_type, odds=OFTEN):
        content_type += draws.pick(point, _PARAMETERS, content_type)
    if all(name != "X-Request-Id" for name, _ in varied_headers) and draws.takes(
        "request-id-on-success", odds=OFTEN
    ):
        varied_headers.append(("X-Request-Id", request_id))
    if draws.takes("extra-headers", odds=OFTEN):
        for row in _pick_several(draws, "extra-headers", _HEADERS, _HEADER_COUNTS):
            varied_headers.extend(row)
    return content_type, varied_headers, draws.varied


def _pick_several(
    draws: Draws, point: str, choices: Sequence[T], counts: Sequence[int], *thing: str
) -> list[T]:
    """Draw several different choices. The number of choices is itself drawn from `counts`."""
    count = draws.pick(point, counts, *thing, "count")
    start = draws.pick(point, range(len(choices)), *thing)
    return [choices[(start + number * 3) % len(choices)] for number in range(count)]


#: 60 is the contract's value.
_NEXT_POLL = (0, 1, 2, 3, 5, 10, 20, 30, 60)
_RESULTS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": "done", "warnings": []},
    {"steps": [{"name": "finish", "took_ms": 12}], "summary": None},
    {"error": False, "errors": [], "code": 0},
    {"items": [[1, [2.5, [None]]], {"größe": "groß"}], "length": 9_007_199_254_740_993},
    {"log": "line 1\nline 2: 0 failed\n" * 20},
)


def _vary_operation(draws: Draws, operation: dict[str, Any]) -> None:
    """Vary an operation's first state, its progress, the time until its next poll, and its result.

    All responses that show the operation vary in the same way. A client that cannot handle the
    choice therefore fails, instead of recovering with the next response.
    """
    identity = id_counter(operation["id"])
    # The contract calls only a queued operation one that waits for another operation.
    is_waiting = "blocking_operation_id" in operation
    is_queued = operation["state"] == "queued" and not is_waiting
    if is_queued and draws.takes("starts-running", identity):
        operation["state"] = "running"
    progress = operation.get("progress")
    if isinstance(progress, dict):
        next_poll = progress.get("next_poll_after_seconds")
        if draws.takes("progress-absent", identity, odds=RARELY):
            del operation["progress"]
        elif isinstance(next_poll, int) and draws.wants("next-poll", identity, odds=OFTEN):
            seconds = draws.pick("next-poll", _NEXT_POLL, identity)
            if seconds != next_poll:
                draws.varied.add("next-poll")
                progress["next_poll_after_seconds"] = seconds
    result = operation.get("result")
    if isinstance(result, dict) and draws.takes("result-content", identity, odds=OFTEN):
        operation["result"] = draws.pick("result-content", _RESULTS, identity, current=result)


_LONG_TEXT = "The request was not carried out, because a dependency did not agree to it. " * 16
_TITLES = (
    "Request not completed",
    "The request was not carried out",
    "Problem",
    "!",
    "Anfrage abgelehnt: 要求は拒否されました 🚫",
    'A "title" with <b>markup</b>, 100 %s, {0} and $HOME',
    _LONG_TEXT,
)
_DETAILS = (
    None,
    "",
    "See the documentation of this code.",
    "Die Anfrage schlug fehl: größer als 0.",
    "Two lines:\n\t'quotes', \\backslashes\\ and \u2028 a line separator.",
    _LONG_TEXT,
)
_ACTIONS = (
    "Follow the documentation of this code.",
    "See `type`.",
    "?",
    "Später erneut versuchen, 後でもう一度 🔁",
    _LONG_TEXT,
)
#: Functions that return a URI reference for a request id.
_INSTANCES: tuple[Callable[[str], str], ...] = (
    lambda id_: f"/problems/{id_}",
    lambda id_: f"https://problems.example/{id_}?view=full#cause",
    lambda id_: f"urn:problem:{id_}",
    lambda id_: f"../{id_}",
    lambda _: "",
)


def _vary_problem(draws: Draws, document: dict[str, Any]) -> None:
    """Vary the texts of a problem, and add an `instance`.

    The code and the texts that the contract specifies do not vary. A title must not change from
    occurrence to occurrence (RFC 9457, section 3.1.3), so it is drawn once per code for the whole
    world. The `detail` is specific to the occurrence, so it is drawn separately for each response.
    """
    point = "problem-wording"
    code = document["code"]
    if draws.takes(point, code, odds=OFTEN):
        document["title"] = draws.pick(point, _TITLES, code, "title")
        document["detail"] = draws.pick(point, _DETAILS, draws.response_name, "detail")
        if document["detail"] is None:
            del document["detail"]
        if "suggested_action" not in PROBLEMS[code].specified:
            document["suggested_action"] = draws.pick(point, _ACTIONS, code, "action")
    if draws.takes("problem-extras", "instance"):
        id_ = document["request_id"].encode().hex()[:24]
        document["instance"] = draws.pick("problem-extras", _INSTANCES, "instance")(id_)


def _vary_absent(draws: Draws, part: ResponseObject) -> None:
    """Omit some optional members that have a value.

    All objects of a kind omit the same members, as if the service did not support them.
    """
    kind = part.resource.name
    for field in part.resource.omissible_fields:
        if part.members.get(field) is None:
            continue
        if draws.takes("absent-fields", kind, field, odds=RARELY):
            del part.members[field]


def _vary_extra(draws: Draws, part: ResponseObject) -> None:
    """Add unknown members at the start or the end of an object.

    All objects of a kind get the same members. Objects that must not have additional properties get
    none.
    """
    if part.resource.closed:
        return
    kind = part.resource.name
    point = "problem-extras" if kind == "ProblemDetails" else "extra-fields"
    if not draws.takes(point, kind, odds=OFTEN):
        return
    unknown_members = [row for row in EXTRA_MEMBERS if row[0] not in part.resource.names]
    added = dict(_pick_several(draws, point, unknown_members, _MEMBER_COUNTS, kind))
    is_last = draws.pick(point, (True, False), kind, "place")
    if is_last:
        part.members.update(added)
        return
    members = part.members.copy()
    part.members.clear()
    part.members.update(added)
    part.members.update(members)


#: The possible numbers of unknown members to add to an object.
_MEMBER_COUNTS = (1, 2, 5)


#: The id and the words of the variation point for each resource and field that has one.
_OPEN_WORDS = {
    (words.resource, words.field): (point.id, words)
    for point in POINTS.values()
    for words in point.words
}


def _vary_words(draws: Draws, part: ResponseObject, whole: dict[str, Any]) -> None:
    """Replace words from open sets, such as the phase of an operation.

    An object keeps the same replacement until its original word changes.
    """
    for (resource, name), (point, words) in _OPEN_WORDS.items():
        if resource != part.resource.name:
            continue
        word = part.members.get(name)
        if isinstance(word, str) and word != words.contract_word:
            thing = (*part.identity(whole), name, word)
            if draws.takes(point, *thing):
                part.members[name] = draws.pick(point, words.others, *thing, current=word)


#: Where the same timestamp form is used: throughout the world, per field, or per object.
_FORM_SCOPES = ("world", "field", "object")


def _vary_times(draws: Draws, parts: list[ResponseObject], whole: dict[str, Any]) -> None:
    """Rewrite a response's timestamps.

    A world uses one form throughout, one form per field of a kind of object, or one form per
    object. The same field of the same object therefore always has the same form.
    """
    point = "timestamp-form"
    if not draws.wants(point, odds=OFTEN):
        return
    scope = draws.pick(point, _FORM_SCOPES, "scope")
    for part in parts:
        thing: tuple[str, ...] = ()
        if scope == "object":
            thing = part.identity(whole)
        for name in part.resource.timestamp_fields:
            text = part.members.get(name)
            if not isinstance(text, str):
                continue
            if scope == "field":
                thing = (part.resource.name, name)
            offset = draws.pick(point, OFFSETS, *thing, "offset")
            digits = draws.pick(point, FRACTION_DIGITS, *thing, "digits")
            respelled = respell(text, offset, digits)
            if respelled != text:
                draws.varied.add(point)
                part.members[name] = respelled
