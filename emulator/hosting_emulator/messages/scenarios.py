"""Messages about scenarios: the library, reports on stories, and recorded scenarios."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from hosting_emulator.messages.declaration import ControlMessage, doc
from hosting_emulator.messages.faults import EntryCounts
from hosting_emulator.messages.worlds import VariationState


class ScenarioName(ControlMessage, frozen=True, kw_only=True):
    """A scenario in the library."""

    name: Annotated[str, doc("The name of the scenario.")]
    kind: Annotated[
        Literal["world", "story"],
        doc(
            "`world` if the scenario describes its own world, for example with faults, a timeline "
            "or assumptions, which `start --scenario` loads. `story` if it only runs a story in "
            "the default world, so `start --scenario` starts the default world."
        ),
    ]
    description: Annotated[str, doc("The purpose of the scenario.")]


class ScenarioText(ScenarioName, frozen=True, kw_only=True):
    """A scenario in the library, including its YAML."""

    text: Annotated[str, doc("The YAML.")]


class RecordedScenario(ScenarioText, frozen=True, kw_only=True):
    """A recording of a world's requests and changes, in the form of a scenario with a story that
    passes.
    """

    steps: Annotated[int, doc("The number of steps.")]
    left_out: Annotated[
        list[str],
        doc(
            "The requests that the scenario omits. Each item names a request and says why it was "
            "omitted, for example because only part of its body was stored. The first item names the "
            "requests that the log no longer contains, if there are any and no `first` was given."
        ),
    ]


class StepDifference(ControlMessage, frozen=True, kw_only=True):
    """A difference between the expected and the actual result of a step."""

    at: Annotated[str, doc("The path to the value that differs.")]
    expected: Annotated[Any, doc("The expected value.")]
    found: Annotated[Any, doc("The actual value.")]
    line: Annotated[int, doc("The line number of the expectation in the file, starting at 1.")]
    column: Annotated[int, doc("The column at which the expectation begins, starting at 1.")]


class StepResponse(ControlMessage, frozen=True, kw_only=True):
    """A response in a step of a story."""

    n: Annotated[
        int | None, doc("The number of the request in the log; null if it is not in the log.")
    ]
    status: Annotated[int | None, doc("The status; null if there was no response.")]
    code: Annotated[str | None, doc("The code of the problem; null if there was none.")]
    detail: Annotated[str | None, doc("The detail of the problem; null if there was none.")]
    lost: Annotated[
        str | None,
        doc("The kind of fault that caused the response to be lost; null if it was not lost."),
    ]


class StoryStep(ControlMessage, frozen=True, kw_only=True):
    """A step of a story."""

    n: Annotated[int, doc("The number of the step.")]
    line: Annotated[int, doc("The line of the step in the file.")]
    title: Annotated[str, doc("What the step does.")]
    passed: Annotated[bool, doc("Whether the step passed.")]
    message: Annotated[str, doc("The result of the step.")]
    waited_ms: Annotated[
        int,
        doc("The total delay that a client would have experienced in this step, in milliseconds."),
    ]
    differences: Annotated[list[StepDifference], doc("The differences from the expected result.")]
    responses: Annotated[list[StepResponse], doc("The responses.")]
    nearest: Annotated[
        list[str], doc("The requests in the log that are most similar to the expected ones.")
    ]


class StoryEntry(EntryCounts, frozen=True, kw_only=True):
    """A fault, an outcome or a timeline entry in a story."""

    at: Annotated[str, doc("The path of the entry in the file.")]
    line: Annotated[int, doc("The line of the entry in the file.")]


class StoryReport(ControlMessage, frozen=True, kw_only=True):
    """The result of running a scenario's story. The run stops at the first failed step."""

    scenario: Annotated[str, doc("The name of the scenario.")]
    file: Annotated[str, doc("The name of the file, as error messages show it.")]
    passed: Annotated[
        bool,
        doc("Whether the story passed. The story also fails if a required entry never acted."),
    ]
    steps: Annotated[list[StoryStep], doc("The steps.")]
    entries: Annotated[list[StoryEntry], doc("The faults, outcomes and timeline entries.")]
    digest: Annotated[str, doc("A digest of all responses. Identical runs have identical digests.")]
    variation: Annotated[
        VariationState | None, doc("How responses varied; null if no variation was set.")
    ]
    warnings: Annotated[
        list[str],
        doc("Warnings about assumptions that contradicted the contract at any step."),
    ]
