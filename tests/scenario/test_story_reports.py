"""The complete messages and differences in the report of a story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.scenario.library import ScenarioLibrary
from tests.support.stories import run, text_of

#: A story with each action.
STORY = """
timeline:
  - {after_calls: 1, intervene: {set_plan: {organization: acme, plan: free}}}
faults:
  - {latency: {delay_ms: 1500}, call: get_dns_authorization, optional: true}
story:
  - {call: list_deployments, times: 2, save: {first: items.0.id}}
  - {call: apply_project_domains, save: {operation: id}}
  - {poll: "${operation}"}
  - {call: create_dev_access_ticket, save: {url: redeem_url}}
  - {redeem: "${url}", expect: {status: 303}}
  - {request: GET /v1/projects, expect: {status: 404}}
  - {sign_in: member, save: {token: access_token}}
  - {api_key: owner, body: {name: ci, permissions: [projects.read]}, save: {key: value}}
  - {call: list_deployments, token: "${key}", expect: {status: 403}}
  - together:
      - {call: list_deployments}
      - {call: get_dns_authorization}
  - {call: get_dns_authorization}
  - {advance: 5s}
  - {to: "${now+10m}"}
  - {until: "${operation}"}
  - {intervene: {set_plan: {organization: acme, plan: paid}}}
  - {fault: {abort: {code: rate_limited}, optional: true}, save: {fault: id}}
  - {call: list_deployments, times: 1, expect: {code: rate_limited}}
  - {remove_fault: "${fault}"}
  - {outcome: {fail: , optional: true}, save: {outcome: id}}
  - {remove_outcome: "${outcome}"}
  - {clear_faults: true}
  - {clear_outcomes: true}
  - {assume: {token_lifetime: 1h}}
  - {check: {first: "${first}"}}
  - {log: {call: list_deployments, count: 5}}
  - {note: The end.}
"""


def step_texts(report: dict[str, Any]) -> list[str]:
    """Return the title and the message of each step."""
    return [f"{step['title']}: {step['message']}" for step in report["steps"]]


def last_step(report: dict[str, Any]) -> list[str]:
    """Return all sentences about the last step, and about faults and outcomes that never acted."""
    step = report["steps"][-1]
    texts = [f"{step['title']}: {step['message']}"]
    if step["waited_ms"]:
        texts.append(f"waited {step['waited_ms']} ms")
    texts += [
        f"{item['line']}:{item['column']} {item['at']}: expected {item['expected']!r}, "
        f"found {item['found']!r}"
        for item in step["differences"]
    ]
    texts += step["nearest"]
    texts += [
        f"{entry.at} on line {entry.line}: {entry.unused}"
        for entry in report["entries"]
        if entry.unused
    ]
    return texts


def test_each_step_of_a_story_reports_its_result() -> None:
    report = run(STORY)

    assert report["passed"]
    assert step_texts(report) == [
        "list_deployments: status 200",
        "apply_project_domains: status 202",
        "poll ${operation}: status 200",
        "create_dev_access_ticket: status 201",
        "redeem ${url}: status 303",
        "request GET /v1/projects: status 404",
        "sign_in member: member has an access token that is valid for 3600 seconds",
        "api_key owner: owner has an API key for acme",
        "list_deployments: status 403",
        "list_deployments and get_dns_authorization: status 200, status 200, 1.5s late",
        "get_dns_authorization: status 200, 1.5s late",
        "advance 5s: time moved by 5s",
        "to ${now+10m}: time moved to 2026-01-01T00:10:05.000Z",
        "until ${operation}: the operation ended in the state succeeded",
        "intervene set_plan: acme is on the paid plan",
        "fault abort: fault-2 armed",
        "list_deployments: status 429",
        "remove_fault ${fault}: fault-2 removed",
        "outcome fail: outcome-1 armed",
        "remove_outcome ${outcome}: outcome-1 removed",
        "clear_faults true: 1 fault removed",
        "clear_outcomes true: 0 outcomes removed",
        'assume {"token_lifetime": "1h"}: assumptions changed',
        "check first: ",
        "log call list_deployments, count 5: 5 of 12 requests match",
        "The end.: ",
    ]


@pytest.mark.parametrize(
    ("rest", "texts"),
    [
        (
            "story: [{call: list_deployments, expect: {code: forbidden}}]",
            [
                "list_deployments: status 200",
                "3:34 status: expected 'an error status', found 200",
                "3:49 code: expected 'forbidden', found '(absent)'",
            ],
        ),
        (
            "story: [{call: list_deployments, user: outsider}]",
            [
                "list_deployments as outsider: status 404",
                "3:9 status: expected 'a success status', found 404",
            ],
        ),
        (
            "story: [{call: list_deployments, user: outsider, expect: {status: 404, code: "
            "forbidden}}]",
            [
                "list_deployments as outsider: status 404",
                "3:78 code: expected 'forbidden', found 'resource_not_found'",
            ],
        ),
        (
            "story: [{call: list_deployments, expect: {items: 1, headers: {Retry-After: '7', "
            "Content-Type: null}, body: {next_cursor: x}}}]",
            [
                "list_deployments: status 200",
                "3:50 items: expected 1, found 20",
                "3:76 headers.Retry-After: expected '7', found '(absent)'",
                "3:95 headers.Content-Type: expected None, found 'application/json'",
                "3:122 body.next_cursor: expected 'x', found 'xfFya138AAAAAAAZ'",
            ],
        ),
        (
            "story: [{call: list_deployments, expect: {absent: [items.0.id]}}]",
            [
                "list_deployments: status 200",
                "3:52 body.items.0.id: expected '(absent)', found '01KDTK8XFR0002SHC3B744F4JS'",
            ],
        ),
        (
            "story: [{call: list_deployments, expect: {delayed: true, html: true}}]",
            [
                "list_deployments: status 200",
                "3:52 delayed: expected True, found False",
                "3:64 html: expected True, found False",
            ],
        ),
        (
            "story: [{call: list_deployments, expect: {lost: timeout}}]",
            [
                "list_deployments: status 200",
                "3:49 lost: expected 'timeout', found None",
            ],
        ),
        (
            "faults: [{timeout: }]\nstory: [{call: list_deployments}]",
            [
                "list_deployments: the response was lost (timeout)",
                "4:9 lost: expected None, found 'timeout'",
            ],
        ),
        (
            "story: [{call: list_deployments, save: {x: next_cursor /zzz/}}]",
            [
                "list_deployments: the response has no next_cursor /zzz/ to save as x",
                (
                    "3:44 save.x: expected 'to be possible', found 'the response has no next_cursor "
                    "/zzz/ to save as x'"
                ),
            ],
        ),
        (
            "story: [{call: list_deployments, user: nobody, expect: {status: 401}, save: {x: "
            "items.0.id}}]",
            [
                (
                    "list_deployments as nobody: the response was 401 unauthenticated, so there is no "
                    "items.0.id to save as x"
                ),
                (
                    "3:81 save.x: expected 'to be possible', found 'the response was 401 "
                    "unauthenticated, so there is no items.0.id to save as x'"
                ),
            ],
        ),
        (
            "story: [{call: list_deployments, save: {x: items.0.id}}, {check: {x: y}}]",
            [
                "check x: ",
                "3:70 x: expected 'y', found '01KDTK8XFR0002SHC3B744F4JS'",
            ],
        ),
        (
            "story: [{together: [{call: list_deployments}, {call: get_dns_authorization, expect: "
            "{status: 201}}]}]",
            [
                "list_deployments and get_dns_authorization: status 200, status 200",
                "3:94 together[1].status: expected 201, found 200",
            ],
        ),
        (
            "story: [{call: list_deployments}, {log: {call: list_deployments, user: member}}]",
            [
                "log call list_deployments, user member: 0 of 1 requests match",
                "3:36 log.count: expected {'at_least': 1}, found 0",
                "request 1 differs: user is 01JGFJJZ00WJ23PB5JRWGKGJQK or owner",
            ],
        ),
        (
            "story: [{call: list_deployments}, {log: {call: list_deployments, count: 2}}]",
            [
                "log call list_deployments, count 2: 1 of 1 requests match",
                "3:36 log.count: expected 2, found 1",
                "request 1 matches",
            ],
        ),
        (
            "story: [{log: {call: list_deployments}}]",
            [
                "log call list_deployments: 0 of 0 requests match",
                "3:10 log.count: expected {'at_least': 1}, found 0",
            ],
        ),
        (
            "story: [{call: list_deployments}, {log: {fault: fault-3, count: 0}}]",
            [
                "log fault fault-3, count 0: there is no fault fault-3; faults armed so far: 0",
                (
                    "3:35 log: expected 'to be possible', found 'there is no fault fault-3; faults "
                    "armed so far: 0'"
                ),
            ],
        ),
        (
            "story: [{remove_fault: fault-1}]",
            [
                "remove_fault fault-1: there is no fault 'fault-1'; no fault is armed",
                (
                    "3:9 remove_fault: expected 'to be possible', found \"there is no fault 'fault-1'; "
                    'no fault is armed"'
                ),
            ],
        ),
        (
            "story: [{call: apply_project_domains, save: {o: id}}, {intervene: {stick_operation: "
            "{project: shop}}}, {until: '${o}'}]",
            [
                (
                    "until ${o}: operation 01KDVDNA000000004MQC4BY7TH does not advance with time. It "
                    "is stuck while queued: the stick_operation intervention stopped it, so neither "
                    "time nor a poll advances it. Run `intervene release_operation "
                    "operation=01KDVDNA000000004MQC4BY7TH`."
                ),
                (
                    "3:104 until: expected 'to be possible', found 'operation "
                    "01KDVDNA000000004MQC4BY7TH does not advance with time. It is stuck while queued: "
                    "the stick_operation intervention stopped it, so neither time nor a poll advances "
                    "it. Run `intervene release_operation operation=01KDVDNA000000004MQC4BY7TH`.'"
                ),
            ],
        ),
        (
            "timeline: [{after_calls: 1, intervene: {release_operation: {project: shop}}}]\n"
            "story: [{call: list_deployments}, {call: list_deployments}]",
            [
                "list_deployments: status 200",
                (
                    "3:29 timeline[0]: expected 'to be possible', found 'release_operation was "
                    "refused: project shop has no operation in progress'"
                ),
            ],
        ),
        (
            "faults: [{timeout: , call: get_dns_authorization}]\nstory: [{call: list_deployments}]",
            [
                "list_deployments: status 200",
                (
                    "faults[0] on line 3: the nearest request was number 1, GET "
                    "/v1/projects/01JGFJJZ00TGEYDG0VT5J9EZXF/deployments, which differs in call "
                    "(list_deployments instead of get_dns_authorization)"
                ),
            ],
        ),
        (
            "faults: [{abort: {code: forbidden}}]\n"
            "story: [{call: list_deployments, tries: 3, pause: 2s}]",
            [
                "list_deployments: status 403",
                "4:9 status: expected 'a success status', found 403",
            ],
        ),
        (
            "faults: [{abort: {code: rate_limited, retry_after_seconds: 7}}]\n"
            "story: [{call: list_deployments, tries: 3}]",
            [
                "list_deployments: status 429",
                "4:9 status: expected 'a success status', found 429",
            ],
        ),
        (
            "faults: [{latency: {delay_ms: 1500}}]\n"
            "story: [{call: list_deployments, expect: {delayed: false}}]",
            [
                "list_deployments: status 200, 1.5s late",
                "waited 1500 ms",
                "4:52 delayed: expected False, found True",
            ],
        ),
        (
            "faults: [{abort: {code: rate_limited}, times: 2, optional: true}]\n"
            "story: [{call: list_deployments, times: 3, expect: {status: [200, 429]}, save: {x: "
            "items}}]",
            [
                (
                    "list_deployments: the response was 429 rate_limited, so there is no items to "
                    "save as x"
                ),
                (
                    "4:84 save.x: expected 'to be possible', found 'the response was 429 "
                    "rate_limited, so there is no items to save as x'"
                ),
            ],
        ),
        (
            "story: [{call: list_deployments, times: 3, expect: {status: 200}}, {note: The end., "
            "call: list_deployments, expect: {status: 201}}]",
            [
                "The end.: status 200",
                "3:126 status: expected 201, found 200",
            ],
        ),
        (
            "faults: [{latency: {delay_ms: 1}}]\n"
            "story: [{call: list_deployments, gives_up: true}, {call: list_deployments, expect: "
            "{status: 201}}]",
            [
                "list_deployments: status 200, 1ms late",
                "waited 1 ms",
                "4:93 status: expected 201, found 200",
            ],
        ),
        (
            "faults: [{latency: {delay_ms: 1}}]\n"
            "story: [{together: [{call: list_deployments, gives_up: true}, {call: list_deployments, "
            "expect: {status: 201}}]}]",
            [
                (
                    "list_deployments, gives up and list_deployments: the client gave up before the "
                    "response was sent, status 200, 1ms late"
                ),
                "waited 1 ms",
                "4:105 together[1].status: expected 201, found 200",
            ],
        ),
        (
            "faults: [{abort: {code: rate_limited}, times: 2}, {timeout: , call: "
            "get_dns_authorization}]\n"
            "story: [{call: list_deployments, times: 3, expect: {status: [200, 429]}}]",
            [
                "list_deployments: status 429 in 2 of 3, status 200 in 1 of 3",
                (
                    "faults[1] on line 3: the nearest request was number 1, GET "
                    "/v1/projects/01JGFJJZ00TGEYDG0VT5J9EZXF/deployments, which differs in call "
                    "(list_deployments instead of get_dns_authorization)"
                ),
            ],
        ),
        (
            "story: [{call: list_deployments, save: {a: next_cursor}}, "
            '{call: list_deployments, expect: {items: {one_of: [1, "${a}"]}}}]',
            [
                "list_deployments: status 200",
                '3:113 items.one_of.1: expected "it must be a number of items from 0 to 100, '
                "not 'xfFya138AAAAAAAZ'\", found 20",
            ],
        ),
        (
            "story: [{call: list_deployments}, {call: get_dns_authorization}, "
            "{log: {call: list_deployments, count: 2}}]",
            [
                "log call list_deployments, count 2: 1 of 2 requests match",
                "3:67 log.count: expected 2, found 1",
                "request 1 matches",
            ],
        ),
        (
            "faults: [{latency: {delay_ms: 1}}]\n"
            "story: [{call: list_deployments}, {log: {fault: fault-1}}, "
            "{log: {fault: fault-2, count: 0}}]",
            [
                ("log fault fault-2, count 0: there is no fault fault-2; faults armed so far: 1"),
                (
                    "4:60 log: expected 'to be possible', found "
                    "'there is no fault fault-2; faults armed so far: 1'"
                ),
            ],
        ),
        (
            "faults: [{latency: {delay_ms: 1}}]\n"
            "story: [{call: list_deployments, key: k}, "
            "{log: {key: k, fault: latency, status: 404}}]",
            [
                "log status 404, key k, fault latency: 0 of 1 requests match",
                "4:44 log.count: expected {'at_least': 1}, found 0",
                "request 1 differs: status is 200",
            ],
        ),
    ],
)
def test_a_failed_story_reports_its_last_step_with_these_texts(rest: str, texts: list[str]) -> None:
    report = run(rest)

    assert not report["passed"]
    assert last_step(report) == texts


@pytest.mark.parametrize(
    ("content", "code", "detail"),
    [
        (
            '{"code": "teapot", "detail": "It is short and stout."}',
            "teapot",
            "It is short and stout.",
        ),
        ('{"code": 5, "detail": 6}', None, None),
    ],
)
def test_a_response_is_reported_with_its_code_and_detail_if_they_are_strings(
    content: str, code: str | None, detail: str | None
) -> None:
    report = run(
        f"""
        faults: [{{respond: {{status: 418, content: '{content}'}}}}]
        story: [{{call: list_deployments}}]
        """
    )

    [response] = report["steps"][0]["responses"]
    assert response == {"n": 1, "status": 418, "code": code, "detail": detail, "lost": None}


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("{log: {call: list_deployments, count: 9}}", "request {n} matches"),
        (
            "{log: {call: list_deployments, status: 404}}",
            "request {n} differs: status is 200",
        ),
    ],
)
def test_a_failed_log_step_describes_the_latest_five_requests(step: str, text: str) -> None:
    report = run(f"story: [{{call: list_deployments, times: 6}}, {step}]")

    assert report["steps"][-1]["nearest"] == [text.format(n=n) for n in range(2, 7)]


def test_the_report_of_a_varied_story_has_the_seed_and_the_points() -> None:
    report = run(
        """
        vary: {seed: '5', only: [id-order]}
        story: [{call: list_deployments}]
        """
    )

    assert (report["variation"].seed, report["variation"].only) == ("5", ["id-order"])


def test_the_report_of_a_story_without_variation_has_none() -> None:
    assert run("story: [{call: list_deployments}]")["variation"] is None


def test_a_response_that_is_a_millisecond_late_is_delayed() -> None:
    report = run(
        """
        faults: [{latency: {delay_ms: 1}}]
        story: [{call: list_deployments, expect: {delayed: true}}]
        """
    )

    assert report["passed"]


def test_a_response_whose_sending_takes_a_millisecond_is_delayed() -> None:
    report = run(
        """
        faults: [{slow_response: {bytes_per_second: 100000}}]
        story: [{call: get_dns_authorization, expect: {delayed: true}}]
        """
    )

    assert report["passed"], last_step(report)


def test_a_log_step_counts_requests_by_the_reason_in_the_log() -> None:
    report = run(
        """
        faults: [{latency: {delay_ms: 5}, times: 1}]
        story:
          - {call: list_deployments, times: 2}
          - {log: {why: "/latency/", count: 1}}
        """
    )

    assert report["passed"], last_step(report)


def test_the_library_reads_a_scenario_from_the_path_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text_of(""))

    scenario = ScenarioLibrary(None).find(str(path))

    assert (scenario.part.name, scenario.source.file) == ("small", str(path))
