"""Options that commands have in common, declared once and bundled as commands need them.

Nothing of the emulator is imported before a command runs.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from hosting_emulator_cli import completion
from hosting_emulator_cli.groups import Failure, load
from hosting_emulator_cli.parameters import KINDS

if TYPE_CHECKING:
    # For commands too, which name them `opt.ControlClient` and `opt.HostingEmulator`.
    from hosting_emulator.sdk import ControlClient as ControlClient
    from hosting_emulator.sdk import HostingEmulator as HostingEmulator
    from hosting_emulator.settings import Settings

DEFAULT_URL = "http://127.0.0.1:4620"


def default_url() -> str:
    """Return where an emulator listens that was started here; imports nothing until it is asked."""
    from hosting_emulator.sdk.control import default_url

    return default_url()


#: Where a command finds how answers vary, so that worlds made elsewhere vary too.
SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Decorator = Callable[[F], F]
#: Asks the running emulator, by a function of its client; or ourselves, where that is possible.
Ask = Callable[..., Any]


def option(
    declared: str, *, default: Any = None, env: str | None = None, **rest: Any
) -> Decorator[Any]:
    """Declare an option as help shows it, with the name it arrives under: `--from state FILE`.

    Its value is read as help calls it (KINDS); what it is for stands in `commands.md`.
    """
    names = declared.split()
    metavar = None if names[-1].islower() else names.pop()
    if (offer := completion.OPTIONS.get((names[0], metavar))) is not None:
        rest["shell_complete"] = offer
    if metavar in KINDS:
        rest = {"type": KINDS[metavar], **rest}
    if default is not None or "/" in declared:
        rest = {"default": default, "show_default": default is not None, **rest}
    if env is not None:
        rest |= {"envvar": env, "show_envvar": True}
    return click.option(*names, metavar=metavar, **rest)


def each_by_variable(command: click.Command) -> click.Command:
    """Let each option of a command be given by a variable: a container has nothing else.

    `--data-dir` is HOSTING_EMULATOR_DATA_DIR; the command's help says so for all of them.
    """
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.envvar is None:
            name = max(parameter.opts, key=len).lstrip("-")
            parameter.envvar = f"HOSTING_EMULATOR_{name.upper().replace('-', '_')}"
    return command


def flag(names: str, **rest: Any) -> Decorator[Any]:
    """Declare an option without a value."""
    return option(names, is_flag=True, **rest)


def choice(names: str, *choices: str, **rest: Any) -> Decorator[Any]:
    """Declare an option with one of some values, the first unless told otherwise."""
    return option(names, **{"default": choices[0], "type": click.Choice(choices), **rest})


def read_words(read: str | Callable[[list[str]], T]) -> Callable[..., T]:
    """Make a callback for words given one by one, or several with commas or spaces between.

    A ValueError of `read`, which may be given as `module:function`, says what is wrong with them.
    """

    def callback(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> T:
        words = [word for text in texts for word in text.replace(",", " ").split()]
        try:
            found: T = load(read)(words) if isinstance(read, str) else read(words)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error
        return found

    return callback


def options(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Bundle options, in the order in which help lists them."""

    def add(command: Any) -> Any:
        return functools.reduce(
            lambda found, decorate: decorate(found), reversed(decorators), command
        )

    return add


# --- Which emulator, which world ---------------------------------------------------------------

url_options = options(
    option("--url URL", default=default_url, show_default=DEFAULT_URL, env="HOSTING_EMULATOR_URL"),
    option("--control-token TEXT", env="HOSTING_EMULATOR_CONTROL_TOKEN"),
)
world_option = option("--world NAME", default="default", env="HOSTING_EMULATOR_WORLD")
json_option = flag("--json as_json")
as_option = option("--as principal WHO")
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


def typed_here(line: str) -> str:
    """Return a command that the emulator printed so that it works in a shell with our variables."""
    if " --world " not in line and os.environ.get("HOSTING_EMULATOR_WORLD"):
        line += " --world default"
    elsewhere = os.environ.get("HOSTING_EMULATOR_URL") or default_url()
    if " --url " not in line and elsewhere != DEFAULT_URL:
        line += f" --url {DEFAULT_URL}"
    return line


def with_or_without_client(command: F) -> F:
    """Give a command `ask(of_client, by_itself)`: the running emulator's answer, or our own.

    Our own is what a function returns, which may be given as `module:function`.

    Where there can be our own, the emulator is asked only if the command line names one. The
    environment does not count: it names an emulator for all commands, running or not.
    """

    @functools.wraps(command)
    def call(*args: Any, url: str, control_token: str | None, **rest: Any) -> Any:
        ctx = click.get_current_context()
        named = ParameterSource.COMMANDLINE in map(ctx.get_parameter_source, ("url", "world"))

        def ask(
            of_client: Callable[[ControlClient], T], by_itself: str | Callable[[], T] | None = None
        ) -> T:
            if by_itself is not None and not named:
                return load(by_itself)() if isinstance(by_itself, str) else by_itself()
            with connected(url, control_token) as client:
                return of_client(client)

        return command(*args, ask=ask, **rest)

    return url_options(call)  # type: ignore[no-any-return]


@contextmanager
def connected(
    url: str, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a client of the emulator at `url`; what goes wrong with it becomes a Failure."""
    from hosting_emulator.sdk import ControlError

    with open_client(url, control_token, timeout_s=timeout_s) as client:
        try:
            yield client
        except ControlError as error:
            raise Failure(str(error)) from error


def open_client(url: str, control_token: str | None, *, timeout_s: float) -> ControlClient:
    """Return a client of the emulator at a base URL. Raises BadParameter for no address."""
    from hosting_emulator.sdk import ControlClient

    address = url.rstrip("/").removesuffix("/_emulator")
    try:
        return ControlClient(f"{address}/_emulator", token=control_token, timeout_s=timeout_s)
    except ValueError as error:
        message = f"{url!r} is not an address: write it like {DEFAULT_URL}"
        raise click.BadParameter(message, param_hint="--url") from error


# --- How answers vary --------------------------------------------------------------------------


def _points(names: list[str]) -> tuple[str, ...] | None:
    if not names:
        return None
    from hosting_emulator.variation.points import read_points

    return read_points(names)


#: They arrive as `vary` and `vary_only`, which is None for all points.
vary_options = options(
    option("--vary SEED", env=SEED_VARIABLE),
    option(
        "--only vary_only POINT", multiple=True, callback=read_words(_points), env=ONLY_VARIABLE
    ),
)


def _say_what_to_run(
    ctx: click.Context, param: click.Parameter, command: tuple[str, ...]
) -> tuple[str, ...]:
    if not command:
        line = f"hosting-emulator {ctx.info_name} -- CMD [ARGS]..."
        raise click.UsageError(f"give a command to run: {line}")
    return command


#: What `exec` and `explore` run.
command_argument = click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="-- CMD [ARGS]...",
    callback=_say_what_to_run,
)


def check_only(vary: str | None, vary_only: Sequence[str] | None) -> None:
    """Refuse `--only` without `--vary`. Raises UsageError."""
    if vary_only and vary is None:
        raise click.UsageError("--only needs --vary: give a seed")


# --- An emulator of its own --------------------------------------------------------------------


def address_options(*, port: int) -> Decorator[Any]:
    """Add `--host`, `--port` and `--tls-port`, named as their settings; `port` is the default."""
    return options(
        option("--host ADDRESS", default="127.0.0.1"),
        option("--port PORT", default=port, show_default=bool(port)),
        option("--tls-port PORT"),
    )


log_options = options(
    choice("--log-format", "text", "json", env="HOSTING_EMULATOR_LOG_FORMAT"),
    flag("--log-requests", env="HOSTING_EMULATOR_LOG_REQUESTS"),
)

#: How a new state begins. They arrive named as their settings, but for `assume`, a dict.
world_options = options(
    option("--scenario NAME|FILE"),
    option("--from state FILE"),
    option("--seed TEXT", default="hosting-emulator"),
    option("--clock MODE"),
    option("--at TIMESTAMP"),
    assume_option,
)


def settings_of(ctx: click.Context, *, assume: Sequence[tuple[str, str]], **same: Any) -> Settings:
    """Build an emulator's settings of options, which go by their setting's name but for `assume`.

    Raises UsageError for options that do not go together.
    """
    chosen = ctx.get_parameter_source("seed") is not ParameterSource.DEFAULT
    if chosen and same["state"] is not None:
        same["state_seed"] = same["seed"]
    # What stands in a variable or a file is meant for every start: it must not end the second.
    named = {ctx.get_parameter_source(name) for name in ("scenario", "state") if same[name]}
    same["only_new"] = bool(named) and ParameterSource.COMMANDLINE not in named
    check_only(same.get("vary"), same.get("vary_only"))
    from hosting_emulator.settings import Settings
    from hosting_emulator_scenarios import FOLDER

    return Settings(assumptions=dict(assume), library=FOLDER, **same)


def check_folder_of(path: Path | None) -> None:
    """Refuse a file that cannot be written because its folder is not there. Raises Failure."""
    if path is not None and not path.absolute().parent.is_dir():
        raise Failure(f"cannot write {path}: no such directory")
