"""Golden files with whole reports: what `judge` and `explore` write about samples, in each form.

The files are in the folder `reports`. A file has one section for each form, and the first line of a
section is its name. More files contain the texts of all causes, the causes that explain others, all
plans for one clean run, and the meanings of all verdicts.
`make record` renews the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.causes import Symptom, gather_causes
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.exploration_document import exploration_document
from hosting_emulator_lab.judge.exploration_junit import junit_text
from hosting_emulator_lab.judge.exploration_matrix import CELL_MEANINGS
from hosting_emulator_lab.judge.exploration_page import exploration_page
from hosting_emulator_lab.judge.exploration_text import plan_text, report_text
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.judgment_document import judgment_document
from hosting_emulator_lab.judge.judgment_junit import judgment_junit
from hosting_emulator_lab.judge.judgment_page import judgment_page
from hosting_emulator_lab.judge.judgment_text import judgment_text
from hosting_emulator_lab.judge.run_results import FINE_VERDICTS
from hosting_emulator_lab.judge.variation_causes import VARIATION_CAUSES, points_of_same_causes
from tests.lab.judge.report_samples import EXPLORATIONS, JUDGMENTS, repeat_trial
from tests.lab.judge.sample_run import plan_sections
from tests.support.conduct_rules import conduct_rule_ids
from tests.support.recorded_texts import HEADER

#: The names and the texts of the sections of a file.
Sections: TypeAlias = Iterator[tuple[str, str]]

FOLDER = Path(__file__).with_name("reports")
_COLOR_NAMES = {
    "1": "bold",
    "2": "dim",
    "31": "red",
    "32": "green",
    "33": "yellow",
    "35": "magenta",
}
_BLOCKS = (
    r"(?<!\n)(?=<(?:article|blockquote|dl|details|div|h[1-4]|li|p|pre|section|table|td|th|tr|ul)\b)"
)


def _with_color_names(text: str) -> str:
    """Replace the codes of terminal colors by names in angle brackets."""
    text = text.replace("\x1b[0m", "<>")
    return re.sub(r"\x1b\[(\d+)m", lambda code: f"<{_COLOR_NAMES[code[1]]}>", text)


def _document(document: JsonObject) -> str:
    """Return a JSON document. Its coverage is left out, because tests of the SDK look at that."""
    shown = {**document, "coverage": "…"} if "missing" in document["coverage"] else document
    return json.dumps(shown, indent=2, ensure_ascii=False)


def _page_lines(page: str) -> str:
    """Begin a line with each block of an HTML page, and leave out its style sheet."""
    page = re.sub(r"<style>.*</style>", "<style>…</style>", page, flags=re.DOTALL)
    return re.sub(_BLOCKS, "\n", page)


def judgment_sections(judgment: Judgment) -> Sections:
    """Yield each form of the report of a judgment."""
    yield "text", _with_color_names(judgment_text(judgment, repeat_trial, color=True))
    yield "JSON", _document(judgment_document(judgment, repeat_trial))
    yield "JUnit", judgment_junit(judgment, repeat_trial)
    yield "page", _page_lines(judgment_page(judgment, repeat_trial))


def exploration_sections(exploration: Exploration) -> Sections:
    """Yield each form of the report of an exploration."""
    yield "announcement", plan_text(exploration.plan, jobs=4)
    yield "text", _with_color_names(report_text(exploration, color=True))
    yield "JSON", _document(exploration_document(exploration))
    yield "JUnit", junit_text(exploration)
    yield "page", _page_lines(exploration_page(exploration))


def cause_sections() -> Sections:
    """Yield everything that reports say about each cause, except for the rules of conduct."""
    points = {
        cause.text: points_of_same_causes(cause.points[:1]) for cause in VARIATION_CAUSES.values()
    }
    for text in (*CAUSE_TEXTS.values(), *points):
        lines = [
            f"{text.severity}: {text.title}",
            f"why: {text.matters}",
            f"quote: {text.because}",
            f"from: {text.place}",
            f"instead: {text.instead}",
        ]
        if text in points:
            lines.append(f"shown by: {', '.join(points[text])}")
        yield text.id, "\n".join(lines)


def explanation_sections() -> Sections:
    """Yield how two causes are reported if both are found, where that is less than both of them."""
    texts = [*CAUSE_TEXTS.values(), *(cause.text for cause in VARIATION_CAUSES.values())]
    texts += [replace(texts[0], id=rule_id) for rule_id in conduct_rule_ids()]
    explanations: dict[str, list[str]] = {}
    for first, second in combinations(texts, 2):
        symptoms = [(first, Symptom("clean", "seen")), (second, Symptom("vary/1", "seen"))]
        causes = gather_causes(symptoms, {})
        if len(causes) > 1:
            continue
        [cause] = causes
        others = sorted({first.id, second.id} - {cause.id})
        explanations.setdefault(cause.id, []).append(" and ".join(others))
    for better, explained in sorted(explanations.items()):
        yield f"{better} is reported in place of", "\n".join(sorted(explained))


def verdict_sections() -> Sections:
    """Yield the mark, the color and the meaning of each verdict, and of points without a result."""
    for verdict, meaning in CELL_MEANINGS.items():
        is_fine = " (no mistake)" if verdict in FINE_VERDICTS else ""
        text = f"{meaning.text}{is_fine}\nin the matrix: {meaning.mark} {meaning.color}"
        yield verdict, text.rstrip()


OTHER_FILES: dict[str, Callable[[], Sections]] = {
    "causes.txt": cause_sections,
    "explained_causes.txt": explanation_sections,
    "sample_run.txt": plan_sections,
    "verdicts.txt": verdict_sections,
}
FILES = (*JUDGMENTS, *EXPLORATIONS, *OTHER_FILES)


def file_sections(file: str) -> dict[str, str]:
    """Return the current sections of a file by name."""
    if file in JUDGMENTS:
        sections = judgment_sections(JUDGMENTS[file]())
    elif file in EXPLORATIONS:
        sections = exploration_sections(EXPLORATIONS[file]())
    else:
        sections = OTHER_FILES[file]()
    return {name: text.strip("\n") for name, text in sections}


def recorded_sections(file: str) -> dict[str, str]:
    """Return the recorded sections of a file by name."""
    text = (FOLDER / file).read_text("utf-8")
    parts = (part.partition("\n") for part in text.split("\n# ")[1:])
    return {name: content.strip("\n") for name, _, content in parts}


def write_files() -> None:
    """Write all golden files anew."""
    for file in FILES:
        parts = [f"\n# {name}\n{text}\n" for name, text in file_sections(file).items()]
        (FOLDER / file).write_text(HEADER + "".join(parts), "utf-8")


if __name__ == "__main__":
    write_files()
