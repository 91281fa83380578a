"""A store of another format is refused with advice that works and names the build that wrote it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hosting_emulator import __version__
from hosting_emulator.sdk import ControlClient, ControlRefused
from tests.support.builds import build_id, pretend_to_be_another_build
from tests.support.emulator_process import emulator, failed_start


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory whose world another build wrote in another format."""
    folder = tmp_path / "data"
    with emulator("--data-dir", str(folder)) as process:
        process.stop()
    for path in (folder / "worlds" / "default").iterdir():
        if path.suffix in (".json", ".ndjson"):
            text = path.read_text()
            path.write_text(re.sub(r'"format": ?[0-9]+', '"format":97', text))
    return folder


@pytest.mark.parametrize("options", [(), ("--salvage",)])
def test_the_refusal_of_another_format_names_the_build_that_reads_it_and_suggests_no_salvage(
    data: Path, options: tuple[str, ...]
) -> None:
    refusal = failed_start("--data-dir", str(data), "--port", "0", *options)

    assert refusal.returncode != 0
    assert "97" in refusal.stderr
    assert f"use hosting-emulator {__version__}+{build_id()}" in refusal.stderr
    assert "--salvage" not in refusal.stderr
    assert "or newer" not in refusal.stderr


def test_the_advised_start_in_another_directory_works(data: Path, tmp_path: Path) -> None:
    refusal = failed_start("--data-dir", str(data), "--port", "0").stderr
    assert "another --data-dir" in refusal
    assert "move the folder away" in refusal

    with emulator("--data-dir", str(tmp_path / "other")) as process:
        process.stop()
    data.rename(tmp_path / "away")
    with emulator("--data-dir", str(data)) as process:
        process.stop()


def test_the_option_version_names_the_build() -> None:
    command = [sys.executable, "-m", "hosting_emulator_cli", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed == f"hosting-emulator {__version__} (build {build_id()})\n"


def test_a_running_emulator_names_its_build_and_a_client_compares_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        emulator("--ephemeral") as process,
        ControlClient(process.ready["control_url"]) as control,
    ):
        info = control.info()
        assert (info.version, info.build) == (__version__, build_id())
        with pytest.raises(ControlRefused) as refused:
            control.world("nowhere").reset()
        assert "this client" not in str(refused.value)

        pretend_to_be_another_build(monkeypatch)
        with pytest.raises(ControlRefused) as refused:
            control.world("nowhere").reset()
        assert "this client" in str(refused.value)
