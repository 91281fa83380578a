"""Collects the mistakes in one scenario, so that its author sees all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.source import Location


class Mistakes(list[ScenarioError]):
    """The mistakes found so far in one scenario."""

    @contextmanager
    def collect(self, location: Location) -> Iterator[None]:
        """Collect a ScenarioError of the block, or turn a ValueError into an error at the location.

        Execution continues after the block.
        """
        try:
            with location.refusals():
                yield
        except ScenarioError as error:
            self.append(error.alone())
            self.extend(error.more)

    def raise_error(self) -> None:
        """Raise one ScenarioError that lists all mistakes in the file's order, if there are any."""
        if not self:
            return
        # A part that is used twice reports its mistakes twice.
        distinct = {str(error): error for error in self}
        first, *others = sorted(distinct.values(), key=lambda error: (error.line, error.column))
        raise ScenarioError(first.file, first.line, first.column, first.message, others)
