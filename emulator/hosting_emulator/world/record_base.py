"""The base class of all records in a world, and types that several records share."""

from __future__ import annotations

from typing import Literal

import msgspec

Plan = Literal["free", "paid"]
DataMode = Literal["separate", "shared"]


class WorldRecord(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True
):
    """The base class of all records. Records are immutable, and are decoded strictly when read from
    disk.
    """
