"""The process in the background: what `start --detach` does if the process never gets ready."""

from pathlib import Path

import pytest

from hosting_emulator_cli import background
from tests.cli.conftest import Run


def test_a_process_that_ends_without_a_report_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(background, "_SERVE", ("-c", "raise SystemExit(7)"))

    result = run("start", "--detach", "--data-dir", str(tmp_path / "data"))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: the emulator's process ended with exit code 7\n"


def test_ctrl_c_before_the_emulator_is_ready_ends_its_process(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The process is in another session, so the terminal does not reach it."""
    ended = tmp_path / "ended"
    program = (
        "import pathlib, signal, sys\n"
        f"def end(*_):\n    pathlib.Path({str(ended)!r}).touch()\n    sys.exit()\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "print('interrupt', flush=True)\n"
        "signal.pause()\n"
    )
    monkeypatch.setattr(background, "_SERVE", ("-c", program))

    def interrupt(line: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hosting_emulator_cli.background._read_report", interrupt)

    result = run("start", "--detach")

    assert result.exit_code == 130
    assert ended.exists()
