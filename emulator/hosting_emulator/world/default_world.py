"""The default world: what is there before anybody asked for anything. Worth looking at.

The people and projects are few and speak for themselves; every state that a call can show is there.
"""

from __future__ import annotations

from hosting_emulator.world import clock as clocks
from hosting_emulator.world import records as r
from hosting_emulator.world.populating import Human, Site, Workspace, populate
from hosting_emulator.world.value import Change, World, empty_world

WORKSPACES = (
    Workspace("acme", "Acme Studio", "paid", 5_000),
    Workspace("hobby", "Hobby Garden", "free", 0),
)
PEOPLE = (
    Human("owner", "Olive Owner", {"acme": "owner"}, {}),
    Human("member", "Max Member", {"acme": "member"}, {"shop": "maintainer", "blog": "maintainer"}),
    Human(
        "reader",
        "Rita Reader",
        {"acme": "member"},
        {"shop": "reader", "blog": "reader", "docs": "reader"},
    ),
    Human("outsider", "Oscar Outsider", {"hobby": "owner"}, {}),
    Human("no-organization", "Nora Nowhere", {}, {}),
)
SITES = (
    Site("shop", "acme", 45, True, "authorized", "separate", "ready", "ready", "shop.acme.example"),
    Site("blog", "acme", 12, False, "pending", "shared", "suspended", "suspended"),
    Site("docs", "acme", 21, False, "expired", "separate", "init", None),
    Site("labs", "acme", 0, False, "not_authorized", "separate", None, None),
    Site("garden", "hobby", 7, True, "revoked", "separate", "ready", "resizing", "garden.example"),
    Site("notes", "hobby", 3, False, "not_authorized", "shared", "ready", "ready"),
)


def default_world(name: str, seed: str, origin: r.Origin, machine_ms: int) -> World:
    """Return a fresh default world that begins as `origin` says. Raises ClockRefused."""
    clock = clocks.start(origin.mode, origin.rate, origin.at_ms, machine_ms)
    change = Change(empty_world(name, seed, clock, origin), clock.world_ms)
    populate(change, WORKSPACES, PEOPLE, SITES)
    return change.applied()
