"""Indexes: lists and look-ups derived from the tables, compared with plain Python containers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.world.indexes import (
    CHUNK_SIZE,
    NO_INDEXES,
    deployment_chunks,
    deployment_count,
    deployments_between,
    update_indexes,
)
from hosting_emulator.world.records import Deployment, Project, Ticket
from hosting_emulator.world.tables import DEPLOYMENTS, PROJECTS, TICKETS


def test_every_default_of_a_deployment_field_is_none():
    """A field that equals its default is omitted on the wire, so only null may be a default."""
    assert {*Deployment.__struct_defaults__} == {None}


def deployment(number: int, project: str, status: str = "queued") -> Deployment:
    return Deployment(
        id=f"D{number}",
        project_id=project,
        operation_id="O",
        commit_sha="c",
        source_digest="s",
        build_plan_digest="b",
        status=status,
        created_at="",
        updated_at="",
    )


#: A deployment of project A or B arrives, or the n-th so far changes its status.
ARRIVALS = st.lists(
    st.one_of(st.sampled_from("AB"), st.integers(0, 10_000)),
    max_size=4 * CHUNK_SIZE,
    min_size=CHUNK_SIZE,
)


@given(arrivals=ARRIVALS, data=st.data())
@settings(deadline=None)
def test_the_index_lists_deployments_in_the_order_of_arrival(arrivals, data):
    indexes = NO_INDEXES
    lists: dict[str, list[Deployment]] = {"A": [], "B": []}
    all_deployments: list[Deployment] = []
    for step in arrivals:
        if isinstance(step, str):
            new = deployment(len(all_deployments), step)
            indexes = update_indexes(indexes, DEPLOYMENTS.name, new.id, None, new)
            lists[step].append(new)
            all_deployments.append(new)
        elif all_deployments:
            old = all_deployments[step % len(all_deployments)]
            new = deployment(int(old.id[1:]), old.project_id, f"status {step}")
            indexes = update_indexes(indexes, DEPLOYMENTS.name, new.id, old, new)
            place = lists[old.project_id].index(old)
            lists[old.project_id][place] = all_deployments[step % len(all_deployments)] = new

    for project, listed in lists.items():
        start = data.draw(st.integers(0, len(listed)))
        stop = data.draw(st.integers(start, len(listed)))
        runs = deployment_chunks(indexes, project, start, stop)

        assert deployment_count(indexes, project) == len(listed)
        assert deployments_between(runs, start, stop) == listed[start:stop]


def test_a_changed_deployment_replaces_only_its_own_run():
    indexes = NO_INDEXES
    for number in range(3 * CHUNK_SIZE):
        new = deployment(number, "A")
        indexes = update_indexes(indexes, DEPLOYMENTS.name, new.id, None, new)
    before = deployment_chunks(indexes, "A", 0, 3 * CHUNK_SIZE)

    old = before[1][0]
    changed = deployment(CHUNK_SIZE, "A", "ready")
    indexes = update_indexes(indexes, DEPLOYMENTS.name, old.id, old, changed)

    after = deployment_chunks(indexes, "A", 0, 3 * CHUNK_SIZE)
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_the_index_finds_the_latest_ticket_of_a_principal_and_any_ticket_by_digest():
    indexes = NO_INDEXES
    for number in range(3):
        ticket = Ticket(f"T{number}", "P", "user", f"digest {number}", 0)
        indexes = update_indexes(indexes, TICKETS.name, ticket.id, None, ticket)

    assert indexes["last_ticket:user"] == "T2"
    assert [indexes[f"ticket:digest {n}"] for n in range(3)] == ["T0", "T1", "T2"]


def test_the_latest_ticket_is_the_latest_created_in_whatever_order_tickets_are_read():
    indexes = NO_INDEXES
    for number in (2, 0, 1):
        ticket = Ticket(f"T{number}", "P", "user", f"digest {number}", 0)
        indexes = update_indexes(indexes, TICKETS.name, ticket.id, None, ticket)

    assert indexes["last_ticket:user"] == "T2"


def test_a_new_alias_replaces_the_old_alias_in_the_index():
    old = project("before")
    indexes = update_indexes(NO_INDEXES, PROJECTS.name, "P", None, old)

    indexes = update_indexes(indexes, PROJECTS.name, "P", old, project("after"))

    assert indexes.get("project:before") is None
    assert indexes["project:after"] == "P"
    assert indexes["dev:dev-a-b-c"] == "P"


def project(alias: str) -> Project:
    return Project(
        id="P",
        alias=alias,
        organization_id="O",
        handle=alias,
        dev_label="dev-a-b-c",
        dev_environment_id="E",
    )


class CountedIndexes:
    """Indexes that count their look-ups."""

    def __init__(self, indexes) -> None:
        self.indexes = indexes
        self.times = 0

    def get(self, name, default=None):
        self.times += 1
        return self.indexes.get(name, default)

    def __getitem__(self, name):
        self.times += 1
        return self.indexes[name]

    def insert(self, name, value):
        return self.indexes.insert(name, value)


def test_an_old_deployment_is_found_by_binary_search():
    indexes = NO_INDEXES
    deployments = [deployment(10_000 + number, "A") for number in range(256 * CHUNK_SIZE)]
    for new in deployments:
        indexes = update_indexes(indexes, DEPLOYMENTS.name, new.id, None, new)

    for old in (deployments[0], deployments[100 * CHUNK_SIZE + 5], deployments[-CHUNK_SIZE - 1]):
        counted = CountedIndexes(indexes)
        changed = deployment(int(old.id[1:]), "A", "cancelled")
        after = update_indexes(counted, DEPLOYMENTS.name, old.id, old, changed)  # type: ignore[arg-type]

        assert changed in deployments_between(
            deployment_chunks(after, "A", 0, len(deployments)), 0, len(deployments)
        )
        assert counted.times <= 12  # the list, eight halvings of 255 runs, and the run
