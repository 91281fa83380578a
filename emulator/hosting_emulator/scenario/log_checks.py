"""Refuses `log` steps that would pass or fail regardless of what the client does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.criteria.checks import has_variable
from hosting_emulator.criteria.request_filters import (
    COUNT,
    NO_CALL,
    RequestPath,
    may_have_path,
    path_matches,
)
from hosting_emulator.criteria.vacuous_counts import is_met_by_every_count
from hosting_emulator.scenario.document import ScenarioPart, StepPart
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.variable_syntax import VARIABLE

_API_PREFIX = "/v1/"


class LogPaths:
    """The paths that requests in a scenario can have."""

    def __init__(self, part: ScenarioPart, operation_path: str) -> None:
        steps = list(_requests(part))
        operation_paths = {operation_path}
        for step in steps:
            if step.assume and isinstance(step.assume.get("operation_path"), str):
                operation_paths.add(step.assume["operation_path"])
        self._templates = {spec.path for path in operation_paths for spec in calls_at(path)}
        #: The paths of `request` steps. None stands for a path that is not known before the story
        #: runs.
        self._request_paths = {_request_path(step.request) for step in steps if step.request}
        #: Whether the request log can contain a request to a dev origin.
        self._has_redemption = any(step.redeem is not None for step in steps)

    def check(self, location: Location, filters: dict[str, Any]) -> None:
        """Raise ScenarioError if a `log` step names a path that no request can have.

        `location` is the location of the `log` step. A step that counts requests that match no call
        can name any path.
        """
        if "call" in filters and filters["call"] in (None, NO_CALL):
            return
        path = filters.get("path")
        if isinstance(path, str):
            self._check_pattern(location / "path", path)
        elif isinstance(path, list):
            for index, pattern in enumerate(path):
                if isinstance(pattern, str):
                    self._check_pattern(location / "path" / index, pattern)

    def _check_pattern(self, location: Location, pattern: str) -> None:
        if has_variable(pattern) or RequestPath().is_pattern(pattern) or self._may_match(pattern):
            return
        raise location.error(
            f"no request can match, because no call has the path {pattern!r}: write a path such as "
            "/v1/projects/*/domains, or add `call: none` to count requests that match no call"
        )

    def _may_match(self, pattern: str) -> bool:
        if None in self._request_paths:
            return True
        if self._has_redemption and not pattern.startswith(_API_PREFIX):
            return True
        if any(may_have_path(template, pattern) for template in self._templates):
            return True
        return any(_may_request(path, pattern) for path in self._request_paths if path)


def _may_request(path: str, pattern: str) -> bool:
    if "{variable}" in path:
        return may_have_path(path, pattern)
    return path_matches(path, pattern)


def _request_path(request: str) -> str | None:
    """Return the path in a `request` step, with `{variable}` in place of each variable.

    Returns None if the path is not known before the story runs.
    """
    _, _, url = request.partition(" ")
    url = url.partition("?")[0]
    if not url.startswith("/"):  # the URL starts with an origin or a variable
        _, _, address = url.rpartition("//")
        _, slash, rest = address.partition("/")
        if not slash:
            return None
        url = f"/{rest}"
    literal_text = VARIABLE.sub("", url)
    if literal_text != url and ("{" in literal_text or "}" in literal_text):
        return None
    return VARIABLE.sub("{variable}", url)


def _requests(part: ScenarioPart) -> Iterable[StepPart]:
    """Yield all steps in the story and its parts, including the requests in `together`."""
    for steps in (part.story, *(shared.steps for shared in part.parts)):
        for step in steps:
            yield step
            yield from step.together or ()


def check_count(location: Location, expected: Any) -> None:
    """Raise ScenarioError if every possible count matches the expected count."""
    if has_variable(expected) or not is_met_by_every_count(COUNT, expected):
        return
    raise location.error(
        "every count matches, so the step proves nothing: write {at_least: 1}, or 0 for no request"
    )
