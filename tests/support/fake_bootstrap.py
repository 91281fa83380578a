"""A fake of the emulator that `start` runs, which opens no port."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hosting_emulator import bootstrap
from hosting_emulator.settings import Ready, Settings

READY = Ready(
    base_url="http://127.0.0.1:4620",
    dev_base_url="http://localhost:4620",
    control_url="http://127.0.0.1:4620/_emulator",
    docs_url="http://127.0.0.1:4620/_emulator/docs",
    openapi_url="http://127.0.0.1:4620/_emulator/contract/openapi.json",
    tls_url=None,
    ca_file=None,
    user="owner",
    token="eyJ.eyJ.sig",
    organization_id="01ORGFREE",
    project_id="01PROJ1",
    data_dir="/data",
    world="default",
    pid=4242,
    control_token=None,
    fresh=True,
    local_url="http://127.0.0.1:4620",
)


class FakeBootstrap:
    """A fake emulator that records its settings, is ready immediately, calls `while_running` and ends."""

    def __init__(self) -> None:
        self.settings: list[Settings] = []
        self.ready = READY
        self.error: Exception | None = None
        self.while_running: Callable[[], object] = lambda: None

    def run(
        self, settings: Settings, announce: Callable[[Ready], None], *, is_published: bool
    ) -> None:
        assert is_published
        self.settings.append(settings)
        if self.error:
            raise self.error
        announce(self.ready)
        self.while_running()


def fake_bootstrap(monkeypatch: pytest.MonkeyPatch) -> FakeBootstrap:
    """Let `start` run a fake emulator, and return the fake."""
    fake = FakeBootstrap()
    monkeypatch.setattr(bootstrap, "run", fake.run)
    return fake
