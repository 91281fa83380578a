"""The calls of the contract as methods, which tests use over any transport.

`InProcess` (support/in_process.py) sends calls to an engine in this process. `HttpWorld`
(support/http_world.py) sends calls over HTTP. Both classes return a `Response`, and have the same
methods for arming faults and outcomes, for interventions and for moving time.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Response:
    """A complete response: its status, its headers, and its body as bytes."""

    status: int
    headers: Any
    body: bytes = b""
    #: The header lines as the server sent them, for tests that count or compare them.
    raw_headers: tuple[tuple[bytes, bytes], ...] = field(default=(), compare=False)

    @property
    def json(self) -> Any:
        """The parsed body. Raises ValueError if the body is not JSON."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None if the response does not have it."""
        value = self.headers.get(name)
        return None if value is None else str(value)

    def header_values(self, name: str) -> list[str]:
        """Return the values of all header lines with this name, in order."""
        lines = self.headers.items()
        return [str(value) for other, value in lines if other.lower() == name.lower()]


class Calls(ABC):
    """The calls of one world.

    Each method passes its options on to `call`: the user who sends the request (`user`) or a
    `token`, the Idempotency-Key (`key`), the `body`, and additional `headers`. If a call requires
    an Idempotency-Key and no `key` is given, the call is sent with a new one.
    """

    _created_keys = 0

    @abstractmethod
    def call(self, method: str, path: str, **options: Any) -> Response:
        """Send a request as a user, with a JSON body."""

    @abstractmethod
    def project_id(self, alias: str = "shop") -> str:
        """Return the id of a project, given by its alias."""

    @abstractmethod
    def organization_id(self, alias: str = "acme") -> str:
        """Return the id of an organization, given by its alias."""

    def new_key(self) -> str:
        """Return an Idempotency-Key that was not used before."""
        self._created_keys += 1
        return f"key-{self._created_keys}"

    def project_path(self, rest: str, project: str = "shop") -> str:
        """Return the path of a resource below a project."""
        return f"/v1/projects/{self.project_id(project)}/{rest}"

    # --- The eight calls, and polling -----------------------------------------------------------

    def set_flag(self, enabled: Any, *, project: str = "shop", **options: Any) -> Response:
        options.setdefault("key", self.new_key())
        path = self.project_path("powered-by-flag", project)
        return self.call("PUT", path, body={"enabled": enabled}, **options)

    def initialize(self, generation: Any = 1, *, project: str = "shop", **options: Any) -> Response:
        options.setdefault("key", self.new_key())
        path = self.project_path("source:initialize", project)
        return self.call("POST", path, body={"expected_source_generation": generation}, **options)

    def create_key(
        self, name: Any = "ci", *, organization: str = "acme", **options: Any
    ) -> Response:
        options.setdefault("key", self.new_key())
        path = f"/v1/organizations/{self.organization_id(organization)}/user-api-keys"
        return self.call("POST", path, body={"name": name}, **options)

    def apply_domains(self, *, project: str = "shop", **options: Any) -> Response:
        options.setdefault("key", self.new_key())
        return self.call("PUT", self.project_path("domains", project), **options)

    def dns(self, *, project: str = "shop", **options: Any) -> Response:
        return self.call("GET", self.project_path("edge-dns", project), **options)

    def deployments(self, query: str = "", *, project: str = "shop", **options: Any) -> Response:
        return self.call("GET", self.project_path(f"deployments{query}", project), **options)

    def ticket(self, *, project: str = "shop", **options: Any) -> Response:
        return self.call("POST", self.project_path("dev-access-tickets", project), **options)

    def compute(
        self, query: str = "?environment=dev", *, project: str = "shop", **options: Any
    ) -> Response:
        return self.call("GET", self.project_path(f"database/compute{query}", project), **options)

    def poll(self, operation_id: str, **options: Any) -> Response:
        return self.call("GET", f"/v1/operations/{operation_id}", **options)

    # --- What happens to the world from outside the contract ------------------------------------

    @abstractmethod
    def add_fault(self, **fault: Any) -> str:
        """Arm a fault in the form used in scenarios, and return its id. `from_` stands for `from`."""

    @abstractmethod
    def add_outcome(self, **outcome: Any) -> str:
        """Arm an outcome in the form used in scenarios, and return its id."""

    @abstractmethod
    def intervene(self, name: str, /, **fields: Any) -> str:
        """Carry out an intervention, and return the sentence that describes its effect."""

    @abstractmethod
    def advance(self, duration: str) -> None:
        """Move world time by a duration such as `90s` or `1h30m`."""

    @abstractmethod
    def set_assumptions(self, **values: Any) -> None:
        """Change assumptions of the world."""


def fault_document(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Convert arguments to a fault or an outcome in the form used in scenarios.

    A trailing underscore is removed from names such as `from_` and `while_`.
    """
    return {name.removesuffix("_"): value for name, value in fields.items()}
