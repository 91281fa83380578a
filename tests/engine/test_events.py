"""The feed of events: all listeners share one ring, and without listeners it records nothing."""

from hosting_emulator.engine.feed import RING, Feed, FeedEvent
from hosting_emulator.engine.history import SavedState
from tests.support.in_process import InProcess


def nothing() -> None:
    """Do nothing, as a listener."""


def kinds(events: list[FeedEvent] | None) -> list[str]:
    assert events is not None
    return [event.kind for event in events]


def test_a_feed_without_listeners_records_no_events():
    api = InProcess()
    before = api.engine.feed.last_id
    api.apply_domains()

    assert not api.engine.feed.awake
    assert api.engine.feed.last_id == before


def test_a_listener_is_woken_for_each_event():
    api = InProcess()
    woken = []
    feed = api.engine.feed
    start = feed.last_id
    feed.listen(lambda: woken.append(feed.last_id))
    api.apply_domains()
    api.dns()

    events = feed.since(start, 100)
    assert kinds(events) == ["commit", "clock", "request", "request"]
    assert woken == [event.id for event in events or []] == list(range(start + 1, start + 5))


def test_the_feed_reports_faults_and_replacements_of_the_world():
    api = InProcess()
    feed = api.engine.feed
    start = api.engine.feed.last_id
    feed.listen(nothing)
    api.add_fault(abort={"code": "rate_limited"})
    api.dns()
    api.engine.restore(SavedState(api.world, api.engine.now_ms()))

    assert kinds(feed.since(start, 100)) == [
        "commit",
        "fault",
        "commit",
        "fault",
        "request",
        "world",
    ]


def test_the_feed_reports_a_refused_request_without_a_commit():
    api = InProcess()
    feed = api.engine.feed
    start = api.engine.feed.last_id
    feed.listen(nothing)
    api.set_flag(True, user="reader")

    assert kinds(feed.since(start, 100)) == ["request"]


def test_each_listener_reads_from_its_own_position():
    feed = Feed(0)
    feed.listen(nothing)
    for n in range(5):
        feed.emit("world", (InProcess().world.commit, str(n)))

    assert [event.id for event in feed.since(0, 2) or []] == [1, 2]
    assert [event.id for event in feed.since(3, 10) or []] == [4, 5]
    assert feed.since(5, 10) == []


def test_a_listener_that_falls_behind_the_ring_learns_that_it_missed_events():
    feed = Feed(0)
    world = InProcess().world
    feed.listen(nothing)
    for _ in range(RING + 1):
        feed.emit("world", (world.commit, "x"))

    assert feed.since(0, 10) is None
    assert len(feed.since(1, RING) or []) == RING
    assert feed.since(feed.last_id + 1, 10) is None  # an id from another process


def test_a_feed_without_listeners_sleeps_only_after_a_full_ring_of_events():
    feed = Feed(0)
    world = InProcess().world
    feed.listen(nothing)
    feed.leave(nothing)
    feed.emit("world", (world.commit, "while it was away"))

    assert kinds(feed.since(0, 10)) == ["world"]

    for _ in range(RING):
        feed.emit("world", (world.commit, "x"))

    assert not feed.awake
    assert feed.since(0, 10) is None
    assert feed.since(feed.last_id, 10) == []


def test_the_end_of_a_world_wakes_its_listeners():
    feed = Feed(0)
    woken = []
    feed.listen(lambda: woken.append(True))
    feed.end()

    assert feed.ended
    assert woken == [True]
