"""Connections of commands to other machines are noticed, and no others."""

from __future__ import annotations

import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from hosting_emulator_cli.outside_connections import NOT_WATCHED, ConnectionWatch

HEADER = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
ESTABLISHED = "01"
CONNECTING = "02"
LISTENING = "0A"
PID = 4711
OTHER_PID = 42
OWN_ADDRESS = "198.51.100.4"
OTHER_MACHINE = "203.0.113.7"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows connections")


class Kernel:
    """A folder like /proc, with connections and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "net").mkdir()
        self._rows: dict[str, list[str]] = {"tcp": [], "tcp6": []}
        for name in self._rows:
            self._write(name)
        self.descendants: set[int] = set()

    def add_socket(self, local: str, remote: str, inode: int, state: str = ESTABLISHED) -> None:
        """Add a socket. An address is a text such as `127.0.0.1 80`."""
        name = "tcp6" if ":" in remote else "tcp"
        self._rows[name].append(
            f"   0: {_field(local)} {_field(remote)} {state} 00000000:00000000 00:00000000 00000000 "
            f"    0        0 {inode} 1 00000000b83872d4 100 0 0 10 0"
        )
        self._write(name)

    def add_process(self, pid: int, name: str, *inodes: int) -> None:
        """Add a process that has these sockets."""
        descriptors = self.folder / str(pid) / "fd"
        descriptors.mkdir(parents=True)
        (descriptors / "0").symlink_to("/dev/null")
        for inode in inodes:
            (descriptors / str(inode)).symlink_to(f"socket:[{inode}]")
        (self.folder / str(pid) / "comm").write_text(f"{name}\n")

    def watch(self) -> ConnectionWatch:
        """Return a watch, which has not looked yet."""
        return ConnectionWatch(self.folder, lambda: set(self.descendants))

    def _write(self, name: str) -> None:
        lines = [HEADER, *self._rows[name]]
        (self.folder / "net" / name).write_text("\n".join(lines) + "\n")


def _field(text: str) -> str:
    address, port = text.split()
    packed = ip_address(address).packed
    words = [packed[start : start + 4] for start in range(0, len(packed), 4)]
    return (
        "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
        + f":{int(port):04X}"
    )


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    """A system on which the command, `node`, has socket 9."""
    kernel = Kernel(tmp_path)
    kernel.add_process(PID, "node", 9)
    kernel.descendants = {PID}
    return kernel


@pytest.mark.parametrize("state", [ESTABLISHED, CONNECTING])
@pytest.mark.parametrize(
    ("local", "remote", "text"),
    [
        (OWN_ADDRESS, OTHER_MACHINE, f"{OTHER_MACHINE}:443"),
        ("2001:db8::1", "2001:db8::2", "[2001:db8::2]:443"),
        (f"::ffff:{OWN_ADDRESS}", f"::ffff:{OTHER_MACHINE}", f"{OTHER_MACHINE}:443"),
    ],
)
def test_a_connection_to_another_machine_is_named_with_its_program(
    kernel: Kernel, local: str, remote: str, text: str, state: str
) -> None:
    kernel.add_socket(f"{local} 50000", f"{remote} 443", 9, state)
    watch = kernel.watch()
    watch.look()
    watch.look()

    assert [str(connection) for connection in watch.connections] == [f"node to {text}"]
    assert f"node to {text}. --sealed prevents this." in watch.sentence()


@pytest.mark.parametrize(
    ("local", "remote", "inode"),
    [
        ("127.0.0.1 50000", "127.0.0.1 443", 9),
        ("::1 50000", "::1 443", 9),
        ("::ffff:127.0.0.1 50000", "::ffff:127.0.0.1 443", 9),
        (f"{OWN_ADDRESS} 50000", f"{OWN_ADDRESS} 443", 9),
        (f"{OWN_ADDRESS} 8080", f"{OTHER_MACHINE} 50000", 9),
        (f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 0),
        (f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 10),
    ],
    ids=["loopback", "IPv6", "mapped", "own address", "incoming", "closed", "other program"],
)
def test_no_other_connection_is_noticed(
    kernel: Kernel, local: str, remote: str, inode: int
) -> None:
    kernel.add_process(OTHER_PID, "browser", 10)
    kernel.add_socket("0.0.0.0 8080", "0.0.0.0 0", 8, LISTENING)
    kernel.add_socket(local, remote, inode)
    watch = kernel.watch()
    watch.look()

    assert (watch.connections, watch.sentence()) == ([], "")


def test_processes_and_connections_from_before_the_watch_do_not_count(kernel: Kernel) -> None:
    kernel.add_socket(f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 10)
    with kernel.watch() as watch:
        kernel.add_process(OTHER_PID, "curl", 10, 11)
        kernel.descendants = {PID, OTHER_PID}
        kernel.add_socket(f"{OWN_ADDRESS} 50001", f"{OTHER_MACHINE} 443", 9)
        kernel.add_socket(f"{OWN_ADDRESS} 50002", f"{OTHER_MACHINE} 80", 11)
        watch.look()

    assert [str(connection) for connection in watch.connections] == [f"curl to {OTHER_MACHINE}:80"]


def test_a_sentence_names_five_connections_and_counts_the_others(kernel: Kernel) -> None:
    kernel.add_process(OTHER_PID, "curl", *range(20, 27))
    kernel.descendants.add(OTHER_PID)
    for number in range(20, 27):
        kernel.add_socket(f"{OWN_ADDRESS} {50000 + number}", f"{OTHER_MACHINE} {number}", number)
    watch = kernel.watch()
    watch.look()

    assert watch.sentence().count("curl to ") == 5
    assert ", and 2 more. " in watch.sentence()


def test_a_process_that_ends_during_a_look_is_passed_over(kernel: Kernel) -> None:
    kernel.descendants.add(OTHER_PID)
    kernel.add_socket(f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 9)
    watch = kernel.watch()
    watch.look()

    assert len(watch.connections) == 1


def test_another_system_says_that_nothing_was_watched(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with kernel.watch() as watch:
        kernel.add_socket(f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 9)

    assert (watch.connections, watch.sentence()) == ([], NOT_WATCHED)


def test_a_table_that_cannot_be_read_hides_no_other_connection(kernel: Kernel) -> None:
    kernel.add_socket(f"{OWN_ADDRESS} 50000", f"{OTHER_MACHINE} 443", 9)
    (kernel.folder / "net" / "tcp6").unlink()
    watch = kernel.watch()
    watch.look()

    assert [str(connection) for connection in watch.connections] == [f"node to {OTHER_MACHINE}:443"]
