"""The table of routes: each names an existing handler whose parameters its path provides."""

from __future__ import annotations

import re

from hosting_emulator.control.endpoints import load_endpoint
from hosting_emulator.control.route_documentation import TAGS
from hosting_emulator.control.routes import ROUTES


def test_every_path_has_the_parameters_that_its_handler_names():
    for route in ROUTES:
        endpoint = load_endpoint(route.endpoint)

        parameters = (
            endpoint.parameters - {"context", "engine", "body", "request"} - set(endpoint.query)
        )
        assert parameters <= set(route.pattern.groupindex), route


def test_a_path_consists_of_lower_case_words_and_parameters():
    part = r"/\.?[a-z]+([-.][a-z]+)*|/\{[a-z_]+\*?\}"

    paths = [route.path for route in ROUTES if route.path != "/"]

    assert [path for path in paths if not re.fullmatch(f"({part})+", path)] == []


def test_every_tag_of_a_route_is_documented_and_every_documented_tag_is_used():
    assert {route.tag for route in ROUTES} == set(TAGS)


def test_no_route_is_declared_twice():
    assert len({(route.method, route.pattern.pattern) for route in ROUTES}) == len(ROUTES)


def test_a_route_with_a_parameter_follows_the_literal_routes_that_it_matches():
    """The first route that matches handles a request and names the methods of its path."""
    for number, route in enumerate(ROUTES):
        shadowed = [
            later.path
            for later in ROUTES[number + 1 :]
            if later.path != route.path and route.match(later.path.rstrip("/"))
        ]
        assert not shadowed, route.path


def test_faults_can_match_each_route_of_the_identity_provider_by_its_name():
    names = {route.function: route.identity_call for route in ROUTES if "/idp/" in route.path}

    assert {"token", "userinfo", "end_session"} <= names.keys()
    assert all(name.endswith(function) and name != function for function, name in names.items())
    assert {route.identity_call for route in ROUTES if route.path == "/metrics"} == {""}


def test_a_route_matches_the_same_paths_as_its_pattern():
    paths = [re.sub(r"\{\w+\*?\}", "a", route.path).rstrip("/") for route in ROUTES]
    paths += [path + suffix for path in paths for suffix in ("/a", "/a/b", "/", "a")]

    different = [
        (route.path, path)
        for route in ROUTES
        for path in paths
        if bool(route.match(path)) != bool(route.pattern.fullmatch(path))
    ]

    assert different == []
