"""A chapter shows a world's current state and, after its end, what the world was like then."""

from hosting_emulator.conduct.chapter import Chapter
from tests.support.in_process import InProcess


def test_a_chapter_shows_the_current_world_and_the_requests_since_it_began():
    api = InProcess()
    api.dns()
    chapter = Chapter(api.engine, 1)
    first_world = api.world
    for _ in range(2):
        api.set_flag(True)

    assert (chapter.name, chapter.ended, chapter.requests) == (api.world.name, None, 2)
    assert (chapter.first_world, chapter.world) == (first_world, api.world)
    assert [entry.n for entry in chapter.entries or ()] == [2, 3]
    assert chapter.usage is api.engine.usage


def test_an_ended_chapter_keeps_its_last_state_its_requests_and_its_usage():
    api = InProcess()
    chapter = Chapter(api.engine, 0)
    api.dns()
    last_world = api.world
    last_usage = api.engine.usage
    last_machine_ms = api.engine.machine_ms
    chapter.end("reset")
    api.engine.replace_world(api.world, "reset", reason="reset")
    api.machine.at_ms += 5000
    for _ in range(3):
        api.set_flag(True)

    assert (chapter.ended, chapter.requests) == ("reset", 1)
    assert chapter.world is last_world is not api.world
    assert [entry.call for entry in chapter.entries or ()] == ["get_dns_authorization"]
    assert chapter.usage is last_usage is not api.engine.usage
    assert chapter.ended_machine_ms == last_machine_ms < api.engine.machine_ms


def test_a_chapter_that_keeps_nothing_still_counts_its_requests():
    api = InProcess()
    chapter = Chapter(api.engine, 0)
    api.dns()

    chapter.end("reset", keep=False)

    assert (chapter.world, chapter.entries, chapter.requests) == (None, None, 1)
    assert chapter.watch.look().judged == 1


def test_a_chapter_that_began_during_a_reset_keeps_the_usage_of_its_own_world():
    api = InProcess()
    chapter = Chapter(api.engine, 0)
    api.engine.replace_world(api.world, "reset", reason="reset")
    later_usage = api.engine.usage

    chapter.end("deleted")

    assert chapter.usage is later_usage
