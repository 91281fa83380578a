"""The table of interventions: how their documents are read, and how each is described."""

from typing import Any

import msgspec
import pytest

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.faults.interventions import (
    INTERVENTIONS,
    describe_interventions,
    read_intervention,
)


def test_an_intervention_is_read_by_its_name():
    assert read_intervention({"stick_operation": {"project": "shop"}}) == INTERVENTIONS[
        "stick_operation"
    ](operation=None, project="shop")


@pytest.mark.parametrize("options", [{}, None])
def test_optional_fields_of_an_intervention_may_be_omitted(options: object):
    assert read_intervention({"stick_operation": options}) == INTERVENTIONS["stick_operation"]()


@pytest.mark.parametrize(
    ("document", "field", "words"),
    [
        ({}, "", "an object with exactly one key"),
        ({"stick_operation": {}, "set_plan": {}}, "", "an object with exactly one key"),
        ({"stick_operatoin": {}}, "", "did you mean stick_operation"),
        ({"zzz": {}}, "", "there are add, stick_operation, .*, disconnect_domain"),
        ({1: {}}, "", "no intervention '1'"),
        ({"stick_operation": "shop"}, "", "takes an object of fields"),
        ({"stick_operation": {"projet": "shop"}}, "projet", "'projet' .* did you mean project"),
        ({"hold_claim": {"zzz": 1}}, "zzz", "it takes project"),
        ({"set_plan": {}}, "", "the field 'plan' is missing in set_plan, as in "),
        ({"hold_claim": {"project": 1}}, "project", "hold_claim.project must be a string"),
        ({"set_plan": {"organization": "acme", "plan": "gold"}}, "plan", "set_plan.plan: .*gold"),
        ({"set_credits": {"organization": "acme", "credits": -1}}, "credits", ">= 0"),
        ({"add_deployments": {"project": "shop", "count": 0}}, "count", ">= 1"),
        ({"fail_operation": {"code": ""}}, "code", "length >= 1"),
    ],
)
def test_a_malformed_intervention_is_refused_with_its_field(
    document: dict[Any, Any], field: str, words: str
):
    with pytest.raises(DocumentRefused, match=words) as caught:
        read_intervention(document)

    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_every_intervention_is_described_in_one_sentence_with_its_fields():
    described = describe_interventions()

    assert [description.name for description in described] == list(INTERVENTIONS)
    for description in described:
        assert description.about.endswith("."), description.name
        assert "\n" not in description.about
        kind = INTERVENTIONS[description.name]
        assert [field.name for field in description.fields] == [
            field.encode_name for field in msgspec.structs.fields(kind)
        ]


def test_the_name_of_an_intervention_begins_with_a_verb():
    assert {word.split("_")[0] for word in INTERVENTIONS} == {
        "stick",
        "supersede",
        "release",
        "step",
        "fail",
        "cancel",
        "require",
        "run",
        "complete",
        "exhaust",
        "end",
        "hold",
        "add",
        "expire",
        "revoke",
        "leave",
        "set",
        "skew",
        "remove",
        "transfer",
        "move",
        "recover",
        "connect",
        "disconnect",
    }
