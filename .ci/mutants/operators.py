"""The mutation operators: every small change of a module that a test should notice.

A change is identified by the function that contains it, its operator, and its ordinal among the
changes by this operator in this function. The name contains no line number, so it stays the same
when code moves.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import UnionType
from typing import Any

#: Operators, in the order of the report's legend.
DESCRIPTIONS = {
    "comparison": "swaps `<` and `<=`, `>` and `>=`, `==` and `!=`, `in` and `not in`, `is` and `is not`",
    "boolean operator": "swaps `and` and `or`",
    "arithmetic": "swaps `+` and `-`, `*` and `/`, and their relatives",
    "number plus one": "adds one to a number",
    "number minus one": "subtracts one from a number",
    "string": "puts XX before and after a text",
    "true or false": "swaps True and False",
    "not": "removes a `not`",
    "statement": "removes a call, a raise, a deletion or an assignment to an attribute or item",
    "return": "returns None",
    "loop": "swaps `break` and `continue`",
    "decorator argument": "removes an argument of a decorator",
    "default": "changes the default of a parameter",
    "keyword argument": "removes a keyword argument of a call",
    "condition true": "makes a condition always true",
    "condition false": "makes a condition always false",
}

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
#: Functions whose string arguments only a type checker reads.
_TYPING_CALLS = {"NewType", "ParamSpec", "TypeVar", "cast"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: A replacement for a node: the operator's name and the new node.
Replacement = tuple[str, ast.AST]


@dataclass(frozen=True)
class Change:
    """One possible change of a module's source."""

    function: str  #: the qualified name inside the module
    operator: str
    ordinal: int  #: from 0, among the changes of this operator in this function
    line: int
    start: int  #: the first byte to replace
    end: int
    after: str
    runs_at_import: bool  #: the changed code runs when the module is imported

    def apply(self, source: str) -> str:
        """Return the source with this change."""
        content = source.encode()
        return (content[: self.start] + self.after.encode() + content[self.end :]).decode()


def changes(source: str) -> list[Change]:
    """Return every possible change of a module, in the order of its syntax tree."""
    finder = _Finder(source)
    finder.visit_module(ast.parse(source))
    return finder.changes


def definitions(source: str) -> list[tuple[str, Function]]:
    """Return the functions of a module by qualified name, in the form that changes use."""
    finder = _Finder(source)
    finder.visit_module(ast.parse(source))
    return finder.functions


@dataclass(frozen=True)
class _Scope:
    """The position of a node in the module."""

    function: str
    runs_at_import: bool
    #: The outermost f-string around the node, because before Python 3.12 only its position is
    #: correct.
    f_string: ast.JoinedStr | None = None


@dataclass
class _Finder:
    """Walks a module and collects its changes."""

    source: str
    changes: list[Change] = field(default_factory=list)
    functions: list[tuple[str, Function]] = field(default_factory=list)
    _ordinals: Counter[tuple[str, str]] = field(default_factory=Counter)
    _definitions: Counter[str] = field(default_factory=Counter)
    _line_starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        lines = self.source.encode().splitlines(keepends=True)
        self._line_starts = [0]
        for line in lines:
            self._line_starts.append(self._line_starts[-1] + len(line))

    def visit_module(self, module: ast.Module) -> None:
        self._visit_body(module.body, _Scope("", runs_at_import=True))

    # --- Scopes ---------------------------------------------------------------------------------

    def _visit_body(self, body: list[ast.stmt], scope: _Scope) -> None:
        for index, statement in enumerate(body):
            if index == 0 and _is_text(statement):
                continue
            self._visit(statement, scope)

    def _define(self, name: str, scope: _Scope) -> str:
        """Return the qualified name of a definition. The second definition with the same name gets `#2`."""
        qualified = f"{scope.function}.{name}" if scope.function else name
        self._definitions[qualified] += 1
        count = self._definitions[qualified]
        return qualified if count == 1 else f"{qualified}#{count}"

    def _visit_function(self, node: Function, scope: _Scope) -> None:
        if any(_last_name(decorator) == "overload" for decorator in node.decorator_list):
            return
        name = self._define(node.name, scope)
        self.functions.append((name, node))
        outside = _Scope(name, scope.runs_at_import)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if isinstance(default, ast.Constant):
                self._add_default(default, outside)
            elif default is not None:
                self._visit(default, outside)
        self._visit_decorators(node.decorator_list, outside)
        self._visit_body(node.body, _Scope(name, runs_at_import=False))

    def _add_default(self, default: ast.Constant, scope: _Scope) -> None:
        replacements = list(_constant(default))
        if replacements:
            _, changed = replacements[0]
            self._add("default", default, changed, scope)

    def _visit_class(self, node: ast.ClassDef, scope: _Scope) -> None:
        name = self._define(node.name, scope)
        inside = _Scope(name, scope.runs_at_import)
        self._visit_decorators(node.decorator_list, inside)
        for keyword in node.keywords:
            self._visit(keyword.value, inside)
        self._visit_body(node.body, inside)

    def _visit_decorators(self, decorators: list[ast.expr], scope: _Scope) -> None:
        for decorator in decorators:
            if not isinstance(decorator, ast.Call):
                continue
            for index in range(len(decorator.args)):
                without = copy.copy(decorator)
                without.args = [*decorator.args[:index], *decorator.args[index + 1 :]]
                self._add("decorator argument", decorator, without, scope)
            for index in range(len(decorator.keywords)):
                without = _without_keyword(decorator, index)
                self._add("decorator argument", decorator, without, scope)
            for value in (*decorator.args, *(keyword.value for keyword in decorator.keywords)):
                self._visit(value, scope)

    def _assignment_scope(self, node: ast.stmt, scope: _Scope) -> _Scope:
        """Give each constant of a module or class its own scope.

        Otherwise, a new constant would change the ordinals of the constants after it.
        """
        if not scope.runs_at_import:
            return scope
        target: ast.expr | None = None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        if not isinstance(target, ast.Name):
            return scope
        return _Scope(self._define(target.id, scope), runs_at_import=True)

    # --- Nodes ----------------------------------------------------------------------------------

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._visit_function(node, scope)
            return
        if isinstance(node, ast.ClassDef):
            self._visit_class(node, scope)
            return
        if _is_ignored(node):
            return
        if isinstance(node, ast.stmt):
            scope = self._assignment_scope(node, scope)
        if isinstance(node, ast.JoinedStr) and scope.f_string is None:
            scope = _Scope(scope.function, scope.runs_at_import, node)
        for operator, replacement in _replacements(node):
            if _breaks_a_type(operator, node, scope):
                continue
            self._add(operator, node, replacement, scope)
        for condition in _conditions(node):
            self._add("condition true", condition, ast.Constant(True), scope)
            self._add("condition false", condition, ast.Constant(False), scope)
        for child in _children(node):
            self._visit(child, scope)

    def _add(self, operator: str, node: ast.AST, replacement: ast.AST, scope: _Scope) -> None:
        function = scope.function or "<module>"
        ordinal = self._ordinals[function, operator]
        self._ordinals[function, operator] += 1
        place: ast.AST = node
        text = _text(replacement)
        if scope.f_string is not None:
            place = scope.f_string
            text = _text_with(scope.f_string, node, replacement)
        if text is None:
            return
        start, end = self._span(place)
        self.changes.append(
            Change(
                function=function,
                operator=operator,
                ordinal=ordinal,
                line=getattr(place, "lineno", 1),
                start=start,
                end=end,
                after=text,
                runs_at_import=scope.runs_at_import,
            )
        )

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._line_starts[node.lineno - 1] + node.col_offset
        end = self._line_starts[node.end_lineno - 1] + node.end_col_offset
        return start, end


def _text(node: ast.AST) -> str | None:
    """Return the source of a node, in parentheses if operators beside it could bind more strongly."""
    try:
        text = ast.unparse(node)
    except ValueError:  # Python before 3.12 cannot write this f-string.
        return None
    atoms = (ast.Call, ast.Constant, ast.JoinedStr, ast.Name, ast.Attribute, ast.Subscript)
    if isinstance(node, ast.expr) and (not isinstance(node, atoms) or text.startswith("-")):
        return f"({text})"
    return text


def _text_with(outer: ast.JoinedStr, node: ast.AST, replacement: ast.AST) -> str | None:
    """Return the source of an f-string in which one node is replaced."""
    if outer is node:
        return _text(replacement)

    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> ast.AST:
            if visited is node:
                return replacement
            return self.generic_visit(copy.copy(visited))

        def generic_visit(self, visited: ast.AST) -> ast.AST:
            for name, value in ast.iter_fields(visited):
                if isinstance(value, list):
                    setattr(visited, name, [self._child(item) for item in value])
                else:
                    setattr(visited, name, self._child(value))
            return visited

        def _child(self, value: object) -> object:
            return self.visit(value) if isinstance(value, ast.AST) else value

    return _text(Replace().visit(outer))


# --- Code without changes ------------------------------------------------------------------------


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Return the child nodes that can be changed. Omits annotations and docstrings."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "format_spec"):
            continue
        if isinstance(node, ast.Call) and name == "args" and _last_name(node) in _TYPING_CALLS:
            value = value[1:]
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))


def _is_ignored(node: ast.AST) -> bool:
    """Whether to skip a node, because changing it has no effect or cannot be tested."""
    if isinstance(node, ast.If):
        return any(name in ast.unparse(node.test) for name in ("TYPE_CHECKING", "__name__"))
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    if isinstance(node, ast.Raise):
        return node.exc is not None and _last_name(node.exc) == "NotImplementedError"
    return isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)


def _breaks_a_type(operator: str, node: ast.AST, scope: _Scope) -> bool:
    """Whether the node is probably a union of types. Changing one would make the import fail."""
    is_union = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
    return operator == "arithmetic" and is_union and scope.runs_at_import


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring or an ellipsis."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# --- Replacements --------------------------------------------------------------------------------


def _replacements(node: ast.AST) -> Iterator[Replacement]:
    for kind, find in _FINDERS:
        if isinstance(node, kind):
            yield from find(node)


def _comparison(node: ast.Compare) -> Iterator[Replacement]:
    for index, operator in enumerate(node.ops):
        changed = copy.copy(node)
        changed.ops = list(node.ops)
        changed.ops[index] = _COMPARISONS[type(operator)]()
        yield "comparison", changed


def _boolean_operator(node: ast.BoolOp) -> Iterator[Replacement]:
    changed = copy.copy(node)
    changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean operator", changed


def _arithmetic(node: ast.BinOp | ast.AugAssign) -> Iterator[Replacement]:
    if type(node.op) in _ARITHMETIC:
        changed = copy.copy(node)
        changed.op = _ARITHMETIC[type(node.op)]()
        yield "arithmetic", changed


def _constant(node: ast.Constant) -> Iterator[Replacement]:
    value = node.value
    if isinstance(value, bool):
        yield "true or false", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "number plus one", ast.Constant(value + 1)
        yield "number minus one", ast.Constant(value - 1)
    elif isinstance(value, str):
        yield "string", ast.Constant(f"XX{value}XX" if value else "XX")


def _not(node: ast.UnaryOp) -> Iterator[Replacement]:
    if isinstance(node.op, ast.Not):
        yield "not", node.operand


def _statement(node: ast.stmt) -> Iterator[Replacement]:
    if isinstance(node, ast.Assign):
        removable = isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    elif isinstance(node, ast.AnnAssign):
        removable = isinstance(node.target, ast.Attribute) and node.value is not None
    else:
        removable = True
    if removable:
        yield "statement", ast.Pass()


def _return(node: ast.Return) -> Iterator[Replacement]:
    is_none = isinstance(node.value, ast.Constant) and node.value.value is None
    if node.value is not None and not is_none:
        yield "return", ast.Return(ast.Constant(None))


def _loop(node: ast.Break | ast.Continue) -> Iterator[Replacement]:
    yield "loop", ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def _keyword_argument(node: ast.Call) -> Iterator[Replacement]:
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield "keyword argument", _without_keyword(node, index)


def _conditions(node: ast.AST) -> list[ast.expr]:
    """Return the conditions in a node, except those of `while` loops, which might then never end."""
    if isinstance(node, ast.comprehension):
        return node.ifs
    if isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Constant):
        return [node.test]
    return []


def _without_keyword(node: ast.Call, index: int) -> ast.Call:
    changed = copy.copy(node)
    changed.keywords = [*node.keywords[:index], *node.keywords[index + 1 :]]
    return changed


#: The functions that return the replacements for a node, by type of node.
_FINDERS: tuple[tuple[type[ast.AST] | UnionType, Callable[[Any], Iterator[Replacement]]], ...] = (
    (ast.Compare, _comparison),
    (ast.BoolOp, _boolean_operator),
    (ast.BinOp | ast.AugAssign, _arithmetic),
    (ast.Constant, _constant),
    (ast.UnaryOp, _not),
    (ast.Expr | ast.Raise | ast.Delete | ast.Assign | ast.AnnAssign | ast.AugAssign, _statement),
    (ast.Return, _return),
    (ast.Break | ast.Continue, _loop),
    (ast.Call, _keyword_argument),
)
