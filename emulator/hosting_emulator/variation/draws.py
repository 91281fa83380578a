"""Varies the body, the headers and the media type of a response by seeded random draws.

The draw at a variation point does not depend on other points. A failure can therefore be traced to
the point that caused the failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from hosting_emulator.contract.fields import Resource
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.records import Variation
from hosting_emulator.world.streams import ID_ORDER, derive, id_counter, varied_time

T = TypeVar("T")


def draw_number(seed: str, point: str, *thing: str) -> int:
    """Return a 62-bit integer that depends only on the seed, the point and the names in `thing`."""
    return int.from_bytes(derive(seed, "variation", point, *thing, size=8), "big") >> 2


class Draws:
    """The random draws for one response.

    `response_name` identifies the response. `varied` contains the points that changed the response.
    If `thing` contains names, a method draws for the part of the response that they identify,
    instead of for the whole response.
    """

    def __init__(self, variation: Variation, response_name: str) -> None:
        self._seed = variation.seed
        self._only = variation.only
        self.response_name = response_name
        self.varied: set[str] = set()

    def wants(self, point: str, *thing: str, one_in: int = 2) -> bool:
        """Decide whether the response varies at a point.

        The probability is 1 / `one_in`, or 0 if the variation does not include the point.
        """
        if self._only is not None and point not in self._only:
            return False
        thing = thing or (self.response_name,)
        return draw_number(self._seed, point, "whether", *thing) % one_in == 0

    def takes(self, point: str, *thing: str, one_in: int = 2) -> bool:
        """Decide like `wants`, and add the point to `varied` if the response varies there."""
        is_taken = self.wants(point, *thing, one_in=one_in)
        if is_taken:
            self.varied.add(point)
        return is_taken

    def pick(self, point: str, choices: Sequence[T], *thing: str, current: object = None) -> T:
        """Draw one of the choices. The choice that equals `current` is excluded."""
        others = [choice for choice in choices if current is None or choice != current]
        thing = thing or (self.response_name,)
        drawn = draw_number(self._seed, point, "which", *thing)
        return others[drawn % len(others)]


@dataclass(frozen=True, slots=True)
class Paging:
    """How one page of a list varies.

    `size` is the maximum number of items, and `longer` is the extra length of the cursor. `varied`
    contains the points that caused the variation.
    """

    size: int
    longer: int
    varied: frozenset[str]


@dataclass(frozen=True, slots=True)
class ResponseObject:
    """An object in a response, with its resource, its members, and its path such as `/items/3`."""

    resource: Resource
    path: str
    members: dict[str, Any]

    def identity(self, whole: dict[str, Any]) -> tuple[str, ...]:
        """Return names that identify the object, for use in draws.

        The name is the object's id or, if the object has none, the id of `whole`, which is the
        whole response object. If `whole` has no id either, the names are its project and, unless
        both environments share one database, its environment. An id is represented by its position
        among all ids. A recording contains no seed, so its replay creates other ids, but at the
        same positions. The replay therefore gets the same responses.
        """
        for document in (self.members, whole):
            if "id" in document:
                return (id_counter(document["id"]),)
        project = str(whole.get("project_id"))
        if whole.get("data_mode") == "shared":  # both environments share one database
            return (project,)
        return (project, str(whole.get("environment")))


def objects_in(resource_name: str, document: Any, path: str = "") -> Iterator[ResponseObject]:
    """Yield the objects in a response. An object precedes the objects that it contains."""
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
    """Draw the variation of a page.

    The drawn page size is from 1 to `size`. The extra length of the cursor is 0 or one of `longer`.
    """
    draws = Draws(variation, response_name)
    if size > 1 and draws.takes("page-size"):
        size = draws.pick("page-size", sorted({1, 2, -(-size // 3), size - 1} - {size, 0}))
    extra = 0
    if draws.takes("cursor-form"):
        extra = draws.pick("cursor-form", longer)
    return Paging(size, extra, frozenset(draws.varied))


def vary_body(
    variation: Variation,
    response_name: str,
    resource: str,
    body: bytes,
    paging: Paging | None = None,
) -> tuple[bytes, tuple[str, ...]]:
    """Return the varied body of a response, and the points at which the body was varied.

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
    elif len(document.get("scopes", ())) > 1 and draws.takes("scope-order"):
        document["scopes"].reverse()  # the contract does not specify the order of scopes
    whole = dict(document)  # `_vary_absent` may omit members that identify the response
    for part in objects_in(resource, document):
        _vary_absent(draws, part, whole)
    parts = list(objects_in(resource, document))
    _vary_times(draws, parts)
    for part in parts:
        ids = (part.members.get(name, "") for name in part.resource.deployment_ids)
        if any(id_ and varied_time(variation, id_) == id_[:10] for id_ in ids):
            draws.varied.add(ID_ORDER)
        _vary_words(draws, part, whole)
        _vary_extra(draws, part)
    varied_body = _spell(draws, document)
    if draws.varied:
        body = varied_body
    return body, tuple(sorted(draws.varied))


_HEADERS = (
    ("X-Edge-Region", "eu-central-1b"),
    ("Server-Timing", "edge;dur=1.7, origin;dur=12"),
    ("X-Revision", "2026-11-21.4"),
    ("Vary", "Accept-Encoding"),
)
_CHARSETS = ("; charset=utf-8", ";charset=UTF-8")


def vary_headers(
    variation: Variation,
    response_name: str,
    content_type: str,
    headers: Sequence[tuple[str, str]],
    request_id: str,
) -> tuple[str, list[tuple[str, str]], set[str]]:
    """Return a response's varied media type, its varied headers, and the points that varied them."""
    draws = Draws(variation, response_name)
    varied_headers = list(headers)
    if ";" not in content_type and draws.takes("content-type-parameter"):
        content_type += draws.pick("content-type-parameter", _CHARSETS)
    if all(name != "X-Request-Id" for name, _ in varied_headers) and draws.takes(
        "request-id-on-success"
    ):
        varied_headers.append(("X-Request-Id", request_id))
    if draws.takes("extra-headers"):
        varied_headers.append(draws.pick("extra-headers", _HEADERS))
    return content_type, varied_headers, draws.varied


_NEXT_POLL = (1, 2, 3, 5, 10, 20)
_RESULTS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": "done", "warnings": []},
    {"steps": [{"name": "finish", "took_ms": 12}], "summary": None},
)


def _vary_operation(draws: Draws, operation: dict[str, Any]) -> None:
    """Vary an operation's progress, the time until the next poll, and the operation's result."""
    progress = operation.get("progress")
    if isinstance(progress, dict):
        next_poll = progress.get("next_poll_after_seconds")
        if draws.takes("progress-absent", one_in=4):
            del operation["progress"]
        elif isinstance(next_poll, int) and draws.takes("next-poll"):
            seconds = draws.pick("next-poll", _NEXT_POLL, current=next_poll)
            progress["next_poll_after_seconds"] = seconds
    # A finished operation never changes, so the draw of its result must depend only on its id.
    result = operation.get("result")
    identity = id_counter(operation["id"])
    if isinstance(result, dict) and draws.takes("result-content", identity):
        operation["result"] = draws.pick("result-content", _RESULTS, identity, current=result)


_TITLES = ("Request not completed", "The request was not carried out", "Problem")
_DETAILS = (
    None,
    "",
    "See the documentation of this code.",
    "Die Anfrage schlug fehl: größer als 0.",
)
_ACTIONS = ("Follow the documentation of this code.", "See `type`.")


def _vary_problem(draws: Draws, document: dict[str, Any]) -> None:
    """Vary the texts of a problem, and add an `instance`.

    The code and the texts that the contract specifies do not vary.
    """
    point = "problem-wording"
    name = draws.response_name
    if draws.takes(point):
        document["title"] = draws.pick(point, _TITLES, name, "title")
        document["detail"] = draws.pick(point, _DETAILS, name, "detail")
        if document["detail"] is None:
            del document["detail"]
        if "suggested_action" not in PROBLEMS[document["code"]].specified:
            document["suggested_action"] = draws.pick(point, _ACTIONS, name, "action")
    if draws.takes("problem-extras", name, "instance", one_in=3):
        document["instance"] = f"/problems/{document['request_id'].encode().hex()[:24]}"


#: Members that no client knows, because the contract does not name them.
_EXTRA: tuple[tuple[str, Any], ...] = (
    ("revision", 7),
    ("labels", {"tier": "standard", "größe": "groß"}),
    ("annotations", {}),
    ("links", [{"rel": "self", "href": "/v1"}]),
    ("owned_by", None),
    ("tags", []),
    ("weight", 0.25),
    ("is_preview", False),
    ("Schema-Version", "2026-11-21"),
)


def _vary_absent(draws: Draws, part: ResponseObject, whole: dict[str, Any]) -> None:
    """Omit some optional members that have a value.

    An object that appears in several responses, such as an operation, always omits the same
    members.
    """
    name = part.resource.name
    is_lasting = "id" in part.members or name == "DatabasePlacement"
    thing = part.identity(whole) if is_lasting else (draws.response_name, part.path)
    if not draws.wants("absent-fields", *thing, name):
        return
    for field in part.resource.omissible_fields:
        if part.members.get(field) is None:
            continue
        if draws.takes("absent-fields", *thing, name, field, one_in=4):
            del part.members[field]


def _vary_extra(draws: Draws, part: ResponseObject) -> None:
    """Add an unknown member at the start or the end of an object.

    An object that must not have additional properties does not change.
    """
    if part.resource.closed:
        return
    point = "problem-extras" if part.resource.name == "ProblemDetails" else "extra-fields"
    thing = (draws.response_name, part.path)
    if not draws.takes(point, *thing, one_in=3):
        return
    name, value = draws.pick(point, _EXTRA, *thing)
    is_last = draws.pick(point, (True, False), *thing, "place")
    if is_last:
        part.members[name] = value
        return
    members = part.members.copy()
    part.members.clear()
    part.members[name] = value
    part.members.update(members)


#: The id and the words of a variation point, by resource and field.
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


# --- Spelling: timestamps, order of members, whitespace, escapes ---------------------------------

#: Each format has a suffix, a time zone in minutes east of UTC, and a number of fraction digits.
#: None means no fraction for a whole second, and three digits for any other time. The zones are far
#: apart, so that a client that compares timestamps as strings fails even for times that differ by
#: hours.
_FORMS: tuple[tuple[str, int, int | None], ...] = (
    ("Z", 0, None),
    ("Z", 0, 6),
    ("+00:00", 0, 3),
    ("+00:00", 0, None),
    ("+14:00", 840, 3),
    ("-12:00", -720, 6),
    ("+05:45", 345, None),
    ("-09:30", -570, 3),
)
_DAY_MS = 86_400_000


def _vary_times(draws: Draws, parts: list[ResponseObject]) -> None:
    """Rewrite a response's timestamps, either all in the same format or each in its own format."""
    point = "timestamp-form"
    if not draws.wants(point):
        return
    is_uniform = draws.wants(point, draws.response_name, "alike")
    for part in parts:
        for name in part.resource.timestamp_fields:
            text = part.members.get(name)
            if not isinstance(text, str):
                continue
            thing = () if is_uniform else (draws.response_name, part.path, name)
            respelled = _respell(text, draws.pick(point, _FORMS, *thing))
            if respelled != text:
                draws.varied.add(point)
                part.members[name] = respelled


def _respell(text: str, form: tuple[str, int, int | None]) -> str:
    """Return a timestamp in a different format.

    A timestamp within a day of the first or the last possible time is returned unchanged, because
    its year in a different time zone could be out of range.
    """
    suffix, minutes, digits = form
    at_ms = parse_timestamp(text)
    if not _DAY_MS <= at_ms <= LATEST_MS - _DAY_MS:
        return text
    milliseconds = format_timestamp(at_ms + minutes * 60_000)[:-1]
    if digits == 6:
        return f"{milliseconds}000{suffix}"
    if digits is None and at_ms % 1000 == 0:
        return milliseconds.removesuffix(".000") + suffix
    return milliseconds + suffix


_ORDERS: tuple[Callable[[list[str]], list[str]], ...] = (
    lambda names: names[::-1],
    sorted,
    lambda names: names[1:] + names[:1],
)
_LAYOUTS: tuple[Callable[[Any], bytes], ...] = (
    lambda document: msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n",
    lambda document: json.dumps(document, ensure_ascii=False, separators=(" , ", " : ")).encode(),
    lambda document: b"\r\n\t" + msgspec.json.encode(document) + b" \r\n",
)


def _spell(draws: Draws, document: dict[str, Any]) -> bytes:
    """Return a document as JSON, possibly with reordered members, other whitespace, or escapes."""
    body = msgspec.json.encode(document)
    if draws.wants("key-order"):
        document = _reorder(document, draws.pick("key-order", _ORDERS))
        reordered = msgspec.json.encode(document)
        if reordered != body:
            body = reordered
            draws.varied.add("key-order")
    if draws.takes("json-whitespace"):
        body = draws.pick("json-whitespace", _LAYOUTS)(document)
    if draws.wants("json-escapes"):
        # In JSON, slashes and non-ASCII characters occur only in strings.
        characters = body.decode().replace("/", "\\/")
        escaped = "".join(_escape(character) for character in characters).encode()
        if escaped != body:
            draws.varied.add("json-escapes")
        return escaped
    return body


def _escape(character: str) -> str:
    return character if character < "\x80" else json.dumps(character)[1:-1]


def _reorder(value: Any, order: Callable[[list[str]], list[str]]) -> Any:
    if isinstance(value, dict):
        return {name: _reorder(value[name], order) for name in order(list(value))}
    if isinstance(value, list):
        return [_reorder(item, order) for item in value]
    return value
