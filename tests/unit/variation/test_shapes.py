"""Shapes are those of the models: nothing may vary that the models do not leave open."""

from __future__ import annotations

import types
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from hosting_emulator.contract import models
from hosting_emulator.variation.shapes import SHAPES, objects_in

MODELS = {name: getattr(models, name) for name in SHAPES}


def parts_of(hint: Any) -> list[type[BaseModel]]:
    """Return the models that a field may hold, alone or in a list."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return [hint]
    if get_origin(hint) in (list, types.UnionType) or get_args(hint):
        return [model for inner in get_args(hint) for model in parts_of(inner)]
    return []


def is_timestamp(field: Any) -> bool:
    return any(
        getattr(found, "json_schema_extra", None) == {"format": "date-time"}
        for found in (*field.metadata, field, *_inside(field.annotation))
    )


def _inside(hint: Any) -> list[Any]:
    return [found for inner in get_args(hint) for found in (inner, *_inside(inner))]


def test_every_object_of_every_answer_has_a_shape():
    answers = set(models.RESPONSES)
    parts = {part for shape in SHAPES.values() for part in shape.parts.values()}

    assert answers | parts == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_fits_its_model(name: str):
    shape, fields = SHAPES[name], MODELS[name].model_fields
    parts = {
        field: found[0].__name__
        for field in fields
        if (found := parts_of(fields[field].annotation))
    }

    assert dict(shape.parts) == parts
    assert set(shape.times) == {field for field in fields if is_timestamp(fields[field])}
    assert shape.closed == (MODELS[name].model_config["extra"] == "forbid")
    assert set(shape.optional) <= {f for f in fields if not fields[f].is_required()}


def test_all_that_is_optional_may_be_empty_but_what_is_typed_without_null():
    # A problem's detail is a string if it is there; a page's last cursor has a point of its own.
    typed = {"ProblemDetails", "DeploymentPage"}
    for name in set(SHAPES) - typed:
        fields = MODELS[name].model_fields
        assert set(SHAPES[name].optional) == {f for f in fields if not fields[f].is_required()}


def test_only_members_may_be_absent_of_which_the_contract_leaves_it_open():
    named = {
        *("Operation", "Progress", "Reconciliation", "Deployment", "UserApiKey"),
        *("DevAccessTicket", "DatabaseCompute", "DatabasePlacement"),
    }
    needed = {
        "id",
        "deployment_id",
        "progress",
        "redeem_url",
        "database",
    }  # progress: another point

    assert {name for name in SHAPES if SHAPES[name].open} == named
    for name in named:
        left = set(MODELS[name].model_fields) - set(SHAPES[name].open)
        assert left <= needed | {"state"} if name == "Operation" else left <= needed
        assert set(SHAPES[name].open) <= set(MODELS[name].model_fields)


def test_objects_are_found_with_their_places():
    page = {"items": [{"id": "a"}, {"id": "b"}], "next_cursor": None}

    found = [(each.shape, each.place) for each in objects_in("DeploymentPage", page)]

    assert found == [("DeploymentPage", ""), ("Deployment", "/items/0"), ("Deployment", "/items/1")]
