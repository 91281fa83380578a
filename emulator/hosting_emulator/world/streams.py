"""Random values, derived from the seed of a world and the seed of its variation.

A world has no other source of randomness.

Each purpose has its own stream and its own count of draws. A draw from one stream therefore never
affects another stream. For example, arming a fault does not change any id.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import blake2b, sha256

from ulid.base32 import ENCODE as ALPHABET

from hosting_emulator.contract.ids import make_ulid
from hosting_emulator.contract.timestamps import EARLIEST_MS
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import STREAMS
from hosting_emulator.world.value import Change

#: The length of a secret in characters.
SECRET_LENGTH = 43


def derive(seed: str, *purpose: str, size: int = 16) -> bytes:
    """Return `size` bytes (1 to 64) that are determined by the seed and the purpose."""
    return blake2b("\0".join(purpose).encode(), digest_size=size, key=_key(seed)).digest()


@lru_cache(maxsize=256)
def _key(seed: str) -> bytes:
    return sha256(seed.encode()).digest()


def draw(change: Change, stream: str, size: int) -> bytes:
    """Return the next `size` bytes (1 to 64) of a stream."""
    count = next_number(change, stream)
    return derive(change.world.seed, "stream", stream, str(count), size=size)


def next_number(change: Change, stream: str) -> int:
    """Count a draw from a stream, and return the number of the draw, starting at 0."""
    count = change.get(STREAMS, stream) or 0
    change.put(STREAMS, stream, count + 1)
    return count


def new_id(change: Change, created_ms: int | None = None) -> str:
    """Return a new Ulid, made up of a time, a counter and random bytes.

    The time is `created_ms`, which defaults to the world's time. Because of the counter, ids
    created in the same millisecond sort in the order of creation.
    """
    if created_ms is None:
        created_ms = change.now_ms
    count = next_number(change, "ids")
    randomness = derive(change.world.seed, "stream", "ids", str(count), size=6)
    return make_ulid(max(created_ms, EARLIEST_MS), count.to_bytes(4, "big") + randomness)


#: The variation point that makes deployment ids sort in random order.
ID_ORDER = "id-order"
_TEN_YEARS_MS = 315_532_800_000


def new_deployment_id(change: Change, created_ms: int | None = None) -> str:
    """Return a new Ulid for a deployment. In a world with variation, the id's time can be random."""
    id_ = new_id(change, created_ms)
    time = varied_time(change.world.variation, id_) or id_[:10]
    return time + id_[10:]


def varied_time(variation: Variation | None, id_: str) -> str | None:
    """Return the time part that a variation substitutes in an id, or None if it leaves the id unchanged.

    About half of the ids are left unchanged.
    """
    if variation is None or ID_ORDER not in (variation.only or (ID_ORDER,)):
        return None
    randomness = derive(variation.seed, "variation", ID_ORDER, id_counter(id_))
    number = int.from_bytes(randomness, "big")
    if number % 2:
        return None
    at_ms = 4 * _TEN_YEARS_MS + (number >> 1) % _TEN_YEARS_MS
    return make_ulid(at_ms, bytes(10))[:10]


def id_counter(id_: str) -> str:
    """Return the counter in an id created by `new_id`. The counter depends on neither the seed nor
    the time.
    """
    return id_[10:16] + ALPHABET[ALPHABET.index(id_[16]) >> 3]


def seeded_id(seed: str, at_ms: int, kind: str, alias: str) -> str:
    """Return the Ulid of a record in a new world.

    Apart from its time, the id depends only on the seed, the kind and the alias.
    """
    return make_ulid(at_ms, derive(seed, "id", kind, alias, size=10))


def past_id(seed: str, created_ms: int, number: int, kind: str, alias: str) -> str:
    """Return the Ulid of a record that existed before its world began.

    The id contains the record's creation time. Ids with the same time sort by `number`, which must
    be less than 2**24. A Ulid cannot contain a time before 1970.
    """
    randomness = derive(seed, "id", kind, alias, size=7)
    return make_ulid(max(created_ms, EARLIEST_MS), number.to_bytes(3, "big") + randomness)


def new_secret(change: Change) -> str:
    """Return a secret of 43 characters (256 bits) from A-Z a-z 0-9 _ -.

    Unlike ids, secrets also depend on the world's name.
    """
    world = change.world
    count = next_number(change, "secrets")
    secret = derive(world.seed, "secret", "secrets", world.name, str(count), size=32)
    return urlsafe_b64encode(secret).rstrip(b"=").decode()


def digest(secret: str) -> str:
    """Return the SHA-256 digest of a secret, in hexadecimal. A world stores only this digest."""
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
