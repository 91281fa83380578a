"""Judges a command for `exec`, based on an observation of all worlds in the emulator.

There is no verdict if a judge failed. With `--conduct error`, there is also no verdict if no
request was observed. A chapter covers a world from its start until it is reset, loaded, replaced or
deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator_cli.files import PRIVATE, write_whole
from hosting_emulator_cli.output import as_json

if TYPE_CHECKING:
    from hosting_emulator.sdk import (
        ChapterReport,
        ConductReport,
        ObservationReport,
        WorldsObservation,
    )

#: The exit code if there is no verdict.
UNDECIDED = 2
#: The maximum number of chapters to report on. Later chapters take precedence.
MOST_REPORTS = 5
#: The maximum number of chapters to save in addition to the main chapter. Later chapters take
#: precedence here, too.
MOST_KEPT = 20
#: The maximum number of unfinished requests that are listed in a message.
_MOST_NAMED = 5
#: The maximum number of requests to fetch for a report, in which identical requests are combined.
_REQUESTS = 1000
NO_REQUEST = (
    "No request reached the emulator. The command probably does not use the base URL in "
    "HOSTING_BASE_URL. If it reads another variable, use --export HOSTING_BASE_URL=NAME."
)


class RunVerdict:
    """The verdict on one run of a command."""

    def __init__(self, report: ObservationReport) -> None:
        self._report = report
        self._chapters: Sequence[ChapterReport] = report.chapters

    @property
    def errors(self) -> Sequence[str]:
        """Messages from judges that failed."""
        errors: Sequence[str] = self._report.errors
        return errors

    @property
    def has_requests(self) -> bool:
        """Whether a request reached the emulator."""
        return bool(self._report.requests)

    @property
    def has_findings(self) -> bool:
        """Whether a judge reported a finding of any severity."""
        return any(chapter.conduct.findings for chapter in self._chapters)

    @property
    def is_bad(self) -> bool:
        """Whether a judge reported a finding of severity warning or error."""
        from hosting_emulator.sdk.conduct_text import of_severity

        reports = (chapter.conduct for chapter in self._chapters)
        return any(of_severity(report, "warning").findings for report in reports)

    def conduct_text(self, *, color: bool = False) -> str:
        """Return the findings in each chapter as text, or a sentence if there are none."""
        from hosting_emulator.sdk.conduct_text import conduct_text

        guilty = [chapter for chapter in self._chapters if chapter.conduct.findings]
        if not guilty:
            return conduct_text(self._all_conduct(), color=color)
        only_default = len(guilty) == 1 and guilty[0].world == "default" and not guilty[0].ended
        texts = []
        for chapter in guilty:
            text = conduct_text(chapter.conduct, color=color)
            if not only_default:
                text = f"{world_label(chapter)}\n{text}"
            texts.append(text)
        return "\n\n".join(texts)

    def in_progress_text(self) -> str:
        """Return a sentence that lists the requests without a response when the command exited.

        The sentence is empty if every request had a response.
        """
        requests = self._report.in_progress
        if not requests:
            return ""
        texts = [
            f"{request.method} {request.path} (world {request.world}, #{request.n})"
            for request in requests[:_MOST_NAMED]
        ]
        if len(requests) > _MOST_NAMED:
            texts.append(f"and {len(requests) - _MOST_NAMED} more")
        return f"Requests without a response when the command ended: {', '.join(texts)}."

    def active_chapters(self) -> list[ChapterReport]:
        """Return the chapters that received requests and whose state is kept, oldest first."""
        return [chapter for chapter in self._chapters if chapter.requests and not chapter.released]

    def main_chapter(self) -> ChapterReport:
        """Return the default world's current chapter, or the latest active chapter.

        A chapter is active if it received requests and its state is kept. The default world's
        current chapter takes precedence if it received requests, or if no chapter is active.
        """
        default = next(
            chapter
            for chapter in self._chapters
            if chapter.world == "default" and not chapter.ended
        )
        active = self.active_chapters()
        if default.requests or not active:
            return default
        return active[-1]

    def _all_conduct(self) -> ConductReport:
        """Combine the conduct reports on all chapters, which have no findings, into one report."""
        from msgspec.structs import replace

        reports: list[ConductReport] = [chapter.conduct for chapter in self._chapters]
        remarks = dict.fromkeys(remark for report in reports for remark in report.remarks)
        return replace(
            reports[-1],
            judged=sum(report.judged for report in reports),
            unseen=sum(report.unseen for report in reports),
            remarks=[*remarks, *self._report.remarks],
        )


def world_label(chapter: ChapterReport) -> str:
    """Return a chapter's label: the name of its world and, if the chapter has ended, the reason."""
    label = f"world {chapter.world}"
    if chapter.ended:
        label += f" ({chapter.ended})"
    return label


def report_texts(
    verdict: RunVerdict, observation: WorldsObservation, *, color: bool
) -> Iterator[str]:
    """Yield a report for each active chapter, or for the main chapter if none is active.

    Only the MOST_REPORTS chapters that began last are reported.
    """
    from hosting_emulator.sdk.report_text import report_text, without_commands

    chapters = verdict.active_chapters() or [verdict.main_chapter()]
    if len(chapters) > MOST_REPORTS:
        count = len(chapters)
        yield (
            f"{count} worlds received requests. The reports on the {MOST_REPORTS} most recently "
            "created ones follow."
        )
    for chapter in chapters[-MOST_REPORTS:]:
        # The emulator stops together with the command, so commands that need the emulator would not
        # work.
        report = without_commands(observation.world_report(chapter.index, requests=_REQUESTS))
        text = report_text(report, color=color)
        if chapter.ended:
            text = f"{world_label(chapter)}\n{text}"
        yield text


def keep_worlds(
    verdict: RunVerdict, observation: WorldsObservation, path: Path
) -> tuple[Path, list[Path]]:
    """Write the main chapter's world to `path`, and the worlds of other active chapters beside it.

    In addition to the main chapter, only the MOST_KEPT chapters that began last are saved. Returns
    the path of the main world and the paths of the other worlds. Raises Failure if a file cannot be
    written.
    """
    main_chapter = verdict.main_chapter()
    others = [chapter for chapter in verdict.active_chapters() if chapter is not main_chapter]
    _write_world(observation, main_chapter, path)
    paths = []
    for chapter in others[-MOST_KEPT:]:
        world = chapter.world
        if chapter.ended:
            world += f"-{chapter.ended}"
        other = path.with_name(f"{path.stem}.{world}-{chapter.index}{path.suffix}")
        _write_world(observation, chapter, other)
        paths.append(other)
    return path, paths


def _write_world(observation: WorldsObservation, chapter: ChapterReport, path: Path) -> None:
    text = f"{as_json(observation.state(chapter.index))}\n"
    write_whole(path, text, mode=PRIVATE)
