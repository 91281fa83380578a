"""The table of routes: each names a handler that is there, and that its path can satisfy."""

from __future__ import annotations

from hosting_emulator.server.control.routes import ROUTES, load_handler


def test_a_handler_is_given_all_that_it_names():
    for route in ROUTES:
        handler = load_handler(route.handler)

        named = handler.parameters - {"context", "engine", "body"} - set(handler.query)
        assert named <= set(route.pattern.groupindex), route


def test_no_path_stands_twice():
    assert len({(route.method, route.pattern.pattern) for route in ROUTES}) == len(ROUTES)


def test_a_path_with_a_name_in_it_comes_after_those_that_spell_it_out():
    """The first that fits answers, and says which methods its path takes."""
    for number, route in enumerate(ROUTES):
        shadowed = [
            later.path
            for later in ROUTES[number + 1 :]
            if later.path != route.path and route.pattern.fullmatch(later.path.rstrip("/"))
        ]
        assert not shadowed, route.path
