"""The page of the Python API: the SDK, and the pytest plugin with its fixtures, marks and options."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import hosting_emulator.sdk
import pytest_hosting_emulator
from pytest_hosting_emulator import plugin
from pytest_hosting_emulator.options import OPTIONS
from reference.markdown import block, code, docstring, join, prose, sentence, table

INTRODUCTION = """\
With `hosting_emulator.sdk`, tests and scripts control worlds. The pytest plugin gives each test its own
world through the fixture `hosting_emulator`, whose value is a `HostingEmulator`. The names on this page
are public. All other names may change at any time.

If a field of a message is described as null or absent, it is `None` in Python."""

#: The classes that tests use most. They come first on the page, in this order.
_FIRST = ("HostingEmulator", "WorldClock", "Requests", "Filters", "ArmedFault", "ControlClient")


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, _fixtures(), _marks(), _options(), _plugin_names(), _sdk())


def _fixtures() -> str:
    sections = []
    for name, value in vars(plugin).items():
        function = _fixture_function(value)
        if name.startswith("hosting_emulator") and function is not None:
            result = _annotation(inspect.signature(function).return_annotation)
            result = re.sub(r"^Iterator\[(.*)\]$", r"\1", result)
            sections.append(
                join(f"### {name}", f"Value: {code(result)}.", docstring(function.__doc__))
            )
    return join("## Fixtures", *sections)


def _fixture_function(value: object) -> Any:
    """Return the function of a fixture, or None if the value is not a fixture."""
    unwrapped = inspect.unwrap(value) if callable(value) else value
    if inspect.isfunction(unwrapped) and getattr(value, "__module__", "") == plugin.__name__:
        return unwrapped
    return getattr(value, "_get_wrapped_function", lambda: None)()


def markers() -> list[str]:
    """Return the help line of each marker that the plugin declares."""
    lines: list[str] = []

    class Config:
        pluginmanager = types.SimpleNamespace(register=lambda _: None)
        invocation_params = types.SimpleNamespace(dir=None)

        def getoption(self, _: str) -> None:
            return None

        def getini(self, _: str) -> None:
            return None

        def addinivalue_line(self, _: str, line: str) -> None:
            lines.append(line)

    plugin.pytest_configure(typing.cast(pytest.Config, Config()))
    return lines


def _marks() -> str:
    sections = []
    for line in markers():
        usage, _, text = line.partition(": ")
        name = usage.partition("(")[0]
        usages = "\n".join(f"@pytest.mark.{part}" for part in usage.split(" or "))
        sections.append(join(f"### {name}", block(usages, "text"), prose(sentence(text))))
    return join("## Marks", *sections)


def _options() -> str:
    rows = [
        [
            code(f"--hosting-emulator-{name.replace('_', '-')}"),
            code(f"hosting_emulator_{name}"),
            code(value),
            prose(sentence(text)),
        ]
        for name, (value, text) in OPTIONS.items()
    ]
    head = ["option", "ini value", "value", "meaning"]
    return join("## Options of pytest", table(head, rows))


def _plugin_names() -> str:
    names = [
        name for name in pytest_hosting_emulator.__all__ if name not in hosting_emulator.sdk.__all__
    ]
    sections = [_described(name, getattr(pytest_hosting_emulator, name)) for name in names]
    return join("## pytest_hosting_emulator", *sections)


def _sdk() -> str:
    names = [*_FIRST, *(name for name in hosting_emulator.sdk.__all__ if name not in _FIRST)]
    sections = [_described(name, getattr(hosting_emulator.sdk, name)) for name in names]
    return join("## hosting_emulator.sdk", *sections)


def _described(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return _class(name, value)
    if inspect.isfunction(value):
        return join(f"### {name}", block(_signature(name, value), "text"), docstring(value.__doc__))
    return join(f"### {name}", f"A type: {code(_annotation(value))}.")


def _class(name: str, kind: type) -> str:
    parts = [f"### {name}"]
    if issubclass(kind, Exception):
        parts.append(f"An exception, derived from {code(kind.__bases__[0].__name__)}.")
    elif _fields(kind) is None and not typing.is_typeddict(kind):
        parts.append(block(_signature(name, kind), "text"))
    parts.append(docstring(kind.__doc__ if "__doc__" in vars(kind) else ""))
    rows = _fields(kind)
    if rows:
        head = ["field", "type", "meaning"] if any(row[2] for row in rows) else ["field", "type"]
        parts.append(table(head, [row[: len(head)] for row in rows]))
    parts += [_member(name, member, value) for member, value in members(kind)]
    return join(*parts)


def _fields(kind: type) -> list[list[str]] | None:
    """Return a row for each field of a class that has only fields, or None for any other class."""
    if not (issubclass(kind, msgspec.Struct) or typing.is_typeddict(kind)):
        return None
    hints = typing.get_type_hints(kind, include_extras=True)
    rows = []
    for name, hint in hints.items():
        if name.startswith("_") or typing.get_origin(hint) is typing.ClassVar:
            continue
        metadata = getattr(hint, "__metadata__", ())
        texts = [part.description for part in metadata if isinstance(part, msgspec.Meta)]
        base = hint.__origin__ if metadata else hint
        rows.append([code(name), code(_annotation(base)), prose(" ".join(filter(None, texts)))])
    return rows


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class and of its base classes in this project."""
    seen = set()
    for base in kind.__mro__:
        if not base.__module__.startswith(("hosting_emulator", "pytest_hosting_emulator")):
            continue
        if issubclass(base, msgspec.Struct):
            continue
        for name, value in vars(base).items():
            if name in seen or (name.startswith("_") and name != "__call__"):
                continue
            if isinstance(value, property | staticmethod | classmethod) or inspect.isfunction(
                value
            ):
                seen.add(name)
                yield name, value


def _member(class_name: str, name: str, value: Any) -> str:
    owner = _instance_name(class_name)
    if isinstance(value, property):
        getter = value.fget
        result = _annotation(inspect.signature(getter).return_annotation) if getter else "Any"
        text = f"{owner}.{name}: {result}"
        return join(f"#### {class_name}.{name}", block(text, "text"), docstring(value.__doc__))
    function = getattr(value, "__func__", value)
    if isinstance(value, staticmethod | classmethod):
        owner = class_name
    title = f"{owner}{'' if name == '__call__' else f'.{name}'}"
    heading = f"#### {class_name}{'()' if name == '__call__' else f'.{name}'}"
    documentation = docstring(inspect.getdoc(function))
    return join(heading, block(_signature(title, function), "text"), documentation)


def _instance_name(class_name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).lower()


def _signature(name: str, function: Any) -> str:
    """Return the signature of a function as text, without `self`."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    shown = signature.replace(
        parameters=[
            parameter.replace(annotation=_Text(_annotation(parameter.annotation)))
            if parameter.annotation is not inspect.Parameter.empty
            else parameter
            for parameter in parameters
        ],
        return_annotation=inspect.Signature.empty,
    )
    result = ""
    if not inspect.isclass(function) and signature.return_annotation is not inspect.Signature.empty:
        result = f" -> {_annotation(signature.return_annotation)}"
    line = f"{name}{shown}{result}"
    if len(line) <= 100:
        return line
    lines = [f"    {parameter}," for parameter in _parameter_texts(shown)]
    return "\n".join([f"{name}(", *lines, f"){result}"])


def _parameter_texts(signature: inspect.Signature) -> list[str]:
    texts = []
    star = False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            star = True
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not star:
            texts.append("*")
            star = True
        texts.append(str(parameter))
    return texts


class _Text:
    """A text whose `repr` is the text itself, for an annotation in a signature."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _annotation(annotation: Any) -> str:
    """Return a type as users write it, without module names."""
    if annotation is None or annotation is type(None):
        return "None"
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = text.replace("NoneType", "None")
    return re.sub(r"\b[a-zA-Z_]+\.(?=[A-Za-z_])", "", text)
