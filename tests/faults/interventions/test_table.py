"""The table of interventions: how their documents are read, and how each is described."""

import msgspec
import pytest

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
