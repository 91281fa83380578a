"""Declares the options that two or more commands share, and contains functions that declare
options.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.variables import is_service_link
from hosting_emulator_cli import completion
from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.main import Failure, load, note_split_names
from hosting_emulator_cli.parameter_sources import is_typed
from hosting_emulator_cli.value_types import (
    TYPES,
    WholeNumber,
    split_at_spaces,
    split_values,
)

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient

#: Variables that `exec` sets for its command, so that worlds created by the command also vary.
SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

#: Shell completions by option name and metavar.
_COMPLETIONS: dict[tuple[str, str | None], completion.Complete] = {
    ("--call", "CALL"): completion.CALLS,
    ("--faults", "KIND,..."): completion.FAULT_KINDS,
    ("--world", "NAME"): completion.WORLDS,
    ("--scenario", "NAME|FILE"): completion.SCENARIOS_AND_FILES,
    ("--until-operation", "OPERATION"): completion.OPERATIONS,
    ("--project", "PROJECT"): completion.PROJECTS,
    ("--user", "USER"): completion.USERS,
}


class EmulatorOption(click.Option):
    """An option that ignores service links in its variable.

    A repeatable option also accepts several values separated by commas. A comma after a backslash
    is part of the value.
    """

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value of the option's variable, or None if it is unset or a service link."""
        value = super().resolve_envvar_value(ctx)
        if value is not None and is_service_link(str(self.envvar), value):
            return None
        return value

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return the values in the option's variable, or None if it is unset or a service link.

        A space in a value of the form NAME=VALUE does not end the value, unless a name follows.
        """
        if not (self.multiple and "=" in (self.metavar or "")):
            return super().value_from_envvar(ctx)
        value = self.resolve_envvar_value(ctx)
        if value is None:
            return None
        return split_at_spaces(value)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the values of the option."""
        if self.multiple and isinstance(value, list | tuple):
            value = [part for text in value for part in self._parts(ctx, text)]
        return super().type_cast_value(ctx, value)

    def _parts(self, ctx: click.Context, text: str) -> list[str]:
        values = split_values(text, is_named="=" in (self.metavar or ""))
        if "=" in (self.metavar or ""):
            note_split_names(ctx, values)
        return values


class PatternOption(EmulatorOption):
    """A repeatable option for values of the form NAME=PATTERN.

    It refuses a comma that may belong to the preceding pattern, because a pattern that ends too
    early could match no request. In `--header`, this is every comma that is followed by a name. In
    other options, it is such a comma after a pattern that contains an equals sign. A second pattern
    for the same name is also refused, because a fault has only one pattern for each name.
    """

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the values of the option."""
        pairs = super().type_cast_value(ctx, value)
        names = [name.lower() if self.name == "header" else name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise click.BadParameter(
                    f"{name} occurs twice, but a fault has only one pattern for each name",
                    ctx,
                    self,
                )
        return pairs

    def _parts(self, ctx: click.Context, text: Any) -> list[Any]:
        values = super()._parts(ctx, text)
        for value, following_value in pairwise(values):
            name, _, pattern = value.partition("=")
            following_name = following_value.partition("=")[0].strip()
            if "=" in pattern or self.name == "header":
                raise click.BadParameter(
                    f"the comma before `{following_name}=` can mean two things: write `\\,` if it "
                    f"belongs to the pattern of {name.strip()}, or use {self.opts[0]} once for each name",
                    ctx,
                    self,
                )
        return values


# --- Declaring options ---------------------------------------------------------------------------


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    default: Any = None,
    env: str | None = None,
    **attrs: Any,
) -> Decorator[Any]:
    """Declare an option.

    `names` may include the name of the parameter. `metavar` is the name of the value in the help.
    It also selects the option's type from TYPES, unless `attrs` contains a type. The first name and
    `metavar` select the shell completion. `env` is the option's environment variable.
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
    attrs.setdefault("cls", EmulatorOption)
    return click.option(*names, metavar=metavar, help=help, **attrs)


def flag(*names: str, help: str, **attrs: Any) -> Decorator[Any]:
    """Declare an option without a value."""
    return option(*names, help=help, is_flag=True, **attrs)


def choice(
    *names: str, choices: Sequence[str], help: str, default: str | None = None, **attrs: Any
) -> Decorator[Any]:
    """Declare an option with a fixed set of values.

    If `default` is None, the first choice is the default.
    """
    kind = click.Choice(choices)
    return option(*names, help=help, type=kind, default=default or choices[0], **attrs)


def options(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Combine several option decorators into one decorator.

    The help lists the options in the order of the decorators.
    """

    def decorate_all(command: Any) -> Any:
        for decorate in reversed(decorators):
            command = decorate(command)
        return command

    return decorate_all


def read_words(read: str | Callable[[list[str]], Any]) -> Callable[..., Any]:
    """Return a callback that calls `read` with all words in the values of a repeatable option.

    An option's value may contain several words, separated by commas or spaces.
    """

    def callback(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Any:
        words = [word for text in texts for word in text.replace(",", " ").split()]
        try:
            return load(read)(words)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=ctx, param=param) from error

    return callback


# --- Emulator and world --------------------------------------------------------------------------


_control_token_option = option(
    "--control-token",
    metavar="TEXT",
    help="Token to send to the control API, if the emulator requires one.",
    env="HOSTING_EMULATOR_CONTROL_TOKEN",
)


def _url_options(help: str) -> Decorator[Any]:
    return options(
        option(
            "--url",
            metavar="URL",
            help=f"{help} Default: the emulator that belongs to this folder (see `wait --help`).",
            env="HOSTING_EMULATOR_URL",
        ),
        _control_token_option,
    )


def _world_option(help: str) -> Decorator[Any]:
    return option(
        "--world", metavar="NAME", help=help, default="default", env="HOSTING_EMULATOR_WORLD"
    )


url_options = _url_options("URL of the running emulator.")
world_option = _world_option("The world to use.")
_IF_TYPED = "The command queries an emulator only if --world or --url is on the command line."
#: For commands that use a running emulator only if `--world` or `--url` is on the command line.
typed_world_options = options(
    _world_option(f"The world to use. {_IF_TYPED}"),
    _url_options(f"URL of the running emulator. {_IF_TYPED}"),
)
#: For commands that use a running emulator only if `--url` is on the command line.
typed_url_options = options(
    option(
        "--url",
        metavar="URL",
        help="Use the running emulator at this URL instead of this installation.",
    ),
    _control_token_option,
)
json_option = flag("--json", "as_json", help="Print JSON.")
USER_HELP = (
    "The user that the token is for, by alias (such as member or reader) or id. Default: `owner` "
    "or, if there is no user with this alias, an owner of the first organization that has one."
)
user_option = option("--user", metavar="USER", help=USER_HELP)
organization_option = option(
    "--organization",
    metavar="ORGANIZATION",
    help=(
        "The organization that the token is for, by alias or id. Default: the first organization "
        "in the world to which the user belongs, or no organization if there is none."
    ),
)
output_option = option(
    "--output",
    metavar="FILE",
    help=(
        "Write to this file instead of stdout. If an error occurs, no partial file is left behind."
    ),
)
junit_option = option(
    "--junit",
    metavar="FILE",
    help="Also write the report to this file as JUnit XML.",
)
assume_option = option(
    "--assume",
    metavar="NAME=VALUE",
    help=(
        "Set an assumption of the new world. `contract assumptions` lists the assumptions and "
        "their possible values. Repeatable."
    ),
    multiple=True,
)


sealed_option = flag(
    "--sealed",
    help=(
        "Run CMD and the emulator in a separate network that has only a loopback interface. CMD "
        "cannot reach any other machine, nor other servers on this machine, such as a local "
        "database. Unix sockets in the file system stay reachable. CMD still runs as the same "
        "user. Requires Linux namespaces."
    ),
)


def skip_rule_option(help: str) -> Decorator[Any]:
    """Declare `--skip-rule`. The command's parameter is `skip_rules`, a tuple of rule ids."""
    return option(
        "--skip-rule",
        "skip_rules",
        metavar="RULE",
        help=help,
        multiple=True,
        callback=read_words(tuple),
    )


def limit_option(default: int, help: str = "Show at most N rows.") -> Decorator[Any]:
    """Declare `--limit`, the number of rows to show, from 1 to 1,000."""
    return option(
        "--limit",
        metavar="N",
        help=help,
        type=WholeNumber(1, 1000),
        default=default,
    )


def replace_option(command: str) -> Decorator[Any]:
    """Declare `--replace` for a command that replaces the content of a world."""
    return flag(
        "--replace",
        help=(
            "Also replace a stored world that contains changes. Without --replace, "
            f"{command} refuses to do so, and prints the commands that save and restore the world."
        ),
    )


def with_client(command: F) -> F:
    """Add the options that select an emulator. The command receives a client as `client`."""

    @functools.wraps(command)
    def call(*args: Any, url: str | None, control_token: str | None, **params: Any) -> Any:
        with connected(url, control_token) as client:
            return command(*args, client=client, **params)

    return url_options(call)  # type: ignore[no-any-return]


def with_world(command: F, *, option: Decorator[Any] = world_option) -> F:
    """Add the options that select a world. The command receives the world's handle as `world`.

    `option` declares `--world`.
    """

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
            if refused.title == "No such world":  # the message already names the world
                where = f"at {address}"
            raise Failure(f"{refused} ({where})") from refused

    return option(call)  # type: ignore[no-any-return]


def ask(
    ask_emulator: Callable[[ControlClient], Any],
    offline: str | Callable[[], Any] | None = None,
) -> Any:
    """Return the running emulator's response, or data from this installation.

    `offline` is a function that returns the data from this installation, or the import path
    (`module:function`) of such a function. If `offline` is not None, the emulator is queried only
    if the command line contains `--url` or `--world`. Environment variables do not count, because
    they may be set in a shell even if no emulator is running.
    """
    if offline is not None and not is_typed("url", "world"):
        from msgspec import to_builtins

        # Convert messages to JSON objects, like those in a response from the running emulator.
        return to_builtins(load(offline)())
    params = click.get_current_context().params
    with connected(params["url"], params["control_token"]) as client:
        return ask_emulator(client)


# --- Variation ------------------------------------------------------------------------------------


def _read_points(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...] | None:
    if not any(texts):
        return None
    if ctx.params.get("vary") is None:
        raise click.UsageError("--vary-only needs --vary SEED")
    points: tuple[str, ...]
    points = read_words("hosting_emulator.variation.points:read_points")(ctx, param, texts)
    return points or None


#: The command's parameters are `vary` and `vary_only`. Without `--vary-only`, `vary_only` is None.
vary_options = options(
    option(
        "--vary",
        metavar="SEED",
        help=(
            "Vary responses at points where the contract leaves a choice, as determined by this "
            "seed. `contract variation-points` lists the points."
        ),
        env=SEED_VARIABLE,
        is_eager=True,
    ),
    option(
        "--vary-only",
        "vary_only",
        metavar="POINT",
        help="With --vary, vary responses only at this variation point. Repeatable.",
        multiple=True,
        callback=_read_points,
        env=ONLY_VARIABLE,
    ),
)


# --- Commands that start an emulator -------------------------------------------------------------


def address_options(*, port: int, port_help: str) -> Decorator[Any]:
    """Declare `--host`, `--port` and `--tls-port`. `port` is the default of `--port`.

    The command's parameters have the same names as the settings.
    """
    return options(
        option(
            "--host",
            metavar="ADDRESS",
            help=(
                "Address to listen on. With any address that is not a loopback address, other "
                "machines on the network can connect."
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
                "TCP port on which to serve the dev origins over HTTPS, with certificates from a "
                "local authority. 0 picks a free port. Default: no HTTPS."
            ),
        ),
    )


log_options = options(
    choice(
        "--log-format",
        choices=("text", "json"),
        help="Format of the log on stderr: plain text, or one JSON object per line.",
        env="HOSTING_EMULATOR_LOG_FORMAT",
    ),
    choice(
        "--log-level",
        choices=("error", "warning", "info", "debug"),
        help=(
            "Least severe level to log to stderr: error, warning, info (also logs each request, "
            "and each world that is created, replaced or deleted) or debug (also logs commits and "
            "due events)."
        ),
        default="warning",
        env="HOSTING_EMULATOR_LOG_LEVEL",
    ),
    flag(
        "--log-requests",
        help=(
            "Log each request to stderr on one line, with the status of the response and the "
            "reasons for it."
        ),
        env="HOSTING_EMULATOR_LOG_REQUESTS",
    ),
)

_SCENARIO_HELP = (
    "Start with the world defined by this scenario: a name from `scenario list`, or a YAML file."
)
scenario_option = option(
    "--scenario",
    metavar="NAME|FILE",
    help=f"{_SCENARIO_HELP} --clock and --assume override the values in the scenario.",
)
_judged_scenario_option = option(
    "--scenario",
    metavar="NAME|FILE",
    help=f"{_SCENARIO_HELP} --assume overrides the assumptions in the scenario.",
)
at_option = option(
    "--at",
    metavar="TIMESTAMP",
    help=(
        "World time at which a new world starts: a timestamp such as 2030-01-31T09:30:00Z (RFC "
        "3339), or `now` for the real time. Default: 2026-01-01T00:00:00Z for a frozen or skip "
        "clock, and `now` for other clocks. Cannot be used with --scenario or --import, which set the "
        "time."
    ),
)
_judged_at_option = option(
    "--at",
    metavar="TIMESTAMP",
    help=(
        "World time at which the world of each run starts: a timestamp such as "
        "2030-01-31T09:30:00Z (RFC 3339), or `now` for the real time. Default: "
        "2026-01-01T00:00:00Z. Cannot be used with --scenario or --import, which set the time."
    ),
)
#: Options that determine what a new world contains. Except for `assume`, the command's parameters
#: have the same names as the settings.
_IMPORT_HELP = (
    "Start with the world in this file, which `world export` or a failed test has written. Cannot "
    "be used with --scenario, {}--at or --assume."
)
_import_option = option("--import", "state", metavar="FILE", help=_IMPORT_HELP.format("--clock, "))
_judged_import_option = option("--import", "state", metavar="FILE", help=_IMPORT_HELP.format(""))
_seed_option = option(
    "--seed",
    metavar="TEXT",
    help=(
        "Seed from which the ids, handles and secrets of a new world are generated, unless a "
        "scenario contains a seed. With --import, the seed applies only to what is created after "
        "the import, and the default is the seed in the file or, if it contains none, a random "
        "seed."
    ),
    default=DEFAULT_SEED,
)
_clock_option = option(
    "--clock",
    metavar="MODE",
    help=(
        "Clock of a new world: real, frozen, skip (polls advance the clock), or scaled:RATE (RATE "
        "is the number of world seconds per real second). Default: the clock of the scenario or of "
        "the imported world, or else real. For an existing world, use the `clock` command."
    ),
)
_explored_clock_option = option(
    "--clock",
    metavar="MODE",
    help=(
        "Clock of the world in each run: skip (default; polls advance the clock), real, frozen, "
        "or scaled:RATE (RATE is the number of world seconds per real second)."
    ),
)
world_options = options(
    scenario_option,
    _import_option,
    _seed_option,
    _clock_option,
    at_option,
    assume_option,
)
#: The options for a world in `explore`, whose default clock is `skip`.
explored_world_options = options(
    scenario_option,
    _import_option,
    _seed_option,
    _explored_clock_option,
    at_option,
    assume_option,
)
#: The options for a world whose clock is chosen by the command.
judged_world_options = options(
    _judged_scenario_option,
    _judged_import_option,
    _seed_option,
    _judged_at_option,
    assume_option,
)
