"""Collects the mistakes in a scenario, so that its author sees all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.source import Location


class Mistakes(list[ScenarioError]):
    """The mistakes that have been found in a scenario."""

    @contextmanager
    def collect(self, location: Location) -> Iterator[None]:
        """Collect any ScenarioError that the `with` block raises, and continue after the block.

        A ValueError is converted to a ScenarioError at the location.
        """
        try:
            with location.refusals():
                yield
        except ScenarioError as error:
            self.append(error.alone())
            self.extend(error.more)

    def raise_error(self) -> None:
        """If there are mistakes, raise one ScenarioError that lists them in the file's order."""
        if not self:
            return
        # Report each mistake once, although a mistake in a part is found each time the part is
        # used.
        distinct = {str(error): error for error in self}
        first, *others = sorted(distinct.values(), key=lambda error: (error.line, error.column))
        raise ScenarioError(first.file, first.line, first.column, first.message, others)
