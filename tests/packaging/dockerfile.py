"""A small reader of Dockerfiles, which fails on any instruction that it does not know."""

import json
import re
from pathlib import Path
from typing import NamedTuple

INSTRUCTIONS = {
    "FROM",
    "ENV",
    "WORKDIR",
    "COPY",
    "RUN",
    "LABEL",
    "USER",
    "VOLUME",
    "EXPOSE",
    "STOPSIGNAL",
    "HEALTHCHECK",
    "ENTRYPOINT",
    "CMD",
}


class Step(NamedTuple):
    """One instruction: its word and the rest of its (joined) line."""

    word: str
    rest: str

    def paths(self) -> tuple[list[str], str]:
        """Return the sources of a COPY that have no stage, and its target."""
        *sources, target = self.rest.split()
        return [source for source in sources if not source.startswith("--")], target

    def arguments(self) -> list[str]:
        """Return the words of the JSON array that the instruction ends in (its exec form)."""
        array: list[str] = json.loads(self.rest[self.rest.index("[") :])
        return array


def read_stages(path: Path) -> list[list[Step]]:
    """Return the steps of each stage in order; a stage begins with its FROM."""
    stages: list[list[Step]] = []
    for line in joined_lines(path.read_text(encoding="utf-8")):
        word, _, rest = line.partition(" ")
        assert word in INSTRUCTIONS, f"instruction {word} is unknown to this reader"
        if word == "FROM":
            stages.append([])
        stages[-1].append(Step(word, rest.strip()))
    return stages


def joined_lines(text: str) -> list[str]:
    """Return the instructions, with continued lines joined, without comments and blank lines."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [line.strip() for line in joined.splitlines() if line.strip()]


def steps_of(stage: list[Step], word: str) -> list[Step]:
    """Return the steps of a stage with this word."""
    return [step for step in stage if step.word == word]
