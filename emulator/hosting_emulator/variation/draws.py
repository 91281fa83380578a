"""What is drawn for one answer: its document, its headers and its media type, each varied as drawn.

What is drawn at one point depends on no other, so that a failure can be traced to the point that matters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from hosting_emulator.contract.fields import Resource
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp, parse_timestamp
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.records import Variation
from hosting_emulator.world.streams import ID_ORDER, derive, drawn_time, place_of

T = TypeVar("T")


def draw_number(seed: str, point: str, *thing: str) -> int:
    """Return 62 bits that depend on seed, point and thing alone."""
    return int.from_bytes(derive(seed, "variation", point, *thing, size=8), "big") >> 2


class Draws:
    """The draws for one answer, known as `what`, or a `thing` in it; `varied` are points that changed it."""

    def __init__(self, variation: Variation, what: str) -> None:
        self._seed, self._only = variation.seed, variation.only
        self.what = what
        self.varied: set[str] = set()

    def wants(self, point: str, *thing: str, one_in: int = 2) -> bool:
        """Whether to vary here: once in so many times, and never at a point that is not asked for."""
        if self._only is not None and point not in self._only:
            return False
        return draw_number(self._seed, point, "whether", *(thing or (self.what,))) % one_in == 0

    def takes(self, point: str, *thing: str, one_in: int = 2) -> bool:
        """Whether to vary here, as `wants` says; notes that the point changed the answer."""
        taken = self.wants(point, *thing, one_in=one_in)
        self.varied.update([point] if taken else [])
        return taken

    def pick(self, point: str, choices: Sequence[T], *thing: str, but: object = None) -> T:
        """Choose one of some, `but` not what there is now."""
        others = [choice for choice in choices if but is None or choice != but]
        drawn = draw_number(self._seed, point, "which", *(thing or (self.what,)))
        return others[drawn % len(others)]


class Paging(NamedTuple):
    """How a page is made: its size, by how many characters its cursor is longer, and what varies."""

    size: int
    longer: int
    varied: frozenset[str]


class Member(NamedTuple):
    """An object in an answer: its resource, its place in the answer (`/items/3`), and itself."""

    resource: Resource
    place: str
    members: dict[str, Any]

    def about(self, whole: dict[str, Any]) -> tuple[str, ...]:
        """Return what it is about: its own place among all ids, or the id of what it is part of.

        So a recording, which holds no seed, is answered as it was where it is sent again.
        """
        if "id" in self.members or "id" in whole:
            return (place_of((self.members if "id" in self.members else whole)["id"]),)
        project = str(whole.get("project_id"))
        shared = whole.get("data_mode") == "shared"  # both environments show the same database
        return (project,) if shared else (project, str(whole.get("environment")))


def objects_in(resource: str, document: Any, place: str = "") -> Iterator[Member]:
    """Walk an answer's objects, each before those in it; what is none, or in none, is passed over."""
    if isinstance(document, list):
        for number, item in enumerate(document):
            yield from objects_in(resource, item, f"{place}/{number}")
    elif isinstance(document, dict):
        yield Member(RESOURCES[resource], place, document)
        for name, inner in RESOURCES[resource].parts.items():
            yield from objects_in(inner, document.get(name), f"{place}/{name}")


def vary_paging(variation: Variation, what: str, size: int, longer: Sequence[int]) -> Paging:
    """Return a page's size, 1 to `size`, and which of `longer` lengths its cursor has; 0: none."""
    draws = Draws(variation, what)
    if size > 1 and draws.takes("page-size"):
        size = draws.pick("page-size", sorted({1, 2, -(-size // 3), size - 1} - {size, 0}))
    extra = draws.pick("cursor-form", longer) if draws.takes("cursor-form") else 0
    return Paging(size, extra, frozenset(draws.varied))


def vary_body(
    variation: Variation, what: str, resource: str, body: bytes, paging: Paging | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Return a body of a resource as varied for `what` it answers, and the points at which it is."""
    draws = Draws(variation, what)
    document: dict[str, Any] = msgspec.json.decode(body)
    if resource == "Operation":
        _vary_operation(draws, document)
    elif paging is not None and document.get("next_cursor"):  # there is more than this page
        draws.varied |= paging.varied
    elif resource == "ProblemDetails":
        _vary_problem(draws, document)
    elif len(document.get("scopes", ())) > 1 and draws.takes("scope-order"):
        document["scopes"].reverse()  # no order of theirs is spoken of
    whole = dict(document)  # what is left out still says what the answer is about
    for each in objects_in(resource, document):
        _vary_absent(draws, each, whole)
    members = list(objects_in(resource, document))
    _vary_times(draws, members)
    for each in members:
        ids = (each.members.get(name, "") for name in each.resource.deployment_ids)
        if any(id_ and drawn_time(variation, id_) == id_[:10] for id_ in ids):
            draws.varied.add(ID_ORDER)
        _vary_words(draws, each, whole)
        _vary_extra(draws, each)
    written = _spell(draws, document)
    return (written if draws.varied else body), tuple(sorted(draws.varied))


_HEADERS = (
    ("X-Edge-Region", "eu-central-1b"),
    ("Server-Timing", "edge;dur=1.7, origin;dur=12"),
    ("X-Revision", "2026-11-21.4"),
    ("Vary", "Accept-Encoding"),
)
_CHARSETS = ("; charset=utf-8", ";charset=UTF-8")


def vary_headers(
    variation: Variation,
    what: str,
    content_type: str,
    headers: Sequence[tuple[str, str]],
    request_id: str,
) -> tuple[str, list[tuple[str, str]], set[str]]:
    """Return the media type and headers of an answer as varied, and the points at which they are."""
    draws = Draws(variation, what)
    more = list(headers)
    if ";" not in content_type and draws.takes("content-type-parameter"):
        content_type += draws.pick("content-type-parameter", _CHARSETS)
    if all(name != "X-Request-Id" for name, _ in more) and draws.takes("request-id-on-success"):
        more.append(("X-Request-Id", request_id))
    if draws.takes("extra-headers"):
        more.append(draws.pick("extra-headers", _HEADERS))
    return content_type, more, draws.varied


_NEXT_POLL = (1, 2, 3, 5, 10, 20)
_RESULTS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": "done", "warnings": []},
    {"steps": [{"name": "finish", "took_ms": 12}], "summary": None},
)


def _vary_operation(draws: Draws, operation: dict[str, Any]) -> None:
    """Vary what an operation reports: its progress, when to poll again, and its result."""
    progress, result = operation.get("progress"), operation.get("result")
    if isinstance(progress, dict):
        told = progress.get("next_poll_after_seconds")
        if draws.takes("progress-absent", one_in=4):
            del operation["progress"]
        elif isinstance(told, int) and draws.takes("next-poll"):
            progress["next_poll_after_seconds"] = draws.pick("next-poll", _NEXT_POLL, but=told)
    # What has ended does not change any more: its result is drawn once.
    once = place_of(operation["id"])
    if isinstance(result, dict) and draws.takes("result-content", once):
        operation["result"] = draws.pick("result-content", _RESULTS, once, but=result)


_TITLES = ("Request not completed", "The request was not carried out", "Problem")
_SEE = "See the documentation of this code."
_DETAILS = (None, "", _SEE, "Die Anfrage schlug fehl: größer als 0.")
_ACTIONS = ("Follow the documentation of this code.", "See `type`.")


def _vary_problem(draws: Draws, document: dict[str, Any]) -> None:
    """Put a problem in other words: what they mean, its code and what the contract fixes stay."""
    point, what = "problem-wording", draws.what
    if draws.takes(point):
        document["title"] = draws.pick(point, _TITLES, what, "title")
        document["detail"] = draws.pick(point, _DETAILS, what, "detail")
        if document["detail"] is None:
            del document["detail"]
        if "suggested_action" not in PROBLEMS[document["code"]].specified:
            document["suggested_action"] = draws.pick(point, _ACTIONS, what, "action")
    if draws.takes("problem-extras", draws.what, "instance", one_in=3):
        document["instance"] = f"/problems/{document['request_id'].encode().hex()[:24]}"


#: Members of which no client knows anything.
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


def _vary_absent(draws: Draws, found: Member, whole: dict[str, Any]) -> None:
    """Leave members out that have a value: of a thing always the same, not of what is observed."""
    resource, members = found.resource, found.members
    lasting = "id" in members or resource.name == "DatabasePlacement"
    thing = found.about(whole) if lasting else (draws.what, found.place)
    if not draws.wants("absent-fields", *thing, resource.name):
        return
    for name in (name for name in resource.omissible_fields if members.get(name) is not None):
        if draws.takes("absent-fields", *thing, resource.name, name, one_in=4):
            del members[name]


def _vary_extra(draws: Draws, found: Member) -> None:
    """Add a member that nobody knows, first or last, where the contract does not close the object."""
    if found.resource.closed:
        return
    point = "problem-extras" if found.resource.name == "ProblemDetails" else "extra-fields"
    thing = (draws.what, found.place)
    if draws.takes(point, *thing, one_in=3):
        name, value = draws.pick(point, _EXTRA, *thing)
        known = {} if draws.pick(point, (True, False), *thing, "place") else found.members.copy()
        if known:  # it comes first
            found.members.clear()
        found.members[name] = value
        found.members.update(known)


#: By resource and field: the point, and what it draws from.
_OPEN_WORDS = {
    (words.resource, words.field): (point.id, words)
    for point in POINTS.values()
    for words in point.words
}


def _vary_words(draws: Draws, found: Member, whole: dict[str, Any]) -> None:
    """Write other words into open sets: the same word for as long as a thing stays in a state."""
    for (resource, name), (point, words) in _OPEN_WORDS.items():
        if resource != found.resource.name:
            continue
        word = found.members.get(name)
        if isinstance(word, str) and word != words.contract_word:
            thing = (*found.about(whole), name, word)
            if draws.takes(point, *thing):
                found.members[name] = draws.pick(point, words.others, *thing, but=word)


# --- Spelling: timestamps, order of members, white space, escapes --------------------------------

#: Suffix, minutes east of UTC, digits of the fraction (None: as few as say it all). The zones are far
#: apart, so that who compares texts is wrong where the moments are hours apart, too.
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


def _vary_times(draws: Draws, found: list[Member]) -> None:
    """Spell the timestamps of an answer in other forms of the same moments: all alike, or each its own."""
    point = "timestamp-form"
    if not draws.wants(point):
        return
    alike = draws.wants(point, draws.what, "alike")
    for resource, place, members in found:
        for name in resource.timestamp_fields:
            thing = () if alike else (draws.what, place, name)
            suffix, minutes, digits = draws.pick(point, _FORMS, *thing)
            text = members.get(name)
            at_ms = parse_timestamp(text) if isinstance(text, str) else 0
            if not _DAY_MS <= at_ms <= LATEST_MS - _DAY_MS:  # another zone may have no such year
                continue
            spelled = format_timestamp(at_ms + minutes * 60_000)[:-1] + "000" * (digits == 6)
            spelled = spelled[:-4] if digits is None and at_ms % 1000 == 0 else spelled
            draws.varied.update([point] if spelled + suffix != text else [])
            members[name] = spelled + suffix


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
    """Write a document as JSON: as usual, or in another order and with other signs."""
    body = msgspec.json.encode(document)
    if draws.wants("key-order"):
        document = _reorder(document, draws.pick("key-order", _ORDERS))
        if (turned := msgspec.json.encode(document)) != body:
            body = turned
            draws.varied.add("key-order")
    if draws.takes("json-whitespace"):
        body = draws.pick("json-whitespace", _LAYOUTS)(document)
    if draws.wants("json-escapes"):
        # Slashes, and what is not ASCII, stand in strings only, as a body of JSON goes.
        signs = body.decode().replace("/", "\\/")
        escaped = "".join(s if s < "\x80" else json.dumps(s)[1:-1] for s in signs).encode()
        if escaped != body:
            draws.varied.add("json-escapes")
        return escaped
    return body


def _reorder(found: Any, order: Callable[[list[str]], list[str]]) -> Any:
    if isinstance(found, dict):
        return {name: _reorder(found[name], order) for name in order(list(found))}
    return [_reorder(item, order) for item in found] if isinstance(found, list) else found
