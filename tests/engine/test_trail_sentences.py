"""The complete sentences about faults, keys and commits in the trails of requests."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from hosting_emulator.engine.explanations.trail import Explanations
from tests.support.in_process import InProcess, fresh_world

_ID = re.compile(r"\b[0-9A-Z]{26}\b")


def trail(api: InProcess, n: int) -> list[str]:
    """Return the sentences about a request, each with the name of its step.

    The steps that every request has are left out.
    """
    entry = api.engine.log.find(n)
    assert entry is not None
    steps = Explanations(api.engine.log).steps(api.world, entry)
    return [
        f"{step.step}: {_ID.sub('ID', step.text)}"
        for step in steps
        if step.step not in ("user", "scope", "role", "assumption")
    ]


def poll_with_a_skip_clock() -> list[str]:
    api = InProcess(fresh_world(mode="skip"))
    api.poll(api.apply_domains().json["id"])
    return trail(api, 2)


def new_ticket() -> list[str]:
    api = InProcess()
    api.ticket()
    return trail(api, 1)


def trail_of_delivery(number: int, *, used_response: str) -> list[str]:
    """Return the trail of one of two deliveries of a request. Its client gets one of the responses."""
    api = InProcess()
    api.add_fault(deliver_twice={"response": used_response})
    api.apply_domains(key="k")
    return trail(api, number)


def first_delivery_of_two() -> list[str]:
    return trail_of_delivery(1, used_response="second")


def second_delivery_of_two() -> list[str]:
    return trail_of_delivery(2, used_response="second")


def stale_read() -> list[str]:
    api = InProcess()
    api.apply_domains()
    api.advance("1m")
    api.add_fault(stale_read={"age": "10s"})
    api.dns()
    return trail(api, 2)


def stale_read_of_a_later_record() -> list[str]:
    api = InProcess()
    api.advance("1m")
    operation = api.apply_domains().json["id"]
    api.advance("1s")
    api.add_fault(stale_read={"age": "10s"})
    api.poll(operation)
    return trail(api, 2)


def request_cut_off() -> list[str]:
    api = InProcess()
    api.add_fault(reset_in_upload={"bytes": 5})
    api.set_flag(True, key="k")
    return trail(api, 1)


def key_that_is_free_again() -> list[str]:
    api = InProcess(fresh_world(idempotency_retention="1h"))
    api.apply_domains(key="k")
    api.advance("1h")
    api.apply_domains(key="k")
    return trail(api, 2)


def two_faults_for_other_calls() -> list[str]:
    api = InProcess()
    for _ in range(2):
        api.add_fault(timeout={}, call="list_deployments")
    api.dns()
    return trail(api, 1)


def altered_response() -> list[str]:
    api = InProcess()
    api.add_fault(
        alter={"set": {"/state": "exploded"}, "breaking": True},
        call="apply_project_domains",
        times=1,
    )
    api.apply_domains(key="k")
    api.apply_domains(key="k")
    return trail(api, 2)


def first_delivery_whose_response_is_used() -> list[str]:
    return trail_of_delivery(1, used_response="first")


def discarded_second_delivery() -> list[str]:
    return trail_of_delivery(2, used_response="first")


def outcome_for_the_third_operation_in_a_queue() -> list[str]:
    api = InProcess()
    api.add_outcome(fail={}, times=3)
    for _ in range(3):
        api.apply_domains()
    return trail(api, 3)


def outcome_that_skips_the_first_operation() -> list[str]:
    api = InProcess()
    api.add_outcome(fail={}, skip_first=1)
    api.apply_domains(key="k")
    return trail(api, 1)


def outcomes_in_a_phase_that_the_operation_does_not_have() -> list[str]:
    api = InProcess()
    for project in ("shop", "blog"):
        api.add_outcome(fail={"phase": "building"}, project=project)
    api.apply_domains(key="k")
    return trail(api, 1)


def fault_after_the_commit_of_a_refused_request() -> list[str]:
    api = InProcess()
    api.add_fault(connection_reset={}, after_commit=True, call="apply_project_domains")
    api.apply_domains(key="k", user="reader")
    return trail(api, 1)


def refusal_by_a_fault() -> list[str]:
    api = InProcess()
    api.add_fault(abort={"code": "rate_limited"})
    api.dns()
    return trail(api, 1)


def refusal_outside_the_scope() -> list[str]:
    api = InProcess()
    api.dns(user="outsider")
    return trail(api, 1)


def refusal_of_a_used_ticket() -> list[str]:
    api = InProcess()
    url = api.ticket().json["redeem_url"]
    for _ in range(2):
        api.redeem(url)
    return trail(api, 3)


NEW_KEY = "idempotency: New: the key k was unused; this response is remembered for it forever."
TRAILS: list[tuple[Callable[[], list[str]], list[str]]] = [
    (
        poll_with_a_skip_clock,
        [
            (
                "due: The skip clock moved to 2026-01-01T00:00:02.000Z (commit 3): operation ID "
                "(apply_project_domains of shop) is running (deploying), was queued."
            ),
        ],
    ),
    (
        new_ticket,
        [
            (
                "commit: Commit 2 (create_dev_access_ticket) changed rows in dev access tickets "
                "(1), streams (2)."
            ),
            (
                "commit: Redeem the ticket at its redeem_url, or over plain HTTP at the same path "
                "and query under this world's base URL."
            ),
        ],
    ),
    (
        first_delivery_of_two,
        [
            ("idempotency: New: the key k was unused; this response is remembered for it forever."),
            (
                "commit: Commit 4 (apply_project_domains) changed rows in projects (1), "
                "operations (1), remembered responses (1), schedule (1), streams (2): operation "
                "ID (apply_project_domains of shop) is queued."
            ),
            "fault: fault-1 (deliver_twice) acted, hit 1.",
            "fault: Commit 3 (faults counted) changed rows in faults (1).",
            (
                "fault: The request was delivered again, as #2. The client received the response "
                "to #2."
            ),
        ],
    ),
    (
        second_delivery_of_two,
        [
            "idempotency: Replay: the key k was first used by #1.",
            "commit: Nothing was committed: the world is unchanged.",
            (
                "fault: A fault sent this request, not a client: it is the second delivery of #1. "
                "The client received its response."
            ),
        ],
    ),
    (
        stale_read,
        [
            "fault: fault-1 (stale_read) acted, hit 1.",
            "fault: Commit 5 (faults counted) changed rows in faults (1).",
            (
                "fault: The response shows the state as of 2026-01-01T00:00:50.000Z. Access was "
                "checked against the current state."
            ),
        ],
    ),
    (
        stale_read_of_a_later_record,
        [
            (
                "fault: fault-1 (stale_read) matched but did not act: in the state as of "
                "2026-01-01T00:00:51.000Z the response would be resource_not_found, which needs "
                "`breaking: true`."
            ),
            "fault: Commit 6 (faults counted) changed rows in faults (1).",
        ],
    ),
    (
        request_cut_off,
        [
            "fault: fault-1 (reset_in_upload, before_commit) acted, hit 1.",
            "fault: Commit 3 (faults counted) changed rows in faults (1).",
            (
                "fault: The request was cut off after 5 of the 17 bytes of its body, so the call "
                "did not run."
            ),
            (
                "fault: The client did not receive a complete and valid response, because the "
                "reset_in_upload fault acted."
            ),
        ],
    ),
    (
        key_that_is_free_again,
        [
            (
                "idempotency: New: the key k was free, because the response to #1 is no longer "
                "remembered; this response is remembered for it until 2026-01-01T02:00:00.000Z."
            ),
            (
                "commit: Commit 4 (apply_project_domains) changed rows in projects (1), "
                "operations (1), remembered responses (1), schedule (1), streams (2): operation "
                "ID (apply_project_domains of shop) is queued."
            ),
        ],
    ),
    (
        two_faults_for_other_calls,
        [
            "fault: 2 armed faults do not match the request.",
        ],
    ),
    (
        altered_response,
        [
            (
                "idempotency: Replay: the key k was first used by #1, whose response was altered "
                "beyond the contract."
            ),
            ("commit: Nothing was committed: apart from fault counters, the world is unchanged."),
            "fault: fault-1 (alter) matched but did not act: `times` allowed only 1 action.",
            "fault: Commit 5 (faults counted) changed rows in faults (1).",
        ],
    ),
    (
        first_delivery_whose_response_is_used,
        [
            ("idempotency: New: the key k was unused; this response is remembered for it forever."),
            (
                "commit: Commit 4 (apply_project_domains) changed rows in projects (1), "
                "operations (1), remembered responses (1), schedule (1), streams (2): operation "
                "ID (apply_project_domains of shop) is queued."
            ),
            "fault: fault-1 (deliver_twice) acted, hit 1.",
            "fault: Commit 3 (faults counted) changed rows in faults (1).",
            "fault: The request was delivered again, as #2, whose response was discarded.",
        ],
    ),
    (
        discarded_second_delivery,
        [
            "idempotency: Replay: the key k was first used by #1.",
            "commit: Nothing was committed: the world is unchanged.",
            (
                "fault: A fault sent this request, not a client: it is the second delivery of #1. "
                "The client did not receive its response."
            ),
        ],
    ),
    (
        outcome_for_the_third_operation_in_a_queue,
        [
            (
                "idempotency: New: the key key-3 was unused; this response is remembered for it "
                "forever."
            ),
            (
                "outcome: outcome-1 applies to the operation, hit 3: it becomes failed in deploying "
                "with operation_failed."
            ),
            (
                "commit: Commit 5 (apply_project_domains) changed rows in projects (1), "
                "operations (2), remembered responses (1), streams (1), outcomes (1): operation "
                "ID (apply_project_domains of shop) is queued."
            ),
        ],
    ),
    (
        outcome_that_skips_the_first_operation,
        [
            NEW_KEY,
            (
                "outcome: outcome-1 (fail) matched but did not act: `skip_first` is 1, and this "
                "was only matching request 1."
            ),
            (
                "commit: Commit 3 (apply_project_domains) changed rows in projects (1), "
                "operations (1), remembered responses (1), schedule (1), streams (2), outcomes "
                "(1): operation ID (apply_project_domains of shop) is queued."
            ),
        ],
    ),
    (
        outcomes_in_a_phase_that_the_operation_does_not_have,
        [
            NEW_KEY,
            (
                "outcome: outcome-1 (fail) does not apply: an operation of apply_project_domains "
                "has no phase building."
            ),
            (
                "commit: Commit 4 (apply_project_domains) changed rows in projects (1), "
                "operations (1), remembered responses (1), schedule (1), streams (2): operation "
                "ID (apply_project_domains of shop) is queued."
            ),
        ],
    ),
    (
        fault_after_the_commit_of_a_refused_request,
        [
            "idempotency: Not checked: access was refused before the key k was read.",
            (
                "fault: fault-1 (connection_reset) matched but did not act: the request was "
                "refused, so nothing was committed."
            ),
            "fault: Commit 3 (faults counted) changed rows in faults (1).",
            (
                "refusal: 403 forbidden: Only a project maintainer or above may do this; you are "
                "its reader. Reason: the call needs the maintainer role, but the user's role is "
                "reader."
            ),
        ],
    ),
    (
        refusal_by_a_fault,
        [
            "fault: fault-1 (abort, before_commit) acted, hit 1.",
            "fault: Commit 3 (faults counted) changed rows in faults (1).",
            "refusal: 429 rate_limited: The caller has sent too many requests in a certain period.",
        ],
    ),
    (
        refusal_outside_the_scope,
        ["refusal: 404 resource_not_found: No such project exists within your access."],
    ),
    (
        refusal_of_a_used_ticket,
        [
            (
                "refusal: 404 resource_not_found: This ticket cannot be redeemed here. Reason: the "
                "ticket is used."
            ),
        ],
    ),
]


@pytest.mark.parametrize(("request_trail", "sentences"), TRAILS)
def test_the_trail_of_a_request_has_these_sentences(
    request_trail: Callable[[], list[str]], sentences: list[str]
) -> None:
    assert request_trail() == sentences


# --- Assumptions ----------------------------------------------------------------------------------


def all_deployments(api: InProcess) -> None:
    api.deployments("?limit=100", project="blog")


def replayed_domains(api: InProcess) -> None:
    api.apply_domains(key="k")
    api.apply_domains(key="k")


def replayed_key(api: InProcess) -> None:
    api.create_key(key="k")
    api.create_key(key="k")


@pytest.mark.parametrize(
    ("send", "names"),
    [
        (InProcess.deployments, ["deployment_order", "default_page_size"]),
        (all_deployments, ["deployment_order", "last_page_cursor"]),
        (InProcess.compute, []),
        (lambda api: api.compute(""), ["missing_environment", "problem_statuses:"]),
        (lambda api: api.set_flag(True), ["flag_reenabled"]),
        (lambda api: api.set_flag(False, project="blog"), []),
        (InProcess.apply_domains, ["accepted_status", "domains_profile"]),
        (replayed_domains, ["operation_replay"]),
        (InProcess.create_key, ["key_created_status"]),
        (replayed_key, ["key_replayed_status"]),
        (lambda api: api.poll(api.apply_domains().json["id"]), ["operation_path"]),
        (lambda api: api.ticket(body={}), ["ticket_created_status", "unexpected_body"]),
        (lambda api: api.dns(user=None), ["problem_statuses:"]),
        (lambda api: api.dns(user="outsider"), []),
        (lambda api: api.call("GET", "/v1/projects/x/edge-dns"), ["malformed_project_id"]),
    ],
)
def test_the_trail_names_the_assumptions_that_determined_the_response(
    send: Callable[[InProcess], object], names: list[str]
) -> None:
    api = InProcess()
    send(api)

    (entry,) = api.engine.log.newest(1)
    steps = Explanations(api.engine.log).steps(api.world, entry)
    assert [step.text.split()[0] for step in steps if step.step == "assumption"] == names


# --- Access ---------------------------------------------------------------------------------------

WITHIN = "within the user's access: it belongs to acme."
MEMBERS = "Users with access: member (maintainer), owner (owner), reader (reader)."


@pytest.mark.parametrize(
    ("send", "sentences"),
    [
        (
            lambda api: api.set_flag(True, user="reader"),
            [
                "reader, with an access token for acme, signed in.",
                f"The project shop is {WITHIN}",
                "The call needs the owner role. The user's role is reader.",
            ],
        ),
        (
            lambda api: api.poll(api.apply_domains().json["id"]),
            [
                "owner, with an access token for acme, signed in.",
                f"The operation of the project shop is {WITHIN}",
                "The call needs the reader role. The user's role is owner.",
            ],
        ),
        (
            lambda api: api.poll(api.apply_domains().json["id"], user="outsider"),
            [
                "outsider, with an access token for hobby, signed in.",
                "The operation of the project shop exists in acme, but is outside the access of "
                f"outsider, whose token is for hobby. {MEMBERS}",
            ],
        ),
        (
            lambda api: api.dns(token=api.create_key().json["value"]),
            [
                "owner, with the API key 'ci' of acme.",
                f"The project shop is {WITHIN}",
                "The call needs the reader role. The user's role is owner. The API key carries the "
                "dns.read permission.",
            ],
        ),
        (
            InProcess.create_key,
            [
                "owner, with an access token for acme, signed in.",
                "The user is a member of acme, the organization of the token.",
                "Any member may make this call, but needs a current session. The token has a "
                "current session.",
            ],
        ),
        (
            lambda api: api.create_key(token=api.token(interactive=False)),
            [
                "owner, with an access token for acme, without a session.",
                "The user is a member of acme, the organization of the token.",
                "Any member may make this call, but needs a current session. The token has no "
                "session.",
            ],
        ),
        (
            lambda api: api.dns(user="no-organization"),
            [
                "no-organization, with an access token for no organization, signed in.",
                "The token names no organization, but every call needs one.",
            ],
        ),
        (lambda api: api.dns(user=None), []),
        (
            lambda api: api.call("GET", f"/v1/operations/{'0' * 26}"),
            [
                "owner, with an access token for acme, signed in.",
                "There is no operation with the id ID.",
            ],
        ),
    ],
)
def test_the_trail_says_who_made_the_request_and_why_it_was_allowed(
    send: Callable[[InProcess], object], sentences: list[str]
) -> None:
    api = InProcess()
    send(api)

    (entry,) = api.engine.log.newest(1)
    steps = Explanations(api.engine.log).steps(api.world, entry)
    access_steps = [step for step in steps if step.step in ("user", "scope", "role")]
    assert [_ID.sub("ID", step.text) for step in access_steps] == sentences
