"""Settings made into what the rooms take, each refused in one clear line when it cannot be.

All but `open_directory` raises StartError.
"""

from __future__ import annotations

import errno
import logging
import os
import secrets
import socket
from urllib.parse import urlsplit

from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.server.guard import Hosts, is_loopback, is_origin
from hosting_emulator.settings import Settings, StartError
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.variation.points import VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.records import Origin, Variation

_log = logging.getLogger("hosting_emulator")


def open_directory(settings: Settings) -> DataDirectory | None:
    """Open and lock the data directory, if there is to be one. Raises StateRefused."""
    if settings.data_dir is None:
        return None
    return DataDirectory(
        settings.data_dir, settings.durability, _log.warning, salvage=settings.salvage
    )


def clock_of(settings: Settings) -> tuple[str | None, float | None]:
    """Return the mode and rate that were asked for; None for what was not."""
    if settings.clock is None:
        return None, None
    mode, _, rate = settings.clock.partition(":")
    try:
        if mode in ("real", "frozen", "skip", "scaled") and (mode == "scaled") == bool(rate):
            return mode, float(rate) if rate else None
    except ValueError:
        pass
    raise StartError(
        f"--clock {settings.clock!r} is not a clock: use real, frozen, skip or scaled:RATE"
    )


def origin_of(settings: Settings) -> Origin:
    """Return how a new default world begins."""
    mode, rate = clock_of(settings)
    try:
        return Origin(
            mode or "real",  # type: ignore[arg-type] # checked above
            rate,
            None if settings.at is None else parse_timestamp(settings.at),
            Assumptions().changed(settings.assumptions),
            chosen=tuple(settings.assumptions),
        )
    except (AssumptionRefused, ValueError) as error:
        raise StartError(str(error)) from None


def variation_of(settings: Settings) -> Variation | None:
    """Return how worlds are to vary, if they are."""
    if settings.vary is None:
        if settings.vary_only:
            raise StartError("--only needs --vary: give a seed")
        return None
    try:
        return read_variation(settings.vary, settings.vary_only or None)
    except VariationRefused as error:
        raise StartError(f"--vary: {error}") from None


def check_ports(settings: Settings) -> None:
    """Refuse ports that are taken, as far as that can be told without keeping them."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in filter(None, (settings.port, settings.tls_port)):
        try:  # what is no port at all is told when it is opened
            socket.create_server((settings.host, port), family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise cannot_listen(settings.host, port, error) from None
        except OverflowError:
            return


def cannot_listen(host: str, port: int, error: OSError) -> StartError:
    """Say why nothing can listen at a port, and what to do."""
    if error.errno != errno.EADDRINUSE:
        return StartError(f"cannot listen on {host} port {port}: {error.strerror or error}")
    free = "make run ARGS='--port 0'" if "MAKELEVEL" in os.environ else "--port 0"
    return StartError(
        f"port {port} on {host} is in use; stop what listens there, or use {free} for a free one"
    )


def check_beginning(settings: Settings) -> None:
    """Refuse settings that contradict what the default world is to begin as."""
    if settings.state is None:
        if settings.scenario is not None and settings.at is not None:
            raise StartError("--at cannot be used with a scenario, whose clock sets its start")
        return
    beside = {
        "--scenario": settings.scenario,
        "--clock": settings.clock,
        "--at": settings.at,
        "--assume": settings.assumptions,
    }
    for option, given in beside.items():
        if given:
            raise StartError(f"{option} cannot be used with --from, whose state sets it")


def control_token(settings: Settings) -> str | None:
    """On this machine alone the control API needs no token; anywhere else it does."""
    if settings.control_token is not None:
        token = settings.control_token
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise StartError("--control-token must be printable ASCII, and not empty")
        return token.strip()
    here = settings.host == "localhost" or is_loopback(settings.host)
    if here and not is_reached_from_outside(settings.public_url):
        return None
    return secrets.token_urlsafe(24)


def is_reached_from_outside(public_url: str | None) -> bool:
    """Tell whether others reach this server by a name or address that is not this machine's own."""
    if public_url is None:
        return False
    return not Hosts().local(urlsplit(public_url).netloc)


def public_url(settings: Settings) -> str | None:
    """Return the base URL that others reach it by, without a slash at its end."""
    if settings.public_url is None:
        return None
    parts = urlsplit(settings.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise StartError(f"--public-url {settings.public_url!r} is not like http://host:port")
    return settings.public_url.rstrip("/")


def origins(settings: Settings) -> tuple[str, ...]:
    """Return whose pages are let in."""
    for origin in settings.allowed_origins:
        if not is_origin(origin):
            raise StartError(f"--allow-origin {origin!r} is not like http://app.test:3000")
    return tuple(settings.allowed_origins)
