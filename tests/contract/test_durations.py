"""Durations: common notations for lengths of time, read as whole milliseconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.contract.durations import LONGEST_MS, format_duration, parse_duration_ms

HOUR_MS = 3_600_000


@given(ms=st.integers(0, LONGEST_MS))
def test_a_written_duration_is_read_back_as_the_same(ms):
    assert parse_duration_ms(format_duration(ms)) == ms


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0s", 0),
        ("500ms", 500),
        ("90s", 90_000),
        ("1.5h", HOUR_MS * 3 // 2),
        ("1h30m", HOUR_MS * 3 // 2),
        (" 1 h 30 m ", HOUR_MS * 3 // 2),
        ("10M", 600_000),
        ("2w", 14 * 24 * HOUR_MS),
        ("90d", 90 * 24 * HOUR_MS),
        ("PT10M", 600_000),
        ("P1DT2H", 26 * HOUR_MS),
        ("P2W", 14 * 24 * HOUR_MS),
        ("pt0.5s", 500),
        ("0.1ms", 0),
    ],
)
def test_durations_are_read_in_every_common_notation(text, ms):
    assert parse_duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", " ", "10", "s", "-5s", "5 parsecs", "P", "PT", "P1DT", "1h-"])
def test_a_malformed_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="is not a duration: write it like"):
        parse_duration_ms(text)


@pytest.mark.parametrize("text", ["365001d", "9" * 60 + "d", "P999999W"])
def test_a_duration_above_a_thousand_years_is_refused(text):
    with pytest.raises(ValueError, match="longer than a thousand years"):
        parse_duration_ms(text)


@given(text=st.text(alphabet="0123456789.PTmshdw -٣", max_size=80))
def test_any_text_is_a_duration_or_a_value_error(text):
    try:
        duration_ms = parse_duration_ms(text)
    except ValueError:
        return
    assert 0 <= duration_ms <= LONGEST_MS
