"""ULIDs: written as the library python-ulid writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ulid import ULID

from hosting_emulator.contract.ids import is_ulid, make_ulid


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_a_ulid_is_written_as_python_ulid_writes_it(at_ms: int, randomness: bytes):
    text = make_ulid(at_ms, randomness)

    assert text == str(ULID.from_bytes(at_ms.to_bytes(6, "big") + randomness))
    assert is_ulid(text)
    assert ULID.from_str(text).bytes == at_ms.to_bytes(6, "big") + randomness


@pytest.mark.parametrize("at_ms", [-1, 2**48])
def test_a_moment_outside_the_48_bits_is_refused(at_ms: int):
    with pytest.raises(OverflowError):
        make_ulid(at_ms, b"x" * 10)
