"""A replaced world starts again, and a restored world continues."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.engine.keeper import Keeper, StoreFailed
from tests.support.in_process import InProcess, fresh_world
from tests.support.logged_exchanges import logged_exchange, passage_between


@pytest.fixture
def api() -> InProcess:
    api = InProcess()
    api.add_fault(abort={"code": "rate_limited"}, call="list_deployments")
    api.deployments()
    api.engine.starts = 2
    return api


def test_a_replaced_world_continues_no_count_of_the_world_before(api: InProcess):
    usage = api.engine.usage
    api.engine.replace_world(fresh_world(), "another state")

    assert (api.engine.log.count, len(api.engine.log), api.engine.log.cleared) == (0, 0, 1)
    assert api.engine.starts == 0
    assert api.engine.usage is not usage
    assert usage.of("fault-1").considered == 1
    assert list(api.engine.log.rewinds) == []


def test_a_restored_world_keeps_its_log_and_its_counts(api: InProcess):
    snapshot = api.take_snapshot()
    usage = api.engine.usage
    api.deployments()
    api.restore_snapshot(snapshot)

    assert (api.engine.log.count, api.engine.log.cleared, api.engine.starts) == (2, 0, 2)
    assert api.engine.usage is usage
    assert list(api.engine.log.rewinds) == [2]


@pytest.mark.parametrize("more_commits", [-1, 0, 1, 2, 50])
def test_a_replaced_world_never_repeats_a_commit_number(api: InProcess, more_commits: int):
    last = api.world.commit
    world = replace(fresh_world(), commit=last + more_commits)

    api.engine.replace_world(world, "another state")

    assert api.world.commit == max(last + 1, last + more_commits)
    newest = list(api.engine.history)[-1]
    assert (newest.title, newest.number) == ("another state", api.world.commit)


def test_tokens_of_a_world_with_another_seed_end_when_it_is_replaced(api: InProcess):
    old_token = api.token()
    api.engine.replace_world(fresh_world(seed="another seed"))
    api.forget_tokens()

    assert api.dns(token=old_token).status == 401
    assert api.dns().status == 200


class FullDisk(Keeper):
    """A keeper that cannot store a world."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def replace(self, world: Any) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [(OSError(28, "No space left"), "No space left"), (OSError("a bad disk"), "a bad disk")],
)
def test_a_world_that_cannot_be_stored_is_not_replaced(error: OSError, reason: str):
    api = InProcess(keeper=FullDisk(error))
    api.dns()
    world = api.world

    with pytest.raises(StoreFailed, match=f"could not be saved: {reason}$"):
        api.engine.replace_world(fresh_world(seed="another seed"))

    assert api.world is world
    assert (api.engine.log.count, list(api.engine.log.past)) == (1, [])


# --- Exchanges ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own_status", "status", "was_refused"),
    [(0, 399, False), (0, 400, True), (0, 503, True), (404, 200, True), (200, 500, False)],
)
def test_a_request_was_refused_by_the_emulator_whatever_a_fault_made_of_its_response(
    api: InProcess, own_status: int, status: int, was_refused: bool
):
    entry = logged_exchange(api, own_status=own_status, status=status)

    assert entry.was_refused is was_refused


@pytest.mark.parametrize(
    ("members", "gave_up"),
    [
        ({"passage": passage_between(1, 2)}, False),
        ({"passage": passage_between(1, 3, closed=2)}, True),
        ({"passage": passage_between(1, closed=2)}, True),
        ({"passage": passage_between(1, closed=2), "lost": "timeout"}, False),
        ({"passage": passage_between(1, closed=2), "in_progress": True}, False),
        ({"passage": None}, False),
    ],
)
def test_a_client_gave_up_if_it_closed_its_connection_before_a_response_that_no_fault_lost(
    api: InProcess, members: dict[str, Any], gave_up: bool
):
    entry = logged_exchange(api, **members, why=("a reason",))

    assert entry.gave_up is gave_up
    assert entry.reasons[0] == "a reason"
    assert len(entry.reasons) == (2 if gave_up else 1)


def test_an_exchange_has_the_id_of_the_project_or_of_the_operation_in_its_path(api: InProcess):
    api.dns()
    of_project = logged_exchange(api)
    api.poll("0" * 26)
    of_operation = logged_exchange(api)
    api.create_key()
    of_organization = logged_exchange(api)

    pairs = [(each.project, each.operation) for each in (of_project, of_operation, of_organization)]
    assert pairs == [(api.project_id(), None), (None, "0" * 26), (None, None)]


def test_the_delivered_exchange_is_the_one_whose_response_the_client_received(api: InProcess):
    second = logged_exchange(api)

    for is_discarded, second_delivery in ((True, second), (False, second), (True, None)):
        first = logged_exchange(api, is_discarded=is_discarded, second_delivery=second_delivery)
        is_second = is_discarded and second_delivery is not None
        assert first.delivered is (second if is_second else first)
