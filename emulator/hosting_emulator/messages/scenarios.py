"""Scenarios: the library, the report of a story, and what was done in a world as a scenario."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from hosting_emulator.messages.declaration import ControlMessage, doc
from hosting_emulator.messages.faults import EntryCounts
from hosting_emulator.messages.worlds import VariationState


class ScenarioName(ControlMessage, frozen=True, kw_only=True):
    """A scenario of the library."""

    name: Annotated[str, doc("The name of the scenario.")]
    kind: Annotated[
        Literal["world", "story"],
        doc(
            "Where its failure is: in its world (faults, outcomes, timeline, …), or only in a story "
            "in the usual world, of which `start --scenario` shows nothing."
        ),
    ]
    description: Annotated[str, doc("What the scenario shows.")]


class ScenarioText(ScenarioName, frozen=True, kw_only=True):
    """A scenario of the library with its YAML."""

    text: Annotated[str, doc("The YAML.")]


class RecordedScenario(ScenarioText, frozen=True, kw_only=True):
    """What was done in a world, as a scenario whose story passes."""

    steps: Annotated[int, doc("The number of steps.")]
    left_out: Annotated[
        list[str], doc("The requests that it leaves out, with the reason: they changed nothing.")
    ]


class StepDifference(ControlMessage, frozen=True, kw_only=True):
    """What a step of a story expected, and what it got."""

    at: Annotated[str, doc("Where it differs.")]
    expected: Annotated[Any, doc("What was expected.")]
    found: Annotated[Any, doc("What there was.")]


class StepResponse(ControlMessage, frozen=True, kw_only=True):
    """A response in a step of a story."""

    n: Annotated[int | None, doc("The number of its request in the log; null if it has none.")]
    status: Annotated[int | None, doc("The status; null if there was no response.")]
    code: Annotated[str | None, doc("The code of the problem; null if there was none.")]
    detail: Annotated[str | None, doc("The detail of the problem; null if there was none.")]
    lost: Annotated[
        str | None, doc("The kind of fault that lost the response; null if it was not lost.")
    ]


class StoryStep(ControlMessage, frozen=True, kw_only=True):
    """A step of a story."""

    n: Annotated[int, doc("The number of the step.")]
    line: Annotated[int, doc("The line of the step in the file.")]
    title: Annotated[str, doc("What the step does.")]
    passed: Annotated[bool, doc("Whether the step passed.")]
    message: Annotated[str, doc("What the step came to.")]
    waited_ms: Annotated[int, doc("How long its responses would have taken, in milliseconds.")]
    differences: Annotated[list[StepDifference], doc("What differs from what was expected.")]
    responses: Annotated[list[StepResponse], doc("The responses.")]
    nearest: Annotated[list[str], doc("The requests that come nearest to what was expected.")]


class StoryEntry(EntryCounts, frozen=True, kw_only=True):
    """A fault, an outcome or a timeline entry of a story."""

    at: Annotated[str, doc("Its path in the file.")]
    line: Annotated[int, doc("Its line in the file.")]


class StoryReport(ControlMessage, frozen=True, kw_only=True):
    """How a scenario's story went, up to the first step that failed."""

    scenario: Annotated[str, doc("The name of the scenario.")]
    file: Annotated[str, doc("The name of the file in errors.")]
    passed: Annotated[
        bool,
        doc(
            "Whether the story passed. An entry that never acted and is not optional fails the story."
        ),
    ]
    steps: Annotated[list[StoryStep], doc("The steps.")]
    entries: Annotated[list[StoryEntry], doc("The faults, outcomes and timeline entries.")]
    digest: Annotated[str, doc("A digest of all responses: equal runs have equal digests.")]
    variation: Annotated[
        VariationState | None, doc("How responses varied; null if they did not vary.")
    ]
    warnings: Annotated[
        list[str],
        doc("Each assumption of the world, at any step, that contradicts the contract."),
    ]
