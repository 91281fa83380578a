"""Random streams: a world's only source of randomness, drawn from its seed by purpose.

Each purpose has its own stream and its own count of draws, so that drawing more of one thing never
changes another: arming a fault shifts no id.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from functools import lru_cache
from hashlib import blake2b, sha256

from ulid.base32 import ENCODE as ALPHABET

from hosting_emulator.contract.ids import make_ulid
from hosting_emulator.world.records import Variation
from hosting_emulator.world.tables import STREAMS
from hosting_emulator.world.value import Change

#: How many characters a secret has.
SECRET_LENGTH = 43


def derive(seed: str, *purpose: str, size: int = 16) -> bytes:
    """Return `size` bytes (1 to 64) that depend on the seed and the purpose alone."""
    return blake2b("\0".join(purpose).encode(), digest_size=size, key=_key(seed)).digest()


@lru_cache(maxsize=256)
def _key(seed: str) -> bytes:
    return sha256(seed.encode()).digest()


def draw(change: Change, stream: str, size: int) -> bytes:
    """Take the next `size` bytes (1 to 64) of a stream."""
    count = next_number(change, stream)
    return derive(change.world.seed, "stream", stream, str(count), size=size)


def next_number(change: Change, stream: str) -> int:
    """Count a draw of a stream and return its number, from 0."""
    count = change.get(STREAMS, stream) or 0
    change.put(STREAMS, stream, count + 1)
    return count


def new_id(change: Change) -> str:
    """Return a new Ulid: the world's time, a count (so that they sort as made), then randomness."""
    count = next_number(change, "ids")
    randomness = derive(change.world.seed, "stream", "ids", str(count), size=6)
    return make_ulid(change.now_ms, count.to_bytes(4, "big") + randomness)


#: The point of variation at which the ids of deployments are in no order.
ID_ORDER = "id-order"
_TEN_YEARS_MS = 315_532_800_000


def new_deployment_id(change: Change) -> str:
    """Return a new Ulid of a deployment; in a world that varies it may tell another time."""
    id_ = new_id(change)
    return (drawn_time(change.world.variation, id_) or id_[:10]) + id_[10:]


def drawn_time(variation: Variation | None, id_: str) -> str | None:
    """Return how an id begins whose time a variation draws, for every second count; None: as it is."""
    if variation is None or ID_ORDER not in (variation.only or (ID_ORDER,)):
        return None
    drawn = int.from_bytes(derive(variation.seed, "variation", ID_ORDER, place_of(id_)), "big")
    at_ms = 4 * _TEN_YEARS_MS + (drawn >> 1) % _TEN_YEARS_MS
    return None if drawn % 2 else make_ulid(at_ms, bytes(10))[:10]


def place_of(id_: str) -> str:
    """Return the count that is in a new Ulid: the same whatever the seed is, and the time."""
    return id_[10:16] + ALPHABET[ALPHABET.index(id_[16]) >> 3]


def seeded_id(seed: str, at_ms: int, kind: str, alias: str) -> str:
    """Return the Ulid of something made with the world: it depends on seed, kind and alias alone."""
    return make_ulid(at_ms, derive(seed, "id", kind, alias, size=10))


def new_secret(change: Change) -> str:
    """Return 43 characters (256 bits) of A-Z a-z 0-9 _ -, by the world's name too, not its seed alone."""
    count, world = next_number(change, "secrets"), change.world
    secret = derive(world.seed, "secret", "secrets", world.name, str(count), size=32)
    return urlsafe_b64encode(secret).rstrip(b"=").decode()


def digest(secret: str) -> str:
    """Return what is kept of a secret: its SHA-256, as hex."""
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
