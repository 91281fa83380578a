"""A world in which faults are armed and requests decided, without an engine or a socket."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest
from multidict import CIMultiDict

from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT
from hosting_emulator.faults.decisions import Decision, decide
from hosting_emulator.faults.matching import FaultSubject
from hosting_emulator.faults.usage import EntryUsage
from hosting_emulator.faults.views import armed_document
from tests.support.calls import fault_document
from tests.support.in_process import NOON_MS, fresh_world, new_change
from tests.support.worlds_on_disk import assert_transferable_after


class Desk:
    """Arms faults and decides requests, each in a change of its own."""

    def __init__(self, seed: str = "seed", mode: str = "frozen") -> None:
        self.world = fresh_world(seed=seed, mode=mode)
        self.now_ms = NOON_MS

    def arm(self, **document: Any) -> str:
        """Arm a fault, with `from_` for `from`. Returns its id."""
        change = new_change(self.world, self.now_ms)
        fault = arm(change, fault_document(document))
        self.world = change.applied()
        return fault.id

    def remove(self, fault_id: str) -> None:
        change = new_change(self.world, self.now_ms)
        change.delete(FAULT.table, fault_id)
        self.world = change.applied()

    def ask(
        self,
        call: str = "list_deployments",
        *,
        project: str | None = "shop",
        user: str = "owner",
        method: str = "GET",
        path: str = "/v1/projects/x/deployments",
        headers: Mapping[str, list[str]] | None = None,
        phase: Literal["before_commit", "after_commit"] = "before_commit",
    ) -> Decision:
        """Decide which faults act on one request."""
        pairs = [(name, value) for name, values in (headers or {}).items() for value in values]
        subject = FaultSubject(
            call=call,
            project=self.project_id(project) if project else None,
            organization=None,
            principal=str(self.world.indexes[f"user:{user}"]),
            method=method,
            path=path,
            headers=CIMultiDict(pairs).getall,
        )
        change = new_change(self.world, self.now_ms)
        decision = decide(change, subject, phase)
        if not change.is_empty:
            self.world = change.applied()
        return decision

    def acts(self, **options: Any) -> bool:
        """Whether a fault acts on a request."""
        return bool(self.ask(**options).acted)

    def pattern(self, count: int, **options: Any) -> str:
        """Decide `count` requests. Returns `x` for each on which a fault acts, and `.` for the others."""
        return "".join("x" if self.acts(**options) else "." for _ in range(count))

    def fault(self, fault_id: str) -> Any:
        return self.world.tables["faults"][fault_id]

    def view(self, fault_id: str) -> dict[str, Any]:
        fault = self.fault(fault_id)
        return armed_document(self.world, fault, self.now_ms, EntryUsage(), FAULT)

    def project_id(self, alias: str) -> str:
        return str(self.world.indexes[f"project:{alias}"])

    def user_id(self, alias: str) -> str:
        return str(self.world.indexes[f"user:{alias}"])


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A desk. After the test, its world must survive an export and import."""
    desk = Desk()
    with assert_transferable_after(desk):
        yield desk
