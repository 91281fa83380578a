"""Which fields of a response may be absent: none that a client needs to continue."""

from __future__ import annotations

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.variation.draws import objects_in


def test_only_fields_that_the_contract_leaves_open_may_be_absent():
    resources = {
        "Operation",
        "Progress",
        "Reconciliation",
        "Deployment",
        "UserApiKey",
        "DevAccessTicket",
        "DatabaseCompute",
        "DatabasePlacement",
    }
    # progress: another point
    needed = {"id", "deployment_id", "progress", "origin", "redeem_url", "database"}

    assert {
        name for name, resource in RESOURCES.items() if resource.omissible_fields
    } == resources, (
        "write the new resource down here, or make the fields `essential` that clients need"
    )
    for name in resources:
        left = RESOURCES[name].names - set(RESOURCES[name].omissible_fields)
        allowed = needed | {"state"} if name == "Operation" else needed
        assert left <= allowed, f"write the essential field of {name} down in `needed`"


def test_resources_in_a_response_are_found_with_their_paths():
    page = {"items": [{"id": "a"}, {"id": "b"}]}

    pairs = [(part.resource.name, part.path) for part in objects_in("DeploymentPage", page)]

    assert pairs == [("DeploymentPage", ""), ("Deployment", "/items/0"), ("Deployment", "/items/1")]
