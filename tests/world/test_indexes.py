"""Indexes: lists and look-ups derived from the tables, compared with plain Python containers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hosting_emulator.world.records import Deployment, Project, Ticket
from hosting_emulator.world.tables import DEPLOYMENTS, PROJECTS, TICKETS
from hosting_emulator.world.value import (
    EMPTY,
    RUN,
    deployment_count,
    deployment_runs,
    in_runs,
    index,
)


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
    st.one_of(st.sampled_from("AB"), st.integers(0, 10_000)), max_size=4 * RUN, min_size=RUN
)


@given(arrivals=ARRIVALS, data=st.data())
@settings(deadline=None)
def test_the_index_lists_deployments_in_the_order_of_arrival(arrivals, data):
    indexes = EMPTY
    lists: dict[str, list[Deployment]] = {"A": [], "B": []}
    all_deployments: list[Deployment] = []
    for step in arrivals:
        if isinstance(step, str):
            new = deployment(len(all_deployments), step)
            indexes = index(indexes, DEPLOYMENTS.name, new.id, None, new)
            lists[step].append(new)
            all_deployments.append(new)
        elif all_deployments:
            old = all_deployments[step % len(all_deployments)]
            new = deployment(int(old.id[1:]), old.project_id, f"status {step}")
            indexes = index(indexes, DEPLOYMENTS.name, new.id, old, new)
            place = lists[old.project_id].index(old)
            lists[old.project_id][place] = all_deployments[step % len(all_deployments)] = new

    for project, listed in lists.items():
        start = data.draw(st.integers(0, len(listed)))
        stop = data.draw(st.integers(start, len(listed)))
        runs = deployment_runs(indexes, project, start, stop)

        assert deployment_count(indexes, project) == len(listed)
        assert in_runs(runs, start, stop) == listed[start:stop]


def test_a_changed_deployment_replaces_only_its_own_run():
    indexes = EMPTY
    for number in range(3 * RUN):
        new = deployment(number, "A")
        indexes = index(indexes, DEPLOYMENTS.name, new.id, None, new)
    before = deployment_runs(indexes, "A", 0, 3 * RUN)

    old = before[1][0]
    changed = deployment(RUN, "A", "ready")
    indexes = index(indexes, DEPLOYMENTS.name, old.id, old, changed)

    after = deployment_runs(indexes, "A", 0, 3 * RUN)
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_the_index_finds_the_latest_ticket_of_a_principal_and_any_ticket_by_digest():
    indexes = EMPTY
    for number in range(3):
        ticket = Ticket(f"T{number}", "P", "user", f"digest {number}", 0)
        indexes = index(indexes, TICKETS.name, ticket.id, None, ticket)

    assert indexes["last_ticket:user"] == "T2"
    assert [indexes[f"ticket:digest {n}"] for n in range(3)] == ["T0", "T1", "T2"]


def test_a_new_alias_replaces_the_old_alias_in_the_index():
    old = project("before")
    indexes = index(EMPTY, PROJECTS.name, "P", None, old)

    indexes = index(indexes, PROJECTS.name, "P", old, project("after"))

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
    indexes = EMPTY
    deployments = [deployment(10_000 + number, "A") for number in range(256 * RUN)]
    for new in deployments:
        indexes = index(indexes, DEPLOYMENTS.name, new.id, None, new)

    for old in (deployments[0], deployments[100 * RUN + 5], deployments[-RUN - 1]):
        counted = CountedIndexes(indexes)
        changed = deployment(int(old.id[1:]), "A", "cancelled")
        after = index(counted, DEPLOYMENTS.name, old.id, old, changed)  # type: ignore[arg-type]

        assert changed in in_runs(
            deployment_runs(after, "A", 0, len(deployments)), 0, len(deployments)
        )
        assert counted.times <= 12  # the list, eight halvings of 255 runs, and the run
