"""Text that is made to be slow: the time for a client's text is proportional to its length.

A regular expression that is tried at each character, or that backtracks, would delay all other
requests for seconds.
"""

from __future__ import annotations

import json

from tests.support.conduct_rules import judge_all_requests
from tests.support.in_process import InProcess
from tests.support.processor_time import linear_time


def test_a_fault_matches_a_pattern_of_many_stars_in_linear_time():
    api = InProcess()
    api.add_fault(abort={"code": "forbidden"}, body={"name": "*" + "a*" * 4 + "b"})

    with linear_time():
        without_a_match = api.create_key("a" * 2_000)
        with_a_match = api.create_key("a" * 2_000 + "b")

    assert without_a_match.json["code"] == "invalid_request"  # The name is too long.
    assert with_a_match.json["code"] == "forbidden"


def test_beginnings_of_tokens_in_a_referer_are_judged_in_linear_time():
    api = InProcess()

    with linear_time():
        for _ in range(20):
            api.send("GET", "/v1/nothing", [("Referer", "eyJa-" * 4_000)])
        judge_all_requests(api)


def test_a_body_of_many_unknown_fields_is_refused_in_linear_time():
    api = InProcess()
    path = api.project_path("powered-by-flag")
    unknown_fields = {f"f{number}": 0 for number in range(90_000)}
    bodies = [json.dumps({"enabled": True, "n": n, **unknown_fields}).encode() for n in range(5)]
    headers = {"Content-Type": "application/json"}

    with linear_time():
        for body in bodies:
            response = api.call("PUT", path, raw=body, headers=headers, key=api.new_key())

    assert response.json["code"] == "invalid_request"
