"""Asking: cursors, sessions, keys and fields, where they belong and where not."""

import pytest

from hosting_emulator.conduct.rules import RULES
from tests.support.watched_client import Watched

CURSOR = "made-up-cursor"
UNREAD = "unread-field"


@pytest.fixture
def api() -> Watched:
    return Watched()


def test_a_cursor_is_not_made_up(api: Watched):
    given = api.deployments("?limit=2").json["next_cursor"]
    api.deployments(f"?cursor={given}")
    assert api.broken() == []

    for cursor in ("abc", given[::-1], "x" * 600, "a%20b"):
        api.deployments(f"?cursor={cursor}")

    (found,) = [found for found in api.findings() if found.rule == CURSOR]
    assert found.requests == [3, 4, 5, 6]


def test_a_cursor_is_of_one_project(api: Watched):
    given = api.deployments("?limit=2").json["next_cursor"]
    api.deployments(f"?cursor={given}", project="blog")

    (found,) = api.findings()
    assert (found.rule, found.requests) == (CURSOR, [2])
    assert api.project("shop") in found.says


def test_a_cursor_goes_by_its_assumed_name():
    api = Watched(cursor_parameter="after")
    api.deployments("?after=abc")

    assert api.broken() == [(CURSOR, [1])]


def test_a_cursor_is_known_for_made_up_whatever_the_answer_says(api: Watched):
    api.vary("1", "problem-wording")
    for n in range(6):
        api.deployments(f"?cursor=abc{n}")

    (found,) = api.findings()
    assert (found.rule, found.requests) == (CURSOR, [1, 2, 3, 4, 5, 6])


def test_a_bad_page_size_is_no_bad_cursor(api: Watched):
    given = api.deployments("?limit=2").json["next_cursor"]
    api.deployments(f"?limit=0&cursor={given}")

    assert CURSOR not in dict(api.broken())


def test_an_api_key_makes_no_api_key(api: Watched):
    value = api.create_key().json["value"]
    api.create_key("another", token=value)
    api.create_key("third", token=api.token(interactive=False))

    assert api.broken() == [
        ("key-where-session-needed", [2]),
        ("key-where-session-needed", [3]),
    ]


def test_a_refusal_that_a_fault_makes_is_nobodys_mistake(api: Watched):
    api.fault(abort={"code": "interactive_login_required"})
    api.create_key()

    assert api.broken() == []


def test_another_flaw_may_be_refused_first(api: Watched):
    value = api.create_key().json["value"]
    assert api.create_key("", token=value).json["code"] == "invalid_request"
    assert api.create_key("", key="z").json["code"] == "invalid_request"

    assert api.broken() == [("key-where-session-needed", [2])]


def test_a_key_where_none_is_listed_does_nothing(api: Watched):
    api.ticket(key="a")
    api.dns(key="b")
    api.poll(api.operation(), key="c")

    findings = [found for found in api.findings() if found.rule == "key-not-listed"]
    assert [(found.requests, found.severity) for found in findings] == [
        ([1], "note"),
        ([2], "note"),
        ([4], "note"),
    ]


@pytest.mark.parametrize(
    ("what", "severity"),
    [
        (lambda api: api.deployments("?page=2"), "warning"),
        (lambda api: api.compute("?environment=dev&verbose=1"), "warning"),
        (lambda api: api.apply_domains(body={"hostnames": ["a.example"]}), "warning"),
        (lambda api: api.apply_domains(body={}), "note"),
        (lambda api: api.ticket(body={"minutes": 60}), "warning"),
        (lambda api: api.deployments("?limit=5"), None),
        (lambda api: api.compute("?environment=prod"), None),
        (lambda api: api.initialize(1), None),
        (lambda api: api.create_key("ci"), None),
        (lambda api: api.set_flag(True), None),
    ],
)
def test_what_nobody_reads_is_told(api: Watched, what, severity: str | None):
    what(api)

    found = [(f.rule, f.severity) for f in api.findings()]
    assert found == ([(UNREAD, severity)] if severity else [])


def test_a_body_field_that_no_schema_has(api: Watched):
    path = f"/v1/organizations/{api.organization()}/user-api-keys"
    api.call("POST", path, key="a", body={"name": "ci", "scopes": ["all"]})

    (found,) = api.findings()
    assert (found.rule, "'scopes'" in found.says) == (UNREAD, True)


def test_what_is_quoted_is_said_of_what_was_sent(api: Watched):
    path = f"/v1/organizations/{api.organization()}/user-api-keys"
    api.call("POST", path, key="a", body={"name": "ci", "scopes": ["all"]})
    api.apply_domains(body={"hostnames": []})
    api.deployments("?page=2")
    api.compute("?environment=dev&verbose=1")
    api.call("GET", f"/v1/projects/{api.project('shop')}/edge-dns?verbose=1")

    findings = api.look()["findings"]
    quoted = [(found["because"], found["place"]) for found in findings]
    assert quoted == [
        (
            "Body (application/json): { name: string, length 1 to 64 }.",
            "the contract, Endpoints, 3",
        ),
        ("No request body.", "the contract, Endpoints, 4"),
        (RULES[UNREAD].because, "the contract, Endpoints, 6"),
        (
            "Query: one parameter choosing the environment, allowed values dev, prod.",
            "the contract, Endpoints, 8",
        ),
        (RULES[UNREAD].because, RULES[UNREAD].place),
    ]


def test_the_names_of_parameters_follow_what_is_assumed():
    api = Watched(limit_parameter="page_size", environment_parameter="env")
    api.deployments("?page_size=5")
    api.compute("?env=dev")
    assert api.broken() == []

    api.deployments("?limit=5")
    assert api.broken() == [(UNREAD, [3])]


@pytest.mark.parametrize(
    ("query", "assumption"),
    [("page_size=5", "limit_parameter"), ("after=abc", "cursor_parameter"), ("x=%20", None)],
)
def test_a_parameter_that_is_called_otherwise_leads_to_its_assumption(
    api: Watched, query: str, assumption: str | None
):
    api.deployments(f"?{query}")

    (found,) = [found for found in api.findings() if found.rule == UNREAD]
    assert found.says.endswith("read." if assumption is None else f"assumption {assumption}.")


# --- What is stored, and taken for all ------------------------------------------------------------


@pytest.mark.parametrize("token", ["null", "None", "undefined"])
def test_a_null_is_no_token(api: Watched, token: str):
    api.dns(token=token)

    (found,) = api.findings()
    assert (found.rule, found.severity, found.requests) == ("null-as-token", "error", [1])


def test_a_token_that_is_nobodys_is_no_null(api: Watched):
    api.dns(token="nullable")

    assert api.broken() == []


VALUE_LOST = "api-key-value-lost"


@pytest.mark.parametrize("creates_another", [True, False])
def test_a_value_that_nobody_heard_is_missed_unless_there_is_another_key(
    api: Watched, creates_another: bool
):
    api.lose()
    api.create_key("ci", key="a")
    assert api.create_key("ci", key="a").json["value"] is None
    if creates_another:
        api.create_key("ci 2", key="b")
    assert api.broken() == []

    assert api.broken(final=True) == [(VALUE_LOST, [1])] * (not creates_another)


FIRST_PAGE = "first-page-for-all"


@pytest.mark.parametrize(("query", "broken"), [("", 1), ("?limit=2", 0)])
def test_to_leave_a_list_at_its_first_page_may_be_to_take_it_for_all(query: str, broken: int):
    api = Watched(default_page_size=2)
    assert api.deployments(query).json["next_cursor"]
    assert api.broken() == []

    findings = api.findings(final=True)
    assert [(f.rule, f.severity) for f in findings] == [(FIRST_PAGE, "note")] * broken


def test_who_turns_a_page_knows_that_there_are_more():
    api = Watched(default_page_size=2)
    given = api.deployments().json["next_cursor"]
    api.deployments(f"?cursor={given}")
    api.deployments()

    assert api.broken(final=True) == []
