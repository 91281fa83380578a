"""The machine: how names resolve, what a process may open, what time it is, what proxies do."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from hosting_emulator_cli.doctor.finding import Finding, note, ok, problem

#: Some dev origin's name; all of them end so.
DEV_NAME = "x.dev.localhost"
_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
_FEW_FILES, _ENOUGH_FILES = 256, 4096
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_LOOPBACK = ("localhost", "127.0.0.1")

Resolve = Callable[[str], Collection[str]]


def resolve(name: str) -> list[str]:
    """Return the addresses of a name, as programs here find them. Raises OSError."""
    found = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def check_localhost(resolve: Resolve) -> Finding:
    """Judge whether `localhost` leads here."""
    line = "Add the line `127.0.0.1 localhost` to /etc/hosts."
    try:
        found = list(resolve("localhost"))
    except OSError as error:
        return problem("localhost", f"It does not resolve: {error.strerror or error}.", line)
    if not all(map(_is_here, found)):
        return problem("localhost", f"It resolves to {_listed(found)}: not this machine.", line)
    if "127.0.0.1" not in found:
        return note(
            "localhost",
            f"It resolves to {_listed(found)} only, but `start` listens on 127.0.0.1.",
            "Use http://127.0.0.1:PORT, or `start --host ::1`.",
        )
    return ok("localhost", f"It resolves to {_listed(found)}.")


def check_dev_names(resolve: Resolve) -> Finding:
    """Judge whether the names of dev origins, `*.dev.localhost`, lead here."""
    try:
        found = list(resolve(DEV_NAME))
    except OSError:
        return note(
            "dev origins",
            f"{DEV_NAME} does not resolve: this machine's resolver knows no names under localhost.",
            "Browsers and curl know them by themselves. For other clients add a line such as "
            "`127.0.0.1 dev-olive-seal-harbor.dev.localhost` to /etc/hosts, or send requests to "
            "127.0.0.1 with the origin's name in the Host header.",
        )
    if not all(map(_is_here, found)):
        return problem(
            "dev origins",
            f"{DEV_NAME} resolves to {_listed(found)}: a name server answers for other machines' names.",
            "Add each origin's name to /etc/hosts with 127.0.0.1, or use a name server that leaves "
            "localhost alone (RFC 6761).",
        )
    return ok("dev origins", f"{DEV_NAME} resolves to {_listed(found)}.")


def ipv6_error() -> OSError | None:
    """Try to listen on IPv6 loopback; None: one can."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError as error:
        return error
    return None


def check_ipv6(error: OSError | None) -> Finding:
    """Judge whether `start --host ::1` would work; hardly anybody needs it."""
    if error is None:
        return ok("IPv6", "::1 can be listened on; `start --host ::1` would.")
    why = (error.strerror or str(error)).lower()
    return note("IPv6", f"::1 cannot be listened on ({why}): only IPv4 is served.")


def check_open_files(most: int | None) -> Finding:
    """Judge the most files a process may open here, its hard limit; None is no limit."""
    if most is None or most >= _ENOUGH_FILES:
        shown = "any number of" if most is None else f"{most:,}"
        return ok("open files", f"A process may have {shown} files and connections open.")
    seen = f"A process may have only {most:,} files and connections open."
    how = "Have the system allow more: limits.conf, or `docker run --ulimit nofile=65536`."
    if most < _FEW_FILES:
        return problem("open files", seen, how)
    return note("open files", seen, how)


def check_clock(now: datetime) -> Finding:
    """Judge this machine's clock, which worlds with a real clock follow."""
    if _EPOCH <= now < _EPOCH.replace(year=2100):
        return ok("clock", f"It is {now:%Y-%m-%d %H:%M} UTC.")
    return problem(
        "clock",
        f"This machine says it is {now:%Y-%m-%d}, so tokens and certificates will not fit others'.",
        "Set the clock, or let the network do so (`timedatectl set-ntp true`); or give worlds a "
        "time of their own: `start --clock frozen --at 2030-01-31T09:30:00Z`.",
    )


def check_proxies(environ: Mapping[str, str]) -> Finding:
    """Judge whether proxies named in the environment would be sent what is meant for this machine."""
    named = [name for base in _PROXIES for name in (base, base.lower()) if environ.get(name)]
    if not named:
        return ok("proxies", "The environment names none.")
    spared = ",".join(environ.get(name, "") for name in ("NO_PROXY", "no_proxy"))
    if all(_is_spared(host, spared) for host in _LOOPBACK):
        return ok("proxies", f"{_listed(named)} is set, and NO_PROXY leaves this machine out.")
    return problem(
        "proxies",
        f"{_listed(named)} is set: many clients would send it what is meant for the emulator.",
        "`export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1`",
    )


def _is_spared(host: str, no_proxy: str) -> bool:
    for entry in (part.strip().lower().lstrip(".") for part in no_proxy.split(",")):
        if entry in ("*", host):
            return True
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry):
                return True
    return False


def _is_here(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _listed(words: Collection[str]) -> str:
    return ", ".join(words)
