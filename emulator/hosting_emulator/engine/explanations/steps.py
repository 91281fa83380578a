"""A single step in a trail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExplainedStep:
    """A decision that led to a response: the name of the step, and a sentence that explains it."""

    step: str
    sentence: str


def steps_named(step: str, sentences: Iterable[str]) -> Iterator[ExplainedStep]:
    """Yield one step called `step` for each sentence."""
    return (ExplainedStep(step, sentence) for sentence in sentences)
