"""Rules of client behavior: what was found, and what observations of worlds saw."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.declaration import ControlMessage, Severity, doc


class ConductFinding(ControlMessage, frozen=True, kw_only=True):
    """A rule that the client broke; in Python, `str()` is what the client did."""

    rule: Annotated[str, doc("The id of the rule.")]
    severity: Annotated[Severity, doc("How severe it is.")]
    title: Annotated[str, doc("What the client did, in a few words.")]
    message: Annotated[str, doc("What the client did, in one sentence.")]
    requests: Annotated[list[int], doc("The numbers of the requests, oldest first.")]
    more_requests: Annotated[int, doc("How many more requests there were.")]
    at: Annotated[str, doc("When the client broke the rule, in world time.")]
    because: Annotated[str, doc("The sentence of the contract that the rule is from.")]
    place: Annotated[str, doc("Where the sentence is.")]
    matters: Annotated[str, doc("What goes wrong otherwise.")]
    instead: Annotated[str, doc("What to do instead.")]
    chapter: Annotated[
        str | None,
        doc(
            "Present if the log was cleared since: when that happened. The numbers are those of "
            "the former log."
        ),
    ] = None

    def __str__(self) -> str:
        return self.message


class ConductReport(ControlMessage, frozen=True, kw_only=True):
    """The conduct rules that the client broke."""

    judged: Annotated[int, doc("How many requests were judged.")]
    unseen: Annotated[int, doc("How many requests left the log before the first check.")]
    findings: Annotated[list[ConductFinding], doc("The rules that were broken.")]
    counts: Annotated[dict[str, int], doc("The number of findings by rule, listed or not.")]
    skipped_rules: Annotated[list[str], doc("The rules that were left out.")]
    remarks: Annotated[list[str], doc("Which requests were not judged, and why.")]
    errors: Annotated[
        list[str],
        doc(
            "Errors of the judges. A report that has any proves nothing about the requests that it "
            "does not accuse."
        ),
    ]
    complete: Annotated[bool, doc("Whether every request was judged.")]


class ConductRuleRow(ControlMessage, frozen=True, kw_only=True):
    """A rule of client behavior."""

    id: Annotated[str, doc("The id of the rule.")]
    severity: Annotated[Severity, doc("How severe a finding is.")]
    title: Annotated[str, doc("What the client did, in a few words.")]
    because: Annotated[str, doc("The sentence of the contract that the rule is from.")]
    place: Annotated[str, doc("Where the sentence is.")]
    matters: Annotated[str, doc("What goes wrong otherwise.")]
    instead: Annotated[str, doc("What to do instead.")]


class ObservationState(ControlMessage, frozen=True, kw_only=True):
    """An observation that began."""

    id: Annotated[str, doc("The id of the observation.")]
    skip_rules: Annotated[list[str], doc("The rules that it does not judge.")]


class RequestInProgress(ControlMessage, frozen=True, kw_only=True):
    """A request whose response has not left."""

    world: Annotated[str, doc("The name of the world.")]
    n: Annotated[int, doc("The number of the request in the log.")]
    method: Annotated[str, doc("The method of the request.")]
    path: Annotated[str, doc("The path of the request.")]


class ChapterReport(ControlMessage, frozen=True, kw_only=True):
    """One life of one world name."""

    index: Annotated[int, doc("The number of the chapter in the observation.")]
    world: Annotated[str, doc("The name of the world.")]
    began: Annotated[str, doc("When the chapter began, in world time.")]
    ended: Annotated[
        Literal["deleted", "reset", "loaded", "replaced"] | None,
        doc("What ended the chapter; null while it continues."),
    ]
    requests: Annotated[int, doc("How many requests arrived.")]
    released: Annotated[bool, doc("Whether the state and the requests are no longer kept.")]
    conduct: Annotated[
        ConductReport,
        doc("The verdict about this chapter. Its request numbers are those of the chapter."),
    ]


class ObservationReport(ControlMessage, frozen=True, kw_only=True):
    """What an observation saw: every chapter of every observed world."""

    id: Annotated[str, doc("The id of the observation.")]
    requests: Annotated[int, doc("How many requests arrived in all chapters.")]
    in_progress: Annotated[
        list[RequestInProgress], doc("The requests whose response has not left.")
    ]
    chapters: Annotated[list[ChapterReport], doc("The chapters.")]
    errors: Annotated[
        list[str], doc("Errors of the judges. With any of them the observation proves nothing.")
    ]
    remarks: Annotated[list[str], doc("What the observation no longer has.")]
