"""The findings of `doctor` by check, each with a verdict, a message and advice.

The texts contain the names of facts in braces, which `doctor_checks` fills in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class FindingText:
    """The text of a finding. `message` is a sentence; `advice` says what to do, if anything.

    `ok` means that there is nothing to do. `note` means that something works, but may surprise the
    user. `problem` means that something does not work, or is not safe, until the user acts.
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


#: The findings by check and by name.
FINDINGS: dict[str, dict[str, FindingText]] = {
    "versions": {
        "not_installed": _note(
            "It runs from source and is not installed.",
        ),
    },
    "settings": {
        "default": _ok(
            "`start` uses the defaults: no environment variable and no file sets anything.",
        ),
        "given": _ok(
            "{option} {value}, from {origin}.",
        ),
        "unknown": _note(
            "No command reads the variable {name}{hint}",
            "Correct its name, or unset it.",
        ),
        "wrong": _problem(
            "`start` would fail: {why}",
            "Correct the file or the variable, or set the option on the command line.",
        ),
    },
    "python": {
        "ok": _ok(
            "Python {version}; {least} or newer is needed.",
        ),
        "old": _problem(
            "This is Python {version}; the emulator needs {least} or newer.",
            "Create an environment with a newer Python and install into it: "
            "`python{least} -m venv`.",
        ),
    },
    "dependencies": {
        "ok": _ok(
            "All {count} are installed and new enough.",
        ),
        "old": _problem(
            "{name} {state}; {least} or newer is needed.",
            "Install again: `pip install --upgrade hosting-emulator`, or `make install` "
            "in a checkout.",
        ),
    },
    "emulator": {
        "ok": _ok(
            "Version {version} runs at {url} (process {pid}).",
        ),
        "none": _note(
            "No emulator runs at {url}.",
            "`{start}` starts one.",
        ),
        "silent": _problem(
            "Nothing responds at {url}: {why}.",
            "Start it (`{start}`), or give its address with --url or HOSTING_EMULATOR_URL "
            "(`unset HOSTING_EMULATOR_URL` removes the current one).",
        ),
        "other": _problem(
            "{why}.",
            "Start it (`{start}`), or give its address with --url or HOSTING_EMULATOR_URL "
            "(`unset HOSTING_EMULATOR_URL` removes the current one).",
        ),
        "version": _problem(
            "Version {version} runs at {url}, but this command is {ours}.",
            "Stop the emulator and start it again from this environment, or use its own command.",
        ),
        "closed": _note(
            "Version {version} runs at {url}, but refused to say more: {why}.",
            "Give the control token that `start` printed: --control-token, or "
            "HOSTING_EMULATOR_CONTROL_TOKEN.",
        ),
    },
    "port": {
        "any": _ok(
            "A free port will be picked.",
        ),
        "free": _ok(
            "{port} is free.",
        ),
        "ours": _ok(
            "An emulator (version {version}) runs on {port}{kept}.",
        ),
        "refused": _problem(
            "Cannot listen on {port}: {why}.",
            "Choose another port: `start {option} 0` picks a free one.",
        ),
        "taken": _problem(
            "{port} is used by another program, which is not an emulator.",
            "Stop it (`lsof -i :{port}` names it), or choose another port: `start "
            "{option} 0` picks a free one.",
        ),
    },
    "data": {
        "none": _ok(
            "{path} does not exist yet; `start` creates it.",
        ),
        "ok": _ok(
            "{path} is intact and not in use: {count}.",
        ),
        "in_use": _ok(
            "{path} is in use by the running emulator: {count}.",
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
            "Remove it.",
        ),
        "file": _problem(
            "{path} is a file.",
            "Move it away, or give `start` another --data-dir, or --ephemeral.",
        ),
        "unwritable": _problem(
            "{path} cannot be written by this user.",
            "Change its owner or mode (`chown`, `chmod u+rwx`), or give `start` another "
            "--data-dir, or --ephemeral.",
        ),
        "held": _note(
            "{path} is in use by an emulator that did not respond, so {count} could not be read.",
            "Give its address with --url, or stop it (`lsof {path}/lock` names it).",
        ),
    },
    "secrets": {
        "ok": _ok(
            "Only you can read the stored state.",
        ),
        "writable": _problem(
            "Other users of this machine can write in {path} (mode {mode}).",
            "`chmod go-w {path}`",
        ),
        "readable": _problem(
            "Other users of this machine can read {file}{more}.",
            "`chmod -R go= {path}`; if that has no effect, this file system has no modes: "
            "give `start` another --data-dir, or --ephemeral.",
        ),
    },
    "certificates": {
        "none": _ok(
            "None yet; `start --tls-port` creates a certificate authority.",
        ),
        "ok": _ok(
            "The authority {path} is valid until {ends}.",
        ),
        "served": _ok(
            "Port {port} presents valid certificates for {names}.",
        ),
        "useless": _problem(
            "{why}.",
            "Restart with --tls-port, which replaces an unusable authority, and let your "
            "client trust the new one.",
        ),
        "soon": _note(
            "{path} expires on {ends}.",
            "Restart with --tls-port, which replaces an unusable authority, and let your "
            "client trust the new one.",
        ),
        "early": _problem(
            "{path} is not valid before {begins}, which is in the future.",
            "Set this machine's clock, or remove the folder and restart with --tls-port.",
        ),
        "readable": _problem(
            "Other users of this machine can read {key} and impersonate your dev origins.",
            "`chmod 600 {key}`; if others may have read it, remove {folder}, restart with "
            "--tls-port, and stop trusting the old one.",
        ),
        "refused": _problem(
            "The certificate for {name} on port {port} cannot be verified with {path}: {why}.",
            "Restart the emulator; if clients still refuse it, let them trust this file again.",
        ),
    },
    "localhost": {
        "ok": _ok(
            "It resolves to {addresses}.",
        ),
        "unknown": _problem(
            "It does not resolve: {why}.",
            "Add the line `127.0.0.1 localhost` to /etc/hosts.",
        ),
        "elsewhere": _problem(
            "It resolves to {addresses}, which is not this machine.",
            "Add the line `127.0.0.1 localhost` to /etc/hosts.",
        ),
        "only_ipv6": _note(
            "It resolves to {addresses} only, but `start` listens on 127.0.0.1.",
            "Use http://127.0.0.1:PORT, or `start --host ::1`.",
        ),
    },
    "dev origins": {
        "ok": _ok(
            "{name} resolves to {addresses}.",
        ),
        "unknown": _note(
            "{name} does not resolve: this machine's resolver does not know names under localhost.",
            "Browsers and curl resolve such names themselves. For other clients add a line such "
            "as `127.0.0.1 dev-olive-seal-harbor.dev.localhost` to /etc/hosts, or send "
            "requests to 127.0.0.1 with the origin's name in the Host header.",
        ),
        "elsewhere": _problem(
            "{name} resolves to {addresses}: a name server gives a wrong address for it.",
            "Add each origin's name to /etc/hosts with 127.0.0.1, or use a name server "
            "that leaves localhost alone (RFC 6761).",
        ),
    },
    "open files": {
        "ok": _ok(
            "A process may have {most} files and connections open.",
        ),
        "some": _note(
            "A process may have only {most} files and connections open.",
            "Raise the limit: limits.conf, or `docker run --ulimit nofile=65536`.",
        ),
        "few": _problem(
            "A process may have only {most} files and connections open.",
            "Raise the limit: limits.conf, or `docker run --ulimit nofile=65536`.",
        ),
    },
    "clock": {
        "ok": _ok(
            "It is {now} UTC.",
        ),
        "wrong": _problem(
            "This machine's clock says {now}, so other machines will refuse its tokens "
            "and certificates.",
            "Set the clock, or synchronize it (`timedatectl set-ntp true`); or set the "
            "time of worlds: `start --clock frozen --at 2030-01-31T09:30:00Z`.",
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
            "{names} is set: many clients would send the emulator's requests to the proxy.",
            "`export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1`",
        ),
    },
}
