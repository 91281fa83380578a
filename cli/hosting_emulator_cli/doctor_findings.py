"""The findings that `doctor` can report, by check.

Each finding has a verdict, a message and advice.

The texts contain placeholders in braces, which `finding` replaces with values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class FindingText:
    """The verdict and the texts of a finding.

    The verdict `ok` means that nothing needs to be done, `note` that something works but may
    surprise the user, and `problem` that something does not work or is not safe. `message` is a
    sentence. `advice` says what to do, or is None if nothing needs to be done.
    """

    verdict: Literal["ok", "note", "problem"]
    message: str
    advice: str | None = None


def _ok(message: str) -> FindingText:
    return FindingText("ok", message)


def _note(message: str, advice: str | None = None) -> FindingText:
    return FindingText("note", message, advice)


def _problem(message: str, advice: str) -> FindingText:
    return FindingText("problem", message, advice)


#: The findings by the name of the check and the name of the finding.
FINDINGS: dict[str, dict[str, FindingText]] = {
    "versions": {
        "not_installed": _note(
            "The emulator runs from source and is not installed.",
        ),
    },
    "settings": {
        "default": _ok(
            "`start` uses the defaults, because no environment variable or file sets an option.",
        ),
        "given": _ok(
            "`{setting}` comes from {origin}.",
        ),
        "unknown": _note(
            "{why}",
            "Correct the name, or unset the variable.",
        ),
        "wrong": _problem(
            "`start` would fail: {why}",
            "Correct the file or the variable, or set the option on the command line.",
        ),
    },
    "python": {
        "ok": _ok(
            "This is Python {version}. The emulator needs {least} or newer.",
        ),
        "old": _problem(
            "This is Python {version}, but the emulator needs {least} or newer.",
            "Create an environment with a newer Python (`python{least} -m venv`), and install the "
            "emulator there.",
        ),
    },
    "dependencies": {
        "ok": _ok(
            "All {count} dependencies are installed and new enough.",
        ),
        "old": _problem(
            "{name} {state}, but the emulator needs {least} or newer.",
            "Reinstall with `pip install --upgrade hosting-emulator`, or with `make install` in a "
            "checkout.",
        ),
    },
    "emulator": {
        "ok": _ok(
            "Version {version} is running at {url} (process {pid}).",
        ),
        "none": _note(
            "No emulator is running at {url}.",
            "`{start}` starts an emulator.",
        ),
        "lost": _note(
            "{why}.",
            "{advice}.",
        ),
        "silent": _problem(
            "Nothing responds at {url}: {why}.",
            "Start the emulator with `{start}`, or set its address with --url or "
            "HOSTING_EMULATOR_URL. `unset HOSTING_EMULATOR_URL` restores the default address.",
        ),
        "other": _problem(
            "{why}.",
            "Start the emulator with `{start}`, or set its address with --url or "
            "HOSTING_EMULATOR_URL. `unset HOSTING_EMULATOR_URL` restores the default address.",
        ),
        "version": _problem(
            "Version {version} is running at {url}, but this command has version {ours}.",
            "Restart the emulator from this environment, or run this command from the emulator's "
            "environment.",
        ),
        "closed": _note(
            "Version {version} is running at {url}, but refused a request for details: {why}.",
            "Set --control-token or HOSTING_EMULATOR_CONTROL_TOKEN to the control token that "
            "`start` printed.",
        ),
    },
    "port": {
        "any": _ok(
            "`start` will pick a free port.",
        ),
        "free": _ok(
            "Port {port} is free.",
        ),
        "ours": _ok(
            "An emulator (version {version}) is already using port {port}{storage}.",
        ),
        "elsewhere": _problem(
            "The emulator that was started in {folder} is using port {port}, so `start` would fail.",
            "Use that emulator ({url}), stop it with `hosting-emulator stop --url {url}`, or choose "
            "another port: `start {option} 0` picks a free port.",
        ),
        "unlisted": _problem(
            "An emulator (version {version}) that you did not start on this machine is using port "
            "{port}{storage}, so `start` would fail.",
            "Stop that emulator, or choose another port: `start {option} 0` picks a free port.",
        ),
        "shared": _note(
            "An emulator (version {version}) that you did not start on this machine is using port "
            "{port}{storage}. Commands in this folder use it, but `start` would fail.",
            "To start another emulator, choose another port: `start {option} 0` picks a free port.",
        ),
        "no_host": _problem(
            "Cannot listen on {host} port {port}: {why}.",
            "Set --host to an address of this machine, such as 127.0.0.1.",
        ),
        "refused": _problem(
            "Cannot listen on port {port}: {why}.",
            "Choose another port: `start {option} 0` picks a free port.",
        ),
        "taken": _problem(
            "{program} is using port {port}.",
            "Stop this process (see `lsof -i :{port}`), or choose another port: `start {option} 0` "
            "picks a free port.",
        ),
    },
    "data": {
        "none": _ok(
            "{path} does not exist yet. `start` creates it.",
        ),
        "ok": _ok(
            "{path} is intact and not in use. It contains {count}.",
        ),
        "in_use": _ok(
            "The running emulator is using {path}, which contains {count}.",
        ),
        "damaged": _problem(
            "{seen}",
            "{advice}",
        ),
        "notice": _note(
            "{seen}",
        ),
        "link": _problem(
            "{path} is a broken link.",
            "Remove the link.",
        ),
        "file": _problem(
            "{path} is a file, not a directory.",
            "Move the file, or use `start` with another --data-dir or with --ephemeral.",
        ),
        "unwritable": _problem(
            "You cannot write to {path}.",
            "Change the directory's owner or mode (`chown`, `chmod u+rwx`), or use `start` with "
            "another --data-dir or with --ephemeral.",
        ),
        "held": _note(
            "{path} is in use by an emulator that did not respond, so {count} could not be read.",
            "Set the emulator's address with --url, or stop the emulator (`lsof {path}/lock` names "
            "its process).",
        ),
    },
    "secrets": {
        "ok": _ok(
            "Only you can read the stored state.",
        ),
        "writable": _problem(
            "Other users of this machine can write to {path} (mode {mode}).",
            "Run `chmod go-w {path}`.",
        ),
        "readable": _problem(
            "Other users of this machine can read {file}{more}.",
            "Run `chmod -R go= {path}`. If the command has no effect, this file system does not "
            "support modes: use `start` with another --data-dir or with --ephemeral.",
        ),
    },
    "certificates": {
        "none": _ok(
            "There is no certificate authority yet. `start --tls-port` creates one.",
        ),
        "ok": _ok(
            "The certificate authority {path} is valid until {ends}.",
        ),
        "served": _ok(
            "The emulator presents valid certificates for {names} on port {port}.",
        ),
        "useless": _problem(
            "{why}.",
            "Restart with --tls-port, which creates a new authority, and make your client trust "
            "the new authority.",
        ),
        "soon": _note(
            "{path} expires on {ends}.",
            "Restart with --tls-port, which creates a new authority, and make your client trust "
            "the new authority.",
        ),
        "early": _problem(
            "{path} is not valid before {begins}, which is in the future.",
            "Correct this machine's clock, or stop the emulator, remove the file's folder, and start "
            "with --tls-port.",
        ),
        "readable": _problem(
            "Other users of this machine can read {key} and impersonate your dev origins.",
            "Run `chmod 600 {key}`. If others may have read the key, also stop the emulator, remove "
            "{folder}, start with --tls-port, and stop trusting the old authority.",
        ),
        "refused": _problem(
            "The certificate for {name} on port {port} cannot be verified with {path}: {why}.",
            "Restart the emulator. If clients still reject the certificate, make them trust {path} "
            "again.",
        ),
    },
    "localhost": {
        "ok": _ok(
            "{name} resolves to {addresses}.",
        ),
        "unknown": _problem(
            "{name} does not resolve: {why}.",
            "Add the line `127.0.0.1 localhost` to /etc/hosts.",
        ),
        "elsewhere": _problem(
            "{name} resolves to {addresses}, which is not this machine.",
            "Add the line `127.0.0.1 localhost` to /etc/hosts.",
        ),
        "only_ipv6": _note(
            "{name} resolves only to {addresses}, but `start` listens on 127.0.0.1.",
            "Use http://127.0.0.1:PORT, or `start --host ::1`.",
        ),
    },
    "dev origins": {
        "ok": _ok(
            "{name} resolves to {addresses}.",
        ),
        "unknown": _note(
            "{name} does not resolve: {why}.",
            "Many resolvers do not know names under localhost, but browsers and curl resolve such "
            "names themselves. For other clients, add a line such as "
            "`127.0.0.1 dev-olive-seal-harbor.dev.localhost` to /etc/hosts, or send requests to "
            "127.0.0.1 with the origin's name in the Host header.",
        ),
        "elsewhere": _problem(
            "{name} resolves to {addresses}, which is not this machine.",
            "Add each origin's name to /etc/hosts with 127.0.0.1, or use a name server that "
            "resolves no names under localhost (RFC 6761).",
        ),
    },
    "open files": {
        "ok": _ok(
            "A process can have {most} open files and connections.",
        ),
        "some": _note(
            "A process can have only {most} open files and connections.",
            "Raise the limit in limits.conf, or with `docker run --ulimit nofile=65536`.",
        ),
        "few": _problem(
            "A process can have only {most} open files and connections.",
            "Raise the limit in limits.conf, or with `docker run --ulimit nofile=65536`.",
        ),
    },
    "clock": {
        "ok": _ok(
            "This machine's time is {now} UTC.",
        ),
        "wrong": _problem(
            "This machine's clock says {now}, so other machines will reject its tokens and "
            "certificates.",
            "Set or synchronize the clock (`timedatectl set-ntp true`), or set the time of worlds "
            "(`start --clock frozen --at 2030-01-31T09:30:00Z`).",
        ),
    },
    "proxies": {
        "none": _ok(
            "No proxy is set in the environment.",
        ),
        "ok": _ok(
            "{names} is set, and NO_PROXY excludes this machine.",
        ),
        "wrong": _problem(
            "Because {names} is set, many clients would send requests for the emulator to the "
            "proxy.",
            "Run `export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1`.",
        ),
    },
    "registry": {
        "ok": _ok(
            "{running}.",
        ),
        "none": _note(
            "The list of your running emulators cannot be stored: other users could change every "
            "folder that could contain it.",
            "Set XDG_RUNTIME_DIR to a folder that only you can use (mode 700).",
        ),
    },
}


@dataclass(frozen=True)
class CheckFinding:
    """A line in the report that `doctor` prints.

    `verdict` is `ok`, `note` or `problem`. `seen` is a sentence that describes the finding.
    `advice` says what to do, or is None if nothing needs to be done.
    """

    check: str
    verdict: str
    seen: str
    advice: str | None = None


def finding(check: str, kind: str, **facts: object) -> CheckFinding:
    """Return a finding of this kind. `facts` are the values of the placeholders in its texts."""
    text = FINDINGS[check][kind]
    advice = text.advice
    if advice is not None:
        advice = advice.format(**facts)
    return CheckFinding(check, text.verdict, text.message.format(**facts), advice)
