"""Messages about client behavior: the rules, the findings, and the observations of worlds."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.coverage import ContractCoverage
from hosting_emulator.messages.declaration import ControlMessage, Severity, doc


class ConductFinding(ControlMessage, frozen=True, kw_only=True):
    """A rule that the client broke. In Python, `str()` returns the message."""

    rule: Annotated[str, doc("The id of the rule.")]
    severity: Annotated[Severity, doc("The severity of the finding.")]
    title: Annotated[str, doc("What the client did, in a few words.")]
    message: Annotated[str, doc("What the client did, in one sentence.")]
    requests: Annotated[
        list[int], doc("The numbers of the requests that broke the rule, oldest first.")
    ]
    more_requests: Annotated[
        int, doc("The number of further requests that broke the rule but are not listed.")
    ]
    at: Annotated[str, doc("The world time at which the client broke the rule.")]
    because: Annotated[
        str, doc("The sentence on which the rule is based, from the contract or an RFC.")
    ]
    place: Annotated[str, doc("The source of the sentence, such as a section of the contract.")]
    matters: Annotated[str, doc("The harm that breaking the rule can cause.")]
    instead: Annotated[str, doc("What the client should do instead.")]
    chapter: Annotated[
        str | None,
        doc(
            "If the request numbers refer to a log that has been cleared, which one, such as "
            "`before the world was reset`. Absent if they refer to the current log."
        ),
    ] = None

    def __str__(self) -> str:
        return self.message


class ConductReport(ControlMessage, frozen=True, kw_only=True):
    """A report on the rules of conduct that clients broke."""

    judged: Annotated[int, doc("The number of requests that were judged.")]
    unseen: Annotated[
        int,
        doc("The number of requests that were dropped from the log before they could be judged."),
    ]
    findings: Annotated[
        list[ConductFinding],
        doc("The findings. Each finding is about one rule that a client broke."),
    ]
    counts: Annotated[
        dict[str, int],
        doc("The number of findings per rule, including findings that are not listed."),
    ]
    skipped_rules: Annotated[list[str], doc("The ids of the rules that the report omits.")]
    remarks: Annotated[list[str], doc("Notes that explain why some requests were not judged.")]
    errors: Annotated[
        list[str],
        doc(
            "Errors in the judges themselves. If there are any errors, a request without a "
            "finding may still have broken a rule."
        ),
    ]
    complete: Annotated[
        bool, doc("False if requests were dropped from the log before they could be judged.")
    ]


class ConductRuleRow(ControlMessage, frozen=True, kw_only=True):
    """A rule of client behavior."""

    id: Annotated[str, doc("The id of the rule.")]
    severity: Annotated[Severity, doc("The severity of the rule's findings.")]
    title: Annotated[str, doc("The mistake by which a client breaks the rule, in a few words.")]
    because: Annotated[
        str, doc("The sentence on which the rule is based, from the contract or an RFC.")
    ]
    place: Annotated[str, doc("The source of the sentence, such as a section of the contract.")]
    matters: Annotated[str, doc("The harm that breaking the rule can cause.")]
    instead: Annotated[str, doc("What the client should do instead.")]
    exceptions: Annotated[
        str,
        doc(
            "The cases in which breaking the rule causes no finding, or a finding of a different "
            "severity. Can be empty."
        ),
    ]


class ObservationState(ControlMessage, frozen=True, kw_only=True):
    """An observation that has been started."""

    id: Annotated[str, doc("The id of the observation.")]
    skip_rules: Annotated[
        list[str], doc("The ids of the rules that the reports of this observation omit.")
    ]


class RequestInProgress(ControlMessage, frozen=True, kw_only=True):
    """A request whose response has not been sent yet."""

    world: Annotated[str, doc("The name of the world.")]
    n: Annotated[int, doc("The number of the request in the log.")]
    method: Annotated[str, doc("The method of the request.")]
    path: Annotated[str, doc("The path of the request.")]


class ChapterReport(ControlMessage, frozen=True, kw_only=True):
    """The report on one chapter: a period during which a world's name referred to one and the same
    world.
    """

    index: Annotated[int, doc("The number of the chapter within the observation.")]
    world: Annotated[str, doc("The name of the world.")]
    began: Annotated[str, doc("The world time at which the chapter began.")]
    ended: Annotated[
        Literal["deleted", "reset", "loaded", "replaced"] | None,
        doc("What ended the chapter; null if it has not ended."),
    ]
    requests: Annotated[int, doc("The number of requests that arrived during the chapter.")]
    released: Annotated[
        bool, doc("Whether the world's state and its requests have been discarded.")
    ]
    conduct: Annotated[
        ConductReport,
        doc("The conduct report. Its request numbers refer to the log of this chapter."),
    ]


class ObservationReport(ControlMessage, frozen=True, kw_only=True):
    """The result of an observation: every chapter of every observed world."""

    id: Annotated[str, doc("The id of the observation.")]
    requests: Annotated[int, doc("The total number of requests in all chapters.")]
    in_progress: Annotated[
        list[RequestInProgress], doc("The requests whose response has not been sent yet.")
    ]
    chapters: Annotated[list[ChapterReport], doc("The chapters.")]
    errors: Annotated[
        list[str],
        doc(
            "Errors in the judges themselves. If there are any errors, the observation "
            "proves nothing."
        ),
    ]
    remarks: Annotated[list[str], doc("Notes about data that the observation has discarded.")]
    coverage: Annotated[
        ContractCoverage,
        doc(
            "The parts of the contract that clients exercised, during this observation or one "
            "that it replaced."
        ),
    ]
