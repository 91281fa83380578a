"""The settings with which a user can start an emulator, and the report of a running emulator.

A field's annotations define its form in the settings file (`Setting`) and its allowed values
(`msgspec.Meta`). In `settings_model`, the model that checks the settings file is derived from these
annotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from hosting_emulator import DEFAULT_PORT, DEFAULT_SEED


class StartError(Exception):
    """Raised if the emulator cannot start. The message is a single line for the user."""


class PortInUse(StartError):
    """Raised if another program listens on a port.

    `problem` says what uses the port, and how to free it. `setting` is the name of the field in
    `Settings` that contains the port. `remedy` says how to select a free port on the command line.
    """

    def __init__(self, problem: str, setting: str, remedy: str) -> None:
        super().__init__(problem, setting, remedy)
        self.problem = problem
        self.setting = setting
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}, or {self.remedy}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A field's form in the settings file: its key, and a description of its valid values.

    The value of a secret setting is never shown in messages.
    """

    key: str
    expected: str
    is_secret: bool = False


#: The only setting without a field in `Settings`: if `ephemeral` is true, `data_dir` is None.
EPHEMERAL = Setting("ephemeral", "true or false")
_FLAG = "true or false"
_PORT = "a port from 0 to 65535, such as 4711"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings with which an emulator is started. If `data_dir` is None, nothing is stored.

    If `port` is 0, a free port is used.

    `clock` is `real`, `frozen`, `skip` or `scaled:RATE`. None means `real`. `at` is the RFC 3339
    timestamp at which world time starts. `clock`, `at`, `seed` and `assumptions` apply only to a
    new world, not to a stored one. `vary` is the seed of the variation for worlds that do not
    specify their own. `vary_only` limits this variation to certain points.

    The default world is created from `scenario`, which is either a file or the name of a scenario
    in `library`. `clock` and `assumptions` override those in the scenario. With `watch`, the
    scenario is reloaded whenever its file changes. Alternatively, the default world is created from
    the exported world in the file `state`. Its seed is `state_seed` or, if that is None, the seed
    in the file. A stored world is replaced only with `replace`. Otherwise, if there is a stored
    world, the start is refused or, with `only_new`, uses it. `salvage` recovers the readable parts
    of damaged state, and keeps the damaged files.

    `allowed_origins` are the origins of web apps that may use `/v1` and the sign-in, in addition to
    origins at localhost, `*.localhost` and loopback addresses.
    """

    host: Annotated[str, Setting("host", "an address to listen on, such as 127.0.0.1")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65535), Setting("port", _PORT)] = DEFAULT_PORT
    tls_port: Annotated[int | None, Meta(ge=0, le=65535), Setting("tls-port", _PORT)] = None
    data_dir: Annotated[
        Path | None, Setting("data-dir", "a directory, such as .hosting-emulator")
    ] = Path(".hosting-emulator")
    durability: Annotated[Literal["process", "disk"], Setting("durability", "process or disk")] = (
        "process"
    )
    seed: Annotated[str, Setting("seed", "a string, such as ours")] = DEFAULT_SEED
    clock: Annotated[
        str | None, Setting("clock", "real, frozen, skip or scaled:RATE, such as scaled:60")
    ] = None
    at: Annotated[str | None, Setting("at", "a timestamp, such as 2030-01-31T09:30:00Z")] = None
    assumptions: Annotated[
        Mapping[str, str],
        Setting("assume", "a mapping of names to values, such as {accepted_status: 200}"),
    ] = field(default_factory=dict)
    public_url: Annotated[
        str | None, Setting("public-url", "a URL, such as http://hosting:4620")
    ] = None
    allowed_hosts: Annotated[
        tuple[str, ...], Setting("allow-host", "a host name or a list of them, such as [hosting]")
    ] = ()
    allowed_origins: Annotated[
        tuple[str, ...],
        Setting("allow-origin", 'an origin or a list of them, such as ["http://app.test:3000"]'),
    ] = ()
    control_token: Annotated[
        str | None, Setting("control-token", "a string of printable ASCII", is_secret=True)
    ] = None
    library: Path | None = None
    scenario: Annotated[
        str | None,
        Setting("scenario", "the name of a scenario or a YAML file, such as ours.yaml"),
    ] = None
    watch: Annotated[bool, Setting("watch", _FLAG)] = False
    state: Path | None = None
    state_seed: str | None = None
    replace: bool = False
    only_new: bool = False
    salvage: bool = False
    vary: Annotated[str | None, Setting("vary", "a seed, such as 7")] = None
    vary_only: Annotated[
        tuple[str, ...] | None,
        Setting("vary-only", "a variation point or a list of them, such as [page-size]"),
    ] = None
    log_format: Annotated[Literal["text", "json"], Setting("log-format", "text or json")] = "text"
    log_level: Annotated[
        Literal["error", "warning", "info", "debug"],
        Setting("log-level", "error, warning, info or debug"),
    ] = "warning"
    log_requests: Annotated[bool, Setting("log-requests", _FLAG)] = False
    user: Annotated[str | None, Setting("user", "the alias or id of a user, such as owner")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An emulator's report that it is ready.

    `fresh` means that the default world's state has just been created. `user` is the alias of the
    user for whom `token` was issued. Both are empty if no user was named and the world has no
    default user. `local_url` is the emulator's address on this machine, even if a public URL is
    set. `clock`, `now`, `vary`, `vary_only` and `armed` describe the default world. `armed` lists
    the ids of the faults and outcomes that can still act. `log_file` is the log file of an emulator
    in the background.
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
    armed: tuple[str, ...] = ()
    log_file: str | None = None
