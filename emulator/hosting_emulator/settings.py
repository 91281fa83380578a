"""Settings: everything a person can choose when starting the emulator, and what they are told then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hosting_emulator import DEFAULT_PORT, DEFAULT_SEED


class StartError(Exception):
    """The emulator cannot start; the message is one clear line for the person who tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to start. `data_dir` None keeps nothing; `port` 0 takes a free one.

    `clock` is `real` (also when None), `frozen`, `skip` or `scaled:RATE`, `at` an RFC 3339 timestamp
    where world time starts; like `seed` they shape a world when it is made, not one found on disk.
    The default world becomes `scenario`, one of `library` or a file (with `watch` again whenever it
    changes), `clock` and `assumptions` laid over; or the exported world in the file `state`, with its
    own seed or `state_seed`. A world that is kept is only replaced with `replace`; else the start is
    refused, or, with `only_new`, that world goes on. `salvage` goes on with what can be read of
    damaged state, and keeps the damaged files. `vary` is the seed of worlds that name none,
    `vary_only` the points it is confined to. `allowed_origins` are those of web apps that may use
    `/v1` and sign people in, beside this machine's own.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    tls_port: int | None = None
    data_dir: Path | None = Path(".hosting-emulator")
    durability: Literal["process", "disk"] = "process"
    seed: str = DEFAULT_SEED
    clock: str | None = None
    at: str | None = None
    assumptions: Mapping[str, str] = field(default_factory=dict)
    public_url: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    control_token: str | None = None
    library: Path | None = None
    scenario: str | None = None
    watch: bool = False
    state: Path | None = None
    state_seed: str | None = None
    replace: bool = False
    only_new: bool = False
    salvage: bool = False
    vary: str | None = None
    vary_only: tuple[str, ...] | None = None
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["error", "warning", "info", "debug"] = "warning"
    log_requests: bool = False
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a running emulator tells whoever started it. `fresh`: its state was just made.

    `token` is that of `user`, an alias; both are empty where nobody could ask. `local_url` is where
    this machine reaches it, whatever its public URL. `clock` to `vary_only` are of the default world.
    """

    base_url: str
    dev_base_url: str
    control_url: str
    docs_url: str
    openapi_url: str
    tls_url: str | None
    ca_file: str | None
    token: str
    user: str
    organization_id: str
    project_id: str
    data_dir: str | None
    world: str
    pid: int
    control_token: str | None
    fresh: bool
    local_url: str
    clock: str = "real"
    now: str = ""
    vary: str | None = None
    vary_only: tuple[str, ...] | None = None
