"""The complete message for each mistake in a scenario, with its line and column."""

from __future__ import annotations

import pytest

from hosting_emulator.scenario.errors import ScenarioError
from tests.support.stories import scenario_error

#: Keys that are missing, or that exclude each other.
SHAPE = [
    (
        "timeline: [{fault: {timeout: }}]",
        "3:12: a timeline entry must have either at or after_calls",
    ),
    (
        "timeline: [{at: 1s, after_calls: 1, fault: {timeout: }}]",
        "3:12: a timeline entry must have either at or after_calls",
    ),
    (
        "timeline: [{at: 1s}]",
        "3:12: a timeline entry must have exactly one of fault, outcome, intervene",
    ),
    (
        "story: [{}]",
        "3:9: a step must have exactly one of call, poll, redeem, request, sign_in, "
        "api_key, together, advance, to, until, intervene, fault, remove_fault, "
        "clear_faults, outcome, remove_outcome, clear_outcomes, assume, check, log, use, "
        "but has none",
    ),
    (
        "story: [{call: list_deployments, poll: x}]",
        "3:9: a step must have exactly one of call, poll, redeem, request, sign_in, "
        "api_key, together, advance, to, until, intervene, fault, remove_fault, "
        "clear_faults, outcome, remove_outcome, clear_outcomes, assume, check, log, use, "
        "but has call and poll",
    ),
    (
        "story: [{together: [{call: list_deployments}]}]",
        "3:10: together needs at least two requests: add another request, or times",
    ),
    (
        "story: [{together: [{note: x}, {call: list_deployments}]}]",
        "3:21: a request inside together must have exactly one of call, poll, redeem, "
        "request, but has none",
    ),
    (
        "story: [{together: [{call: list_deployments, times: 2}], user: owner}]",
        "3:58: user is an option of call or poll or request or redeem, not of together: "
        "write user in the requests inside together",
    ),
    (
        "story: [{call: list_deployments, body: {}, text: x}]",
        "3:44: body and text are mutually exclusive: remove one of them",
    ),
    (
        "story: [{call: list_deployments, headers: {Idempotency-Key: a}, key: b}]",
        "3:65: the header Idempotency-Key and key are mutually exclusive: remove one",
    ),
    (
        "story: [{call: list_deployments, headers: {Authorization: a}, user: owner}]",
        "3:63: the header Authorization and user are mutually exclusive: remove one",
    ),
    (
        "story: [{call: list_deployments, headers: {Authorization: a}, token: b}]",
        "3:63: the header Authorization and token are mutually exclusive: remove one",
    ),
    (
        "story: [{request: POST /x, form: {}, body: x}]",
        "3:28: body and form are mutually exclusive: remove one of them",
    ),
    (
        "story: [{request: POST /x, form: {}, text: x}]",
        "3:28: text and form are mutually exclusive: remove one of them",
    ),
    (
        "story: [{call: apply_project_domains, key: ''}]",
        "3:44: key cannot be empty: omit key to send a generated Idempotency-Key, write "
        'headers: {Idempotency-Key: null} to send no key, or headers: {Idempotency-Key: ""} '
        "to send an empty key",
    ),
    (
        "story: [{call: list_deployments, user: ''}]",
        "3:40: user cannot be empty: write user: nobody to send no credentials",
    ),
    (
        "story: [{call: list_deployments, token: }]",
        "3:40: token cannot be empty: write user: nobody to send no credentials",
    ),
    (
        "story: [{clear_faults: false}]",
        "3:24: clear_faults must be true: to clear nothing, remove the step",
    ),
    (
        "story: [{clear_outcomes: false}]",
        "3:26: clear_outcomes must be true: to clear nothing, remove the step",
    ),
    (
        "story: [{call: list_deployments, pause: 1s}]",
        "3:34: pause requires tries greater than 1",
    ),
    (
        "story: [{together: [{call: list_deployments, tries: 2}, {call: list_deployments}]}]",
        "3:46: concurrent requests are sent only once: remove tries",
    ),
    (
        "story: [{call: list_deployments, gives_up: true, save: {x: id}}]",
        "3:50: a client that gives up receives no response: remove save",
    ),
    (
        "story: [{call: list_deployments, gives_up: true, collect: {x: items.0}}]",
        "3:63: a client that gives up receives no response: collect only `response`",
    ),
    (
        "story: [{call: list_deployments, query: {limit: [1]}}]",
        "3:42: query values must be strings, numbers or booleans, not a list",
    ),
    (
        "story: [{request: POST /v1/x, form: {a: }}]",
        "3:40: form values must be strings, numbers or booleans, not nothing",
    ),
    (
        "story: [{call: list_deployments, token: x, interactive: false}]",
        "3:44: token and interactive are mutually exclusive: remove one of them",
    ),
    (
        "story: [{call: list_deployments, gives_up: true, expect: {status: 200}}]",
        "3:50: a client that gives up receives no response: remove expect",
    ),
    (
        "story: [{call: list_deployments, gives_up: true, tries: 2}]",
        "3:50: a client that gives up receives no response: remove tries",
    ),
    (
        "story: [5]",
        "3:9: an entry of story must be a mapping, not 5",
    ),
    (
        "clock: {mode: []}",
        "3:9: mode must be a string, not a list",
    ),
    (
        "world: {organizations: [{alias: 5}]}",
        "3:33: alias must be 1 to 41 lowercase letters, digits and hyphens, and start with "
        "a letter, not 5",
    ),
    (
        "vary: {seed: a, only: [1]}",
        "3:24: an entry of only must be a string, not 1; put it in quotes",
    ),
]
#: Values that can never be right, and variables that have no value.
VALUES = [
    (
        "story: [{request: v1/projects}]",
        "3:19: a request needs a method and a path, such as GET /v1/projects",
    ),
    (
        "story: [{call: list_deployments, save: {a: response}}, {poll: '${a}'}]",
        "3:63: a is a whole response, which can only be compared, as in expect: {same_as: a}",
    ),
    (
        "story: [{until: x}]",
        "3:17: 'x' is not the id of an operation",
    ),
    (
        "story: [{remove_fault: fault-0}]",
        "3:24: 'fault-0' is not the id of a fault, such as fault-1",
    ),
    (
        "story: [{remove_outcome: fault-1}]",
        "3:26: 'fault-1' is not the id of an outcome, such as outcome-1",
    ),
    (
        "story: [{call: apply_project_domains, save: {op: id}}, {poll: op}]",
        "3:63: 'op' is the name of a saved value, not its value; did you mean ${op}?",
    ),
    (
        "story: [{call: apply_project_domains, save: {op: id}}, {until: op}]",
        "3:64: 'op' is not the id of an operation; did you mean ${op}?",
    ),
    (
        "story: [{call: apply_project_domains, save: {op: id}}, {call: list_deployments, expect: "
        "{same_as: op}}]",
        "3:99: op is a saved value, not a whole response: save `op: response`, or compare a "
        "field with the value, as in body: {id: {same_as: ${op}}}",
    ),
    (
        "story: [{call: apply_project_domains, save: {ids: items.*.id}}]",
        "3:51: save stores only one value: use collect for all values at items.*.id",
    ),
    (
        "story: [{call: apply_project_domains, save: {id: 'a b'}}]",
        "3:50: 'a b' is not a path in a response, such as key.id or headers.Location /code=(.+)/",
    ),
    (
        "story: [{call: apply_project_domains, save: {now: id}}]",
        "3:46: 'now' is reserved for the world's time: save the value under another name",
    ),
    (
        "story: [{call: list_deployments, collect: {now: items.*.id}}]",
        "3:44: 'now' is reserved for the world's time: collect the values under another name",
    ),
    (
        "story: [{call: list_deployments, collect: {x: items.*.id}, save: {x: next_cursor}}]",
        "3:44: 'x' is a saved value: collect the values under another name",
    ),
    (
        "story: [{call: list_deployments, collect: {x: items.*.id}}, {call: list_deployments, save: "
        "{x: next_cursor}}]",
        "3:93: 'x' is a list that steps collect: save the value under another name",
    ),
    (
        "story: [{call: list_deployments, save: {x: next_cursor}}, {call: list_deployments, "
        "collect: {x: items.*.id}}]",
        "3:94: 'x' is a saved value: collect the values under another name",
    ),
    (
        "story: [{call: list_deployments, collect: {x: next_cursor.*.id}}]",
        "3:47: * stands for the items of a list, but this is a string",
    ),
    (
        "story: [{call: list_deployments, expect: {lost: [timeout, null], status: 200}}]",
        "3:66: a response that may be lost allows no other expectation: remove status",
    ),
    (
        "story: [{call: list_deployments, expect: {headers: {Retry_After: x}}}]",
        "3:53: no response in this scenario has the header 'Retry_After'; did you mean "
        "Retry-After?",
    ),
    (
        "faults: [{timeout: , project: '${p}'}]",
        "3:31: ${p} is unknown: only the steps of a story can use variables",
    ),
    (
        "timeline: [{at: later, fault: {timeout: }}]",
        "3:17: at must be a duration after the start (10m) or a timestamp, not 'later'",
    ),
    (
        "clock: {at: 2026-01-02T00:00:00Z}\n"
        "timeline: [{at: 2026-01-01T00:00:00Z, fault: {timeout: }}]",
        "4:17: 2026-01-01T00:00:00Z is before the world starts: write "
        "2026-01-02T00:00:00.000Z or a later time, or a duration after the start, such as "
        "10m",
    ),
]
#: Connections, parts, and steps that check the log.
STORIES = [
    (
        "vary: {seed: '1', only: [page-sizes]}",
        "3:26: there is no variation point 'page-sizes'; did you mean page-size?",
    ),
    (
        "story: [{call: list_deployments, expect: {stauts: 200}}]",
        "3:43: unknown field 'stauts'; did you mean status?",
    ),
    (
        "story: [{call: list_deployments, expect: {zzz: 200}}]",
        "3:43: unknown field 'zzz'; the keys are status, code, body, absent, items, headers, "
        "html, lost, delayed, same_as",
    ),
    (
        "story: [{together: [{call: list_deployments, connection: a}, {call: list_deployments, "
        "connection: a}]}]",
        "3:99: concurrent requests need different connections, because a connection carries "
        "one request at a time",
    ),
    (
        "story: [{request: GET /_emulator/sign-in, connection: a}]",
        "3:55: in a story, only requests to the API have a connection: remove `connection`",
    ),
    (
        "story: [{log: {user: redaer, count: 0}}]",
        "3:22: there is no user 'redaer'; did you mean reader?",
    ),
    (
        "story: [{log: {project: shpo, count: 0}}]",
        "3:25: there is no project 'shpo'; did you mean shop?",
    ),
    (
        "story: [{log: {path: /favicon.ico, count: 0}}]",
        "3:22: no request can match, because no call has the path '/favicon.ico': write a "
        "path such as /v1/projects/*/domains, or add `call: none` to count requests that "
        "match no call",
    ),
    (
        "parts: [{name: a, steps: [{note: x}]}]",
        "3:16: no step uses the part 'a': remove the part",
    ),
    (
        "parts: [{name: a, steps: [{use: a}]}]\nstory: [{use: a}]",
        "3:33: there is no earlier part 'a'; there are none",
    ),
    (
        "parts: [{name: a, steps: [{note: x}]}, {name: a, steps: [{note: x}]}]\nstory: [{use: a}]",
        "3:47: a part with the name 'a' is already defined above",
    ),
    (
        "faults: [{timeout: , connection: new}]\nstory: [{call: list_deployments}]",
        "3:34: no request can match, because no step in the story names its connection: "
        "write `connection: a` in the steps that share one connection",
    ),
    (
        "faults: [{timeout: , connection: new, call: idp_token}]\n"
        "story: [{call: list_deployments}]",
        "3:34: in a story, requests to the identity provider have no connection",
    ),
    (
        "parts: [{name: a, steps: [{note: x}, {note: y}]}]\n"
        "story: [{use: a, times: 10000}, {note: z}]",
        "4:1: the story has more than 20000 steps, including its parts",
    ),
    (
        "story: [{call: list_deployments}, {log: {count: {at_least: 0}}}]",
        "3:42: every count matches, so the step proves nothing: write {at_least: 1}, or 0 "
        "for no request",
    ),
]

#: Keys that other tools use, by the key that has their meaning here.
STEP_KEYS = {
    "advance": ["wait", "sleep", "delay"],
    "call": ["endpoint"],
    "poll": ["operation"],
    "sign_in": ["login"],
    "user": ["as", "principal"],
    "key": ["idempotency_key"],
    "body": ["payload", "json", "data"],
    "query": ["params"],
    "times": ["repeat", "count"],
    "tries": ["retries", "retry"],
    "save": ["store", "capture"],
    "expect": ["assert", "then"],
    "together": ["parallel", "concurrently"],
    "use": ["include"],
    "with": ["vars"],
    "note": ["comment", "name", "description"],
}
TIMELINE_KEYS = {
    "at": ["after", "when", "time", "delay", "in"],
    "intervene": ["intervention"],
}
EXPECTATION_KEYS = {"code": ["error", "problem"], "body": ["json"], "status": ["status_code"]}
SCENARIO_KEYS = {"story": ["steps"], "name": ["title"], "world": ["given"]}

_REQUESTS = "call or poll or redeem or request or sign_in or api_key"
_API_REQUESTS = "call or poll or request"
#: Each option of a step, and the actions that accept it.
OPTIONS = {
    "expect: {}": _REQUESTS,
    "save: {x: id}": f"{_REQUESTS} or fault or outcome",
    "collect: {x: id}": _REQUESTS,
    "organization: acme": f"{_API_REQUESTS} or sign_in or api_key",
    "interactive: true": f"{_API_REQUESTS} or sign_in",
    "user: owner": f"{_API_REQUESTS} or redeem",
    "token: x": _API_REQUESTS,
    "headers: {}": _API_REQUESTS,
    "connection: a": f"{_API_REQUESTS} or redeem",
    "query: {}": _API_REQUESTS,
    "project: shop": "call",
    "key: k": "call or request",
    "body: {}": "call or request or api_key",
    "text: x": "call or request",
    "form: {}": "request",
    "gives_up: true": f"{_API_REQUESTS} or redeem",
    "tries: 2": _REQUESTS,
    "pause: 1s": _REQUESTS,
    "with: {}": "use",
}


@pytest.mark.parametrize(("rest", "message"), [*SHAPE, *VALUES, *STORIES])
def test_a_mistake_in_a_scenario_has_this_message(rest: str, message: str) -> None:
    assert str(scenario_error(rest)) == f"small.yaml:{message}"


@pytest.mark.parametrize(
    ("entry", "keys"),
    [
        ("story: [{%s: x}]", STEP_KEYS),
        ("timeline: [{%s: 1s}]", TIMELINE_KEYS),
        ("story: [{call: list_deployments, expect: {%s: x}}]", EXPECTATION_KEYS),
        ("%s: []", SCENARIO_KEYS),
    ],
)
def test_the_key_of_another_tool_is_refused_with_the_key_that_is_meant(
    entry: str, keys: dict[str, list[str]]
) -> None:
    for key, other_keys in keys.items():
        for other_key in other_keys:
            message = f"unknown field {other_key!r}; did you mean {key}?"
            assert scenario_error(entry % other_key).message == message


@pytest.mark.parametrize(("option", "actions"), OPTIONS.items())
def test_a_note_has_no_options_and_the_message_names_the_actions_that_have(
    option: str, actions: str
) -> None:
    name = option.partition(":")[0]

    error = scenario_error(f"story: [{{note: x, {option}}}]")

    assert error.message == f"{name} is an option of {actions}, not of note"


def test_an_error_about_a_whole_file_has_no_line() -> None:
    assert str(ScenarioError("my.yaml", 0, 0, "it is missing")) == "my.yaml: it is missing"
