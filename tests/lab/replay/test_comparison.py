"""The comparison of two responses: only ids and moments may differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator_lab.replay.comparison import Comparison, ReplayTimes
from hosting_emulator_lab.replay.generated_values import GeneratedValues
from hosting_emulator_lab.replay.recording import RecordedResponse

A, B, C = ("01" + letter * 24 for letter in "ABC")
#: The recorded response came an hour after the start of the recording; the replay is a day later.
HOUR = 3_600_000
DAY = 24 * HOUR
START = 1_767_225_600_000
AT_ONCE = ReplayTimes(0, 0)


def compared(
    recorded: Any, new: Any, values: GeneratedValues | None = None, tolerance_ms: int = 0
) -> Any:
    worlds = ("", "world-9")
    start = ReplayTimes(START, START + DAY)
    comparison = Comparison(
        GeneratedValues() if values is None else values, worlds, start, tolerance_ms
    )
    now = ReplayTimes(START + HOUR, START + DAY + HOUR)
    recorded_response, new_response = (
        RecordedResponse(200, (), json.dumps(body)) for body in (recorded, new)
    )
    return [
        tuple(difference)
        for difference in comparison.differences(recorded_response, new_response, now)
    ]


@pytest.mark.parametrize(
    ("recorded", "new"),
    [
        ({"id": A}, {"id": B}),
        ({"id": A, "of": A}, {"id": B, "of": B}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ({"says": f"operation {A} holds it"}, {"says": f"operation {B} holds it"}),
        ({"next_cursor": "abc"}, {"next_cursor": "x_y-z9"}),
        ({"request_id": f"req_{A}"}, {"request_id": f"req_{B}"}),
        ({"value": "<redacted>"}, {"value": "phk_" + "x" * 43}),
        ({"obfuscated_value": "phk_…ab-d"}, {"obfuscated_value": "phk_…_x9z"}),
        ({"commit_sha": "a" * 40}, {"commit_sha": "b" * 40}),
        ({"digest": "sha256:" + "a" * 64}, {"digest": "sha256:" + "b" * 64}),
        ({"at": "2026-01-01T01:00:00Z"}, {"at": "2026-01-02T01:00:00.000Z"}),  # the same moment
        ({"at": "2026-01-01T03:00:00+02:00"}, {"at": "2026-01-02T01:00:00Z"}),
        (
            {"at": "2025-06-01T00:00:00Z"},
            {"at": "2025-07-01T00:00:00Z"},
        ),  # before either world began
        ({"at": "2024-01-01T00:00:00Z"}, {"at": "2024-01-01T00:00:00Z"}),
        (
            {"type": "https://docs.example/errors/forbidden"},
            {"type": "http://127.0.0.1:1/_emulator/docs/errors/forbidden"},
        ),
        (
            {"says": f"{A} at 2026-02-30T00:00:00Z"},
            {"says": f"{B} at 2026-02-30T00:00:00Z"},
        ),  # no moment
        ({"host": "shop.prod.localhost"}, {"host": "shop.world-9.prod.localhost"}),
        ({"host": "shop.example"}, {"host": "shop.world-9.example"}),
        (
            {"a": "http://127.0.0.1:1/x", "b": "http://127.0.0.1:1/x"},
            {"a": "http://127.0.0.1:2/x", "b": "http://localhost/worlds/w/x"},
        ),
        (
            {"a": "http://a.localhost:1/x", "b": "http://a.localhost:1/x"},
            {"a": "http://a.localhost:2/x", "b": "http://a.localhost:3/x"},
        ),
        ({"origin": "https://dev-a-b-c.x.example"}, {"origin": "https://dev-x-y-z.x.example"}),
    ],
)
def test_generated_values_of_a_replay_may_differ(recorded: Any, new: Any):
    assert compared(recorded, new) == []


@pytest.mark.parametrize(
    ("recorded", "new", "at"),
    [
        ({"state": "queued"}, {"state": "running"}, "body.state"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "body.a[1].b"),
        ({"a": [1]}, {"a": [1, 2]}, "body.a.length"),
        ({"a": None}, {}, "body.a"),
        ({}, {"a": None}, "body.a"),
        ({"a": "(absent)"}, {}, "body.a"),
        ({"a": {"b": 1}}, {"a": "b"}, "body.a"),
        ({"a": [1]}, {"a": {"b": 1}}, "body.a"),
        ({"a": "b"}, {"a": ["b"]}, "body.a"),
        ({"a": True}, {"a": 1}, "body.a"),
        ({"a": "1"}, {"a": 1}, "body.a"),
        ({"id": A}, {"id": None}, "body.id"),
        ({"id": A}, {"id": A.lower()}, "body.id"),
        ({"id": A, "of": A}, {"id": B, "of": C}, "body.of"),
        ({"next_cursor": "abc"}, {"next_cursor": "a=b"}, "body.next_cursor"),
        ({"a_cursor": "x", "b_cursor": "x"}, {"a_cursor": "y", "b_cursor": "z"}, "body.b_cursor"),
        ({"at": "2026-01-01T01:00:00Z"}, {"at": "2026-01-02T01:00:01Z"}, "body.at"),
        ({"at": "2026-01-01T01:00:00Z"}, {"at": "2026-01-03T01:00:00Z"}, "body.at"),
        ({"at": "2026-02-30T00:00:00Z"}, {"at": "2026-02-31T00:00:00Z"}, "body.at"),
        ({"at": "2025-06-01T00:00:00Z"}, {"at": "2026-01-05T00:00:00Z"}, "body.at"),
        ({"at": "2026-01-05T00:00:00Z"}, {"at": "2025-06-01T00:00:00Z"}, "body.at"),
        # One of the moments is the start of its world, and the other one is earlier.
        ({"at": "2025-06-01T00:00:00Z"}, {"at": "2026-01-02T00:00:00Z"}, "body.at"),
        ({"at": "2026-01-01T00:00:00Z"}, {"at": "2025-06-01T00:00:00Z"}, "body.at"),
        ({"type": "https://d/errors/a"}, {"type": "https://d/errors/b"}, "body.type"),
        ({"detail": "https://d/errors/a"}, {"detail": "https://e/errors/a"}, "body.detail"),
        ({"host": "shop.prod.localhost"}, {"host": "blog.prod.localhost"}, "body.host"),
        ({"says": f"operation {A}"}, {"says": f"deployment {B}"}, "body.says"),
        ({"value": "<redacted>"}, {"value": None}, "body.value"),
    ],
)
def test_every_other_change_of_a_replay_is_a_difference(recorded: Any, new: Any, at: str):
    assert [difference[0] for difference in compared(recorded, new)] == [at]


def test_a_replay_maps_each_recorded_id_to_one_id():
    values = GeneratedValues()
    compared({"id": A}, {"id": B}, values)

    assert compared({"id": A}, {"id": C}, values) == [("body.id", f"{A}, which is {B} here", C)]
    assert (
        values.replace_in_target(f"/v1/operations/{A}?after={A}&x=%41")
        == f"/v1/operations/{B}?after={B}&x=%41"
    )


def test_moments_of_a_running_clock_may_differ_by_the_tolerance():
    near = ({"at": "2026-01-01T01:00:00Z"}, {"at": "2026-01-02T01:00:01Z"})

    assert compared(*near, tolerance_ms=2000) == []
    assert compared(*near, tolerance_ms=500) != []


def test_a_moment_is_compared_by_its_distance_from_the_response():
    recorded = RecordedResponse(200, (), '{"at": "2026-01-01T05:00:00Z"}')
    replayed = RecordedResponse(200, (), '{"at": "2026-01-02T05:00:00Z"}')
    comparison = Comparison(GeneratedValues(), ("", ""), ReplayTimes(START, START + DAY), 0)

    equally_late = ReplayTimes(START + HOUR, START + DAY + HOUR)
    later = ReplayTimes(START + HOUR, START + DAY + 2 * HOUR)

    assert comparison.differences(recorded, replayed, equally_late) == []
    (difference,) = comparison.differences(recorded, replayed, later)
    assert difference.at == "body.at"


def test_a_difference_redacts_secrets():
    ((_, recorded, replayed),) = compared({"value": None}, {"value": "phk_" + "x" * 43})

    assert (recorded, replayed) == (None, "<redacted>")


@pytest.mark.parametrize(
    ("recorded", "new", "expected"),
    [
        ((), (("Content-Type", "text/html"),), ("header content-type", "(absent)", "text/html")),
        ((("Retry-After", "5"),), (("retry-after", "6"),), ("header retry-after", "5", "6")),
        ((("Date", "a"),), (("Date", "b"),), None),
        ((("X-Request-Id", f"req_{A}"),), (("X-Request-Id", f"req_{B}"),), None),
    ],
)
def test_a_replay_compares_meaningful_headers(recorded: Any, new: Any, expected: Any):
    recorded_response, new_response = (
        RecordedResponse(200, headers, "") for headers in (recorded, new)
    )

    differences = Comparison(GeneratedValues(), ("", ""), AT_ONCE, 0).differences(
        recorded_response, new_response, AT_ONCE
    )

    assert differences == ([] if expected is None else [expected])


_SUCCESS = RecordedResponse(200, (), '{"a": 1}')
_ACCEPTED = RecordedResponse(202, (), '{"a": 1}')
_PROBLEM = RecordedResponse(409, (), '{"code": "etag_mismatch", "detail": "It changed."}')


@pytest.mark.parametrize(
    ("recorded", "replayed", "expected"),
    [
        (None, None, []),
        (None, _SUCCESS, [("response", "(no response)", "status 200")]),
        (_SUCCESS, None, [("response", "status 200", "(no response)")]),
        (_SUCCESS, _ACCEPTED, [("status", 200, 202)]),
        (
            _SUCCESS,
            _PROBLEM,
            [("status", 200, 409), ("body", {"a": 1}, "etag_mismatch: It changed.")],
        ),
    ],
)
def test_a_replay_compares_whether_and_how_a_request_succeeded(
    recorded: RecordedResponse | None, replayed: RecordedResponse | None, expected: list[Any]
):
    comparison = Comparison(GeneratedValues(), ("", ""), AT_ONCE, 0)

    assert comparison.differences(recorded, replayed, AT_ONCE) == expected


def test_a_replay_compares_bodies_that_are_not_json_as_text():
    comparison = Comparison(GeneratedValues(), ("", ""), AT_ONCE, 0)
    page = "<h1>502</h1> {}"
    texts = (page.format(A), page.format(B), page, "{}")
    first, renamed, plain, document = (RecordedResponse(502, (), text) for text in texts)

    assert not comparison.differences(first, renamed, AT_ONCE)
    assert comparison.differences(plain, document, AT_ONCE)


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (400, '{"code": "invalid_request"}', "invalid_request"),
        (399, '{"code": "invalid_request"}', None),
        (409, '{"code": 7}', None),
        (502, "<h1>Bad Gateway</h1>", None),
        (404, '["code"]', None),
        (404, None, None),
    ],
)
def test_only_a_problem_has_a_code(status: int, text: str | None, code: str | None):
    assert RecordedResponse(status, (), text).code == code
