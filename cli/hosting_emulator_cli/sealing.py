"""Seals this process for `--sealed`, so that no command can reach another machine by accident.

The process moves into a new user namespace and a new network namespace (see namespaces(7)), in
which its later child processes start. The new network has only a loopback interface. Users and
groups keep their ids, so programs and files behave as usual. Unix sockets that have a path belong
to the file system, so they are not sealed.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from contextlib import closing, suppress
from ipaddress import ip_address

from hosting_emulator_cli.main import Failure

# Constants of <linux/sched.h>, <linux/sockios.h> and <linux/if.h>.
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
#: `struct ifreq` with the name of an interface and its flags.
_INTERFACE_FLAGS = struct.Struct("16sH22x")


def seal(host: str) -> None:
    """Move this process to a new network that has only a loopback interface.

    `host` is the address on which the emulator will listen. Call this function before the process
    starts a thread or another process. Raises Failure if `host` is not a loopback address, or if the
    system refuses namespaces.
    """
    if not _is_loopback(host):
        raise Failure(
            "with --sealed, only loopback is available, so no other machine could reach the emulator "
            f"at {host}. Omit --host or --sealed"
        )
    if sys.platform != "linux":
        raise Failure("--sealed requires Linux namespaces. Omit --sealed on this system")
    try:
        enter_namespaces()
        start_loopback()
    except OSError as error:
        raise Failure(
            "--sealed needs a new user namespace and a new network namespace, which this system "
            f"refuses: {_refusal_reason(error)}. Allow user namespaces, or omit --sealed"
        ) from error


def enter_namespaces() -> None:
    """Move this process into a new user namespace and a new network namespace. Linux only.

    Raises OSError if the system refuses namespaces, or if this process has several threads.
    """
    # Only a process in the old user namespace is allowed to map all ids, so start one before this
    # process leaves that namespace.
    start_end, our_end = os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.close(our_end)
        os._exit(_map_ids_of_parent(start_end))
    os.close(start_end)
    try:
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        os.write(our_end, b"1")
    finally:
        os.close(our_end)
        _, status = os.waitpid(mapper, 0)
    error_number = os.waitstatus_to_exitcode(status)
    if error_number:
        raise OSError(error_number, os.strerror(error_number))


def start_loopback() -> None:
    """Start the loopback interface of this process's network namespace. Linux only. Raises OSError."""
    import fcntl

    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as any_socket:
        request = _INTERFACE_FLAGS.pack(b"lo", 0)
        name, flags = _INTERFACE_FLAGS.unpack(fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, _INTERFACE_FLAGS.pack(name, flags | _IFF_UP))


def _refusal_reason(error: OSError) -> str:
    if error.errno in (errno.EPERM, errno.EACCES):
        return (
            "not permitted. Many containers refuse namespaces, and Ubuntu does unless the kernel setting "
            "kernel.apparmor_restrict_unprivileged_userns is 0"
        )
    if error.errno in (errno.ENOSPC, errno.EUSERS):
        return "the kernel settings user.max_user_namespaces and user.max_net_namespaces limit them"
    return error.strerror or str(error)


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _unshare(flags: int) -> None:
    """Call unshare(2), which is part of Python only since version 3.12. Raises OSError."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(flags) != 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number))


def _map_ids_of_parent(start_end: int) -> int:
    """Wait for a byte from the parent process, and then map the ids in its new user namespace.

    Return 0, or the error's number. If no byte arrives, there is nothing to map.
    """
    try:
        if os.read(start_end, 1):
            _map_ids(os.getppid(), "uid", os.geteuid())
            _map_ids(os.getppid(), "gid", os.getegid())
    except OSError as error:
        return error.errno or 1
    return 0


def _map_ids(process_id: int, kind: str, own_id: int) -> None:
    """Map ids of a kind (`uid` or `gid`) to themselves in the user namespace of a process.

    A privileged caller keeps all ids. Any other caller keeps only its own id. Raises OSError.
    """
    try:
        _write(f"/proc/{process_id}/{kind}_map", _all_ids(kind))
    except PermissionError:
        if kind == "gid":
            # Deny `setgroups`, because otherwise an unprivileged process is not allowed to map a
            # group.
            _write(f"/proc/{process_id}/setgroups", "deny")
        _write(f"/proc/{process_id}/{kind}_map", f"{own_id} {own_id} 1\n")


def _all_ids(kind: str) -> str:
    """Return a map of all ids in this process's user namespace to themselves."""
    with open(f"/proc/self/{kind}_map", encoding="ascii") as file:  # noqa: PTH123
        rows = [line.split() for line in file]
    return "".join(f"{first} {first} {count}\n" for first, _, count in rows)


def _write(path: str, text: str) -> None:
    """Write a file of /proc with one system call, as the kernel requires. Raises OSError."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode("ascii"))
    finally:
        os.close(file)
