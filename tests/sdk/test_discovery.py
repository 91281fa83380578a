"""Without an address, the SDK finds the emulator that uses the nearest data directory."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator.sdk.discovery import (
    EmulatorAddress,
    expected_url,
    find_emulator,
    look_around,
    running_text,
)
from hosting_emulator.sdk.errors import EmulatorNotFound
from tests.support.control_samples import INFO, world
from tests.support.data_directories import (
    locked,
    register_as_emulators_do,
    registered_emulator,
    running_in,
    write_address,
)
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, FakeResponse, refusal

TOKEN_HEADER = "X-Control-Token"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, in a shell that knows no emulator, with an empty registry."""
    for name in list(os.environ):
        if name.startswith("HOSTING_EMULATOR_"):
            monkeypatch.delenv(name)
    runtime_folder = tmp_path / "runtime"
    runtime_folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_folder))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def data_dir(project: Path) -> Path:
    return project / ".hosting-emulator"


def reports(control: FakeControl, data_dir: Path, **changes: Any) -> None:
    """Let the fake report its data directory, as the emulator of the folder would."""
    control.on("GET /info", {**INFO, "data_dir": str(data_dir), **changes})


def refusal_text() -> str:
    with pytest.raises(EmulatorNotFound) as raised:
        find_emulator()
    return str(raised.value)


# --- The nearest data directory --------------------------------------------------------------------


@pytest.mark.parametrize("below", ["", "src", "src/deep"])
def test_the_emulator_of_the_folder_or_of_a_parent_is_found(
    control: FakeControl, project: Path, data_dir: Path, below: str, monkeypatch: pytest.MonkeyPatch
):
    (project / below).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(project / below)
    reports(control, data_dir)

    with running_in(data_dir, control.url):
        assert find_emulator() == EmulatorAddress(control.url, is_trusted=False)
        assert expected_url() == control.url


def test_the_nearest_data_dir_is_used(
    control: FakeControl, project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    inner = project / "inner"
    write_address(inner / ".hosting-emulator", "http://127.0.0.1:1")
    monkeypatch.chdir(inner)
    reports(control, data_dir)

    with running_in(data_dir, control.url):
        assert f"the emulator of {inner}/.hosting-emulator is not running" in refusal_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hosting-emulator.yaml", "data-dir: kept/here"),
        ("pyproject.toml", '[tool.hosting-emulator]\ndata_dir = "kept/here"'),
    ],
)
def test_a_settings_file_names_the_data_dir(
    control: FakeControl, project: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch
):
    (project / name).write_text(text)
    (project / "src").mkdir()
    (project / ".hosting-emulator").mkdir()
    monkeypatch.chdir(project / "src")
    reports(control, project / "kept/here")

    with running_in(project / "kept/here", control.url):
        assert find_emulator().url == control.url


def test_a_variable_names_the_data_dir(
    control: FakeControl, project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    write_address(data_dir, "http://127.0.0.1:1")
    monkeypatch.setenv("HOSTING_EMULATOR_DATA_DIR", "other")
    reports(control, project / "other")

    with running_in(project / "other", control.url):
        assert find_emulator().url == control.url


def test_a_handle_connects_to_the_emulator_of_the_folder(control: FakeControl, data_dir: Path):
    reports(control, data_dir)
    control.on("GET /worlds/default", world())

    with running_in(data_dir, control.url), HostingEmulator.connect() as emulator:
        assert emulator.name == "default"


# --- Without a data directory ----------------------------------------------------------------------


def test_without_a_data_dir_the_default_address_is_used():
    default = EmulatorAddress("http://127.0.0.1:4620", is_default=True)

    assert find_emulator() == default
    assert expected_url() == default.url


def test_a_settings_file_in_a_parent_sets_the_default_port(
    project: Path, monkeypatch: pytest.MonkeyPatch
):
    (project / "hosting-emulator.yaml").write_text("port: 4711")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")

    assert find_emulator().url == "http://127.0.0.1:4711"
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "4712")
    assert find_emulator().url == "http://127.0.0.1:4712"


@pytest.mark.parametrize("by_variable", [True, False])
def test_an_emulator_in_memory_has_no_data_dir(
    project: Path, data_dir: Path, by_variable: bool, monkeypatch: pytest.MonkeyPatch
):
    write_address(data_dir, "http://127.0.0.1:1")
    if by_variable:
        monkeypatch.setenv("HOSTING_EMULATOR_EPHEMERAL", "1")
    else:
        (project / "hosting-emulator.yaml").write_text("ephemeral: true")

    assert find_emulator().is_default


def test_a_settings_file_that_cannot_be_read_is_an_error(project: Path):
    (project / "hosting-emulator.yaml").write_text("data-dir: [")

    assert "hosting-emulator.yaml:1:12: this is not YAML" in refusal_text()


def test_no_address_is_expected_if_the_settings_file_cannot_be_read(project: Path):
    (project / "hosting-emulator.yaml").write_text("data-dir: [")

    assert expected_url() is None


def test_the_address_in_the_ready_file_is_expected(project: Path, monkeypatch: pytest.MonkeyPatch):
    (project / "ready.json").write_text('{"local_url": "http://127.0.0.1:4999"}')
    monkeypatch.setenv("HOSTING_EMULATOR_READY_FILE", "ready.json")

    assert expected_url() == find_emulator().url == "http://127.0.0.1:4999"


def test_a_deleted_working_folder_counts_as_the_root(project: Path):
    project.rmdir()

    assert list(look_around().folders) == [Path("/")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_a_parent_folder_that_this_user_cannot_search_contains_no_emulator(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
):
    inner = project / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    project.chmod(0)
    os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            (project / ".hosting-emulator").is_dir()
        surroundings = look_around()
        monkeypatch.setenv("HOSTING_EMULATOR_DATA_DIR", str(project / "data"))
        chosen = look_around()
    finally:
        os.seteuid(0)
        project.chmod(0o755)

    assert surroundings.data_dir is None
    assert chosen.data_dir is None
    assert list(surroundings.folders) == [inner, *inner.parents]


def test_a_data_dir_whose_lock_cannot_be_read_is_an_error(data_dir: Path):
    data_dir.mkdir()
    (data_dir / "lock").symlink_to("elsewhere")

    assert refusal_text().startswith(
        f"commands cannot use the emulator of {data_dir}: it cannot be read "
        "(too many levels of symbolic links)"
    )


def test_a_data_dir_whose_lock_cannot_be_checked_is_an_error(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    write_address(data_dir, "http://127.0.0.1:1")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)

    assert f"the emulator of {data_dir}: it cannot be read (no locks available)" in refusal_text()


def test_an_emulator_at_an_ipv6_address_of_this_machine_may_be_used(data_dir: Path):
    with running_in(data_dir, "http://[::1]:1"):
        assert "nothing responds at http://[::1]:1 (" in refusal_text()


def test_a_folder_that_another_user_put_into_a_shared_parent_is_ignored(
    project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    data_dir.mkdir()
    (project / "hosting-emulator.yaml").write_text("port: 4711")
    project.chmod(0o1777)
    (project / "mine").mkdir()
    monkeypatch.chdir(project / "mine")
    monkeypatch.setattr(os, "geteuid", lambda: project.stat().st_uid + 1)

    assert find_emulator() == EmulatorAddress("http://127.0.0.1:4620", is_default=True)


# --- A data directory whose emulator cannot be used ------------------------------------------------


def test_a_record_in_an_unlocked_folder_is_stale_and_leads_to_no_request(
    control: FakeControl, data_dir: Path
):
    write_address(data_dir, control.url)

    assert refusal_text() == (
        f"the emulator of {data_dir} is not running; start it with `hosting-emulator start`, or choose "
        "another emulator with --url; no emulator of this user is running"
    )
    assert control.connections == 0


def test_the_error_in_a_subfolder_names_the_folder_in_which_to_start(
    project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    write_address(data_dir, "http://127.0.0.1:1")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")

    assert f"start it with `hosting-emulator start` in {project}," in refusal_text()


def test_another_emulator_at_the_address_is_not_used(control: FakeControl, data_dir: Path):
    reports(control, data_dir, instance="another")

    with running_in(data_dir, control.url):
        assert f"another emulator is running at {control.url}" in refusal_text()


@pytest.mark.parametrize("reported", [None, "/data", "elsewhere"])
def test_an_emulator_that_uses_another_folder_is_not_used(
    control: FakeControl, project: Path, data_dir: Path, reported: str | None
):
    """The folder may be a copy, or the emulator may run in a container."""
    (project / "elsewhere").mkdir()
    control.on("GET /info", {**INFO, "data_dir": reported})

    with running_in(data_dir, control.url):
        assert f"the emulator at {control.url} uses another data directory" in refusal_text()


@pytest.mark.parametrize(
    "response",
    [
        ANOTHER_SERVER,
        FakeResponse(["JSON"], deliberately_wrong=True),
        FakeResponse({"status": "missing"}, status=404, deliberately_wrong=True),
    ],
)
def test_another_program_at_the_address_is_not_used(
    control: FakeControl, data_dir: Path, response: FakeResponse
):
    control.on("GET /info", response)

    with running_in(data_dir, control.url):
        assert f"the program at {control.url} is not an emulator" in refusal_text()


def test_an_address_at_which_nothing_listens_is_not_used(data_dir: Path):
    with running_in(data_dir, "http://127.0.0.1:1"):
        assert "nothing responds at http://127.0.0.1:1 (connection refused)" in refusal_text()


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:4620",
        "http://localhost.evil.test:4620",
        "https://127.0.0.1:4620",
        "http://127.0.0.1:4620/path",
        "http://127.0.0.1:4620@evil.test:4620",
        "http://user@127.0.0.1:4620",
        "http://127.0.0.1",
        "file:///etc/passwd",
        "",
    ],
)
def test_an_address_outside_this_machine_is_not_used(data_dir: Path, url: str):
    with running_in(data_dir, url):
        assert f"its address {url} is not a loopback address" in refusal_text()


def make_link(path: Path) -> None:
    path.rename(path.with_name("target"))
    path.symlink_to("target")


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def color_address(path: Path) -> None:
    """Put a control sequence into the address, which an error would print in the terminal."""
    path.write_text(path.read_text().replace("http:", "\\u001b[31mhttp:"))


def write_number_as_folder(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"folder": 7}))


def write_text_as_process_id(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": "7"}))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (Path.unlink, "it has not published its address; it may still be starting"),
        (make_link, "cannot be read (too many levels of symbolic links)"),
        (make_pipe, "address.json is not a file"),
        (lambda path: path.write_text("{"), "does not contain an emulator's address"),
        (lambda path: path.write_text("[" * 30_000), "does not contain an emulator's address"),
        (lambda path: path.write_text('{"url": 1}'), "does not contain an emulator's address"),
        (write_number_as_folder, "does not contain an emulator's address"),
        (write_text_as_process_id, "does not contain an emulator's address"),
        (color_address, "does not contain an emulator's address"),
        (lambda path: path.write_bytes(b"\xff"), "does not contain an emulator's address"),
    ],
)
def test_a_damaged_record_is_not_used(
    control: FakeControl, data_dir: Path, damage: Callable[[Path], Any], reason: str
):
    with running_in(data_dir, control.url):
        damage(data_dir / "address.json")

        assert reason in refusal_text()
    assert control.connections == 0


def test_a_record_of_another_user_is_not_used(
    control: FakeControl, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "geteuid", lambda: data_dir.parent.stat().st_uid + 1)

    with running_in(data_dir, control.url):
        assert "address.json belongs to another user" in refusal_text()
    assert control.connections == 0


def test_a_registered_emulator_may_listen_on_another_address_of_this_machine(
    control: FakeControl, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    reports(control, data_dir)
    monkeypatch.setattr("hosting_emulator.sdk.discovery._is_on_this_machine", lambda url: False)

    with running_in(data_dir, control.url), registered_emulator(data_dir, control.url):
        assert find_emulator().url == control.url


# --- The control token ---------------------------------------------------------------------------


def sent_tokens(control: FakeControl) -> set[str | None]:
    return {request.headers.get(TOKEN_HEADER) for request in control.requests}


def test_the_control_token_is_not_sent_to_an_address_that_only_a_folder_names(
    control: FakeControl, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    reports(control, data_dir)
    control.on("GET /worlds/default", world())
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "secret")

    with running_in(data_dir, control.url), HostingEmulator.connect() as emulator:
        assert emulator.summary.name == "default"

    assert sent_tokens(control) == {None}


def test_the_control_token_is_sent_to_an_emulator_of_the_folder_that_is_registered(
    control: FakeControl, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    reports(control, data_dir)
    control.on("GET /worlds/default", world())
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "secret")

    with (
        registered_emulator(data_dir, control.url),
        running_in(data_dir, control.url),
        HostingEmulator.connect() as emulator,
    ):
        assert emulator.summary.name == "default"

    assert sent_tokens(control) == {"secret"}


def test_an_emulator_that_requires_a_control_token_is_not_used_without_a_registration(
    control: FakeControl, data_dir: Path
):
    control.on("GET /info", refusal(401, "Control token required"))

    with (
        running_in(data_dir, control.url),
        pytest.raises(EmulatorNotFound, match="requires the control token; pass its address"),
    ):
        find_emulator("secret")

    assert sent_tokens(control) == {None}


@pytest.mark.parametrize(("token", "which"), [(None, "the"), ("secret", "another")])
def test_the_error_of_an_emulator_that_requires_a_control_token_says_how_to_pass_it(
    control: FakeControl, data_dir: Path, token: str | None, which: str
):
    control.on("GET /info", refusal(401, "Control token required"))

    with (
        registered_emulator(data_dir, control.url),
        running_in(data_dir, control.url),
        pytest.raises(EmulatorNotFound, match=f"requires {which} control token; pass the token"),
    ):
        find_emulator(token)


def test_the_port_in_a_settings_file_is_trusted_if_the_emulator_is_registered(
    control: FakeControl, project: Path, data_dir: Path
):
    port = control.url.rpartition(":")[2]
    (project / "hosting-emulator.yaml").write_text(f"port: {port}")

    assert not find_emulator().is_trusted
    with registered_emulator(project / "above/state", control.url, is_stored=False):
        assert find_emulator().is_trusted


# --- The registry --------------------------------------------------------------------------------


def test_an_error_lists_the_running_emulators_of_this_user(tmp_path: Path, data_dir: Path):
    write_address(data_dir, "http://127.0.0.1:1")
    other = tmp_path / "other/.hosting-emulator"

    with registered_emulator(other, "http://127.0.0.1:4711"):
        assert refusal_text().endswith(f"running now: http://127.0.0.1:4711 ({other})")
    with registered_emulator(other, "http://127.0.0.1:4711", is_stored=False):
        assert running_text().endswith(f"(in memory, started in {tmp_path}/other)")


def test_a_record_that_a_killed_emulator_left_in_the_registry_is_not_listed(project: Path):
    with registered_emulator(project / "kept", "http://127.0.0.1:4711") as path:
        assert "4711" in running_text()

    assert path.exists()
    assert running_text() == "no emulator of this user is running"


def test_a_registration_removes_the_records_of_killed_emulators(project: Path):
    with registered_emulator(project, "http://127.0.0.1:4711", instance="a1") as stale:
        pass

    with registered_emulator(project, "http://127.0.0.1:4712", instance="a2") as running:
        with register_as_emulators_do(project, "http://127.0.0.1:4713"):
            assert "4713" in running_text()
            assert (stale.exists(), running.exists()) == (False, True)
        assert list(running.parent.iterdir()) == [running]


def test_a_search_does_not_create_the_registry():
    assert running_text() == "no emulator of this user is running"

    assert list(Path(os.environ["XDG_RUNTIME_DIR"]).iterdir()) == []


# --- An emulator that was started in the folder --------------------------------------------------


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("has_other_state", [True, False])
def test_an_emulator_that_was_started_in_the_folder_is_found(
    control: FakeControl,
    project: Path,
    data_dir: Path,
    is_stored: bool,
    has_other_state: bool,
    monkeypatch: pytest.MonkeyPatch,
):
    """It keeps its state in memory, or in a directory that the command line named."""
    if has_other_state:
        write_address(data_dir, "http://127.0.0.1:1")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    control.on("GET /info", {**INFO, "data_dir": None})

    with registered_emulator(project / "other", control.url, is_stored=is_stored):
        assert find_emulator() == EmulatorAddress(control.url)
        assert expected_url() == control.url


def test_the_emulator_that_uses_the_data_directory_comes_first(
    control: FakeControl, project: Path, data_dir: Path
):
    reports(control, data_dir)

    with (
        registered_emulator(project / "other", "http://127.0.0.1:1", is_stored=False),
        running_in(data_dir, control.url),
    ):
        assert find_emulator().url == control.url


def test_an_emulator_that_was_started_nearer_than_the_data_directory_comes_first(
    control: FakeControl, project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    """Otherwise `stop` would stop the emulator of the parent folder."""
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    control.on("GET /info", {**INFO, "data_dir": None})

    with (
        running_in(data_dir, "http://127.0.0.1:1"),
        registered_emulator(project / "src" / "other", control.url, is_stored=False),
    ):
        assert find_emulator() == EmulatorAddress(control.url)
        assert expected_url() == control.url


def test_of_several_nearer_emulators_none_is_guessed(
    control: FakeControl, project: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    reports(control, data_dir)

    with (
        running_in(data_dir, control.url),
        registered_emulator(project / "src" / "a", "http://127.0.0.1:4711"),
        registered_emulator(project / "src" / "b", "http://127.0.0.1:4712", instance="another"),
    ):
        assert find_emulator().url == control.url


def test_one_of_several_emulators_that_were_started_in_the_folder_is_not_guessed(project: Path):
    with (
        registered_emulator(project / "a", "http://127.0.0.1:4711"),
        registered_emulator(project / "b", "http://127.0.0.1:4712", instance="another"),
        pytest.raises(EmulatorNotFound) as raised,
    ):
        find_emulator()

    assert str(raised.value) == (
        f"several emulators were started in {project}; choose one of them with --url; running now: "
        f"http://127.0.0.1:4711 ({project}/a), http://127.0.0.1:4712 ({project}/b)"
    )


def test_an_emulator_that_was_started_above_the_project_is_not_of_the_folder(
    tmp_path: Path, data_dir: Path
):
    write_address(data_dir, "http://127.0.0.1:1")

    with registered_emulator(tmp_path / "other", "http://127.0.0.1:4711", is_stored=False):
        assert "is not running" in refusal_text()


def test_a_registered_record_in_a_copied_directory_is_not_used(
    control: FakeControl, project: Path, data_dir: Path
):
    reports(control, project / "original")

    with (
        registered_emulator(data_dir, control.url),
        running_in(data_dir, control.url),
        pytest.raises(EmulatorNotFound, match="uses another data directory"),
    ):
        find_emulator()


# --- The folder of the registry ------------------------------------------------------------------


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, used because there is no runtime folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    return folder


def test_without_a_runtime_folder_the_registry_is_a_private_temporary_folder(
    temporary_folder: Path, project: Path
):
    with registered_emulator(project / "kept", "http://127.0.0.1:4711") as path:
        assert "4711" in running_text()

    assert path.parent.parent == temporary_folder
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_emulator_of_a_session_without_a_runtime_folder_is_listed(
    temporary_folder: Path, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
):
    with registered_emulator(project / "kept", "http://127.0.0.1:4711"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))

        assert "4711" in running_text()


@pytest.mark.parametrize("kind", ["open", "link", "file"])
def test_a_registry_that_others_can_change_is_not_used(
    temporary_folder: Path, tmp_path: Path, kind: str
):
    registry = temporary_folder / f"hosting-emulator-{os.geteuid()}"
    if kind == "file":
        registry.touch()
    elif kind == "link":
        registry.symlink_to(tmp_path)
    else:
        registry.mkdir()
        registry.chmod(0o777)
        (registry / "x.json").write_text("{}")
        with locked(registry / "x.json"):
            assert running_text() == "no emulator of this user is running"

    assert running_text() == "no emulator of this user is running"


def test_a_system_without_any_folder_for_temporary_files_has_no_registry(
    monkeypatch: pytest.MonkeyPatch,
):
    def find_no_folder() -> str:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", find_no_folder)

    assert running_text() == "no emulator of this user is running"


def test_an_emulator_runs_unregistered_if_there_is_no_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"hosting-emulator-{os.geteuid()}").touch()  # no folder can be created here

    with register_as_emulators_do(tmp_path, "http://127.0.0.1:1"):
        assert running_text() == "no emulator of this user is running"
