"""Options that commands share: kinds of values, what a shell offers for them, and the settings file.

Each kind says in one line what would be right. An option holds before its variable, and that before
the file. Nothing of the emulator is imported before a command runs.
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
#: Where a command finds how answers vary, so that worlds made elsewhere vary too.
SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


# --- Kinds of values -----------------------------------------------------------------------------


class TextType(click.ParamType):  # type: ignore[type-arg]  # generic since Click 8.4 only
    """Text that `read` turns into a value; its ValueError is what is wrong with the text."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it. Raises BadParameter."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


class WholeNumber(click.IntRange):
    """A whole number of a range, which says so when it is given something else."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it. Raises BadParameter."""
        least, most = int(self.min or 0), self.max
        with suppress(ValueError):
            if least <= (number := int(value)) and (most is None or number <= most):
                return number
        limits = f"{least} or more" if most is None else f"{least} to {most}"
        self.fail(f"{str(value)[:40]!r} is not a whole number from {limits}", param, ctx)


def _file_name(text: str) -> str:
    if not text:
        raise ValueError("it is empty: name one, or leave the option out")
    if "\0" in text:
        raise ValueError(f"{text[:80]!r} has a NUL, which no file's name can have")
    return text


class FilePath(click.Path):
    """A path; an empty one is refused, which would be this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it. Raises BadParameter."""
        return super().convert(_FILE_NAME.convert(value, param, ctx), param, ctx)


def seconds(text: str) -> float:
    """Read a duration such as `30s`, `10m` or `PT10M` as seconds."""
    from hosting_emulator.contract.durations import parse_duration_ms

    return parse_duration_ms(text) / 1000


def timestamp(text: str) -> str:
    """Return an RFC 3339 timestamp with `Z` or an offset as it is, and for `now` this machine's time."""
    from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp

    if text == "now":
        return format_timestamp(time.time_ns() // 1_000_000)
    parse_timestamp(text)
    return text


def clock_request(mode: str | None, at: str | None) -> ClockRequest:
    """Turn a clock mode as people write it, and a timestamp, into a clock's settings."""
    from hosting_emulator.sdk.control import clock_request

    request: ClockRequest = {} if mode is None else clock_request(mode)
    return request if at is None else {**request, "at": at}


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
#: A value is JSON where it reads as JSON, else plain text.
TYPED_VALUE = TextType("NAME=VALUE", _typed_value)
#: The kind of an option's value, by what help calls it.
KINDS: dict[str | None, click.ParamType] = {  # type: ignore[type-arg]
    "FILE": FilePath(dir_okay=False, path_type=Path),
    "NAME|FILE": _FILE_NAME,
    "PORT": WholeNumber(0, 65535),
    "DURATION": TextType("duration", seconds),
    "TIMESTAMP": TIMESTAMP,
    "MODE": TextType("mode", lambda text: clock_request(text, None) and text),
    "NAME=VALUE": TextType("NAME=VALUE", _named_value),
    "NAME=PATTERN": TextType("NAME=VALUE", _named_value),
}


# --- What a shell is offered ---------------------------------------------------------------------

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
#: Names of our own, as `module:attribute`; or what asks the running emulator and the line's world.
Source = str | Callable[["ControlClient", "HostingEmulator"], Iterable[str]]
#: How long a person at a prompt waits for an emulator, in real seconds.
_PATIENCE_S = 1.0


def _offers(*sources: Source, files: bool = False) -> Complete:
    def names(given: Mapping[str, Any]) -> Iterator[str]:
        for source in sources:
            if isinstance(source, str):
                found = load(source)
                yield from found() if callable(found) else found
                continue
            url, token = given.get("url") or default_url(), given.get("control_token")
            with connected(url, token, timeout_s=_PATIENCE_S) as client:
                yield from source(client, client.world(given.get("world") or "default"))

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = []
        with suppress(Exception):  # a prompt is no place for errors
            found = [CompletionItem(n) for n in names(ctx.params) if n.startswith(incomplete)]
        return found + ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


_LIBRARY = "hosting_emulator_cli.files:library_names"
SCENARIOS, SCENARIOS_AND_FILES = _offers(_LIBRARY), _offers(_LIBRARY, files=True)
CALLS = _offers(
    "hosting_emulator.contract.calls:ALL_CALLS", "hosting_emulator.contract.calls:DOORS"
)
FAULT_KINDS = _offers("hosting_emulator.faults.kinds:fault_kinds")
OUTCOME_KINDS = _offers("hosting_emulator.faults.outcomes:OUTCOME_KINDS")
INTERVENTIONS = _offers("hosting_emulator.faults.interventions:INTERVENTIONS")
WORLDS = _offers(lambda client, _: (world["name"] for world in client.worlds()))
OPERATIONS = _offers(
    lambda client, world: [
        one["id"] for one in client.get(world.control_path("operations"))["items"]
    ]
)
FAULTS = _offers(lambda _, world: (fault.id for fault in world.faults))
OUTCOMES = _offers(lambda _, world: (outcome.id for outcome in world.outcomes))
PROJECTS = _offers(lambda _, world: world.projects)
USERS = _offers(lambda _, world: world.users)
#: Of options, by what help calls their value.
_OFFERED: dict[tuple[str, str | None], Complete] = {
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
    declared: str, *, default: Any = None, env: str | None = None, **rest: Any
) -> Decorator[Any]:
    """Declare an option as help shows it, with the name it arrives under: `--import state FILE`.

    Its value is read as help calls it (KINDS); what it is for stands in `commands.md`.
    """
    names = declared.split()
    metavar = None if names[-1].islower() else names.pop()
    if (offer := _OFFERED.get((names[0], metavar))) is not None:
        rest["shell_complete"] = offer
    if metavar in KINDS:
        rest = {"type": KINDS[metavar], **rest}
    if default is not None or "/" in declared:
        rest = {"default": default, "show_default": default is not None, **rest}
    if env is not None:
        rest |= {"envvar": env, "show_envvar": True}
    return click.option(*names, metavar=metavar, **rest)


def flag(names: str, **rest: Any) -> Decorator[Any]:
    """Declare an option without a value."""
    return option(names, is_flag=True, **rest)


def choice(names: str, *choices: str, **rest: Any) -> Decorator[Any]:
    """Declare an option with one of some values, the first unless told otherwise."""
    return option(names, **{"default": choices[0], "type": click.Choice(choices), **rest})


def options(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Bundle options, in the order in which help lists them."""
    return lambda command: functools.reduce(
        lambda found, decorate: decorate(found), reversed(decorators), command
    )


def read_words(read: str | Callable[[list[str]], Any]) -> Callable[..., Any]:
    """Make a callback for words, given one by one or with commas or spaces between; `read` takes them."""

    def callback(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
        words = [word for text in texts for word in text.replace(",", " ").split()]
        try:
            return load(read)(words)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error

    return callback


def source(name: str) -> ParameterSource | None:
    """Tell where the value of a parameter is from."""
    return click.get_current_context().get_parameter_source(name)


def typed(*names: str) -> bool:
    """Tell whether the command line itself gives one of these, and no variable or file does."""
    return ParameterSource.COMMANDLINE in map(source, names)


# --- Which emulator, which world -----------------------------------------------------------------


def default_url() -> str:
    """Return where an emulator listens that was started here; imports nothing until it is asked."""
    from hosting_emulator.sdk.control import default_url

    return default_url()


url_options = options(
    option("--url URL", default=default_url, show_default=DEFAULT_URL, env="HOSTING_EMULATOR_URL"),
    option("--control-token TEXT", env="HOSTING_EMULATOR_CONTROL_TOKEN"),
)
world_option = option("--world NAME", default="default", env="HOSTING_EMULATOR_WORLD")
json_option = flag("--json as_json")
user_option = option("--user USER")
output_option = option("--output FILE")
junit_option = option("--junit FILE")
assume_option = option("--assume NAME=VALUE", multiple=True)


def with_client(command: F) -> F:
    """Give a command `client`, a client of the running emulator, and the options to find it."""

    @functools.wraps(command)
    def call(*args: Any, url: str, control_token: str | None, **rest: Any) -> Any:
        with connected(url, control_token) as client:
            return command(*args, client=client, **rest)

    return url_options(call)  # type: ignore[no-any-return]


def with_world(command: F) -> F:
    """Give a command `world`, a handle of the world meant, in the running emulator."""

    @with_client
    @functools.wraps(command)
    def call(*args: Any, client: ControlClient, world: str, **rest: Any) -> Any:
        from hosting_emulator.sdk import ControlRefused

        try:
            return command(*args, world=client.world(world), **rest)
        except ControlRefused as refused:
            if refused.status != 404:
                raise
            address = client.control_url.removesuffix("/_emulator")
            where = "" if refused.title == "No such world" else f"world {world} "
            raise Failure(f"{refused} ({where}at {address})") from refused

    return world_option(call)  # type: ignore[no-any-return]


def ask(of_client: Callable[[ControlClient], Any], by_itself: Any = None) -> Any:
    """Return the running emulator's answer to a command with `url_options`, or our own.

    Where there is our own, a function or `module:function`, the emulator is asked only if the command
    line names one: the environment names one for all commands, running or not.
    """
    if by_itself is not None and not typed("url", "world"):
        return load(by_itself)()
    given = click.get_current_context().params
    with connected(given["url"], given["control_token"]) as client:
        return of_client(client)


@contextmanager
def connected(
    url: str, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a client of the emulator at `url`; what goes wrong with it becomes a Failure."""
    from hosting_emulator.sdk import ControlError

    client = open_client(url, control_token, timeout_s=timeout_s)
    with client, failing(ControlError, ValueError):
        yield client


def open_client(url: str, control_token: str | None, *, timeout_s: float) -> ControlClient:
    """Return a client of the emulator at a base URL. Raises BadParameter for no address."""
    from hosting_emulator.sdk import ControlClient

    address = url.rstrip("/").removesuffix("/_emulator")
    try:
        return ControlClient(f"{address}/_emulator", token=control_token, timeout_s=timeout_s)
    except ValueError as error:
        message = f"{url!r} is not an address: write it like {DEFAULT_URL}"
        names = {ParameterSource.DEFAULT: "_PORT", ParameterSource.ENVIRONMENT: "_URL"}
        at = names.get(source("url") or ParameterSource.COMMANDLINE)
        hint = f"the variable HOSTING_EMULATOR{at}" if at else "--url"
        raise click.BadParameter(message, param_hint=hint) from error


def typed_here(line: str) -> str:
    """Return a command that the emulator printed so that it works in a shell with our variables."""
    if " --world " not in line and os.environ.get("HOSTING_EMULATOR_WORLD"):
        line += " --world default"
    elsewhere = os.environ.get("HOSTING_EMULATOR_URL") or default_url()
    if " --url " not in line and elsewhere != DEFAULT_URL:
        line += f" --url {DEFAULT_URL}"
    return line


# --- How answers vary ----------------------------------------------------------------------------


def _read_points(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...] | None:
    if not any(texts):
        return None
    if ctx.params.get("vary") is None:
        raise click.UsageError("--only needs --vary: give a seed")
    found: tuple[str, ...]
    found = read_words("hosting_emulator.variation.points:read_points")(ctx, param, texts)
    return found or None


#: They arrive as `vary` and `vary_only`, which is None for all points.
vary_options = options(
    option("--vary SEED", env=SEED_VARIABLE, is_eager=True),
    option("--only vary_only POINT", multiple=True, callback=_read_points, env=ONLY_VARIABLE),
)


# --- An emulator of its own ----------------------------------------------------------------------


def address_options(*, port: int) -> Decorator[Any]:
    """Add `--host`, `--port` and `--tls-port`, named as their settings; `port` is the default."""
    return options(
        option("--host ADDRESS", default="127.0.0.1"),
        option("--port PORT", default=port, show_default=bool(port)),
        option("--tls-port PORT"),
    )


log_options = options(
    choice("--log-format", "text", "json", env="HOSTING_EMULATOR_LOG_FORMAT"),
    choice(
        "--log-level",
        "error",
        "warning",
        "info",
        "debug",
        default="warning",
        env="HOSTING_EMULATOR_LOG_LEVEL",
    ),
    flag("--log-requests", env="HOSTING_EMULATOR_LOG_REQUESTS"),
)

#: How a new state begins. They arrive named as their settings, but for `assume`, a dict.
world_options = options(
    option("--scenario NAME|FILE"),
    option("--import state FILE"),
    option("--seed TEXT", default=DEFAULT_SEED),
    option("--clock MODE"),
    option("--at TIMESTAMP"),
    assume_option,
)


def settings_of(*, assume: Sequence[tuple[str, str]], **same: Any) -> Settings:
    """Build an emulator's settings of options named as they are, and of `assume`. Raises UsageError."""
    if source("seed") is not ParameterSource.DEFAULT and same["state"] is not None:
        same["state_seed"] = same["seed"]
    # What stands in a variable or a file is meant for every start: it must not end the second.
    named = [name for name in ("scenario", "state") if same[name]]
    same["only_new"] = bool(named) and not typed(*named)
    from hosting_emulator.settings import Settings
    from hosting_emulator_scenarios import FOLDER

    return Settings(assumptions=dict(assume), library=FOLDER, **same)


# --- The settings file ---------------------------------------------------------------------------

#: What an option is called in the file, where that is a noun; many values are a list or a mapping.
_NOUNS = {"assume": "assumptions", "allow-origin": "origins", "allow-host": "hosts"}
#: What an emulator around a command takes: what its world is. Its address is its own.
_WORLD = ("scenario", "seed", "clock", "at", "assume", "vary", "only", "user")
#: What has no place beside a state or scenario that is typed.
_INSTEAD = {"--import": ("scenario", "clock", "at", "assume"), "--scenario": ("at",)}
#: Where a context keeps the words of such a command as they were typed.
TYPED = "hosting_emulator_cli.typed"


def origin_of(ctx: click.Context, param: click.Parameter) -> str | None:
    """Name the variable or the file that a setting is from; None for one that is typed, or by default."""
    origins = {
        ParameterSource.ENVIRONMENT: f"the variable {param.envvar}",
        ParameterSource.DEFAULT_MAP: str(ctx.obj),
    }
    return origins.get(ctx.get_parameter_source(str(param.name)))  # type: ignore[arg-type]


@contextmanager
def starting() -> Iterator[None]:
    """Let what keeps an emulator from starting end the command, with where the setting it names is from."""
    from hosting_emulator.settings import StartError

    try:
        yield
    except StartError as error:
        ctx, text = click.get_current_context(), str(error)
        for param in ctx.command.params:
            found = ctx.params[str(param.name)]
            words = [str(one[0] if isinstance(one, tuple) else one) for one in _several(found)]
            if (origin := origin_of(ctx, param)) and any(word and word in text for word in words):
                raise Failure(f"{origin}: {text}") from error
        raise Failure(text) from error


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


class SettingsCommand(click.Command):
    """`start`, whose options may stand in the file; or a command that takes of it what its world is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, variables and the file. Raises Failure for what the file has wrong."""
        from hosting_emulator.settings_file import read_settings_file

        with failing(ValueError):
            name, found = read_settings_file()
        ctx.meta[TYPED] = [*args]
        words = {word.partition("=")[0] for word in args[: [*args, "--"].index("--")]}
        if self.name == "start":  # whose options are variables too
            words |= {
                flag for flag in _INSTEAD if f"HOSTING_EMULATOR_{flag[2:].upper()}" in os.environ
            }
        left_out = {key for flag, keys in _INSTEAD.items() if flag in words for key in keys}
        ctx.default_map = self._defaults(name, found, left_out)
        ctx.obj = name
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            origin = origin_of(ctx, error.param) if error.param else None
            if origin is not None:
                raise Failure(f"{origin}: {error.format_message()}") from error
            raise

    def _defaults(self, name: str, found: Mapping[str, Any], left_out: set[str]) -> dict[str, Any]:
        """Return the file's values by the names of our options, each as it would be typed."""
        from hosting_emulator.settings_file import as_text

        is_start = self.name == "start"
        start = (
            load("hosting_emulator_cli.commands.start:start") if found and not is_start else self
        )
        options = {max(option.opts, key=len).lstrip("-"): option for option in start.params}
        own = {option.name for option in self.params}
        keys = {_NOUNS.get(option, option): option for option in options}
        defaults: dict[str, Any] = {}
        for key, value in found.items():
            option = keys[key]
            taken = option not in left_out and (is_start or option in _WORLD)
            param = options[option]
            if value is None or not taken or param.name not in own:
                continue
            if param.multiple and option != "assume" and not isinstance(value, Mapping | list):
                value = [value]
            several = isinstance(value, Mapping | list)
            if several != param.multiple:
                form = "one value" if several else "several values: write a mapping"
                raise Failure(f"{name}: {key} is {form}")
            if isinstance(value, Mapping):
                value = [f"{key}={as_text(item)}" for key, item in value.items()]
            elif several:
                value = [as_text(item) for item in value]
            defaults[param.name] = value if isinstance(value, bool | list) else as_text(value)
        return defaults
