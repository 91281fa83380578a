"""The check of the deployments' list judges lists of any length, and pages in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.deployment_pages import list_deployments
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    Reply,
    Request,
    faults_of,
    make_check,
    new_run,
    problem,
    verdict_of,
)

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_PAGING = "deployments.page-through"
_TOO_SHORT = "skipped: the project has fewer than two deployments: use a project with more"


def deployment(number: int, minute: int) -> dict[str, Any]:
    created_at = (_NOON + timedelta(minutes=minute)).isoformat()
    return {
        "id": f"01KJFYX1AR0002R33RZ3WT{number:04d}",
        "project_id": PROJECT_ID,
        "operation_id": f"01KJFYX1AR0002R33RZ3WS{number:04d}",
        "commit_sha": "7d95901bb3ffeb749ca30e797ac7b56ddc147d8a",
        "source_digest": f"sha256:{'0' * 64}",
        "build_plan_digest": f"sha256:{'0' * 64}",
        "status": "queued",
        "created_at": created_at,
        "updated_at": created_at,
    }


@dataclass
class Server:
    """A server with a list of deployments, whose mistakes are chosen by its fields."""

    #: The minutes at which the deployments were created, in the order of the list.
    minutes: list[int]
    default_size: int = 20
    largest_size: int = 100
    limit_name: str = "limit"
    cursor_name: str = "cursor"
    #: The members of the last page besides its items.
    end: dict[str, Any] = field(default_factory=dict)
    #: The responses to some queries, such as `limit=0`.
    replies: dict[str, Reply] = field(default_factory=dict)
    #: The number of deployments of a page that the next page repeats, or skips if it is negative.
    overlap: int = 0
    #: Whether the cursor of the last page leads to another, empty page.
    is_endless: bool = False
    queries: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Reply:
        query = "&".join(f"{name}={value}" for name, value in request.query.items())
        self.queries.append(query)
        if query in self.replies:
            return self.replies[query]
        limit = request.query.get(self.limit_name, str(self.default_size))
        cursor = request.query.get(self.cursor_name, "0")
        if not (limit.isdigit() and 1 <= int(limit) <= self.largest_size and cursor.isdigit()):
            return problem(400, "invalid_request")
        end = int(cursor) + int(limit)
        deployments = [deployment(*pair) for pair in enumerate(self.minutes)]
        page: dict[str, Any] = {"items": deployments[int(cursor) : end]}
        if end < len(deployments) or self.is_endless:
            page["next_cursor"] = str(end - self.overlap)
        else:
            page |= self.end
        return Reply(page)

    def checked(self, **options: Any) -> CheckRun:
        return make_check(list_deployments, self, **options)


def newest_first(count: int) -> list[int]:
    return list(range(count, 0, -1))


_PAGE_SIZES = "limit=1 limit=100 limit=0 limit=-1 limit=101 limit=1000 limit=x limit=1.5"


@pytest.mark.parametrize(
    ("count", "page_queries"),
    [
        (2, "limit=1 limit=1&cursor=1 limit=1&cursor=! limit=1&cursor=1"),
        (5, "limit=1 limit=1&cursor=1 limit=1&cursor=! limit=1&cursor=1 limit=1&cursor=2"
            " limit=1&cursor=3 limit=1&cursor=4"),
        (6, "limit=2 limit=2&cursor=2 limit=2&cursor=! limit=2&cursor=2 limit=2&cursor=4"),
        (75, "limit=25 limit=25&cursor=25 limit=25&cursor=! limit=25&cursor=25 limit=25&cursor=50"),
        (100, "limit=25 limit=25&cursor=25 limit=25&cursor=! limit=25&cursor=25 limit=25&cursor=50"
              " limit=25&cursor=75"),
    ],
)  # fmt: skip
def test_the_check_reads_three_pages_of_at_most_25_deployments_or_more(
    count: int, page_queries: str
) -> None:
    server = Server(newest_first(count), default_size=2)

    run = server.checked()

    queries = ["", "limit=1", *_PAGE_SIZES.split(), "limit=100", *page_queries.split()]
    assert server.queries == queries
    assert faults_of(run) == []
    assert verdict_of(run, _PAGING).startswith("holds: GET /v1/projects/{project_id}/deployments")
    assert run.behavior.values | {"default_page_size": 2} == {
        "default_page_size": 2,
        "limit_parameter": "limit",
        "cursor_parameter": "cursor",
        "last_page_cursor": "absent",
        "deployment_order": "newest_first",
    }


def test_the_check_reads_at_most_twelve_pages() -> None:
    server = Server(newest_first(301))

    run = server.checked()

    assert server.queries[-1] == "limit=25&cursor=275"
    assert faults_of(run) == []
    assert verdict_of(run, _PAGING).endswith("limit=25: 200, in 12 pages")
    # The end of the list was not seen, and neither were all deployments in one page.
    assert run.behavior.values.keys().isdisjoint({"last_page_cursor", "deployment_order"})


@pytest.mark.parametrize(
    ("count", "reasons"),
    [
        (
            0,
            {
                "deployment.id": "skipped: the project has no deployments",
                "deployment.url": "skipped: the project has no deployments",
                _PAGING: _TOO_SHORT,
                "page.next_cursor": _TOO_SHORT,
            },
        ),
        (
            1,
            {_PAGING: _TOO_SHORT},
        ),
    ],
)
def test_a_list_of_less_than_two_deployments_shows_nothing_about_paging(
    count: int, reasons: dict[str, str]
) -> None:
    run = Server(newest_first(count)).checked()

    assert faults_of(run) == []
    assert {key: verdict_of(run, key) for key in reasons} == reasons
    assert run.behavior.values == {"limit_parameter": "limit", "last_page_cursor": "absent"}


@pytest.mark.parametrize(("count", "size"), [(20, None), (21, 20)])
def test_the_check_observes_the_default_page_size_if_the_list_is_longer(
    count: int, size: int | None
) -> None:
    run = Server(newest_first(count)).checked()

    assert run.behavior.values.get("default_page_size") == size


@pytest.mark.parametrize(
    ("minutes", "values", "notes"),
    [
        ([1, 2, 2, 3], {"deployment_order": "oldest_first"}, []),
        ([3, 2, 2, 1], {"deployment_order": "newest_first"}, []),
        ([2, 2, 2], {}, []),
        (
            [1, 3, 2],
            {},
            ["deployments are ordered neither by newest nor by oldest first"],
        ),
    ],
)
def test_the_check_observes_the_order_of_deployments(
    minutes: list[int], values: dict[str, str], notes: list[str]
) -> None:
    run = Server(minutes).checked()

    observed = {name: run.behavior.values[name] for name in run.behavior.values if "order" in name}
    assert (observed, run.behavior.notes) == (values, notes)


@pytest.mark.parametrize(
    ("end", "value", "notes"),
    [
        ({}, "absent", []),
        ({"next_cursor": None}, "null", []),
        (
            {"next_cursor": ""},
            None,
            ["the last page's next_cursor is empty, which no assumption can express"],
        ),
    ],
)
def test_the_check_observes_the_cursor_of_the_last_page(
    end: dict[str, Any], value: str | None, notes: list[str]
) -> None:
    run = Server(newest_first(3), end=end).checked()

    assert run.behavior.values.get("last_page_cursor") == value
    assert run.behavior.notes == notes


_LIST = "GET /v1/projects/{project_id}/deployments"
_SIZE_KEYS = "deployments.query limit.page-size"


@pytest.mark.parametrize(
    ("server", "faults"),
    [
        (
            Server(
                newest_first(6),
                replies={"": Reply({"items": [deployment(number, 0) for number in range(101)]})},
            ),
            [f"{_SIZE_KEYS}: {_LIST}: 200: it has 101 items"],
        ),
        (
            Server(newest_first(101), largest_size=101),
            [f"{_SIZE_KEYS}: {_LIST}?limit=101: 200: it has 101 items"],
        ),
        (
            Server(newest_first(6), overlap=1),
            [
                f"{_PAGING}: {_LIST}?limit=2: 200, in 5 pages: 4 deployments are on more than one page"
            ],
        ),
        (
            Server(newest_first(6), overlap=-1),
            [
                f"{_PAGING}: {_LIST}?limit=2: 200, in 3 pages: "
                "2 deployments of one long page are on none of the short ones"
            ],
        ),
        (
            Server(newest_first(3), is_endless=True),
            [f"{_PAGING}: {_LIST}?limit=1: 200, in 5 pages: its cursors lead to empty pages only"],
        ),
        (
            Server(newest_first(6), replies={"limit=2": Reply({"items": []})}),
            [
                f"{_PAGING}: {_LIST}?limit=2: 200: "
                "it has no next_cursor, although there are 6 deployments"
            ],
        ),
        (
            Server(newest_first(6), replies={"limit=1.5": Reply({"items": []})}),
            [f"deployments.query: {_LIST}?limit=1.5: 200: it should have been refused"],
        ),
        (
            Server(newest_first(6), replies={"limit=0": problem(500, "teapot")}),
            [
                f"problem.code problem.codes: {_LIST}?limit=0: 500 teapot: code: 'teapot'",
                f"{_SIZE_KEYS}: {_LIST}?limit=0: 500 teapot: "
                "it should have been refused with a 4xx problem",
            ],
        ),
        (
            Server(newest_first(6), replies={"limit=2&cursor=4": problem(418, "teapot")}),
            [
                f"problem.code problem.codes: {_LIST}?limit=2&cursor=4 (page 3): 418 teapot: code: 'teapot'",
                f"{_PAGING} deployments.query: {_LIST}?limit=2&cursor=4 (page 3): 418 teapot: "
                "it should have succeeded",
            ],
        ),
    ],
)
def test_the_check_reports_mistakes_of_a_list(server: Server, faults: list[str]) -> None:
    run = server.checked()

    assert [fault.partition(" is not one of")[0] for fault in faults_of(run)] == faults


@pytest.mark.parametrize("count", [1, 100])
def test_a_size_out_of_bounds_may_be_limited(count: int) -> None:
    items = [deployment(number, 1) for number in range(count)]
    server = Server(newest_first(3), replies={"limit=101": Reply({"items": items})})

    run = server.checked()

    assert faults_of(run) == []
    assert verdict_of(run, "limit.page-size") == (
        f"undecided: {_LIST}?limit=101: 200: it has {count} items, so the server may have limited "
        "the size"
    )


def test_names_of_parameters_are_discovered_by_their_effect() -> None:
    run = Server(newest_first(5), limit_name="size", cursor_name="page").checked()

    assert run.behavior.values["limit_parameter"] == "size"
    assert run.behavior.values["cursor_parameter"] == "page"


def test_the_user_can_name_parameters_with_unusual_names() -> None:
    server = Server(newest_first(5), limit_name="n", cursor_name="from")

    run = server.checked(assumed={"limit_parameter": "n", "cursor_parameter": "from"})

    assert verdict_of(run, _PAGING).startswith("holds: ")
    assert faults_of(run) == []


@pytest.mark.parametrize(("unknown_names", "name"), [("ignored", "page"), ("refused", None)])
def test_a_refused_value_shows_the_name_of_the_cursor_if_unknown_names_are_ignored(
    unknown_names: str, name: str | None
) -> None:
    """The following page is empty, so the effect of the cursor does not show its name."""
    server = Server(
        newest_first(3), cursor_name="page", replies={"limit=1&page=1": Reply({"items": []})}
    )
    run = new_run(server)
    run.behavior.record("unknown_query_parameters", unknown_names)

    list_deployments.make(run)

    assert run.behavior.values.get("cursor_parameter") == name


@pytest.mark.parametrize(
    ("names", "key", "reason"),
    [
        (
            {"limit_name": "n"},
            "limit.page-size",
            "none of limit, page_size, per_page, pageSize, max_results, size, first sets the page size: "
            "set it with --assume limit_parameter=NAME",
        ),
        (
            {"cursor_name": "from"},
            _PAGING,
            "none of cursor, page_token, after, next_cursor, starting_after, pageToken, page "
            "takes the cursor: set it with --assume cursor_parameter=NAME",
        ),
    ],
)
def test_a_parameter_with_an_unusual_name_must_be_named(
    names: dict[str, str], key: str, reason: str
) -> None:
    run = Server(newest_first(5), **names).checked()  # type: ignore[arg-type]

    assert verdict_of(run, key) == f"skipped: {reason}"
    assert faults_of(run) == []
