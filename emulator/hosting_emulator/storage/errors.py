"""What can be wrong with stored state, said so that a person knows what to do."""

from __future__ import annotations


class StateRefused(Exception):
    """Stored or imported state cannot be used; the message says where, why and what to do."""


class FormatRefused(StateRefused):
    """The state is whole but of a format that this version cannot read: salvage is no help."""
