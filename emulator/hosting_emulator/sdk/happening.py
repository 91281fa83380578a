"""What happens in a world, and why: time, failures, requests, moments to go back to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hosting_emulator.sdk.answers import JsonObject, Variation, World
from hosting_emulator.sdk.calls import CallName, EffectName, Phase
from hosting_emulator.sdk.clock import OperationLike, WorldClock, id_of
from hosting_emulator.sdk.conduct import WorldConduct
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.explanation import Explanation, explanation
from hosting_emulator.sdk.faults import ArmedFault, fault_document
from hosting_emulator.sdk.filters import Aliased
from hosting_emulator.sdk.observed import Commit
from hosting_emulator.sdk.place import Place
from hosting_emulator.sdk.report import report_text
from hosting_emulator.sdk.requests import Requests
from hosting_emulator.sdk.snapshots import Snapshot
from hosting_emulator.sdk.varying import VaryLike, read_vary


class Happening(Place):
    """The part of `HostingEmulator` that makes things happen and tells what did."""

    clock: WorldClock
    """World time: `now`, `advance`, `until`, `freeze`, …"""

    def __init__(self, control: ControlClient, world: World) -> None:
        super().__init__(control, world)
        self.clock = WorldClock(control, self.name)

    # --- Failures on demand ------------------------------------------------------------------

    def fault(
        self,
        effect: EffectName | None = None,
        *,
        call: CallName | None = None,
        project: str | None = None,
        principal: str | None = None,
        method: str | None = None,
        path: str | None = None,
        header: dict[str, str] | None = None,
        times: int | None = None,
        skip_first: int | None = None,
        every: int | None = None,
        probability: float | None = None,
        from_: str | None = None,
        until: str | None = None,
        ttl: str | None = None,
        phase: Phase | None = None,
        **options: Any,
    ) -> ArmedFault:
        """Arm a fault in this world; `with` disarms it at its end.

        Written by its effect's name, with the effect's options and the rule side by side:
        `fault("abort", code="rate_limited", call="list_deployments", times=2)`; or as in a
        scenario: `fault(abort={"code": "rate_limited"}, times=2)`. What is wrong is refused now
        (ControlRefused), naming the nearest.
        """
        rule = {
            "call": call,
            "project": project,
            "principal": principal,
            "method": method,
            "path": path,
            "header": header,
            "times": times,
            "skip_first": skip_first,
            "every": every,
            "probability": probability,
            "from": from_,
            "until": until,
            "ttl": ttl,
            "phase": phase,
        }
        document = fault_document(effect, {**options, **rule})
        return ArmedFault(self.control, self.name, self.control.add_fault(document, self.name))

    @property
    def faults(self) -> list[ArmedFault]:
        """The armed faults, in the order in which they are tried."""
        return [ArmedFault(self.control, self.name, f) for f in self.control.faults(self.name)]

    def clear_faults(self) -> int:
        """Disarm all faults, and return how many there were."""
        return self.control.clear_faults(self.name)

    def intervene(self, word: str, /, **fields: Any) -> str:
        """Change this world from outside the contract, and return what was done in one sentence.

        Such as `intervene("stick_operation", project="shop")`. What makes no sense is refused with
        ControlRefused, and nothing is changed.
        """
        return self.control.intervene(word, fields, self.name)["said"]

    # --- Other answers that the contract allows ----------------------------------------------

    @property
    def variation(self) -> Variation | None:
        """How this world's answers vary: seed, points, and what has varied so far; None: not."""
        return self.control.variation(self.name)

    def vary(self, seed: VaryLike, only: str | Sequence[str] | None = None) -> Variation:
        """Answer differently from now on wherever the contract leaves freedom, as the seed draws.

        `only` confines that to some points; `seed` may be both, as a scenario writes them. Raises
        ValueError for what is no seed, ControlRefused for a point that there is not.
        """
        text, points = read_vary(seed, only)
        return self.control.vary(text, self.name, only=points)

    def unvary(self) -> None:
        """Answer as usual again."""
        self.control.unvary(self.name)

    # --- What happened -----------------------------------------------------------------------

    @property
    def requests(self) -> Requests:
        """The requests that reached this world: to iterate, to filter, to assert on."""
        aliased = Aliased(self.people, self.projects)
        return Requests(self.control, self.name, self.base_url, aliased)

    def why(self, operation: OperationLike) -> Explanation:
        """Explain why an operation, given by id or document, is where it is; `str()` reads well."""
        return explanation(self.control.why(id_of(operation), self.name))

    def report(self, *, requests: int = 20, color: bool = False) -> str:
        """Tell this world's story: clock, last requests with why, pending operations, faults."""
        return report_text(self.control.report(self.name, requests=requests), color=color)

    @property
    def conduct(self) -> WorldConduct:
        """How the client behaved: `assert_clean()`, `findings()`, `report()`."""
        return WorldConduct(self.control, self.name)

    # --- Going back --------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Keep this world as it is now; `with` goes back to it at its end."""
        return Snapshot(self, self.control.snapshot(self.name))

    def restore(self, snapshot: Snapshot) -> None:
        """Put state, clock, faults and assumptions back; the request log goes on."""
        self._settle_in(self.control.restore_snapshot(snapshot.id, self.name))

    @property
    def history(self) -> list[Commit]:
        """The last commits that are kept, oldest first, each with what made it; at most 1,000."""
        return self.control.history(self.name, limit=1000)[::-1]

    def rewind(self, commit: int) -> None:
        """Put back the state after a commit of `history`; the request log goes on."""
        self._settle_in(self.control.rewind(commit, self.name))

    def reset(self) -> None:
        """Put the world back to how it began, its request log emptied."""
        self._settle_in(self.control.reset(self.name))

    def export(self, path: str | Path | None = None) -> JsonObject:
        """Return the whole state as one document, and write it to `path` if given.

        `hosting-emulator start --from PATH` and `fresh(state=…)` take it up again.
        """
        state = self.control.export_state(self.name)
        if path is not None:
            Path(path).write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        return state
