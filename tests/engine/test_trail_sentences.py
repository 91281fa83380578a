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


def first_delivery_of_two() -> list[str]:
    api = InProcess()
    api.add_fault(deliver_twice={"response": "second"})
    api.apply_domains(key="k")
    return trail(api, 1)


def second_delivery_of_two() -> list[str]:
    api = InProcess()
    api.add_fault(deliver_twice={"response": "second"})
    api.apply_domains(key="k")
    return trail(api, 2)


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
    api = InProcess()
    api.add_fault(deliver_twice={"response": "first"})
    api.apply_domains(key="k")
    return trail(api, 1)


def discarded_second_delivery() -> list[str]:
    api = InProcess()
    api.add_fault(deliver_twice={"response": "first"})
    api.apply_domains(key="k")
    return trail(api, 2)


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
]


@pytest.mark.parametrize(("request_trail", "sentences"), TRAILS)
def test_the_trail_of_a_request_has_these_sentences(
    request_trail: Callable[[], list[str]], sentences: list[str]
) -> None:
    assert request_trail() == sentences
