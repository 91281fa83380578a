"""Options that commands share: types of values, completions in a shell, and the settings file.

The error of each type says in one line what would be right. An option takes precedence over its
environment variable, and that over the settings file. No part of the emulator is imported before a
command runs.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource as ParameterSource

from hosting_emulator import DEFAULT_PORT, DEFAULT_SEED
from hosting_emulator_cli.main import Failure, failing, load

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hosting_emulator.sdk import ClockRequest

    # For commands too, which name them `opt.ControlClient` and `opt.HostingEmulator`.
    from hosting_emulator.sdk import ControlClient as ControlClient
    from hosting_emulator.sdk import HostingEmulator as HostingEmulator
    from hosting_emulator.settings import Settings

DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
#: Variables that `exec` sets for its command: worlds that the command creates itself vary too.
SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


# --- Types of values -----------------------------------------------------------------------------


class TextType(click.ParamType):  # type: ignore[type-arg]  # generic since Click 8.4 only
    """Text that `read` turns into a value. The ValueError of `read` says what is wrong with it."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text. Raises BadParameter."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class WholeNumber(click.IntRange):
    """A whole number of a range. Its error names the range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number. Raises BadParameter."""
        least = int(self.min or 0)
        with suppress(ValueError):
            number = int(value)
            if least <= number and (self.max is None or number <= self.max):
                return number
        limits = f"{least} or more" if self.max is None else f"{least} to {self.max}"
        self.fail(f"{str(value)[:40]!r} is not a whole number from {limits}", param, ctx)


def _file_name(text: str) -> str:
    if not text:
        raise ValueError("it is empty: name a file, or leave the option out")
    if "\0" in text:
        raise ValueError(f"{text[:80]!r} contains a NUL character, which no file name can contain")
    return text


class FilePath(click.Path):
    """A path. The empty path is refused, because it would mean the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises BadParameter."""
        return super().convert(_FILE_NAME.convert(value, param, ctx), param, ctx)


def seconds(text: str) -> float:
    """Return a duration such as `30s`, `10m` or `PT10M` in seconds. Raises ValueError."""
    from hosting_emulator.contract.durations import parse_duration_ms

    return parse_duration_ms(text) / 1000


def timestamp(text: str) -> str:
    """Check an RFC 3339 timestamp with `Z` or an offset; replace `now` by this machine's time.

    Raises ValueError.
    """
    from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp

    if text == "now":
        return format_timestamp(time.time_ns() // 1_000_000)
    parse_timestamp(text)
    return text


def clock_request(mode: str | None, at: str | None) -> ClockRequest:
    """Return the clock settings for a mode such as `scaled:60` and a timestamp. Raises ValueError."""
    from hosting_emulator.sdk.control import clock_request

    request: ClockRequest = {}
    if mode is not None:
        request = clock_request(mode)
    if at is not None:
        request = {**request, "at": at}
    return request


def _clock_mode(text: str) -> str:
    clock_request(text, None)
    return text


def _rate(text: str) -> float:
    from hosting_emulator.sdk.control import read_rate

    return read_rate(text)


def _named_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{text!r} is not NAME=VALUE")
    return name.strip(), value


def _typed_value(text: str) -> tuple[str, Any]:
    from hosting_emulator.contract.json_body import read_json

    name, value = _named_value(text)
    try:
        return name, read_json(value.encode())
    except ValueError:
        return name, value


_FILE_NAME = TextType("text", _file_name)
TIMESTAMP = TextType("timestamp", timestamp)
RATE = TextType("rate", _rate)
#: A value that parses as JSON is JSON, otherwise text.
TYPED_VALUE = TextType("NAME=VALUE", _typed_value)
#: The type of an option's value by its name in the help.
TYPES: dict[str | None, click.ParamType] = {  # type: ignore[type-arg]
    "FILE": FilePath(dir_okay=False, path_type=Path),
    "NAME|FILE": _FILE_NAME,
    "PORT": WholeNumber(0, 65535),
    "DURATION": TextType("duration", seconds),
    "TIMESTAMP": TIMESTAMP,
    "MODE": TextType("mode", _clock_mode),
    "NAME=VALUE": TextType("NAME=VALUE", _named_value),
    "NAME=PATTERN": TextType("NAME=VALUE", _named_value),
}


# --- Completions in a shell ----------------------------------------------------------------------

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
#: A table of names as `module:attribute`, or a function of the running emulator and the line's world.
Source = str | Callable[["ControlClient", "HostingEmulator"], Iterable[str]]
#: How long a shell's completion waits for an emulator, in real seconds.
_PATIENCE_S = 1.0


def _completion(*sources: Source, files: bool = False) -> Complete:
    def names(params: Mapping[str, Any]) -> Iterator[str]:
        for source in sources:
            if isinstance(source, str):
                table = load(source)
                if callable(table):
                    table = table()
                yield from table
                continue
            url = params.get("url") or default_url()
            token = params.get("control_token")
            with connected(url, token, timeout_s=_PATIENCE_S) as client:
                yield from source(client, client.world(params.get("world") or "default"))

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        items = []
        with suppress(Exception):  # an error would garble the user's prompt
            items = [
                CompletionItem(name) for name in names(ctx.params) if name.startswith(incomplete)
            ]
        if files:
            items.append(CompletionItem(incomplete, type="file"))
        return items

    return complete


def _operation_ids(_: ControlClient, world: HostingEmulator) -> list[str]:
    operations = world.control.get(world.control_path("operations"))["items"]
    return [operation["id"] for operation in operations]


_LIBRARY = "hosting_emulator_cli.files:library_names"
SCENARIOS = _completion(_LIBRARY)
SCENARIOS_AND_FILES = _completion(_LIBRARY, files=True)
CALLS = _completion(
    "hosting_emulator.contract.calls:ALL_CALLS", "hosting_emulator.contract.calls:DOORS"
)
FAULT_KINDS = _completion("hosting_emulator.faults.kinds:fault_kinds")
OUTCOME_KINDS = _completion("hosting_emulator.faults.outcomes:outcome_kinds")
INTERVENTIONS = _completion("hosting_emulator.faults.interventions:INTERVENTIONS")
WORLDS = _completion(lambda client, _: (world.name for world in client.worlds()))
OPERATIONS = _completion(_operation_ids)
FAULTS = _completion(lambda _, world: (fault.id for fault in world.faults))
OUTCOMES = _completion(lambda _, world: (outcome.id for outcome in world.outcomes))
PROJECTS = _completion(lambda _, world: world.projects)
USERS = _completion(lambda _, world: world.users)
#: The completion of an option by its name and the name of its value in the help.
_COMPLETIONS: dict[tuple[str, str | None], Complete] = {
    ("--call", "CALL"): CALLS,
    ("--call", "NAME"): CALLS,
    ("--call", "CALL,..."): CALLS,
    ("--faults", "KIND,..."): FAULT_KINDS,
    ("--world", "NAME"): WORLDS,
    ("--scenario", "NAME|FILE"): SCENARIOS_AND_FILES,
    ("--until-operation", "OPERATION"): OPERATIONS,
    ("--project", "PROJECT"): PROJECTS,
    ("--user", "USER"): USERS,
}


# --- Declaring options ---------------------------------------------------------------------------


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    default: Any = None,
    env: str | None = None,
    **attrs: Any,
) -> Decorator[Any]:
    """Declare an option: its names, the name of its parameter if that differs, and its help.

    `metavar` is the name of its value in the help. It selects the type (TYPES) and the completion
    in a shell, unless `attrs` name others.
    """
    completion = _COMPLETIONS.get((names[0], metavar))
    if completion is not None:
        attrs["shell_complete"] = completion
    if metavar in TYPES:
        attrs.setdefault("type", TYPES[metavar])
    if default is not None or "/" in names[0]:
        attrs["default"] = default
        attrs.setdefault("show_default", default is not None)
    if env is not None:
        attrs["envvar"] = env
        attrs["show_envvar"] = True
    return click.option(*names, metavar=metavar, help=help, **attrs)


def flag(*names: str, help: str, **attrs: Any) -> Decorator[Any]:
    """Declare an option without a value."""
    return option(*names, help=help, is_flag=True, **attrs)


def choice(
    *names: str, choices: Sequence[str], help: str, default: str | None = None, **attrs: Any
) -> Decorator[Any]:
    """Declare an option with one of some values, by default the first."""
    kind = click.Choice(choices)
    return option(*names, help=help, type=kind, default=default or choices[0], **attrs)


def options(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Bundle options, in the order in which help lists them."""

    def decorate_all(command: Any) -> Any:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return decorate_all


def read_words(read: str | Callable[[list[str]], Any]) -> Callable[..., Any]:
    """Return a callback that passes all words of a repeatable option to `read`.

    A value may hold several words, separated by commas or spaces.
    """

    def callback(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
        words = [word for text in texts for word in text.replace(",", " ").split()]
        try:
            return load(read)(words)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error

    return callback


def source(name: str) -> ParameterSource | None:
    """Return where the value of a parameter is from."""
    return click.get_current_context().get_parameter_source(name)


def typed(*names: str) -> bool:
    """Return whether the command line sets one of these parameters, not a variable or a file."""
    return any(source(name) is ParameterSource.COMMANDLINE for name in names)


# --- Which emulator, which world -----------------------------------------------------------------


def default_url() -> str:
    """Return the URL of an emulator that was started on this machine.

    The SDK is imported here, when a command needs the URL: `--help` must stay fast.
    """
    from hosting_emulator.sdk.control import default_url

    return default_url()


url_options = options(
    option(
        "--url",
        metavar="URL",
        help="URL of the running emulator.",
        default=default_url,
        show_default=DEFAULT_URL,
        env="HOSTING_EMULATOR_URL",
    ),
    option(
        "--control-token",
        metavar="TEXT",
        help="Token for the control API, if the emulator requires one.",
        env="HOSTING_EMULATOR_CONTROL_TOKEN",
    ),
)
world_option = option(
    "--world",
    metavar="NAME",
    help="The world to use.",
    default="default",
    env="HOSTING_EMULATOR_WORLD",
)
json_option = flag(
    "--json",
    "as_json",
    help="Print JSON.",
)
user_option = option(
    "--user",
    metavar="USER",
    help=(
        "The user the token is for: an alias such as member or reader, or an id. "
        "Default: owner, or the first organization's owner."
    ),
)
output_option = option(
    "--output",
    metavar="FILE",
    help=("Write to this file instead of stdout. It is written completely or not at all."),
)
junit_option = option(
    "--junit",
    metavar="FILE",
    help="Also write the report to this file as JUnit XML.",
)
assume_option = option(
    "--assume",
    metavar="NAME=VALUE",
    help=("Set an assumption; repeatable. `hosting-emulator contract assumptions` lists them."),
    multiple=True,
)


def with_client(command: F) -> F:
    """Pass `client`, a client of the running emulator, to a command and add its options."""

    @functools.wraps(command)
    def call(*args: Any, url: str, control_token: str | None, **params: Any) -> Any:
        with connected(url, control_token) as client:
            return command(*args, client=client, **params)

    return url_options(call)  # type: ignore[no-any-return]


def with_world(command: F) -> F:
    """Pass `world`, a handle of a world in the running emulator, to a command and add its options."""

    @with_client
    @functools.wraps(command)
    def call(*args: Any, client: ControlClient, world: str, **params: Any) -> Any:
        from hosting_emulator.sdk import ControlRefused

        try:
            return command(*args, world=client.world(world), **params)
        except ControlRefused as refused:
            if refused.status != 404:
                raise
            address = client.control_url.removesuffix("/_emulator")
            where = f"world {world} at {address}"
            if refused.title == "No such world":  # the message names the world
                where = f"at {address}"
            raise Failure(f"{refused} ({where})") from refused

    return world_option(call)  # type: ignore[no-any-return]


def ask(
    ask_emulator: Callable[[ControlClient], Any],
    offline: str | Callable[[], Any] | None = None,
) -> Any:
    """Return what the running emulator responds, or what this installation says by itself.

    With `offline`, a function or `module:function`, the emulator is asked only if the command line
    names it. Variables in the environment do not count: they are set for all commands, whether an
    emulator runs or not.
    """
    if offline is not None and not typed("url", "world"):
        from msgspec import to_builtins

        # As the running emulator sends it: a message becomes a JSON object.
        return to_builtins(load(offline)())
    params = click.get_current_context().params
    with connected(params["url"], params["control_token"]) as client:
        return ask_emulator(client)


@contextmanager
def connected(
    url: str, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a client of the emulator at `url`. Its errors become a Failure."""
    from hosting_emulator.sdk import ControlError

    client = open_client(url, control_token, timeout_s=timeout_s)
    with client, failing(ControlError, ValueError):
        yield client


def open_client(url: str, control_token: str | None, *, timeout_s: float) -> ControlClient:
    """Return a client of the emulator at a base URL. Raises BadParameter if it is not an address."""
    from hosting_emulator.sdk import ControlClient

    address = url.rstrip("/").removesuffix("/_emulator")
    try:
        return ControlClient(f"{address}/_emulator", token=control_token, timeout_s=timeout_s)
    except ValueError as error:
        message = f"{url!r} is not an address: write it like {DEFAULT_URL}"
        origins = {
            ParameterSource.DEFAULT: "the variable HOSTING_EMULATOR_PORT",
            ParameterSource.ENVIRONMENT: "the variable HOSTING_EMULATOR_URL",
        }
        hint = origins.get(source("url") or ParameterSource.COMMANDLINE, "--url")
        raise click.BadParameter(message, param_hint=hint) from error


def typed_here(line: str) -> str:
    """Complete a command that the emulator printed, so that it works in a shell with our variables."""
    if " --world " not in line and os.environ.get("HOSTING_EMULATOR_WORLD"):
        line += " --world default"
    shell_url = os.environ.get("HOSTING_EMULATOR_URL") or default_url()
    if " --url " not in line and shell_url != DEFAULT_URL:
        line += f" --url {DEFAULT_URL}"
    return line


# --- How responses vary ---------------------------------------------------------------------------


def _read_points(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...] | None:
    if not any(texts):
        return None
    if ctx.params.get("vary") is None:
        raise click.UsageError("--only needs --vary: give a seed")
    points: tuple[str, ...]
    points = read_words("hosting_emulator.variation.points:read_points")(ctx, param, texts)
    return points or None


#: Their parameters are `vary` and `vary_only`, which is None for all points.
vary_options = options(
    option(
        "--vary",
        metavar="SEED",
        help=(
            "Vary responses wherever the contract allows it, drawn from this seed. `contract "
            "variation-points` lists where."
        ),
        env=SEED_VARIABLE,
        is_eager=True,
    ),
    option(
        "--only",
        "vary_only",
        metavar="POINT",
        help="Vary only at this point; repeatable.",
        multiple=True,
        callback=_read_points,
        env=ONLY_VARIABLE,
    ),
)


# --- An emulator of its own ----------------------------------------------------------------------


def address_options(*, port: int, port_help: str) -> Decorator[Any]:
    """Add `--host`, `--port` and `--tls-port`, named like their settings; `port` is the default."""
    return options(
        option(
            "--host",
            metavar="ADDRESS",
            help=(
                "Address to listen on. Any address but loopback is open to other machines on the "
                "network."
            ),
            default="127.0.0.1",
        ),
        option(
            "--port",
            metavar="PORT",
            help=port_help,
            default=port,
            show_default=bool(port),
        ),
        option(
            "--tls-port",
            metavar="PORT",
            help=(
                "Serve the dev origins over HTTPS on this TCP port, with a local certificate "
                "authority; 0 picks a free port. Default: off."
            ),
        ),
    )


log_options = options(
    choice(
        "--log-format",
        choices=("text", "json"),
        help="Format of stderr: text, or one JSON object per line.",
        env="HOSTING_EMULATOR_LOG_FORMAT",
    ),
    choice(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        help=(
            "Log to stderr from this level on: error, warning, info (also each request, and the "
            "life of worlds) or debug (also each commit and due event)."
        ),
        default="warning",
        env="HOSTING_EMULATOR_LOG_LEVEL",
    ),
    flag(
        "--log-requests",
        help="Log each request to stderr: one line with the response and the reason for it.",
        env="HOSTING_EMULATOR_LOG_REQUESTS",
    ),
)

#: The content of a new state. Their parameters are named like their settings, except `assume`.
world_options = options(
    option(
        "--scenario",
        metavar="NAME|FILE",
        help=(
            "Start with this scenario's world: a name from `scenario list`, or a YAML file. "
            "--clock and --assume override the scenario's."
        ),
    ),
    option(
        "--import",
        "state",
        metavar="FILE",
        help=(
            "Start with the world in this file: written by `world export`, or kept when a test "
            "failed."
        ),
    ),
    option(
        "--seed",
        metavar="TEXT",
        help=(
            "Seed for the ids, handles and secrets of a new world. With --import: for everything "
            "created from then on."
        ),
        default=DEFAULT_SEED,
    ),
    option(
        "--clock",
        metavar="MODE",
        help=(
            "The clock of a new world: real (default), frozen, skip (polling moves time), or "
            "scaled:RATE (world seconds per real second). For a world that exists already, use the "
            "`clock` command."
        ),
    ),
    option(
        "--at",
        metavar="TIMESTAMP",
        help=(
            "World time at which a new world starts: RFC 3339, such as 2030-01-31T09:30:00Z, or "
            "`now` for this machine's time. Default: 2026-01-01T00:00:00Z for a frozen or skip "
            "clock, otherwise now."
        ),
    ),
    assume_option,
)


def settings_of(*, assume: Sequence[tuple[str, str]], **options: Any) -> Settings:
    """Return an emulator's settings for `assume` and options with the names of settings."""
    if source("seed") is not ParameterSource.DEFAULT and options["state"] is not None:
        options["state_seed"] = options["seed"]
    # A variable or a file applies to every start. The second start must keep the world of the first.
    sources = [name for name in ("scenario", "state") if options[name]]
    options["only_new"] = bool(sources) and not typed(*sources)
    from hosting_emulator.settings import Settings
    from hosting_emulator_scenarios import FOLDER

    return Settings(assumptions=dict(assume), library=FOLDER, **options)


# --- The settings file ---------------------------------------------------------------------------

#: Options whose key in the file is another noun. Several values are a list or a mapping.
_FILE_KEYS = {"assume": "assumptions", "allow-origin": "origins", "allow-host": "hosts"}
#: The options that a command with its own emulator reads from the file: they describe its world.
_WORLD_OPTIONS = ("scenario", "seed", "clock", "at", "assume", "vary", "only", "user")
#: The options that the file does not set if the command line names a state or a scenario.
_REPLACED_OPTIONS = {"--import": ("scenario", "clock", "at", "assume"), "--scenario": ("at",)}
#: The key of a context's `meta` for the arguments of such a command as they were typed.
TYPED = "hosting_emulator_cli.typed"


def origin_of(ctx: click.Context, param: click.Parameter) -> str | None:
    """Return the variable or the file that sets a parameter, or None if neither does."""
    parameter_source = ctx.get_parameter_source(str(param.name))
    if parameter_source is ParameterSource.ENVIRONMENT:
        return f"the variable {param.envvar}"
    if parameter_source is ParameterSource.DEFAULT_MAP:
        return str(ctx.obj)
    return None


@contextmanager
def starting() -> Iterator[None]:
    """Turn a StartError into a Failure that names the variable or file behind the refused setting."""
    from hosting_emulator.settings import StartError

    try:
        yield
    except StartError as error:
        text = str(error)
        ctx = click.get_current_context()
        for param in ctx.command.params:
            origin = origin_of(ctx, param)
            words = _words_of(ctx.params[str(param.name)])
            if origin is not None and any(word and word in text for word in words):
                raise Failure(f"{origin}: {text}") from error
        raise Failure(text) from error


def _words_of(value: Any) -> list[str]:
    """Return the words that an error names for a parameter's value: of a pair, its name."""
    if not isinstance(value, tuple):
        return [str(value)]
    return [str(item[0]) if isinstance(item, tuple) else str(item) for item in value]


def _option_name(param: click.Parameter) -> str:
    """Return the long name of an option, without its hyphens."""
    return max(param.opts, key=len).lstrip("-")


def _setting_key(param: click.Parameter) -> str:
    """Return the key of an option in the settings file."""
    name = _option_name(param)
    return _FILE_KEYS.get(name, name)


class SettingsCommand(click.Command):
    """A command that also reads options from the settings file.

    `start` reads all of its options there, other commands those that describe a world.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, variables and the file. Raises Failure for an error in the file."""
        from hosting_emulator.settings_file import read_settings_file

        with failing(ValueError):
            file = read_settings_file()
            if file.values:
                # Imported here: it loads pydantic, which takes 90 ms.
                from hosting_emulator.settings_model import judge

                file = judge(file)
        ctx.meta[TYPED] = [*args]
        ctx.default_map = self._defaults(file.values, self._replaced_options(args))
        ctx.obj = file.name
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            origin = None
            if error.param is not None:
                origin = origin_of(ctx, error.param)
                if origin == file.name:
                    origin = file.place(_setting_key(error.param))
            if origin is None:
                raise
            raise Failure(f"{origin}: {error.format_message()}") from error

    def _replaced_options(self, args: Sequence[str]) -> set[str]:
        """Return the options that the file must not set, because another option replaces them."""
        own_args = args[: [*args, "--"].index("--")]
        flags = {arg.partition("=")[0] for arg in own_args}
        if self.name == "start":  # its options are variables too
            for flag in _REPLACED_OPTIONS:
                if f"HOSTING_EMULATOR_{flag[2:].upper()}" in os.environ:
                    flags.add(flag)
        return {name for flag in flags for name in _REPLACED_OPTIONS.get(flag, ())}

    def _defaults(self, file_settings: Mapping[str, Any], replaced: set[str]) -> dict[str, Any]:
        """Return the file's values by parameter, each as it would be typed."""
        if not file_settings:
            return {}
        is_start = self.name == "start"
        start: click.Command = self
        if not is_start:
            start = load("hosting_emulator_cli.commands.start:start")
        options = {_option_name(option): option for option in start.params}
        names_by_key = {_setting_key(option): name for name, option in options.items()}
        own_parameters = {option.name for option in self.params}
        defaults: dict[str, Any] = {}
        for key, value in file_settings.items():
            name = names_by_key[key]
            param = options[name]
            is_used = is_start or name in _WORLD_OPTIONS
            if not is_used or name in replaced:
                continue
            if param.name not in own_parameters:
                continue
            defaults[str(param.name)] = _typed_words(value)
        return defaults


def _typed_words(value: Any) -> Any:
    """Return a value of the file as it would be typed."""
    if isinstance(value, Mapping):
        return [f"{name}={text}" for name, text in value.items()]
    if isinstance(value, bool | list):
        return value
    return str(value)
