"""The table of routes: each names a handler that is there, and that its path can satisfy."""

from __future__ import annotations

import pytest

from hosting_emulator.server.control.routes import ROUTES, Route, load_handler


@pytest.mark.parametrize("route", ROUTES)
def test_a_handler_is_given_all_that_it_names(route: Route):
    handler = load_handler(route.handler)

    named = handler.parameters - {"context", "engine", "body"} - set(handler.query)
    assert named <= set(route.pattern.groupindex)


def test_no_path_stands_twice():
    assert len({(route.method, route.pattern.pattern) for route in ROUTES}) == len(ROUTES)
