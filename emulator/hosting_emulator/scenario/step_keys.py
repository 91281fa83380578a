"""The keys of a step: the properties of each action, and the other keys that each action accepts.

To add an action, add its field to `ActionPart`, its entry to `ACTION_KEYS`, and its function to
`story_actions`. To add another key, add its field to `StepPart` and its entry to `OPTION_ACTIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args


@dataclass(frozen=True, slots=True)
class ActionKey:
    """A key that selects the action of a step."""

    #: The step receives a response, so it can have expectations and save values.
    has_response: bool = False
    #: The step can be one of several in `together`.
    can_join: bool = False


#: The actions of a step. Each step has exactly one of them, or only a note.
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
#: The actions that can be part of `together`.
JOINED_ACTIONS = tuple(name for name, key in ACTION_KEYS.items() if key.can_join)

TimelineAction: TypeAlias = Literal["fault", "outcome", "intervene"]
#: The actions of an entry of the timeline, which has exactly one of them.
TIMELINE_ACTIONS: tuple[TimelineAction, ...] = get_args(TimelineAction)

_API_REQUESTS = ("call", "poll", "request")
#: The other keys of a step, with the actions that accept each key. `note` and `times` are not
#: listed here, because every action accepts them.
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
#: Pairs of keys that exclude each other.
EXCLUSIVE_OPTIONS = (
    ("token", "user"),
    ("token", "interactive"),
    ("body", "text"),
    ("body", "form"),
    ("text", "form"),
)
#: The headers that keys of a step send, with the names of those keys.
HEADER_OPTIONS = {"authorization": ("token", "user"), "idempotency-key": ("key",)}


def is_page(url: str) -> bool:
    """Return whether the URL of a `request` leads to a page of the emulator, not to the API."""
    return not url.startswith("/") or url.startswith("/_emulator/")
