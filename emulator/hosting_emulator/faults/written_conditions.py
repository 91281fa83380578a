"""Parses a document that contains conditions on the world, such as `{"dns": "expired"}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.documents import DocumentRefused, read_fields, sentence_about
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.world.condition_records import Condition


def read_condition(document: Any, path: str) -> Condition:
    """Return the condition that a document contains. `path` identifies the document in error messages.

    Raises DocumentRefused for an invalid condition.
    """
    if not isinstance(document, Mapping) or not document:
        raise DocumentRefused(f"{path} must contain conditions, such as {{dns: expired}}", path)
    _check_names(document, path)
    fields = {name: value for name, value in document.items() if name != "not"}
    try:
        condition = read_fields(fields, Condition)
    except DocumentRefused as refused:
        field_path = path
        if refused.field:
            field_path = f"{path}.{refused.field}"
        raise DocumentRefused(sentence_about(field_path, str(refused)), field_path) from None
    if "not" not in document:
        return condition
    return replace(condition, not_=read_condition(document["not"], f"{path}.not"))


def _check_names(document: Mapping[Any, Any], path: str) -> None:
    names = [field.encode_name for field in msgspec.structs.fields(Condition)]
    for name in document:
        if name not in names:
            hint = nearest(str(name), names) or f"; the conditions are {', '.join(names)}"
            raise DocumentRefused(f"{path}: there is no condition {name!r}{hint}", path)
