"""A judge's protected faults and interventions are in every world of their scope."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.engine.history import SavedState
from hosting_emulator.engine.protection import KINDS, ProtectedFaults, without_protected
from tests.support.in_process import InProcess, fresh_world, new_change

FAULT = {"abort": {"code": "service_unavailable"}, "call": "get_dns_authorization"}
OUTCOME = {"fail": {}, "call": "apply_project_domains"}
INTERVENTION = {"set_plan": {"organization": "acme", "plan": "free"}}
#: An intervention that the default world refuses, because it has no operation to hold.
REFUSED = {"stick_operation": {"project": "labs"}}


@pytest.fixture
def protected() -> ProtectedFaults:
    return ProtectedFaults()


def open_world(protected: ProtectedFaults, name: str = "default") -> InProcess:
    """Return a new world of a process with these protected faults."""
    api = InProcess(fresh_world(name))
    api.engine.protected = protected
    return api


def reset(api: InProcess) -> None:
    api.engine.replace_world(fresh_world(api.world.name), "reset", reason="reset")


def test_an_intervention_is_applied_once_to_each_world_and_again_after_a_reset(
    protected: ProtectedFaults,
):
    intervention = protected.add("intervention", INTERVENTION, None, fresh_world())
    first = open_world(protected)
    counts = []
    for api in (first, first, open_world(protected, "other"), first):
        api.dns()
        counts.append(intervention.applied)
    reset(first)
    for _ in range(2):
        first.dns()
        counts.append(intervention.applied)

    assert counts == [1, 1, 2, 2, 3, 3]
    assert first.record("organizations", first.organization_id()).plan == "free"


def test_an_intervention_that_a_world_refuses_is_not_counted(protected: ProtectedFaults):
    refused = protected.add("intervention", REFUSED, None, fresh_world())
    possible = protected.add("intervention", INTERVENTION, None, fresh_world())
    api = open_world(protected)

    assert api.dns().status == 200
    assert (refused.applied, possible.applied) == (0, 1)


@pytest.mark.parametrize(
    ("kind", "document", "table"), [("fault", FAULT, "faults"), ("outcome", OUTCOME, "outcomes")]
)
def test_a_protected_fault_or_outcome_is_restored_with_its_counts(
    protected: ProtectedFaults, kind: Any, document: dict[str, Any], table: str
):
    added = protected.add(kind, document, None, fresh_world())
    api = open_world(protected)
    for _ in range(2):
        api.dns()
        api.apply_domains()
    counted = added.fault
    reset(api)

    api.engine.protect()

    assert counted is not None
    assert (added.id, added.family.noun) == (f"{kind}-1000000001", kind)
    assert counted.hits > 0
    assert dict(api.records(table)) == {added.id: counted}
    assert added.applied == 0


def test_worlds_outside_the_scope_get_no_protected_fault(protected: ProtectedFaults):
    added = protected.add("fault", FAULT, ["watched"], fresh_world())
    everywhere = protected.add("fault", FAULT, None, fresh_world())
    watched, other = (open_world(protected, name) for name in ("watched", "other"))
    for api in (watched, other):
        api.engine.protect()

    assert [*watched.records("faults")] == [added.id, everywhere.id]
    assert [*other.records("faults")] == [everywhere.id]


def test_a_copy_of_a_world_joins_each_scope_of_its_source(protected: ProtectedFaults):
    named = protected.add("fault", FAULT, ["source"], fresh_world())
    other = protected.add("fault", FAULT, ["other"], fresh_world())
    everywhere = protected.add("fault", FAULT, None, fresh_world())

    protected.copy_scope("source", "copy")

    assert (named.names, other.names) == ({"source", "copy"}, {"other"})
    assert everywhere.names is None


def test_a_snapshot_is_restored_without_a_fault_that_was_removed_later(protected: ProtectedFaults):
    removed = protected.add("fault", FAULT, None, fresh_world())
    kept = protected.add("outcome", OUTCOME, None, fresh_world())
    api = open_world(protected)
    api.engine.protect()
    snapshot = SavedState(api.world, api.world.at_ms)
    protected.remove(removed)

    api.engine.restore(snapshot)

    assert dict(api.records("faults")) == {}
    assert [*api.records("outcomes")] == [kept.id]


def test_a_removed_fault_is_protected_no_longer(protected: ProtectedFaults):
    added = protected.add("fault", FAULT, None, fresh_world())
    api = open_world(protected)
    assert (bool(protected), api.engine.is_protected(added.id)) == (True, True)
    assert not api.engine.is_protected("fault-1")

    protected.remove(added)

    assert (bool(protected), protected.get(added.id)) == (False, None)
    assert not api.engine.is_protected(added.id)


def test_a_refused_document_takes_no_number(protected: ProtectedFaults):
    for kind, document in (("fault", {"abort": {"code": "x"}}), ("intervention", {"fly": {}})):
        with pytest.raises(ValueError):  # noqa: PT011
            protected.add(kind, document, None, fresh_world())  # type: ignore[arg-type]

    assert protected.add("fault", FAULT, None, fresh_world()).id == "fault-1000000001"
    assert protected.add("outcome", OUTCOME, None, fresh_world()).id == "outcome-1000000002"
    assert set(KINDS) == {"fault", "outcome", "intervention"}


def test_a_world_without_its_protected_faults_keeps_all_others(protected: ProtectedFaults):
    for kind, document in (("fault", FAULT), ("outcome", OUTCOME)):
        protected.add(kind, document, None, fresh_world())  # type: ignore[arg-type]
    api = open_world(protected)
    kept_ids = [api.add_fault(timeout={}), api.add_outcome(**OUTCOME)]
    api.engine.protect()
    assert len(api.records("faults")) == len(api.records("outcomes")) == 2

    world = without_protected(api.world)

    ids = [*world.tables["faults"], *world.tables["outcomes"]]
    assert ids == kept_ids
    assert (world.commit, world.at_ms) == (api.world.commit, api.world.at_ms)
    assert without_protected(world) is world


def test_a_protected_fault_is_written_only_if_a_world_lacks_it(protected: ProtectedFaults):
    protected.add("fault", FAULT, None, fresh_world())
    api = open_world(protected)
    api.engine.protect()
    commit = api.world.commit

    api.engine.protect()

    assert api.world.commit == commit
    change = new_change(api.world)
    protected.put_into(change, api.engine, 0)
    assert not any(change.writes.values())
