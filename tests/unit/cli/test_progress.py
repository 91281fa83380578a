"""Progress shows itself late, on a terminal only, and leaves nothing behind."""

import io
import sys
import threading

import pytest

from hosting_emulator_cli import progress


class Screen(io.StringIO):
    """A terminal in memory, which tells when something stands on it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        found = super().write(text)
        if "Importing" in self.getvalue():
            self.written.set()
        return found


def look_at(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put it in stderr's place. (A fixture cannot: pytest puts its own there before each test.)"""
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_short_work_shows_nothing(monkeypatch):
    screen = Screen()
    look_at(screen, monkeypatch)

    with progress.working("Importing"):
        pass

    assert screen.getvalue() == ""


@pytest.mark.parametrize("of", [None, 5])
def test_long_work_is_shown_until_it_is_done(monkeypatch, of):
    screen = Screen()
    look_at(screen, monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE_S", 0)

    with progress.working("Importing", done=2, of=of):
        assert screen.written.wait(10)

    assert screen.getvalue().endswith("\x1b[2K")  # its line is gone


def test_what_is_piped_is_spared(monkeypatch):
    stream = io.StringIO()
    look_at(stream, monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE_S", 0)

    with progress.working("Importing"):
        pass

    assert stream.getvalue() == ""
