"""The variation of a response depends on its request, not on other requests and not on the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.variation.worlds import read_variation, varied_world
from tests.support.exported_worlds import export_document, import_document
from tests.support.in_process import NOON_MS, InProcess, Machine, fresh_world
from tests.support.varied_worlds import new_varied_world

SEEDS = range(12)


def client(api: InProcess, *, also: Callable[[], Any] = lambda: None) -> list[list[str]]:
    """Send the requests of a job, with other requests between. Returns the points at which they vary."""
    varied_points: list[list[str]] = []

    def ask(*args: Any, call: Callable[..., Any], **options: Any) -> Any:
        response = call(*args, **options)
        varied_points.append(list(api.engine.log.newest(1)[0].varied))
        also()
        return response

    operation = ask(call=api.apply_domains, key="a").json["id"]
    for _ in range(4):
        ask(operation, call=api.poll)
    ask(call=api.deployments)
    ask(call=api.dns)
    ask("x", call=api.set_flag, key="b")
    ask(True, call=api.set_flag, key="b")
    ask(1, call=api.initialize, key="c")
    return varied_points


@pytest.mark.parametrize("seed", SEEDS)
def test_other_requests_do_not_change_what_is_drawn_for_a_response(seed: int):
    plain, busy = (InProcess(new_varied_world(str(seed), mode="frozen")) for _ in range(2))

    def also() -> None:
        busy.compute()
        busy.set_flag("no", key="other", user="member")
        busy.poll("0" * 26)

    assert client(busy, also=also) == client(plain)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_time_of_a_request_does_not_change_what_is_drawn(seed: int):
    later = Machine(NOON_MS + 123_456_000)
    ways = [
        InProcess(new_varied_world(str(seed), mode="real", machine=m), machine=m)
        for m in (Machine(), later)
    ]

    first, second = (client(api) for api in ways)

    assert first == second


def test_a_replay_has_the_headers_of_the_first_response():
    for seed in SEEDS:
        api = InProcess(new_varied_world(str(seed), mode="frozen"))
        first = api.apply_domains(key="a")
        api.apply_domains(key="b")
        assert api.apply_domains(key="a").headers.keys() == first.headers.keys()


def test_a_varied_deployment_id_need_not_sort_by_time():
    orders = set()
    for seed in SEEDS:
        api = InProcess(fresh_world(mode="frozen"))
        api.vary(str(seed), "id-order")
        api.initialize(1, key="a")
        newest = api.deployments("?limit=3").json["items"]
        ids = [item["id"] for item in newest]
        orders.add(ids[0] == max(ids))
        assert ("id-order" in api.engine.log.varied) == (ids[0] < max(ids))
    assert orders == {True, False}


def test_the_deployments_with_which_a_varied_world_begins_need_not_sort_by_time():
    usual = _deployments(InProcess(fresh_world(mode="frozen")))
    for seed in SEEDS:
        api = InProcess(new_varied_world(str(seed), "id-order", mode="frozen"))
        varied = _deployments(api)
        ids = [item["id"] for item in varied]
        assert ids != sorted(ids, reverse=True)
        assert len(set(ids)) == len(ids)
        assert [_without_id(item) for item in varied] == [_without_id(item) for item in usual]
        operation_ids = [item["operation_id"] for item in varied[:5]]
        assert [api.poll(id_).json["deployment_id"] for id_ in operation_ids] == ids[:5]


def test_a_variation_set_later_leaves_the_ids_that_a_client_may_have_seen():
    api = InProcess(fresh_world(mode="frozen"))
    before = _deployments(api)
    api.vary("1", "id-order")

    assert _deployments(api) == before


def test_a_deployment_that_a_plan_of_the_world_mentions_keeps_its_id():
    world = fresh_world(mode="frozen")
    newest_id = _deployments(InProcess(world))[0]["id"]
    api = InProcess(world)
    api.add_fault(call="get_dns_authorization", abort={"code": "forbidden", "detail": newest_id})
    for seed in SEEDS:
        varied = varied_world(api.world, read_variation(str(seed), ("id-order",)))
        assert _deployments(InProcess(varied))[0]["id"] == newest_id


def _deployments(api: InProcess) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.deployments("?limit=100").json["items"]
    return items


def _without_id(deployment: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in deployment.items() if name != "id"}


def test_an_imported_world_keeps_the_order_of_deployments_with_unordered_ids():
    api = InProcess(new_varied_world("1", "id-order", mode="frozen"))
    api.intervene("add_deployments", project="shop", count=40)
    listed = [item["id"] for item in api.deployments("?limit=100").json["items"]]

    copy = InProcess(import_document(export_document(api.world, with_seed=True)))

    assert listed[:40] != sorted(listed[:40], reverse=True)
    assert [item["id"] for item in copy.deployments("?limit=100").json["items"]] == listed
