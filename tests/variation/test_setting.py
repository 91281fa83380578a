"""A variation is part of its world: it can be set, shown, stored and removed without a trace."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.openapi import openapi_document
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.sdk import ControlRefused
from hosting_emulator.variation.points import VariationRefused
from hosting_emulator.variation.world_openapi import document_absent, example_values
from hosting_emulator.variation.worlds import read_variation, varied_world
from tests.properties.varied_walk import Walk
from tests.support.checked_world import CheckedWorld
from tests.support.exported_worlds import export_document, import_document
from tests.support.in_process import InProcess, fresh_world, new_worlds, world_origin
from tests.support.varied_worlds import new_varied_world
from tests.support.worlds_on_disk import WorldFolder, world_content

#: A seed that changes an assumption at every point. It was found by trial.
SEED = "everything"


@pytest.mark.parametrize("seed", ["", "x" * 201, "a\nb"])
def test_a_seed_that_is_empty_long_or_unprintable_is_refused(seed: str):
    with pytest.raises(VariationRefused, match="1 to 200 printable characters"):
        read_variation(seed)


def test_a_variation_without_points_is_refused():
    with pytest.raises(VariationRefused, match="at least one point"):
        read_variation("7", [])


def test_a_variation_is_shown_with_its_seed_points_and_assumptions():
    api = InProcess()

    assert api.variation is None
    api.vary("3", "accepted-status", "page-size")

    assert api.variation is not None
    assert api.variation.seed == "3"
    assert api.variation.only == ["accepted-status", "page-size"]
    assert api.variation.assumed == {"accepted_status": api.world.assumptions.accepted_status}
    assert api.variation.varied == {}
    assert api.world.assumptions.accepted_status != 202


def test_a_removed_variation_leaves_the_world_as_it_was_before():
    api = InProcess(fresh_world(ticket_created_status=200))
    rows = world_content(api.world)[4:]
    api.vary(SEED)
    api.vary("another")
    assert world_content(api.world)[4:] != rows

    assert api.unvary()

    assert world_content(api.world)[4:] == rows
    assert not api.unvary()


def test_a_variation_leaves_chosen_assumptions_unchanged():
    chosen: dict[str, Any] = {
        "accepted_status": 202,
        "key_created_status": 200,
        "deployment_order": "newest_first",
    }
    worlds = [new_varied_world(str(number), **chosen) for number in range(20)]

    assert all(
        chosen.items() <= selected_assumptions(world.assumptions, chosen).items()
        for world in worlds
    )
    assert {world.assumptions.key_replayed_status for world in worlds} == {200, 201}


def selected_assumptions(assumptions, names):
    return {name: getattr(assumptions, name) for name in names}


def test_an_assumption_changed_during_a_variation_stays_after_it():
    api = InProcess(new_varied_world("3", "accepted-status"))
    change_to = {200: 201, 201: 200}[api.world.assumptions.accepted_status]
    api.set_assumptions(accepted_status=change_to)
    api.unvary()

    assert api.world.assumptions.accepted_status == change_to


def test_a_point_draws_the_same_with_or_without_the_others():
    whole = new_varied_world(SEED).assumptions
    alone = new_varied_world(SEED, "lifecycle-longer").assumptions

    assert alone.source_profile == whole.source_profile
    assert alone.accepted_status == DEFAULTS.accepted_status


def test_a_fork_and_a_reset_keep_the_variation():
    worlds = new_worlds()
    default = InProcess()
    default.engine = worlds.create("default", "seed", world_origin(), ephemeral=True)
    assumptions = default.world.assumptions
    default.vary(SEED)
    variation = default.variation

    copy = InProcess()
    copy.engine = worlds.fork(default.engine, "copy", ephemeral=True)
    assert copy.variation == variation
    worlds.reset(default.engine)
    assert default.variation == variation
    default.unvary()
    worlds.reset(default.engine)
    assert default.variation is None
    assert default.world.assumptions == assumptions


def test_a_restart_from_journal_or_snapshot_keeps_the_variation(tmp_path):
    folder = WorldFolder(tmp_path / "default")
    folder.api.vary(SEED)
    page = folder.api.deployments("?limit=7").json
    from_journal = folder.read()
    folder.keeper.close()
    from_snapshot = folder.read()

    for world in (from_journal, from_snapshot):
        assert world.variation == folder.api.world.variation
        api = InProcess(world)
        cursor = page["next_cursor"]
        assert api.deployments(f"?limit=7&cursor={cursor}").status == 200


def test_an_exported_world_keeps_its_variation():
    world = new_varied_world(SEED)

    assert import_document(export_document(world), "other").variation == world.variation


@pytest.mark.parametrize(
    "mistake", [{"only": ["no-point"]}, {"assumed": {"no": 1}}, {"seed": ""}], ids=str
)
def test_an_import_refuses_a_variation_that_cannot_be(api: CheckedWorld, mistake: dict[str, Any]):
    api.emulator.vary(SEED)
    document = api.state()
    document["tables"]["variation"]["world"] |= mistake

    with pytest.raises(ControlRefused, match="table variation, row world") as caught:
        api.load(document)

    assert caught.value.status == 400


def test_a_cursor_of_a_varied_length_works_after_the_variation_ended():
    api = InProcess()
    cursors = []
    for seed in range(1, 30):
        api.vary(str(seed), "cursor-form", "page-size")
        cursor = api.deployments("?limit=7").json["next_cursor"]
        if len(cursor) > 16:
            cursors.append(cursor)
    api.unvary()

    assert {len(cursor) - 16 for cursor in cursors} == {1, 6, 20, 48, 80, 300, 480}
    assert {api.deployments(f"?cursor={cursor}").status for cursor in cursors} == {200}
    for cursor in cursors:
        other = "A" if cursor[0] != "A" else "B"
        assert api.deployments(f"?cursor={other}{cursor[1:]}").status == 400
    for cursor in cursors:
        shorter = api.deployments(f"?cursor={cursor[1:]}")
        assert shorter.status == (200 if len(cursor) == 17 else 400)


def test_a_replay_repeats_the_first_response_as_it_was_varied():
    api = InProcess(new_varied_world(SEED))
    first = api.set_flag(True, key="k")
    api.vary("another")
    second = api.set_flag(True, key="k")
    api.unvary()
    third = api.set_flag(True, key="k")

    assert first.body == second.body == third.body


def test_the_openapi_document_requires_no_field_that_a_response_may_lack():
    def required(*only: str) -> list[str]:
        absent = document_absent(read_variation("7", only or None))
        document = openapi_document(DEFAULTS, absent=absent)
        return document["components"]["schemas"]["Operation"]["required"]

    assert document_absent(None) == {}
    assert required() == required("absent-fields") == ["id", "state"]
    assert required("page-size") == ["id", "state", "created_at", "updated_at"]


def test_every_poll_of_an_ended_operation_lacks_the_same_fields():
    lacking = set()
    for seed in range(24):
        api = InProcess(new_varied_world(str(seed), "absent-fields"))
        operation_id = api.initialize().json["id"]
        document = api.poll(operation_id).json
        while document.get("state") != "succeeded":
            document = api.poll(operation_id).json
        fields = {frozenset(api.poll(operation_id).json) for _ in range(5)}
        assert len(fields) == 1
        lacking |= set(document) ^ {"id", "state", "created_at", "updated_at", "result"}

    assert {"created_at", "updated_at", "result"} <= lacking


CODES = ("api_key_creation_uncertain", "compute_performance_unavailable", "etag_mismatch")


@pytest.mark.parametrize("code", CODES)
def test_no_status_is_drawn_for_call_1_that_it_does_not_list(code: str):
    others = set()
    for seed in range(12):
        api = InProcess(new_varied_world(str(seed), "problem-status"))
        api.add_fault(abort={"code": code})
        assert api.set_flag(True).status == PROBLEMS[code].status
        others.add(api.dns().status)

    assert others - {PROBLEMS[code].status}


def test_a_chosen_status_applies_to_call_1_only_if_it_is_listed():
    chosen = {"forbidden": 451, "organization_required": 404}
    api = InProcess(new_varied_world("1", "problem-status", problem_statuses=chosen))

    assert api.set_flag(True, user="reader").status == 403
    assert api.set_flag(True, user="no-organization").status == 404
    assert api.dns(user="no-organization").status == 404
    assert api.ticket(user="reader").status == 451


@pytest.mark.parametrize(
    ("point", "name", "value"),
    [
        ("unexpected-body", "unexpected_body", "refused"),
        ("unknown-query-parameters", "unknown_query_parameters", "refused"),
        ("malformed-id", "malformed_project_id", "invalid_request"),
    ],
)
def test_only_a_refusal_caused_by_a_point_names_it(point: str, name: str, value: str):
    seeds = (new_varied_world(str(seed), point) for seed in range(20))
    api = InProcess(next(w for w in seeds if getattr(w.assumptions, name) == value))
    path = f"/v1/projects/{api.project_id()}/edge-dns"
    ask = {
        "unexpected-body": lambda: api.call("GET", path, body={}),
        "unknown-query-parameters": lambda: api.call("GET", path + "?more=1"),
        "malformed-id": lambda: api.call("GET", "/v1/projects/shop/edge-dns"),
    }[point]

    assert (ask().status, api.engine.log.newest(1)[0].varied) == (400, (point,))
    assert (api.set_flag(1).status, api.engine.log.newest(1)[0].varied) == (400, ())


def test_a_new_world_can_begin_with_a_variation():
    world = varied_world(fresh_world(), read_variation(SEED))

    assert world.commit == fresh_world().commit
    assert varied_world(world, None) is world
    Walk(world)


def test_the_examples_of_the_document_are_from_the_first_organization_and_its_first_project():
    world = fresh_world()

    examples = example_values(world)

    projects = ["shop", "blog", "docs", "labs"]
    assert examples["organization_id"] == {"acme": world.indexes["organization:acme"]}
    assert examples["project_id"] == {
        alias: world.indexes[f"project:{alias}"] for alias in projects
    }
    assert examples["expected_source_generation"] == {"shop": 1}
    assert list(examples["operation_id"]) == ["shop-1", "shop-2", "shop-3"]
