"""The base class of all records of a world, and types that several records share."""

from __future__ import annotations

from typing import Literal

import msgspec

Plan = Literal["free", "paid"]
DataMode = Literal["separate", "shared"]


class WorldRecord(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True
):
    """Base class of all records. Records are immutable, and decoding them from disk is strict."""
