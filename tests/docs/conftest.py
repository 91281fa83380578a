"""What the tests of pages share: the environment of somebody who reads one."""

import pytest


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this run has set is not what a reader has."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)
    # Nor does a reader have all the plugins that this repository's tests need; they take long to load.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_hosting_emulator.plugin,xdist.plugin")
