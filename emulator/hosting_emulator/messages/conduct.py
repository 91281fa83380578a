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
        int, doc("The number of further requests, which the finding does not list.")
    ]
    at: Annotated[str, doc("When the client broke the rule, in world time.")]
    because: Annotated[
        str, doc("The sentence on which the rule is based, from the contract or an RFC.")
    ]
    place: Annotated[str, doc("The source of the sentence, such as a part of the contract.")]
    matters: Annotated[str, doc("The harm that breaking the rule can do.")]
    instead: Annotated[str, doc("What the client should do instead.")]
    chapter: Annotated[
        str | None,
        doc(
            "The cleared log to which the request numbers refer, such as `before the world was "
            "reset`; absent if the numbers refer to the current log."
        ),
    ] = None

    def __str__(self) -> str:
        return self.message


class ConductReport(ControlMessage, frozen=True, kw_only=True):
    """A report on the conduct rules that the client broke."""

    judged: Annotated[int, doc("The number of judged requests.")]
    unseen: Annotated[int, doc("The number of requests that left the log before the first check.")]
    findings: Annotated[
        list[ConductFinding], doc("The findings, each about a rule that the client broke.")
    ]
    counts: Annotated[
        dict[str, int],
        doc("The number of findings for each rule, including findings that are not listed."),
    ]
    skipped_rules: Annotated[list[str], doc("The ids of the rules that the report omits.")]
    remarks: Annotated[
        list[str], doc("Notes about requests that were not judged, with the reason.")
    ]
    errors: Annotated[
        list[str],
        doc(
            "The judges' own errors. A report with errors proves nothing about the requests "
            "without a finding."
        ),
    ]
    complete: Annotated[bool, doc("Whether every request was judged.")]


class ConductRuleRow(ControlMessage, frozen=True, kw_only=True):
    """A rule of client behavior."""

    id: Annotated[str, doc("The id of the rule.")]
    severity: Annotated[Severity, doc("The severity of the rule's findings.")]
    title: Annotated[str, doc("The mistake that breaks the rule, in a few words.")]
    because: Annotated[
        str, doc("The sentence on which the rule is based, from the contract or an RFC.")
    ]
    place: Annotated[str, doc("The source of the sentence, such as a part of the contract.")]
    matters: Annotated[str, doc("The harm that breaking the rule can do.")]
    instead: Annotated[str, doc("What the client should do instead.")]
    exceptions: Annotated[
        str,
        doc(
            "When such requests cause no finding, or a finding with a different severity. Can be empty."
        ),
    ]


class ObservationState(ControlMessage, frozen=True, kw_only=True):
    """An observation that has started."""

    id: Annotated[str, doc("The id of the observation.")]
    skip_rules: Annotated[
        list[str], doc("The ids of the rules that the observation's reports omit.")
    ]


class RequestInProgress(ControlMessage, frozen=True, kw_only=True):
    """A request whose response has not been sent yet."""

    world: Annotated[str, doc("The name of the world.")]
    n: Annotated[int, doc("The number of the request in the log.")]
    method: Annotated[str, doc("The method of the request.")]
    path: Annotated[str, doc("The path of the request.")]


class ChapterReport(ControlMessage, frozen=True, kw_only=True):
    """The report on one chapter: a period in which a world's name referred to the same world."""

    index: Annotated[int, doc("The number of the chapter in the observation.")]
    world: Annotated[str, doc("The name of the world.")]
    began: Annotated[str, doc("When the chapter began, in world time.")]
    ended: Annotated[
        Literal["deleted", "reset", "loaded", "replaced"] | None,
        doc("What ended the chapter; null while the chapter continues."),
    ]
    requests: Annotated[int, doc("The number of requests that arrived during the chapter.")]
    released: Annotated[bool, doc("Whether the world's state and its requests were discarded.")]
    conduct: Annotated[
        ConductReport,
        doc("The conduct report, whose request numbers refer to the chapter's own log."),
    ]


class ObservationReport(ControlMessage, frozen=True, kw_only=True):
    """The result of an observation: every chapter of every observed world."""

    id: Annotated[str, doc("The id of the observation.")]
    requests: Annotated[int, doc("The number of requests that arrived in all chapters.")]
    in_progress: Annotated[
        list[RequestInProgress], doc("The requests whose response has not been sent yet.")
    ]
    chapters: Annotated[list[ChapterReport], doc("The chapters.")]
    errors: Annotated[
        list[str], doc("The judges' own errors. An observation with errors proves nothing.")
    ]
    remarks: Annotated[list[str], doc("Notes about data that the observation has discarded.")]
    coverage: Annotated[
        ContractCoverage,
        doc(
            "The parts of the contract that the clients exercised, also in the observations that "
            "this observation replaced."
        ),
    ]
