"""The process in the background: what `start --detach` does if the process never gets ready."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from hosting_emulator_cli import background
from hosting_emulator_cli.main import Failure
from tests.cli.conftest import Run
from tests.support.fake_bootstrap import READY


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


def test_a_background_process_without_a_private_folder_writes_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"hosting-emulator-{os.geteuid()}").touch()  # no folder can be created here

    assert background.log_file(replace(READY, data_dir=None)) == Path(os.devnull)
    assert background.log_file(READY) == Path("/data/emulator.log")


def test_a_log_that_cannot_be_written_is_an_error(tmp_path: Path):
    path = tmp_path / "missing" / "emulator.log"

    with pytest.raises(Failure) as caught:
        background._open_log(path)

    assert caught.value.message == f"cannot write {path}: No such file or directory"
