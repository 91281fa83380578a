"""`start --watch` loads the scenario file again whenever it changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from tests.support.emulator_process import Process, emulator

#: The watcher starts a moment after the emulator is ready, so a change may have to be repeated.
_REPEAT_S = 0.5
_ATTEMPTS = 120


def scenario(seed: str) -> str:
    return f"name: watched\ndescription: A scenario that changes.\nseed: {seed}\n"


class WatchedFile:
    """A scenario file that a running emulator watches, and the emulator's log."""

    def __init__(self, path: Path, process: Process) -> None:
        self._path = path
        self._process = process
        self._lines: Queue[str] = Queue()
        Thread(target=self._read_lines, daemon=True).start()

    def _read_lines(self) -> None:
        assert self._process.popen.stderr is not None
        for line in self._process.popen.stderr:
            self._lines.put(line)

    def write(self, text: str, *expected: str) -> None:
        """Replace the file until the log has lines with all the expected words."""
        missing = list(expected)
        for attempt in range(_ATTEMPTS):
            self._path.write_text(f"{text}# attempt {attempt}\n")
            try:
                line = self._lines.get(timeout=_REPEAT_S)
                while True:
                    missing = [words for words in missing if words not in line]
                    line = self._lines.get(timeout=0 if missing == [] else _REPEAT_S)
            except Empty:
                if not missing:
                    return
        pytest.fail(f"the log never showed {missing}")

    def loaded_seed(self) -> str:
        """Return the seed of the scenario that is loaded."""
        return str(self._process.client().control("GET", "worlds/default")["seed"])


@pytest.fixture
def watched_file(tmp_path: Path) -> Iterator[WatchedFile]:
    path = tmp_path / "mine.yaml"
    path.write_text(scenario("first"))
    with emulator("--ephemeral", "--scenario", str(path), "--watch") as process:
        yield WatchedFile(path, process)


def test_a_changed_scenario_file_is_loaded_again(watched_file: WatchedFile) -> None:
    assert watched_file.loaded_seed() == "first"

    watched_file.write(scenario("second"), "mine.yaml changed: reloaded")

    assert watched_file.loaded_seed() == "second"


def test_a_mistake_in_the_changed_file_is_logged_and_leaves_the_world(
    watched_file: WatchedFile,
) -> None:
    watched_file.write("nmae: second\n", "nmae", "the world is unchanged")

    assert watched_file.loaded_seed() == "first"


def test_a_reload_warns_of_assumptions_that_contradict_the_contract(
    watched_file: WatchedFile,
) -> None:
    text = scenario("second") + "assumptions: {listed_statuses: open}\n"

    watched_file.write(text, "mine.yaml changed: reloaded", "contradicts the contract")

    assert watched_file.loaded_seed() == "second"
