"""Replaces values from responses, such as ids, secrets, cursors and URLs, with variables.

A value is replaced with a variable only if a later step needs it. The step whose response contains
the value then saves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_views import document_of
from hosting_emulator.scenario.recording.heads import Document
from hosting_emulator.scenario.source import KeyPath, texts_in
from hosting_emulator.world.naming import ALIASED_TABLES
from hosting_emulator.world.value import World

#: Matches values that can differ between worlds, such as ids, secrets and cursors.
_GENERATED_VALUE = re.compile(r"[A-Za-z0-9_-]{12,}")
_URL = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Producer:
    """The step whose response contains a value.

    `path` is the value's path in the response. The variable's name starts with `noun`.
    """

    step: Document
    noun: str
    path: str


class References:
    """The values to which steps in a recorded story can refer."""

    def __init__(self, world: World, rule_ids: Mapping[str, str]) -> None:
        self._redactor = Redactor(world)
        #: For each value, its producer or the string that replaces it in the file.
        self._values: dict[str, Producer | str] = {}
        self._name_counts: dict[str, int] = {}
        for kind, table in ALIASED_TABLES.items():
            for id_, record in world.rows(table):
                self._values[id_] = f"${{{kind}.{record.alias}}}"
        self._values |= rule_ids
        #: The values that are determined by the head of the file.
        self._head_values = frozenset(self._values)

    def __contains__(self, value: str) -> bool:
        return value in self._values

    def add(self, value: str, producer: Producer) -> None:
        """Add a value from the response to a step."""
        self._values[value] = producer

    def omit(self, id_: str) -> None:
        """Record that the file omits the fault with this id."""
        self._values[id_] = ""

    def alias(self, id_: str) -> str | None:
        """Return the alias of the record with this id.

        Returns None if the record is not in the head of the file.
        """
        text = self._values.get(id_)
        if not isinstance(text, str):
            return None
        return text.strip("${}").partition(".")[2]

    def value_ending_with(self, ending: str) -> str | None:
        """Return the first value that ends with `ending`, such as a URL that ends with a path.

        Returns None if there is no such value.
        """
        return next((value for value in self._values if value.endswith(ending)), None)

    def text(self, text: str) -> str:
        """Return a string with secrets removed and known values replaced with variables."""
        if text in self._values:
            return self.variable(text)
        return _GENERATED_VALUE.sub(lambda match: self._generated_text(match[0]), text)

    def _generated_text(self, value: str) -> str:
        if value in self._values:
            return self.variable(value)
        return self._redactor.text(value)

    def repeated(self, value: str) -> str:
        """Return the variable for a value from an earlier response.

        A value that was in no earlier response is returned unchanged.
        """
        if value in self._values and value not in self._head_values:
            return self.variable(value)
        return value

    def variable(self, value: str) -> str:
        """Return the variable for a value, and make the step that produces the value save it."""
        producer = self._values[value]
        if isinstance(producer, str):
            return producer
        name = self.new_name(producer.noun)
        producer.step.setdefault("save", {})[name] = producer.path
        self._values[value] = f"${{{name}}}"
        return f"${{{name}}}"

    def new_name(self, noun: str) -> str:
        """Return an unused variable name, such as `operation_2`."""
        count = self._name_counts.get(noun, 0) + 1
        self._name_counts[noun] = count
        return f"{noun}_{count}"

    def add_response(self, entry: Entry, step: Document) -> None:
        """Add the generated values in the response to a step.

        Nothing is added if the response was lost or was only partly stored.
        """
        if entry.lost is not None or entry.response_bytes > len(entry.response_body):
            return
        document = document_of(entry.response_body)
        for path, value in texts_in(document):
            is_generated = _GENERATED_VALUE.fullmatch(value) or _URL.fullmatch(value)
            was_sent = value.encode() in entry.body
            if is_generated and not was_sent and value not in self._values:
                noun = _noun_of(path, entry)
                self._values[value] = Producer(step, noun, ".".join(map(str, path)))
        key = document.get("key") if isinstance(document, dict) else None
        if isinstance(key, dict) and document.get("value"):
            self._values[key_value(key.get("id"))] = Producer(step, "key_value", "value")

    def add_api_keys(self, ids: Iterable[str], step: Document) -> None:
        """Add the ids and values of the API keys that an `api_key` step creates."""
        for id_ in ids:
            self._values[id_] = Producer(step, "key", "key.id")
            self._values[key_value(id_)] = Producer(step, "key_value", "value")


def key_value(key_id: object) -> str:
    """Return a placeholder for an API key's value, because the value itself is not stored."""
    return f"value of {key_id}"


def _noun_of(path: KeyPath, entry: Entry) -> str:
    """Return a noun, such as `operation`, for the value at a path in a response.

    It is the name of the field or, if the field is `id`, the name of the record.
    """
    names = list(map(str, path))
    noun = names[-1].removesuffix("_id").removeprefix("next_")
    if noun != "id":
        return noun
    parents = [name for name in names[:-1] if not name.isdigit() and name != "items"]
    if parents:
        return parents[-1]
    if _lists_deployments(entry):
        return "deployment"
    return "operation"


def _lists_deployments(entry: Entry) -> bool:
    spec = CALLS.get(entry.call or "")
    return spec is not None and spec.response == "DeploymentPage"
