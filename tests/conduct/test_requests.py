"""Rules about the contents of requests: cursors, sessions, keys, parameters and fields."""

import pytest

from hosting_emulator.conduct.rules import RULES
from tests.support.judged_world import JudgedWorld

CURSOR = "made-up-cursor"
UNREAD = "unread-field"


def test_a_made_up_cursor_is_a_finding(client: JudgedWorld):
    cursor = client.deployments("?limit=2").json["next_cursor"]
    client.deployments(f"?cursor={cursor}")
    assert client.broken_rules() == []

    for made_up in ("abc", cursor[::-1], "x" * 600, "a%20b"):
        client.deployments(f"?cursor={made_up}")

    (finding,) = [finding for finding in client.findings() if finding.rule == CURSOR]
    assert finding.requests == [3, 4, 5, 6]


def test_a_cursor_of_another_project_is_a_finding(client: JudgedWorld):
    cursor = client.deployments("?limit=2").json["next_cursor"]
    client.deployments(f"?cursor={cursor}", project="blog")

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (CURSOR, [2])
    assert client.project_id("shop") in finding.message


def test_a_cursor_is_judged_under_its_assumed_parameter_name():
    client = JudgedWorld(cursor_parameter="after")
    client.deployments("?after=abc")

    assert client.broken_rules() == [(CURSOR, [1])]


def test_a_made_up_cursor_is_a_finding_with_any_wording_of_the_problem(client: JudgedWorld):
    client.vary("1", "problem-wording")
    for n in range(6):
        client.deployments(f"?cursor=abc{n}")

    (finding,) = client.findings()
    assert (finding.rule, finding.requests) == (CURSOR, [1, 2, 3, 4, 5, 6])


def test_a_refused_page_size_is_no_made_up_cursor(client: JudgedWorld):
    cursor = client.deployments("?limit=2").json["next_cursor"]
    client.deployments(f"?limit=0&cursor={cursor}")

    assert CURSOR not in dict(client.broken_rules())


def test_creating_an_api_key_without_a_session_is_a_finding(client: JudgedWorld):
    value = client.create_key().json["value"]
    client.create_key("another", token=value)
    client.create_key("third", token=client.token(interactive=False))

    assert client.broken_rules() == [
        ("key-where-session-needed", [2]),
        ("key-where-session-needed", [3]),
    ]


def test_a_refusal_by_a_fault_is_no_finding(client: JudgedWorld):
    client.fault(abort={"code": "interactive_login_required"})
    client.create_key()

    assert client.broken_rules() == []


def test_an_api_key_without_a_session_is_a_finding_although_the_name_is_refused_first(
    client: JudgedWorld,
):
    value = client.create_key().json["value"]
    assert client.create_key("", token=value).json["code"] == "invalid_request"
    assert client.create_key("", key="z").json["code"] == "invalid_request"

    assert client.broken_rules() == [("key-where-session-needed", [2])]


def test_an_idempotency_key_on_a_call_without_one_is_a_note(client: JudgedWorld):
    client.ticket(key="a")
    client.dns(key="b")
    client.poll(client.start_operation(), key="c")

    findings = [finding for finding in client.findings() if finding.rule == "key-not-listed"]
    assert [(finding.requests, finding.severity) for finding in findings] == [
        ([1], "note"),
        ([2], "note"),
        ([4], "note"),
    ]


@pytest.mark.parametrize(
    ("send", "severity"),
    [
        (lambda client: client.deployments("?page=2"), "warning"),
        (lambda client: client.compute("?environment=dev&verbose=1"), "warning"),
        (lambda client: client.apply_domains(body={"hostnames": ["a.example"]}), "warning"),
        (lambda client: client.apply_domains(body={}), "note"),
        (lambda client: client.ticket(body={"minutes": 60}), "warning"),
        (lambda client: client.deployments("?limit=5"), None),
        (lambda client: client.compute("?environment=prod"), None),
        (lambda client: client.initialize(1), None),
        (lambda client: client.create_key("ci"), None),
        (lambda client: client.set_flag(True), None),
    ],
)
def test_a_parameter_or_body_that_no_call_reads_is_a_finding(
    client: JudgedWorld, send, severity: str | None
):
    send(client)

    finding = [(f.rule, f.severity) for f in client.findings()]
    assert finding == ([(UNREAD, severity)] if severity else [])


def test_an_unknown_body_field_is_a_finding(client: JudgedWorld):
    path = f"/v1/organizations/{client.organization_id()}/user-api-keys"
    client.call("POST", path, key="a", body={"name": "ci", "scopes": ["all"]})

    (finding,) = client.findings()
    assert (finding.rule, "'scopes'" in finding.message) == (UNREAD, True)


def test_a_finding_quotes_the_sentence_about_what_was_sent(client: JudgedWorld):
    path = f"/v1/organizations/{client.organization_id()}/user-api-keys"
    client.call("POST", path, key="a", body={"name": "ci", "scopes": ["all"]})
    client.apply_domains(body={"hostnames": []})
    client.deployments("?page=2")
    client.compute("?environment=dev&verbose=1")
    client.call("GET", f"/v1/projects/{client.project_id('shop')}/edge-dns?verbose=1")

    findings = client.conduct_report().findings
    quoted = [(finding.because, finding.place) for finding in findings]
    assert quoted == [
        (
            "Body (application/json): { name: string, length 1 to 64 }.",
            "contract, section Endpoints, operation 3",
        ),
        ("No request body.", "contract, section Endpoints, operation 4"),
        (RULES[UNREAD].because, "contract, section Endpoints, operation 6"),
        (
            "Query: one parameter choosing the environment, allowed values dev, prod.",
            "contract, section Endpoints, operation 8",
        ),
        (RULES[UNREAD].because, RULES[UNREAD].place),
    ]


def test_parameter_names_follow_the_assumptions():
    client = JudgedWorld(limit_parameter="page_size", environment_parameter="env")
    client.deployments("?page_size=5")
    client.compute("?env=dev")
    assert client.broken_rules() == []

    client.deployments("?limit=5")
    assert client.broken_rules() == [(UNREAD, [3])]


@pytest.mark.parametrize(
    ("query", "assumption"),
    [("page_size=5", "limit_parameter"), ("after=abc", "cursor_parameter"), ("x=%20", None)],
)
def test_a_finding_names_the_assumption_of_a_similar_parameter(
    client: JudgedWorld, query: str, assumption: str | None
):
    client.deployments(f"?{query}")

    (finding,) = [finding for finding in client.findings() if finding.rule == UNREAD]
    assert finding.message.endswith("read." if assumption is None else f"{assumption} assumption.")


# --- Lost values and incomplete lists -------------------------------------------------------------


@pytest.mark.parametrize("token", ["null", "None", "undefined"])
def test_a_serialized_null_as_token_is_a_finding(client: JudgedWorld, token: str):
    client.dns(token=token)

    (finding,) = client.findings()
    assert (finding.rule, finding.severity, finding.requests) == ("null-as-token", "error", [1])


def test_an_unknown_token_is_not_a_serialized_null(client: JudgedWorld):
    client.dns(token="nullable")

    assert client.broken_rules() == []


VALUE_LOST = "api-key-value-lost"


@pytest.mark.parametrize("creates_another", [True, False])
def test_a_lost_api_key_value_is_a_finding_unless_another_key_is_created(
    client: JudgedWorld, creates_another: bool
):
    client.lose_response()
    client.create_key("ci", key="a")
    assert client.create_key("ci", key="a").json["value"] is None
    if creates_another:
        client.create_key("ci 2", key="b")
    assert client.broken_rules() == []

    assert client.broken_rules(final=True) == [(VALUE_LOST, [1])] * (not creates_another)


FIRST_PAGE = "first-page-for-all"


@pytest.mark.parametrize(("query", "broken"), [("", 1), ("?limit=2", 0)])
def test_stopping_at_the_first_page_of_the_default_size_is_a_note(query: str, broken: int):
    client = JudgedWorld(default_page_size=2)
    assert client.deployments(query).json["next_cursor"]
    assert client.broken_rules() == []

    findings = client.findings(final=True)
    assert [(f.rule, f.severity) for f in findings] == [(FIRST_PAGE, "note")] * broken


UNFINISHED = "list-not-finished"


def test_stopping_at_a_page_that_is_shorter_than_its_limit_is_a_note():
    client = JudgedWorld()
    client.vary("1", "page-size")
    page = client.deployments("?limit=4").json
    assert len(page["items"]) < 4
    assert page["next_cursor"]

    findings = client.findings(final=True)
    assert [(f.rule, f.severity) for f in findings] == [(UNFINISHED, "note")]


def test_stopping_at_a_later_page_that_is_not_the_last_is_a_note():
    client = JudgedWorld()
    cursor = client.deployments("?limit=1").json["next_cursor"]
    assert client.deployments(f"?limit=1&cursor={cursor}").json["next_cursor"]

    assert client.broken_rules(final=True) == [(UNFINISHED, [2])]


def test_a_client_that_reads_lists_to_their_end_may_stop_at_a_later_page():
    client = JudgedWorld()
    cursor = client.deployments("?limit=1").json["next_cursor"]
    page = client.deployments(f"?limit=20&cursor={cursor}").json
    while "next_cursor" in page:
        page = client.deployments(f"?limit=20&cursor={page['next_cursor']}").json
    client.deployments("?limit=1")
    client.deployments(f"?limit=1&cursor={cursor}")

    assert client.broken_rules(final=True) == []


def test_a_client_that_turned_a_page_may_stop_at_a_first_page():
    client = JudgedWorld(default_page_size=2)
    cursor = client.deployments().json["next_cursor"]
    client.deployments(f"?cursor={cursor}")
    client.deployments()

    assert client.broken_rules(final=True) == []
