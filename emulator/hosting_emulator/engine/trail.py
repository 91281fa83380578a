"""The trail: what one exchange leaves behind for the request log, gathered on its way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.calls import Subject
from hosting_emulator.variation.answers import Paging
from hosting_emulator.world.fault_records import Effect, Fault
from hosting_emulator.world.value import Entered, World, Writes


class Committed(NamedTuple):
    """A commit that an exchange made: its title, what it wrote, and the world it came to.

    `entered` is what operations went through in it.
    """

    title: str
    writes: Writes
    world: World
    entered: Sequence[Entered] = ()


@dataclass(slots=True)
class Trail:
    """One exchange so far: its number and moment, who asked what, and why it went as it did.

    Only references are taken here: a plain read must not pay for what nobody may ever look at.
    `world` is as the request found it, before what was due ran; `trails` tells from it.
    """

    number: int
    now_ms: int
    world: World
    #: World time and the machine's when the request came, and how long a fault held it up since.
    came_ms: int = 0
    real_ms: int = 0
    delayed_ms: int = 0
    request_id: str | None = None
    call: str | None = None
    #: The ids that the path names.
    project: str | None = None
    operation: str | None = None
    principal: Principal | None = None
    #: Access was judged: nothing refused the request before that.
    judged: bool = False
    replayed: bool = False
    #: The problem code it was answered with.
    code: str | None = None
    #: The assumption that decided the answer, where only the core can tell.
    assumption: str | None = None
    why: list[str] | None = None
    commits: list[Committed] | None = None
    #: The faults that acted, as their hits counted then.
    acted: tuple[Fault, ...] = ()
    in_flight: str | None = None
    docs_url: Callable[[], str] | None = None
    #: What a fault does at the socket to whatever the answer is.
    breakage: Effect | None = None
    #: The request's number, also among those before a restart; and what its answer is varied by.
    number_text: str = ""
    what: str = ""
    paging: Paging | None = None
    #: The points at which the answer varies.
    varied: tuple[str, ...] = ()

    def about(self, subject: Subject, subject_id: str) -> None:
        """Note what the path names."""
        if subject == "project":
            self.project = subject_id
        elif subject == "operation":
            self.operation = subject_id

    def say(self, text: str) -> None:
        """Add a decision to the explanation."""
        if self.why is None:
            self.why = []
        self.why.append(text)
