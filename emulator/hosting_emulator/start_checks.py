"""Checks the settings before the emulator creates or opens anything. Raises StartError if one is refused."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from urllib.parse import urlsplit

from hosting_emulator import MAKE_RUN_VARIABLE
from hosting_emulator.http.addresses import (
    host_name,
    host_of_origin,
    is_loopback,
    is_this_machine,
)
from hosting_emulator.port_holders import emulator_at, program_at
from hosting_emulator.settings import PortInUse, Settings, StartError
from hosting_emulator.world.naming import id_of, not_found_message
from hosting_emulator.world.tables import USERS
from hosting_emulator.world.value import World


def check_beginning(settings: Settings) -> None:
    """Refuse settings that contradict the source of the default world (a scenario or an imported state)."""
    if settings.state is None:
        if settings.scenario is not None and settings.at is not None:
            raise StartError(
                "--at cannot be used with a scenario, because the clock of the scenario sets the start time"
            )
        return
    excluded = {
        "--scenario": settings.scenario,
        "--clock": settings.clock,
        "--at": settings.at,
        "--assume": settings.assumptions,
    }
    for option, value in excluded.items():
        if value:
            raise StartError(
                f"{option} cannot be used with --import, because the imported state sets it"
            )


def check_origins(settings: Settings) -> None:
    """Refuse invalid web app origins. Raises StartError."""
    for origin in settings.allowed_origins:
        if not host_of_origin(origin):
            raise StartError(
                f"--allow-origin {origin!r} is not an origin such as http://app.test:3000"
            )


def check_different_ports(settings: Settings) -> None:
    """Refuse a TLS port that is also the port for HTTP. Two free ports (0) are always different."""
    if settings.port and settings.tls_port == settings.port:
        raise StartError(
            f"--tls-port {settings.tls_port} is also the port of --port, but HTTP and HTTPS need two "
            "different ports: change one of them (with its option, with HOSTING_EMULATOR_PORT or "
            "HOSTING_EMULATOR_TLS_PORT, or with `port` or `tls-port` in the settings file), or use "
            "--tls-port 0 for a free port"
        )


def check_user(settings: Settings, world: World) -> None:
    """Refuse a user who does not exist in the default world with which the emulator would start."""
    name = settings.user
    if name is not None and world.get(USERS, id_of(world, USERS, name)) is None:
        raise StartError(not_found_message(world, USERS, name))


def check_ports(settings: Settings) -> None:
    """Refuse ports on which the emulator cannot listen.

    Another process may still take a port before the emulator opens it.
    """
    for option, port in (("--port", settings.port), ("--tls-port", settings.tls_port)):
        if port is not None:
            error = listening_error(settings.host, port)
            if error is not None:
                raise cannot_listen(settings.host, port, error, option)


def listening_error(host: str, port: int) -> OSError | None:
    """Return the error with which a start would fail to listen on a port, or None if it would not.

    A name can resolve to several addresses. A start listens on all of them.
    """
    try:
        entries = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        return error
    unavailable = None
    is_listening = False
    for family, _, _, _, address in dict.fromkeys(entries):
        try:
            socket.create_server(address[:2], family=family).close()
        except OSError as error:
            # A machine without IPv6 may still have IPv6 addresses for a name.
            if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                return error
            unavailable = error
        else:
            is_listening = True
    if is_listening:
        return None
    return unavailable


def cannot_listen(host: str, port: int, error: OSError, option: str = "--port") -> StartError:
    """Return an error that says why the emulator cannot listen on a port, and what to do.

    `option` is the option that sets the port.
    """
    if error.errno != errno.EADDRINUSE:
        return StartError(f"cannot listen on {host} port {port}: {error.strerror or error}")
    remedy = f"use {option} 0 for a free port"
    if MAKE_RUN_VARIABLE in os.environ:
        remedy = f"run `make run ARGS='{option} 0'` for a free port"
    setting = option.removeprefix("--").replace("-", "_")
    return PortInUse(_port_problem(host, port), setting, remedy)


def _port_problem(host: str, port: int) -> str:
    """Say what uses a port, and how to free it."""
    emulator = emulator_at(port)
    if emulator is not None:
        return (
            f"port {port} on {host} is in use by the emulator that was started in {emulator.folder}; "
            f"use that emulator ({emulator.url}/_emulator), stop it with `hosting-emulator stop --url "
            f"{emulator.url}`"
        )
    program = program_at(port)
    if program is not None:
        return (
            f"port {port} on {host} is in use by {program.name} (process {program.pid}); "
            "stop this process"
        )
    return f"port {port} on {host} is in use; stop the process that listens there"


def control_token(settings: Settings) -> str | None:
    """Return the token that the control API requires, or None if it requires none.

    A token is required if the settings contain one or if other machines can reach the API. Raises
    StartError if the token would be invalid in a header.
    """
    if settings.control_token is not None:
        token = settings.control_token
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise StartError("--control-token must be printable ASCII, and not empty")
        return token.strip()
    is_local = settings.host == "localhost" or is_loopback(settings.host)
    if is_local and not is_reached_from_outside(settings.public_url):
        return None
    return secrets.token_urlsafe(24)


def is_reached_from_outside(public_url: str | None) -> bool:
    """Return whether the name or address in a public URL is not one of this machine's own."""
    if public_url is None:
        return False
    return not is_this_machine(host_name(urlsplit(public_url).netloc))


def public_url(settings: Settings) -> str | None:
    """Return the public base URL without a trailing slash, or None if none is set. Raises StartError."""
    if settings.public_url is None:
        return None
    parts = urlsplit(settings.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise StartError(
            f"--public-url {settings.public_url!r} is not a URL such as http://host:port"
        )
    return settings.public_url.rstrip("/")
