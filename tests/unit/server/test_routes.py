"""The table of routes: each names a handler that is there, and that its path can satisfy."""

from __future__ import annotations

import pytest

from hosting_emulator.server.control.routes import ROUTES, load_handler


@pytest.mark.parametrize(("method", "pattern", "name"), ROUTES)
def test_a_handler_is_given_all_that_it_names(method, pattern, name):
    _, parameters, _ = load_handler(name)

    assert parameters - {"context", "engine", "body"} <= set(pattern.groupindex)


def test_no_path_stands_twice():
    assert len({(method, pattern.pattern) for method, pattern, _ in ROUTES}) == len(ROUTES)
