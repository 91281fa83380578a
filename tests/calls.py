"""The calls of the contract as methods: what every client of the tests has, however it sends them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

Answered = TypeVar("Answered")


class Calls(Generic[Answered]):
    """Calls of one world. Each idempotent call gets a new key unless given one.

    The options are those of `call`: who asks (`who`, `token`), `key`, `body` and more `headers`.
    """

    _keys = 0

    def call(self, method: str, path: str, **options: Any) -> Answered:
        """Send a request as a person, with JSON."""
        raise NotImplementedError

    def project_id(self, alias: str) -> str:
        raise NotImplementedError

    def organization_id(self, alias: str) -> str:
        raise NotImplementedError

    def new_key(self) -> str:
        self._keys += 1
        return f"key-{self._keys}"

    def project_path(self, rest: str, project: str = "shop") -> str:
        return f"/v1/projects/{self.project_id(project)}/{rest}"

    def set_flag(self, enabled: Any, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        path = self.project_path("powered-by-flag", project)
        return self.call("PUT", path, body={"enabled": enabled}, **options)

    def initialize(self, generation: Any = 1, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        path = self.project_path("source:initialize", project)
        return self.call("POST", path, body={"expected_source_generation": generation}, **options)

    def create_key(
        self, name: Any = "ci", *, organization: str = "acme", **options: Any
    ) -> Answered:
        options.setdefault("key", self.new_key())
        path = f"/v1/organizations/{self.organization_id(organization)}/user-api-keys"
        return self.call("POST", path, body={"name": name}, **options)

    def apply_domains(self, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        return self.call("PUT", self.project_path("domains", project), **options)

    def dns(self, *, project: str = "shop", **options: Any) -> Answered:
        return self.call("GET", self.project_path("edge-dns", project), **options)

    def deployments(self, query: str = "", *, project: str = "shop", **options: Any) -> Answered:
        return self.call("GET", self.project_path(f"deployments{query}", project), **options)

    def ticket(self, *, project: str = "shop", **options: Any) -> Answered:
        return self.call("POST", self.project_path("dev-access-tickets", project), **options)

    def compute(
        self, query: str = "?environment=dev", *, project: str = "shop", **options: Any
    ) -> Answered:
        return self.call("GET", self.project_path(f"database/compute{query}", project), **options)

    def poll(self, operation_id: str, **options: Any) -> Answered:
        return self.call("GET", f"/v1/operations/{operation_id}", **options)
