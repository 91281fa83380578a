"""The command line, run in this process with a fake control server."""

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from hosting_emulator_cli.main import cli
from tests.support.fake_bootstrap import FakeBootstrap, fake_bootstrap
from tests.support.fake_control import FakeControl

Run = Callable[..., Result]


@pytest.fixture
def control() -> Iterator[FakeControl]:
    with FakeControl() as fake:
        yield fake


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line without the address of an emulator and without the outer environment.

    The working folder is empty, because the repository may contain the state of an emulator.
    """
    for name in ("URL", "PORT", "READY_FILE", "WORLD", "CONTROL_TOKEN", "DATA_DIR", "EPHEMERAL"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)
    monkeypatch.chdir(tmp_path_factory.mktemp("working-folder"))

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="hosting-emulator")

    return run


@pytest.fixture
def ask(run: Run, control: FakeControl, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line that uses the fake control server."""
    monkeypatch.setenv("HOSTING_EMULATOR_URL", control.url)
    return run


@pytest.fixture
def bootstrap(monkeypatch: pytest.MonkeyPatch) -> FakeBootstrap:
    """Let `start` run a fake emulator."""
    return fake_bootstrap(monkeypatch)
