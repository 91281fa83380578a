"""What of an answer may vary: nothing that a client cannot go on without."""

from __future__ import annotations

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.draws import objects_in


def test_only_fields_that_the_contract_leaves_open_may_be_absent():
    named = {
        *("Operation", "Progress", "Reconciliation", "Deployment", "UserApiKey"),
        *("DevAccessTicket", "DatabaseCompute", "DatabasePlacement"),
    }
    # progress: another point
    needed = {"id", "deployment_id", "progress", "redeem_url", "database"}

    assert {name for name, found in RESOURCES.items() if found.may_lack} == named
    for name in named:
        left = RESOURCES[name].names - set(RESOURCES[name].may_lack)
        assert left <= needed | {"state"} if name == "Operation" else left <= needed


def test_resources_in_a_response_are_found_with_their_paths():
    page = {"items": [{"id": "a"}, {"id": "b"}]}

    found = [(each.resource.name, each.place) for each in objects_in("DeploymentPage", page)]

    assert found == [("DeploymentPage", ""), ("Deployment", "/items/0"), ("Deployment", "/items/1")]
