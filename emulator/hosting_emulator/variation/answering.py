"""Varying one answer: its document, its headers and its media type, each as the seed draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from hosting_emulator.variation.drawing import Draws
from hosting_emulator.variation.members import (
    Paging,
    vary_absent,
    vary_empty,
    vary_extra,
    vary_operation,
    vary_page,
    vary_scopes,
)
from hosting_emulator.variation.problems import vary_problem
from hosting_emulator.variation.shapes import objects_in
from hosting_emulator.variation.spelling import spell, vary_times
from hosting_emulator.variation.words import vary_words
from hosting_emulator.world.records import Variation

_HEADERS: tuple[tuple[str, str], ...] = (
    ("X-Edge-Region", "eu-central-1b"),
    ("Server-Timing", "edge;dur=1.7, origin;dur=12"),
    ("X-Revision", "2026-11-21.4"),
    ("Vary", "Accept-Encoding"),
)
_CHARSETS = ("; charset=utf-8", ";charset=UTF-8")


def vary_paging(variation: Variation, what: str, size: int, longer: Sequence[int]) -> Paging:
    """Return a page's size, 1 to `size`, and which of `longer` lengths its cursor has; 0: none."""
    draws = Draws(variation, what)
    most = size
    if size > 1 and draws.wants("page-size"):
        size = draws.pick("page-size", sorted({1, 2, -(-size // 3), size - 1} - {size, 0}))
    extra = draws.pick("cursor-form", longer) if draws.wants("cursor-form") else 0
    return Paging(size, extra, size < most)


def vary_body(
    variation: Variation, what: str, shape: str, body: bytes, paging: Paging | None = None
) -> tuple[bytes, tuple[str, ...]]:
    """Return a body of a shape as varied, and the points at which it is; none: as it was.

    `what` names the answer: the same one is varied in the same way again.
    """
    draws = Draws(variation, what)
    document: dict[str, Any] = msgspec.json.decode(body)
    if shape == "Operation":
        vary_operation(draws, document)
    elif shape == "DeploymentPage":
        vary_page(draws, document, paging)
    elif shape == "ProblemDetails":
        vary_problem(draws, document)
    elif shape == "DnsAuthorization":
        vary_scopes(draws, document)
    whole = dict(document)  # what is left out still says what the answer is about
    left = {each.place: vary_absent(draws, each, whole) for each in objects_in(shape, document)}
    found = list(objects_in(shape, document))
    vary_times(draws, found)
    for each in found:
        vary_words(draws, each, whole)
        vary_empty(draws, each, left[each.place])
        vary_extra(draws, each)
    written = spell(draws, document)
    return (written if draws.varied else body), tuple(sorted(draws.varied))


class Dress(NamedTuple):
    """What goes with an answer's body: its media type and headers, and the points they vary at."""

    content_type: str
    headers: list[tuple[str, str]]
    varied: tuple[str, ...]


def vary_dress(
    variation: Variation,
    what: str,
    content_type: str,
    headers: Sequence[tuple[str, str]],
    request_id: str,
) -> Dress:
    """Return the media type and headers of an answer as varied. A header that is there stays."""
    draws = Draws(variation, what)
    more = list(headers)
    if ";" not in content_type and draws.wants("content-type-parameter"):
        content_type += draws.pick("content-type-parameter", _CHARSETS)
        draws.note("content-type-parameter")
    if all(name != "X-Request-Id" for name, _ in more) and draws.wants("request-id-on-success"):
        more.append(("X-Request-Id", request_id))
        draws.note("request-id-on-success")
    if draws.wants("extra-headers"):
        more.append(draws.pick("extra-headers", _HEADERS))
        draws.note("extra-headers")
    return Dress(content_type, more, tuple(sorted(draws.varied)))
