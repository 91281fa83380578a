"""Timestamps: RFC 3339 on the wire, milliseconds inside, converted without loss."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hosting_emulator.contract.timestamps import (
    LATEST_MS,
    format_timestamp,
    parse_timestamp,
    respell_timestamp,
)

MOMENTS = st.integers(0, LATEST_MS)


@given(at_ms=MOMENTS)
@example(0)
@example(LATEST_MS)
def test_a_written_timestamp_is_read_back_as_the_same(at_ms):
    assert parse_timestamp(format_timestamp(at_ms)) == at_ms


@given(at_ms=MOMENTS)
def test_the_standard_library_reads_a_written_timestamp(at_ms):
    moment = datetime.fromisoformat(format_timestamp(at_ms))

    assert moment.tzinfo == UTC
    assert round(moment.timestamp() * 1000) == at_ms


@given(first_ms=MOMENTS, second_ms=MOMENTS)
def test_timestamps_sort_as_text_in_the_order_of_time(first_ms, second_ms):
    assert (format_timestamp(first_ms) < format_timestamp(second_ms)) == (first_ms < second_ms)


@given(at_ms=MOMENTS, form=st.sampled_from(["milliseconds", "microseconds", "offset"]))
def test_every_spelling_of_a_timestamp_is_the_same_moment(at_ms, form):
    assert parse_timestamp(respell_timestamp(format_timestamp(at_ms), form)) == at_ms


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (-62_135_596_800_001, "0001-01-01T00:00:00.000Z"),
        (LATEST_MS + 1, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_time_that_no_timestamp_can_express_is_written_as_the_nearest(at_ms, text):
    assert format_timestamp(at_ms) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31t09:30:00z",
        "2026-01-31T10:30:00+01:00",
        "2026-01-31T09:30:00.000Z",
        "2026-01-31T09:30:00.000999Z",
    ],
)
def test_every_form_of_rfc_3339_is_read(text):
    assert format_timestamp(parse_timestamp(text)) == "2026-01-31T09:30:00.000Z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-01-31",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-31T24:30:00Z",
        "1769851800",
        "2026-W05-6T09:30:00Z",
        "20260131T093000Z",
        "2026-01-31T09:30Z",
        "2026-01-31T09:30:00+0100",
        "2026-01-31T09:30:00,5Z",
        " 2026-01-31T09:30:00Z",
        "٢٠٢٦-01-31T09:30:00Z",
    ],
)
def test_a_malformed_timestamp_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match=r"is not a timestamp: write it like 2026-"):
        parse_timestamp(text)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59.999Z", "0001-01-01T00:00:00+01:00"])
def test_a_timestamp_outside_1970_to_9999_is_refused(text):
    with pytest.raises(ValueError, match="1970 to 9999"):
        parse_timestamp(text)


@given(text=st.text(max_size=40) | st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"))
def test_any_text_is_a_timestamp_or_a_value_error(text):
    try:
        at_ms = parse_timestamp(text)
    except ValueError:
        return
    assert 0 <= at_ms <= LATEST_MS
