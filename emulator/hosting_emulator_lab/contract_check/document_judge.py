"""Judges the JSON document of a response: its fields, their values, and their timestamps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hosting_emulator.contract.fields import Field
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.value_checks import BOUNDS, complaint, moment
from hosting_emulator_lab.contract_check.evidence import NAMED_WORDS, Evidence
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior
from hosting_emulator_lab.contract_check.service_times import ServiceTimes

#: How much earlier than `created_at` the `updated_at` field may be, in milliseconds. Two clocks may
#: have written them.
_UPDATE_TOLERANCE_MS = 1_000


class DocumentJudge:
    """Judges documents of one project. It does not compare responses with each other."""

    def __init__(
        self, project_id: str, evidence: Evidence, behavior: ServerBehavior, times: ServiceTimes
    ) -> None:
        self._project_id = project_id
        self._evidence = evidence
        self._behavior = behavior
        self._times = times

    def read_object(self, response: ServerResponse, key: str) -> dict[str, Any] | None:
        """Return the body as a JSON object.

        If the body is anything else, return None, and record that the response breaks the sentence
        `key`.
        """
        document = response.document
        if document is None:
            self._evidence.differs(("json", key), response, "its body is not JSON")
            return None
        self._evidence.holds("json", response)
        if isinstance(document, dict):
            return document
        self._evidence.differs(key, response, "its body is not a JSON object")
        return None

    def judge_fields(
        self, response: ServerResponse, document: Mapping[str, Any], resource: str, path: str = ""
    ) -> None:
        """Judge the fields of an object, and then the fields of the objects inside it.

        `resource` is the contract's name for the object. `path` leads to it, such as `items[].`.
        """
        for field in RESOURCES[resource].fields:
            self._judge_field(response, document, resource, field, path)
        self._judge_order_of_times(response, document, resource, path)
        for name, part in RESOURCES[resource].parts.items():
            value = document.get(name)
            items = [value]
            inner_path = f"{name}."
            if isinstance(value, list):
                items = value
                inner_path = f"{name}[]."
            for item in items:
                if isinstance(item, dict):
                    self.judge_fields(response, item, part, inner_path)

    def _judge_field(
        self,
        response: ServerResponse,
        document: Mapping[str, Any],
        resource: str,
        field: Field,
        path: str,
    ) -> None:
        name = f"{path}{field.name}"
        value = document.get(field.name)
        is_null = value is None and field.name in document
        if value is not None or (is_null and field.nullable):
            self._judge_value(response, name, value, resource, field)
            return
        fault = ""
        if is_null:  # a field is null only where the contract says so
            fault = f"{name} is null"
        elif field.required:
            fault = f"{name} is missing"
        if fault:
            full_name = f"{resource}.{field.name}"
            self._evidence.differs(_field_keys(field), response, fault, field=full_name)

    def _judge_order_of_times(
        self, response: ServerResponse, document: Mapping[str, Any], resource: str, path: str
    ) -> None:
        if "updated_at" not in RESOURCES[resource].names:
            return
        created_ms = moment(document.get("created_at"))
        updated_ms = moment(document.get("updated_at"))
        if created_ms is None or updated_ms is None:
            return
        if updated_ms < created_ms - _UPDATE_TOLERANCE_MS:
            self._evidence.differs(
                f"{resource.lower()}.times", response, f"{path}updated_at is before created_at"
            )

    def _judge_value(
        self, response: ServerResponse, name: str, value: Any, resource: str, field: Field
    ) -> None:
        self._record_word(name, value, field)
        full_name = f"{resource}.{field.name}"
        fault = None if value is None else complaint(field.kind, value)
        if fault is None and field.name == "project_id" and value != self._project_id:
            key = "deployments.page-through" if name.startswith("items") else field.sentence_key
            self._evidence.differs(key, response, f"{name} is another project's", field=full_name)
        keys = _field_keys(field)
        if value is not None and field.kind.name in ("ulid", "timestamp"):
            keys = (*keys, field.kind.name)
        has_bound = value is not None and bool(field.bound_key)
        if fault is not None:
            if has_bound and fault.startswith(BOUNDS):
                keys = (*keys, field.bound_key)
            self._evidence.differs(keys, response, f"{name}: {fault}", field=full_name)
            return
        if has_bound:
            keys = (*keys, field.bound_key)
        self._evidence.holds(keys, response)
        if value is not None and field.kind.name == "timestamp":
            self._behavior.record_timestamp(value)
        self._follow_time(response, name, value, field)

    def _record_word(self, name: str, value: Any, field: Field) -> None:
        if not isinstance(value, str):
            return
        if name in NAMED_WORDS:
            self._evidence.see_word(field.sentence_key, name, value)
        self._behavior.record_word(name, value)

    def _follow_time(self, response: ServerResponse, name: str, value: Any, field: Field) -> None:
        at_ms = moment(value)
        if at_ms is None:
            return
        if name.endswith(("created_at", "updated_at")):
            self._times.record_event(at_ms)
        elif name == "observed_at":
            self._evidence.judge(
                field.sentence_key,
                self._times.record_observation(at_ms),
                response,
                f"{name} is earlier than events before the request",
            )


def _field_keys(field: Field) -> tuple[str, ...]:
    """Return the keys of the sentences about a field of a response."""
    return (field.sentence_key, *field.related_keys)
