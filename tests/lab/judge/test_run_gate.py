"""A run that is to be alone waits for the others, and the others wait for it."""

from __future__ import annotations

import threading

import pytest

from hosting_emulator_lab.judge.run_gate import RunGate

PATIENCE_S = 10.0
#: A thread that waits for others is not inside within this time.
TOO_SHORT_S = 0.03


def test_shared_runs_are_inside_at_the_same_time() -> None:
    gate = RunGate()
    both_inside = threading.Barrier(2, timeout=PATIENCE_S)

    def run() -> None:
        with gate.shared():
            both_inside.wait()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not both_inside.broken


def test_a_run_that_is_alone_begins_after_the_others_and_before_later_ones() -> None:
    gate = RunGate()
    order: list[str] = []
    first_inside = threading.Event()
    first_may_end = threading.Event()

    def first() -> None:
        with gate.shared():
            first_inside.set()
            first_may_end.wait(PATIENCE_S)
            order.append("first")

    def alone() -> None:
        with gate.alone():
            order.append("alone")

    def later() -> None:
        with gate.shared():
            order.append("later")

    threads = [threading.Thread(target=first), threading.Thread(target=alone)]
    threads[0].start()
    assert first_inside.wait(PATIENCE_S)
    threads[1].start()
    while not gate.waiting_count:
        pass
    threads.append(threading.Thread(target=later))
    threads[2].start()
    first_may_end.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert order == ["first", "alone", "later"]


@pytest.mark.parametrize(("is_empty", "is_inside"), [(False, True), (True, False)])
def test_only_an_empty_gate_is_without_a_thread_that_is_aside(
    is_empty: bool, is_inside: bool
) -> None:
    gate = RunGate()
    inside = threading.Event()

    def wait_inside() -> None:
        with gate.empty() if is_empty else gate.alone():
            inside.set()

    thread = threading.Thread(target=wait_inside)
    with gate.aside():
        assert gate.has_aside
        thread.start()
        # A thread that must not be inside is given a moment. The others get the time that they need.
        assert inside.wait(PATIENCE_S if is_inside else TOO_SHORT_S) == is_inside
    thread.join(PATIENCE_S)

    assert inside.is_set()
    assert not gate.has_aside


def test_a_thread_that_is_aside_waits_while_the_gate_is_empty() -> None:
    gate = RunGate()
    order: list[str] = []

    def be_aside() -> None:
        with gate.aside():
            order.append("aside")

    thread = threading.Thread(target=be_aside)
    with gate.empty():
        thread.start()
        thread.join(TOO_SHORT_S)
        order.append("empty")
    thread.join(PATIENCE_S)

    assert order == ["empty", "aside"]


def test_the_gate_opens_again_after_an_error_inside() -> None:
    gate = RunGate()
    for way in (gate.empty, gate.aside, gate.alone, gate.shared, gate.empty):
        try:
            with way():
                raise KeyError
        except KeyError:
            pass
