"""Reads and checks a request's headers, query and body, as `contract/calls.py` declares them.

Invalid input raises Refused, usually with the code `invalid_request`, unless an assumption makes
the world ignore it. The message says what is wrong, and usually what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from json import JSONEncoder
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from hosting_emulator.calls.request import CallRequest
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import parameter_default, parameter_name
from hosting_emulator.contract.calls import CURSOR, QueryParameter
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_texts import count_text

if TYPE_CHECKING:
    from hosting_emulator.contract.models import SourceGeneration

_HEADER_LIMIT = 128
#: The results of reading request bodies are cached for bodies of up to this many bytes.
_CACHED_BODY_BYTES = 256
#: The maximum number of characters that a message quotes from a client's input.
_LONGEST_QUOTE = 60
#: Messages do not quote numbers as large as this or larger.
_LONG_NUMBER = 1e15
_NO_QUERY: Mapping[str, list[str]] = MappingProxyType({})
#: Encodes a body's fields in a canonical form. Two bodies count as the same if all the fields that
#: the call reads are equal (contract, call 3: an exact replay has the same name and
#: Idempotency-Key).
_canonical = JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def read_inputs(request: CallRequest, assumptions: Assumptions) -> None:
    """Read the Idempotency-Key and the inputs from what the client sent, and set them on the request.

    Raises Refused.
    """
    spec = request.spec
    if spec.idempotent:
        request.idempotency_key = _read_key(request)
    query = _NO_QUERY
    if request.query:
        query = _read_query(request.query)
    if spec.body is not None:
        _check_media_type(request, assumptions)
        is_small = len(request.body) <= _CACHED_BODY_BYTES
        read_body = _read_small_body if is_small else _read_body
        request.values, request.canonical_body = read_body(
            request.body,
            spec.body,
            assumptions.unknown_body_fields == "refused",
            assumptions.source_generation,
        )
    elif request.body and assumptions.unexpected_body == "refused":
        raise _invalid("This call takes no request body.", "unexpected_body")
    if spec.query:
        values = dict(request.values)
        for parameter in spec.query:
            values[parameter.value] = _read_parameter(parameter, query, assumptions)
        request.values = values
    if query and assumptions.unknown_query_parameters == "refused":
        names = {parameter_name(parameter, assumptions) for parameter in spec.query}
        for name in query:
            if name not in names:
                detail = f"This call has no query parameter {_quoted(name)}."
                raise _invalid(detail, "unknown_query_parameters")


def _read_key(request: CallRequest) -> str:
    """Return the Idempotency-Key. Raises Refused."""
    values = request.headers.getall("Idempotency-Key", ())
    if not values:
        raise _invalid(
            "The Idempotency-Key header is required: send 1 to 128 characters, and a new key "
            "for each request that is not a retry.",
        )
    key = values[0]
    if len(values) == 1 and key.isascii() and 1 <= len(key) <= _HEADER_LIMIT:
        return key
    return _one_header("Idempotency-Key", values)


def _check_media_type(request: CallRequest, assumptions: Assumptions) -> None:
    """Raise Refused if the Content-Type of a request is not `application/json`."""
    values = request.headers.getall("Content-Type", ())
    media_type = ""
    if values:
        media_type = values[0].partition(";")[0].strip()
    if media_type.lower() == "application/json":
        return
    difference = "but the header is missing"
    if media_type:
        difference = f"not {_quoted(media_type)}"
    raise Refused(
        assumptions.code_of("wrong_media_type"),
        f"The Content-Type must be application/json, {difference}.",
        assumption="wrong_media_type",
    )


def read_request_id(values: Sequence[str], assumptions: Assumptions) -> str | None:
    """Return the request id that a client sent, or None if it is invalid and the world ignores
    invalid ids.

    Raises Refused.
    """
    try:
        return _one_header("X-Request-Id", values)
    except Refused as refused:
        if assumptions.request_id_invalid == "ignored":
            return None
        refused.assumption = "request_id_invalid"
        raise


def bad_cursor(name: str) -> Refused:
    """Return the refusal for a cursor that did not come from a page of this list.

    The judge that detects made-up cursors (`conduct/judges/request_content.py`) also calls this
    function, to recognize the refusal by its detail.
    """
    return _bad_parameter(name, CURSOR.complaint)


def _bad_parameter(name: str, complaint: str, assumption: str | None = None) -> Refused:
    return _invalid(f"The query parameter {name} {complaint}", assumption)


def _invalid(detail: str, assumption: str | None = None) -> Refused:
    return Refused("invalid_request", detail, assumption=assumption)


def _one_header(name: str, values: Sequence[str]) -> str:
    """Return a header's value.

    Raises Refused unless the header was sent exactly once, as UTF-8 text of 1 to 128 characters.
    """
    value = values[0]
    if len(values) > 1:
        raise _invalid(f"The {name} header was sent {len(values)} times; send it once.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise _invalid(f"The {name} header is not UTF-8 text.") from None
    if not 1 <= len(value) <= _HEADER_LIMIT:
        detail = (
            f"The {name} header has {len(value)} characters; it must have 1 to {_HEADER_LIMIT}."
        )
        raise _invalid(detail)
    return value


# --- The body --------------------------------------------------------------------------------------


def _read_body(
    body: bytes, resource: str, closed: bool, generation: SourceGeneration
) -> tuple[Mapping[str, Any], str]:
    if not body:
        raise _invalid("The request body is empty; this call needs a JSON object.")
    try:
        document = read_json(body)
    except JsonRefused as error:
        raise _invalid(f"The request body {error}.") from None
    if not isinstance(document, dict):
        raise _invalid(f"The request body must be a JSON object, not {_kind(document)}.")
    values = _judge_body(document, resource, closed, generation)
    return MappingProxyType(values), _canonical(values)


def _judge_body(
    document: dict[str, Any], resource: str, closed: bool, generation: SourceGeneration
) -> dict[str, Any]:
    """Validate a body, and return the fields that the call reads. Raises Refused."""
    # Import pydantic here, because loading it takes 90 ms and only requests with a body need it.
    from pydantic import ValidationError

    from hosting_emulator.contract.models import body_model

    model = body_model(resource, closed=closed, source_generation=generation)
    # A body can contain a hundred thousand unknown fields, and pydantic would describe all of them.
    # Pass on a single unknown field, which is enough for the error.
    names = RESOURCES[resource].names
    judged = {name: document[name] for name in names if name in document}
    unknown = next((name for name in document if name not in names), None)
    if unknown is not None:
        judged[unknown] = document[unknown]
    try:
        return model.model_validate(judged).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    if first["type"] == "missing":
        raise _invalid(f"The request body needs the {name!r} field.")
    if first["type"] == "extra_forbidden":
        assumption = None
        if not RESOURCES[resource].closed:
            assumption = "unknown_body_fields"
        raise _invalid(f"The request body has no field {_quoted(name)}.", assumption)
    raise _invalid(
        f"The field {name!r} is invalid: {first['msg']}; the value is {_kind(document[name])}.",
    )


#: Cache the results. Clients send the same few small bodies again and again, and the result depends
#: only on the arguments.
_read_small_body = lru_cache(maxsize=1024)(_read_body)


def load_models() -> None:
    """Load the modules and models for request bodies in advance.

    Without this call, the first request with a body would take about 0.1 s longer.
    """
    from hosting_emulator.contract.models import body_model

    body_model("SetPoweredByFlagRequest", closed=False, source_generation="checked")


def _quoted(text: str) -> str:
    """Return the repr of a client's input for use in a message, truncated to 60 characters."""
    if len(text) <= _LONGEST_QUOTE:
        return repr(text)
    return repr(text[:_LONGEST_QUOTE]) + "…"


def _kind(value: Any) -> str:
    """Describe a JSON value for use in a message, for example as `a string of 3 characters`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        if abs(value) >= _LONG_NUMBER:
            return "a large number"
        return f"the number {value!r}"
    if isinstance(value, str):
        return f"a string of {count_text(len(value), 'character')}"
    if isinstance(value, list):
        return "an array"
    return "an object"


# --- The query -------------------------------------------------------------------------------------


#: Cache the compiled patterns here, because a lookup in the cache of the `re` module takes three
#: times as long.
_compiled = lru_cache(re.compile)


@lru_cache(maxsize=512)
def _read_query(raw: str) -> Mapping[str, list[str]]:
    try:
        query = parse_qs(raw, keep_blank_values=True, errors="strict", max_num_fields=100)
    except UnicodeDecodeError:
        raise _invalid("The query string is not UTF-8.") from None
    except ValueError:
        raise _invalid("The query string has more than 100 parameters.") from None
    return MappingProxyType(query)


def _read_parameter(
    parameter: QueryParameter, query: Mapping[str, list[str]], assumptions: Assumptions
) -> Any:
    name = parameter_name(parameter, assumptions)
    values = query.get(name)
    if values is None:
        default = parameter_default(parameter, assumptions)
        if default == "refused":
            raise _bad_parameter(name, parameter.missing_complaint, parameter.default_assumption)
        return default
    if len(values) > 1:
        raise _bad_parameter(name, f"was sent {len(values)} times; send it once.")
    if not _compiled(parameter.pattern).fullmatch(values[0]):
        raise _bad_parameter(name, parameter.complaint)
    if parameter.schema.get("type") == "integer":
        return int(values[0])
    return values[0]
