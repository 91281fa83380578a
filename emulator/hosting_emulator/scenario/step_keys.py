"""The keys of a step: the properties of each action, and which other keys each action accepts.

To add an action, add a field to `ActionPart`, an entry to `ACTION_KEYS` and a function to
`story_actions`. To add a key that is not an action, add a field to `StepPart` and an entry to
`OPTION_ACTIONS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args


@dataclass(frozen=True, slots=True)
class ActionKey:
    """The properties of a key that selects a step's action."""

    #: Whether the step receives a response and can therefore have an expectation and save values.
    has_response: bool = False
    #: Whether the action can be used for requests inside `together`.
    can_join: bool = False


#: The actions that a step can have. Each step has exactly one of them, or just a note.
ACTION_KEYS = {
    "call": ActionKey(has_response=True, can_join=True),
    "poll": ActionKey(has_response=True, can_join=True),
    "redeem": ActionKey(has_response=True, can_join=True),
    "request": ActionKey(has_response=True, can_join=True),
    "sign_in": ActionKey(has_response=True),
    "api_key": ActionKey(has_response=True),
    "together": ActionKey(),
    "advance": ActionKey(),
    "to": ActionKey(),
    "until": ActionKey(),
    "intervene": ActionKey(),
    "fault": ActionKey(),
    "remove_fault": ActionKey(),
    "clear_faults": ActionKey(),
    "outcome": ActionKey(),
    "remove_outcome": ActionKey(),
    "clear_outcomes": ActionKey(),
    "assume": ActionKey(),
    "check": ActionKey(),
    "log": ActionKey(),
    "use": ActionKey(),
}
ACTIONS = tuple(ACTION_KEYS)
#: The actions that receive a response.
REQUESTS = tuple(name for name, key in ACTION_KEYS.items() if key.has_response)
#: The actions that can be used inside `together`.
JOINED_ACTIONS = tuple(name for name, key in ACTION_KEYS.items() if key.can_join)

TimelineAction: TypeAlias = Literal["fault", "outcome", "intervene"]
#: The actions that a timeline entry can have. Each entry has exactly one of them.
TIMELINE_ACTIONS: tuple[TimelineAction, ...] = get_args(TimelineAction)

_API_REQUESTS = ("call", "poll", "request")
#: The keys of a step that are not actions, each with the actions that accept it. `note` and `times`
#: are not listed, because every action accepts them.
OPTION_ACTIONS: dict[str, tuple[str, ...]] = {
    "expect": REQUESTS,
    "save": (*REQUESTS, "fault", "outcome"),
    "collect": REQUESTS,
    "organization": (*_API_REQUESTS, "sign_in", "api_key"),
    "interactive": (*_API_REQUESTS, "sign_in"),
    "user": (*_API_REQUESTS, "redeem"),
    "token": _API_REQUESTS,
    "headers": _API_REQUESTS,
    "connection": (*_API_REQUESTS, "redeem"),
    "query": _API_REQUESTS,
    "project": ("call",),
    "key": ("call", "request"),
    "body": ("call", "request", "api_key"),
    "text": ("call", "request"),
    "form": ("request",),
    "gives_up": (*_API_REQUESTS, "redeem"),
    "tries": REQUESTS,
    "pause": REQUESTS,
    "with": ("use",),
}
#: Pairs of keys that are mutually exclusive.
EXCLUSIVE_OPTIONS = (
    ("token", "user"),
    ("token", "interactive"),
    ("body", "text"),
    ("body", "form"),
    ("text", "form"),
)
#: The request headers that a step's keys set, each with the names of these keys.
HEADER_OPTIONS = {"authorization": ("token", "user"), "idempotency-key": ("key",)}

#: Matches the value of `request`: a method, and a URL or a path.
_REQUEST = re.compile(r"[A-Z]+ (/|https?://|\$\{)\S*")


def is_request(text: str) -> bool:
    """Return whether a text is a method and a URL or path, as a `request` step needs them."""
    return _REQUEST.fullmatch(text) is not None


def is_page(url: str) -> bool:
    """Return whether the URL in a `request` step is that of a page rather than of the API."""
    return not url.startswith("/") or url.startswith("/_emulator/")
