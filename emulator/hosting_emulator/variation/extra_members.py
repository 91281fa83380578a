"""The members that a variation adds to objects. These members are not in the contract, so no client
knows them.

The values cover every JSON type, and some values are nested. Some names, such as `class`, `length`
or `error`, have a meaning in a programming language or a client library.
"""

from __future__ import annotations

from typing import Any

#: The names and values of the members. A name is not added to an object that has a member of this
#: name in the contract.
EXTRA_MEMBERS: tuple[tuple[str, Any], ...] = (
    ("revision", 7),
    ("class", "standard"),
    ("owned_by", None),
    ("error", False),
    ("labels", {"tier": "standard", "größe": "groß"}),
    ("length", 0),
    ("links", [{"rel": "self", "href": "/v1"}]),
    ("createdAt", None),
    ("weight", 0.25),
    ("hasOwnProperty", True),
    ("annotations", {}),
    ("type", "resource"),
    ("tags", []),
    ("__proto__", {"is_default": False}),
    ("is_preview", False),
    ("self", "/v1/self"),
    ("Schema-Version", "2026-11-21"),
    ("errors", []),
    ("bytes", 9_007_199_254_740_993),
    ("data", None),
    ("history", [[1, [2, [None]]], {"by": {"team": {"lead": None, "since": -1.5e-7}}}]),
    ("then", False),
    ("notes", 'line 1\nline 2\t"quoted" \\ / 日本 🚀 ' * 20),
    ("code", 0),
    ("isManaged", True),
    ("constructor", "none"),
    ("$schema", "https://schemas.example/v1"),
    ("message", ""),
    ("größe", 3),
    ("toString", "text"),
    ("", "unnamed"),
    ("ok", False),
    ("with.dot/slash", {"state": "failed"}),
)
