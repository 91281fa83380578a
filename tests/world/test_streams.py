"""Random streams: every random value follows from the seed, and streams are independent."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.world.streams import (
    derive,
    digest,
    draw,
    new_id,
    new_secret,
    next_number,
    seeded_id,
)
from hosting_emulator.world.value import Change
from tests.support.in_process import fresh_world

STREAMS = st.sampled_from(["ids", "secrets", "digests"])


def change(seed: str = "seed", now_ms: int = 1_800_000_000_000) -> Change:
    return Change(fresh_world(seed=seed), now_ms)


@given(order=st.lists(STREAMS, max_size=20))
def test_a_stream_yields_the_same_bytes_whatever_other_streams_yield(order):
    mixed = change()
    alone = change()

    outputs = [draw(mixed, stream, 16) for stream in order]

    for stream in set(order):
        own = [drawn for drawn, name in zip(outputs, order, strict=True) if name == stream]
        assert own == [draw(alone, stream, 16) for _ in own]


def test_seeds_and_purposes_give_different_bytes():
    drawn = {derive(seed, purpose) for seed in ("a", "b", "ab", "") for purpose in ("x", "y", "")}

    assert len(drawn) == 12


@given(size=st.integers(1, 64))
def test_derive_returns_the_requested_number_of_bytes(size):
    assert len(derive("seed", "purpose", size=size)) == size


def test_numbers_count_from_zero_and_continue_in_the_next_change():
    first = change()
    assert [next_number(first, "mine") for _ in range(3)] == [0, 1, 2]

    following = Change(first.applied(), first.now_ms)

    assert next_number(following, "mine") == 3


def test_ids_of_one_millisecond_are_ulids_in_the_order_of_creation():
    fresh = change()

    ids = [new_id(fresh) for _ in range(500)]

    assert all(map(is_ulid, ids))
    assert ids == sorted(set(ids))


def test_a_seeded_id_depends_only_on_seed_kind_and_alias():
    project_id = seeded_id("seed", 1, "project", "shop")

    assert is_ulid(project_id)
    assert project_id == seeded_id("seed", 1, "project", "shop")
    others = [("other", "project", "shop"), ("seed", "user", "shop"), ("seed", "project", "x")]
    assert project_id not in [seeded_id(seed, 1, kind, alias) for seed, kind, alias in others]


def test_a_secret_has_43_characters_that_its_digest_does_not_contain():
    fresh = change()

    secrets = [new_secret(fresh) for _ in range(50)]

    assert all(re.fullmatch("[A-Za-z0-9_-]{43}", secret) for secret in secrets)
    assert len(set(secrets)) == 50
    assert re.fullmatch("[0-9a-f]{64}", digest(secrets[0]))
    assert secrets[0] not in digest(secrets[0])


def test_any_text_that_a_header_can_hold_has_a_digest():
    assert digest("caf\udce9") != digest("café")
