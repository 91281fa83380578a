"""From a method and a path to a call, by the contract's own table.

A plain look-up instead of a list of patterns: it costs the same for every call.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.calls import CallSpec, Subject, call_table
from hosting_emulator.contract.problems import Refused


class MethodRefused(Refused):
    """The path exists, the method does not; `allow` lists those that do.

    `subject` and `subject_id` are what the path names: a project, say, and its id.
    """

    def __init__(self, method: str, allow: list[str], subject: Subject, subject_id: str) -> None:
        super().__init__(
            "invalid_request",
            f"This path does not take {method[:32]}; it takes {', '.join(allow)}.",
            status=405,
        )
        self.allow = ", ".join(allow)
        self.subject = subject
        self.subject_id = subject_id


#: Clients ask for the same few paths over and over: so many, and so long, are remembered.
_REMEMBERED = 2048
_LONGEST_REMEMBERED = 128


class Routes:
    """The paths of one set of assumptions."""

    def __init__(self, operation_path: str) -> None:
        self._by_shape: dict[tuple[int, str], dict[str, CallSpec]] = {}
        self._places: list[int] = []
        self._found: dict[tuple[str, str], tuple[CallSpec, str]] = {}
        for spec in call_table(Assumptions(operation_path=operation_path)):
            segments = spec.path.split("/")
            place = next(i for i, segment in enumerate(segments) if segment.startswith("{"))
            if place not in self._places:
                self._places.append(place)
            methods = self._by_shape.setdefault((place, _shape(segments, place)), {})
            methods[spec.method] = spec

    def find(self, method: str, path: str) -> tuple[CallSpec, str]:
        """Return the call and the id in its path. Raises Refused (404) or MethodRefused (405)."""
        found = self._found.get((method, path))
        if found is None:
            found = self._find(method, path)
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            if len(path) < _LONGEST_REMEMBERED:
                self._found[method, path] = found
        return found

    def _find(self, method: str, path: str) -> tuple[CallSpec, str]:
        segments = path.split("/")
        if "%" in path:
            segments = [unquote(segment) for segment in segments]
        allow: dict[str, CallSpec] = {}
        named = ""
        for place in self._places:
            if place >= len(segments):
                continue
            methods = self._by_shape.get((place, _shape(segments, place)))
            if methods is None or not segments[place]:
                continue
            spec = methods.get(method)
            if spec is not None:
                return spec, segments[place]
            allow |= methods
            named = segments[place]
        if allow:
            subject = next(iter(allow.values())).subject
            raise MethodRefused(method, [*allow], subject, named)
        raise Refused(
            "resource_not_found", "The API has no such path.", why="no call has this path"
        )


def _shape(segments: list[str], place: int) -> str:
    return "/".join((*segments[:place], *segments[place + 1 :]))


@lru_cache(maxsize=16)
def routes_for(operation_path: str) -> Routes:
    """Return the routes where operations are polled at `operation_path`."""
    return Routes(operation_path)
