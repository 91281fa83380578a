"""`doctor` on a data directory and its certificates: broken for real, found, and left as they are."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.bootstrap.inspection import Inspected, inspect
from hosting_emulator.settings import Settings
from hosting_emulator_cli import doctor_checks
from hosting_emulator_cli.doctor_checks import CheckFinding
from tests.unit.cli.doctoring import findings_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A data directory with one world and an authority, as an emulator left it."""
    path = tmp_path / "state"

    async def leave() -> None:
        emulator = Emulator(Settings(port=0, tls_port=0, data_dir=path))
        await emulator.start()
        await emulator.stop()

    asyncio.run(leave())
    return path


def held(path: Path) -> CheckFinding:
    (found,) = doctor_checks.check_worlds(path, inspect(path), answers=False)
    return found


# --- The data directory --------------------------------------------------------------------------


def test_what_is_sound_is_left_as_it_was(kept: Path):
    def picture() -> dict[Path, tuple[int, int, bytes]]:
        files = [path for path in kept.rglob("*") if path.is_file()]
        return {p: (p.stat().st_mtime_ns, p.stat().st_mode, p.read_bytes()) for p in files}

    before = picture()

    found = held(kept)

    assert found.verdict == "ok"
    assert f"{kept} is sound and not in use: 1 world." in found.seen
    assert picture() == before


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
def test_a_flipped_byte_is_found(kept: Path, name: str):
    path = kept / "worlds" / "default" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))

    found = held(kept)

    assert found.verdict == "problem"
    assert str(path) in found.seen
    assert "from a copy" in str(found.advice)


def test_a_torn_last_line_is_a_note(kept: Path):
    with (kept / "worlds" / "default" / "journal.ndjson").open("ab") as journal:
        journal.write(b"deadbeef {")

    assert held(kept).verdict == "note"


def test_a_directory_in_use_is_not_read(tmp_path: Path, run):
    path = tmp_path / "state"

    async def look() -> None:
        emulator = Emulator(Settings(port=0, data_dir=path))
        await emulator.start()
        try:
            (path / "worlds" / "default" / "snapshot.json").write_text("in the making")
            unreached = held(path)
            url = emulator.ready().base_url
            result = await asyncio.to_thread(run, "doctor", "--json", "--url", url)
        finally:
            await emulator.stop()
        assert unreached.verdict == "note"
        assert "is in use by a process, an emulator that was not reached" in unreached.seen
        assert "lsof" in str(unreached.advice)
        # The running emulator's directory is the one that is looked at.
        (reached,) = findings_of(result, "data")
        assert reached["verdict"] == "ok"
        assert reached["seen"].startswith(f"{path} is in use by the emulator that runs")

    asyncio.run(look())


def test_a_directory_that_is_a_file(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()

    (found,) = doctor_checks.check_data(path, answers=False)

    assert (found.verdict, found.seen) == ("problem", f"{path} is a file.")


def test_a_directory_nobody_may_make_names_the_folder_above(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)

    (found,) = doctor_checks.check_data(tmp_path / "a" / "b", answers=False)

    assert found.seen == f"{tmp_path} cannot be written by this user."


def test_secrets_that_others_can_read(kept: Path):
    snapshot = kept / "worlds" / "default" / "snapshot.json"
    snapshot.chmod(0o644)
    assert inspect(kept).exposed == []  # its folders let nobody in

    for folder in (kept, kept / "worlds", kept / "worlds" / "default"):
        folder.chmod(0o755)

    found = doctor_checks.check_secrets(kept, inspect(kept))
    assert found.verdict == "problem"
    assert found.seen == f"Others on this machine may read {snapshot}."
    assert str(found.advice).startswith(f"`chmod -R go= {kept}`")


def test_a_directory_that_others_can_write(tmp_path: Path):
    tmp_path.chmod(0o777)

    found = doctor_checks.check_secrets(tmp_path, Inspected())

    assert (found.verdict, found.advice) == ("problem", f"`chmod go-w {tmp_path}`")


# --- Certificates --------------------------------------------------------------------------------


def test_an_authority_that_is_kept_is_fine(kept: Path):
    found = doctor_checks.check_authority(kept / "tls", datetime.now(UTC))

    assert found.verdict == "ok"


@pytest.mark.parametrize(
    ("days", "verdict", "seen"),
    [
        (3640, "note", "runs out on"),
        (4000, "problem", "ran out on"),
        (-10, "problem", "yet to come"),
    ],
)
def test_an_authority_has_its_time(kept: Path, days: int, verdict: str, seen: str):
    now = datetime.now(UTC) + timedelta(days=days)

    found = doctor_checks.check_authority(kept / "tls", now)

    assert found.verdict == verdict
    assert seen in found.seen


def test_a_key_that_others_can_read(kept: Path):
    for path in (kept, kept / "tls"):
        path.chmod(0o755)
    (kept / "tls" / "ca.key").chmod(0o644)

    found = doctor_checks.check_authority(kept / "tls", NOW)

    assert "may read" in found.seen
    assert f"`chmod 600 {kept / 'tls' / 'ca.key'}`" in str(found.advice)


def break_by_damage(folder: Path) -> None:
    (folder / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nnonsense\n")


def break_by_loss(folder: Path) -> None:
    (folder / "ca.key").unlink()


def break_by_swap(folder: Path) -> None:
    import trustme

    (folder / "ca.key").write_bytes(trustme.CA().private_key_pem.bytes())


@pytest.mark.parametrize(
    ("broken", "seen"),
    [
        (break_by_damage, "is damaged"),
        (break_by_loss, "is missing"),
        (break_by_swap, "is not the key of"),
    ],
)
def test_an_authority_that_is_no_use(kept: Path, broken: Callable[[Path], None], seen: str):
    broken(kept / "tls")

    found = doctor_checks.check_authority(kept / "tls", NOW)

    assert found.verdict == "problem"
    assert seen in found.seen


def test_what_a_running_emulator_presents_is_verified(tmp_path: Path, run, kept: Path):
    async def look() -> tuple[dict, CheckFinding]:
        emulator = Emulator(Settings(port=0, tls_port=0, data_dir=tmp_path / "own"))
        await emulator.start()
        try:
            ready = emulator.ready()
            result = await asyncio.to_thread(run, "doctor", "--json", "--url", ready.base_url)
            port = int(str(ready.tls_url).rpartition(":")[2])
            other = kept / "tls" / "ca.pem"
            refused = await asyncio.to_thread(doctor_checks.check_served, other, port)
        finally:
            await emulator.stop()
        return findings_of(result, "certificates")[1], refused

    served, refused = asyncio.run(look())

    assert served["verdict"] == "ok"
    assert served["seen"].endswith("presents good ones for localhost and x.dev.localhost.")
    assert refused.verdict == "problem"
    assert "does not verify with" in refused.seen
