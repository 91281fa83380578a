"""Checks whether the contract allows a change to a response.

The module compares two responses to the same request: the original response `before`, and the
changed response `after`. A value such as an id, a time or a state must not change if other
responses show it too, or if a client sends it back. The following can change: values that the
contract leaves open (`FieldSpec.may_differ`), the presence of optional fields, unknown members of
open objects, and the order of members and lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from msgspec import Struct

from hosting_emulator.contract.assumption_table import alternatives
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.calls import AssumedStatus, CallSpec
from hosting_emulator.contract.fields import Field, Resource
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import (
    brief,
    complaint,
    credential_complaint,
    identifier_complaint,
    is_timestamp,
    members_of,
    moment,
)

#: The problem codes for which the contract names a condition. A change must not replace or
#: introduce any of them.
_CODES_OF_CONDITIONS = frozenset(
    {
        "unauthenticated",
        "forbidden",
        "organization_required",
        "resource_not_found",
        "idempotency_key_reused",
    }
)
#: The resources that must not contain any provider identifiers.
_NO_IDENTIFIERS = frozenset({"DnsAuthorization", "DatabaseCompute"})
_NO_CREDENTIALS = "No provider credentials are ever exposed."
_JSON_MEDIA_TYPE = re.compile(r"application/(?!problem)(\S+\+)?json", re.I)
_PROBLEM_MEDIA_TYPE = "application/problem+json"
_ALL_JSON = "All bodies are JSON."
_MATCHES_HEADER = "for a rate limit; matches Retry-After"
_BOUNDS = (("min_cu", "max_cu"), ("min_memory_gb", "max_memory_gb"))
#: The members of an operation that never change once the operation has ended, and that every later
#: response repeats.
LASTING_PARTS = ("result", "error")


class SentResponse(Struct, frozen=True):
    """A response as the client receives it. `headers` includes the media type."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return a header's value, or None if the header is absent. `name` is case-insensitive.

        If the header is repeated, return its first value.
        """
        for header_name, value in self.headers:
            if header_name.lower() == name.lower():
                return value
        return None


class Forbidden(Struct, frozen=True):
    """A reason why the contract forbids a change.

    `part` names the changed part of the response: a JSON Pointer, the name of a header, or
    `status`. `sentence` quotes the contract, and is empty if no sentence in the contract applies.
    """

    part: str
    reason: str
    sentence: str = ""

    def __str__(self) -> str:
        quote = f" (contract: {self.sentence!r})" if self.sentence else ""
        return f"{self.reason}{quote}"


def find_forbidden(
    spec: CallSpec,
    before: SentResponse,
    after: SentResponse,
    *,
    replayed: bool = False,
    is_sample: bool = False,
) -> Forbidden | None:
    """Return why the contract forbids a change to a response.

    Return None if the change is allowed.

    `replayed` is true if the response is a replay for a repeated Idempotency-Key. `is_sample` is
    true if `before` is a sample with invented times, which any timestamps can replace.
    """
    changes = _changes(spec, before, after, replayed=replayed, is_sample=is_sample)
    return next(changes, None)


def _changes(
    spec: CallSpec, before: SentResponse, after: SentResponse, *, replayed: bool, is_sample: bool
) -> Iterator[Forbidden]:
    yield from _status(spec, before, after, replayed=replayed)
    yield from _media_type(before, after)
    is_problem = before.status >= 400
    try:
        document = read_json(after.body)
    except JsonRefused as refused:
        yield Forbidden("", f"the body {refused}", _ALL_JSON)
        return
    whole = read_json(before.body)
    if not isinstance(document, dict) or not isinstance(whole, dict):
        if document != whole:
            yield Forbidden("", "the body is no longer a JSON object", _ALL_JSON)
        return
    name = "ProblemDetails" if is_problem else spec.response
    if is_problem:
        yield from _code(whole.get("code"), document.get("code"))
    yield from _Comparison(name, is_sample).objects(RESOURCES[name], whole, document, "")
    broken_before = {rule.part + rule.reason for rule in _broken_rules(before, whole, is_problem)}
    for rule in _broken_rules(after, document, is_problem):
        if rule.part + rule.reason not in broken_before:
            yield rule


# --- Status and media type -----------------------------------------------------------------------


def _status(
    spec: CallSpec, before: SentResponse, after: SentResponse, *, replayed: bool
) -> Iterator[Forbidden]:
    status = after.status
    if status == before.status:
        return
    if before.status >= 400:
        if status < 400:
            reason = f"the request failed, so the status cannot be {status}"
            yield Forbidden("status", reason, "All failures return application/problem+json")
        elif spec.listed_statuses and status not in spec.listed_statuses:
            listed = ", ".join(map(str, spec.listed_statuses))
            reason = f"{spec.call_id} does not return the status {status}"
            yield Forbidden("status", reason, f"Error statuses listed: {listed} (Problem Details).")
        return
    if status >= 400:
        reason = f"the request succeeded, so the status cannot be {status}"
        yield Forbidden("status", reason)
        return
    allowed = _success_statuses(spec, before.status, replayed=replayed)
    if status not in allowed:
        listed = " or ".join(map(str, sorted(allowed)))
        yield Forbidden(
            "status", f"a successful response must have the status {listed}, not {status}"
        )


def _success_statuses(spec: CallSpec, status: int, *, replayed: bool) -> set[int]:
    """Return the statuses that a successful response to a call can have."""
    declared = spec.replay_status if replayed and spec.replay_status else spec.success
    if not isinstance(declared, AssumedStatus):
        return {status}
    name = declared.assumption
    return {int(getattr(DEFAULTS, name)), *alternatives(name)}


def _media_type(before: SentResponse, after: SentResponse) -> Iterator[Forbidden]:
    media_type = (after.header("Content-Type") or "").partition(";")[0].strip()
    if before.status >= 400:
        if media_type.lower() != _PROBLEM_MEDIA_TYPE:
            reason = f"the media type of a problem must be {_PROBLEM_MEDIA_TYPE}"
            sentence = "Errors use the media type application/problem+json."
            yield Forbidden("Content-Type", reason, sentence)
    elif not _JSON_MEDIA_TYPE.fullmatch(media_type):
        yield Forbidden(
            "Content-Type",
            "the media type must be application/json or another JSON type",
            _ALL_JSON,
        )
    encoding = after.header("Content-Encoding")
    if encoding not in (None, "identity"):
        yield Forbidden(
            "Content-Encoding",
            "the body is not encoded in the way that Content-Encoding states",
            _ALL_JSON,
        )


# --- Members -------------------------------------------------------------------------------------


class _Comparison:
    """Compares two response bodies that contain the same resource."""

    def __init__(self, response_name: str, is_sample: bool) -> None:
        self._shows_no_identifiers = response_name in _NO_IDENTIFIERS
        self._is_sample = is_sample

    def objects(
        self, resource: Resource, before: Mapping[str, Any], after: Mapping[str, Any], path: str
    ) -> Iterator[Forbidden]:
        """Yield the forbidden differences between two objects of the same resource."""
        fields = {field.name: field for field in resource.fields}
        for name in before.keys() | after.keys():
            pointer = f"{path}/{name}"
            field = fields.get(name)
            if name in before and name in after and _is_same(before[name], after[name]):
                continue
            if field is None:
                if name in after:
                    yield from self._unknown_member(resource, name, after[name], pointer)
            elif name not in after:
                yield from _removed(resource, field, pointer)
            elif name not in before:
                yield from _value(resource, field, None, after[name], pointer)
            else:
                yield from self._field(resource, field, before[name], after[name], pointer)

    def _field(
        self, resource: Resource, field: Field, before: Any, after: Any, pointer: str
    ) -> Iterator[Forbidden]:
        part = RESOURCES.get(field.kind.part)
        if part is not None and isinstance(before, dict) and isinstance(after, dict):
            yield from self.objects(part, before, after, pointer)
        elif isinstance(before, list) and isinstance(after, list):
            yield from self._list(resource, field, before, after, pointer)
        elif field.kind.name == "timestamp" and self._is_same_moment(before, after):
            return
        else:
            yield from _value(resource, field, before, after, pointer)

    def _list(
        self,
        resource: Resource,
        field: Field,
        before: Sequence[Any],
        after: Sequence[Any],
        pointer: str,
    ) -> Iterator[Forbidden]:
        if sorted(map(_canonical, before)) == sorted(map(_canonical, after)):
            return  # only the order changed, which the contract leaves open
        part = RESOURCES.get(field.kind.part)
        if part is None:
            yield from _value(resource, field, before, after, pointer)
            return
        if len(before) != len(after):
            reason = (
                f"{pointer} has a different number of items, so a client would miss items "
                "or see items twice"
            )
            yield Forbidden(pointer, reason, resource.sentences.get(field.sentence_key, ""))
            return
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            if isinstance(item, dict) and isinstance(other, dict):
                yield from self.objects(part, item, other, f"{pointer}/{index}")
            elif not _is_same(item, other):
                reason = f"an item of {pointer} is no longer an object"
                yield Forbidden(pointer, reason, resource.sentences.get(field.sentence_key, ""))

    def _unknown_member(
        self, resource: Resource, name: str, value: Any, pointer: str
    ) -> Iterator[Forbidden]:
        if resource.closed:
            reason = f"{resource.name} has no field {name}"
            yield Forbidden(pointer, reason, "No additional properties.")
            return
        for inner_name, inner_value in members_of(value, name):
            mistake = credential_complaint(inner_name, inner_value) or identifier_complaint(
                inner_name, inner_value, shows_none=self._shows_no_identifiers
            )
            if mistake is not None:
                yield Forbidden(pointer, mistake, _NO_CREDENTIALS)

    def _is_same_moment(self, before: Any, after: Any) -> bool:
        """Return whether two timestamps denote the same moment.

        If `before` is from a sample, any timestamp in `after` counts as the same moment.
        """
        if self._is_sample:
            return is_timestamp(after)
        return moment(after) is not None and moment(before) == moment(after)


def may_be_absent(resource: Resource, field: Field) -> bool:
    """Return whether a response is allowed to omit a field that has a value."""
    if resource.name == "Operation" and field.name == "progress":
        return True  # a client that polls needs only `state`
    if resource.presence_is_open:
        return field.name in resource.omissible_fields
    return not field.required


def _removed(resource: Resource, field: Field, pointer: str) -> Iterator[Forbidden]:
    if may_be_absent(resource, field):
        return
    reason = f"{pointer} is required"
    if not field.required:
        reason = f"a client cannot continue without {pointer}"
    yield Forbidden(pointer, reason, resource.sentences.get(field.sentence_key, ""))


def _value(
    resource: Resource, field: Field, before: Any, after: Any, pointer: str
) -> Iterator[Forbidden]:
    """Yield the reasons why a field must not get the value `after`."""
    sentence = resource.sentences.get(field.sentence_key, "")
    mistake = complaint(field.kind, after)
    if after is None and not field.nullable:
        mistake = "the value must not be null"
    elif after is None:
        mistake = None
    if mistake is None and after is not None:
        mistake = _bounds_complaint(field, after)
    if mistake is not None:
        yield Forbidden(pointer, f"{pointer}: {mistake}", sentence)
    elif not field.may_differ:
        reason = (
            f"{pointer} must not change, because other responses also show it or the "
            "client sends it back"
        )
        yield Forbidden(pointer, reason, sentence)
    elif field.may_differ == "word" and after == "":
        yield Forbidden(pointer, f"{pointer}: the value is empty", sentence)
    elif field.may_differ == "word":
        for word in (before, after):
            if word in field.meaningful_words or (word is after and word == field.contract_word):
                reason = (
                    f"{pointer}: the contract gives {brief(word)} a meaning, so the changed "
                    "response would state something false"
                )
                yield Forbidden(pointer, reason, sentence)


def _bounds_complaint(field: Field, value: Any) -> str | None:
    """Return a complaint if a value is below the minimum that is assumed for its field, and
    otherwise None.
    """
    least = field.keywords.get("minimum")
    if least is not None and value < least:
        return f"the value is less than {least}"
    return None


def _is_same(value: Any, other: Any) -> bool:
    return value is other or _canonical(value) == _canonical(other)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


# --- Parts that belong together ------------------------------------------------------------------


def _broken_rules(
    response: SentResponse, document: Mapping[str, Any], is_problem: bool
) -> Iterator[Forbidden]:
    """Yield the contradictions between different parts of a response."""
    request_id = response.header("X-Request-Id")
    if is_problem:
        if request_id is None or not 1 <= len(request_id) <= 128:
            reason = "a problem must have an X-Request-Id of 1 to 128 characters"
            yield Forbidden("X-Request-Id", reason, "and carry header X-Request-Id")
        yield from _broken_rules_of_problem(response, document)
    if request_id is not None and document.get("request_id", request_id) != request_id:
        sentence = _sentence("ProblemDetails", "request_id")
        yield Forbidden("X-Request-Id", "X-Request-Id and request_id differ", sentence)
    placement = document.get("database")
    if isinstance(placement, dict):
        for lower_name, upper_name in _BOUNDS:
            lower = placement.get(lower_name)
            upper = placement.get(upper_name)
            if _is_number(lower) and _is_number(upper) and lower > upper:
                yield Forbidden("/database", f"{lower_name} is greater than {upper_name}")


def _broken_rules_of_problem(
    response: SentResponse, document: Mapping[str, Any]
) -> Iterator[Forbidden]:
    status = document.get("status")
    if status != response.status:
        reason = f"the HTTP status is {response.status}, but /status is {brief(status)}"
        yield Forbidden("status", reason, _sentence("ProblemDetails", "status"))
    code = document.get("code")
    if not isinstance(code, str) or code not in PROBLEMS:
        return  # the comparison of the members reports an unknown code
    problem = PROBLEMS[code]
    if not str(document.get("type")).endswith(f"/errors/{problem.slug}"):
        reason = f"/type does not end with /errors/{problem.slug}"
        yield Forbidden("/type", reason, _sentence("ProblemDetails", "type"))
    fixed = {
        "status": problem.status,
        "retryable": problem.retryable,
        "suggested_action": problem.suggested_action,
    }
    for name, value in fixed.items():
        if name in problem.specified and document.get(name) != value:
            reason = f"/{name} must be {json.dumps(value)} for code {code}"
            yield Forbidden(f"/{name}", reason, f"Known conditions: {code}")
    seconds = document.get("retry_after_seconds")
    header = response.header("Retry-After")
    if code != "rate_limited":
        if seconds is not None:
            reason = f"/retry_after_seconds is allowed only with code rate_limited, not with {code}"
            yield Forbidden("/retry_after_seconds", reason, _MATCHES_HEADER)
    elif (None if seconds is None else str(seconds)) != header:
        reason = (
            f"Retry-After is {header or 'missing'}, but /retry_after_seconds is {brief(seconds)}"
        )
        yield Forbidden("Retry-After", reason, _MATCHES_HEADER)


def _code(before: Any, after: Any) -> Iterator[Forbidden]:
    if before == after:
        return
    for code in (before, after):
        if code in _CODES_OF_CONDITIONS:
            reason = (
                f"/code: the contract names the condition for {code}, so the code can neither "
                "replace another code nor be replaced"
            )
            yield Forbidden("/code", reason, f"fail with code {code}")


def _sentence(resource: str, name: str) -> str:
    field = next(field for field in RESOURCES[resource].fields if field.name == name)
    return RESOURCES[resource].sentences.get(field.sentence_key, "")


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
