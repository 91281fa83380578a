"""A world in this process whose clock stands still, for tests of interventions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.in_process import InProcess
from tests.support.response_checks import check_response
from tests.support.worlds_on_disk import assert_transferable_after


class Stage(InProcess):
    """The calls of a world, its clock, and its stored records. Every response is checked."""

    def call(self, method: str, path: str, **options: Any) -> Response:
        response = super().call(method, path, **options)
        check_response(method, path, response)
        return response

    def advance_ms(self, by_ms: int) -> None:
        self.engine.move_to(self.engine.now_ms() + by_ms)

    def begin(self, *, project: str = "shop") -> str:
        """Start an operation that creates a deployment. Returns its id."""
        response = self.initialize(project=project)
        assert response.status == 202, response.json
        return str(response.json["id"])

    def observe(self, environment: str = "dev") -> Response:
        """Read the compute of a database of `shop`."""
        return self.compute(f"?environment={environment}")

    def operation(self, operation_id: str) -> Any:
        return self.record("operations", operation_id)

    def project_record(self, alias: str = "shop") -> Any:
        return self.record("projects", self.project_id(alias))

    def database(self, environment: str, alias: str = "shop") -> Any:
        return self.record("databases", f"{self.project_id(alias)}/{environment}")

    def ticket_record(self, ticket_id: str) -> Any:
        return self.record("dev_access_tickets", ticket_id)

    def key_record(self, key_id: str) -> Any:
        return self.record("user_api_keys", key_id)


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage. After the test, its world must survive an export and import."""
    stage = Stage()
    with assert_transferable_after(stage):
        yield stage
