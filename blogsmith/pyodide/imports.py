"""Finds the modules that Python code imports, and their locations. The code is parsed, never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_IMPORT_EXCEPTIONS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class Import(NamedTuple):
    """A module that code imports."""

    module: str
    """Top-level name of the module."""
    line: int
    """Line number, from 1."""
    column: int
    """Column of the module name in characters, from 1."""
    guarded: bool
    """Whether the code continues if the module is missing, or imports it for type checking only."""


def find_imports(code: str) -> list[Import]:
    """Return all imports in `code`, including those in functions and branches. Return an empty list if the
    code is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[Import] = []
    lines = code.split("\n")
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, guarded = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += (
                Import(name, line, _column(lines, line, offset, name), guarded)
                for name, line, offset in _modules(node)
            )
        else:
            waiting += _children(node, guarded)
    return sorted(found, key=lambda item: (item.line, item.column))


def _modules(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, int, int]]:
    """Yield (top-level name, line, byte offset in the line where the search for the name begins)."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name.partition(".")[0], alias.lineno, alias.col_offset
    elif node.module and not node.level:
        yield node.module.partition(".")[0], node.lineno, node.col_offset + len("from")


def _column(lines: list[str], line: int, offset: int, name: str) -> int:
    # ast counts bytes of UTF-8
    text = lines[line - 1] if line <= len(lines) else ""
    start = len(text.encode()[:offset].decode(errors="replace"))
    return max(start, text.find(name, start)) + 1


def _children(node: ast.AST, guarded: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield each child of `node`, and whether the code continues if an import in the child fails."""
    is_try = isinstance(node, ast.Try) and any(_catches(handler) for handler in node.handlers)
    is_typing = isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"
    safe = getattr(node, "body", []) if is_try or is_typing else []
    for child in ast.iter_child_nodes(node):
        yield child, guarded or child in safe


def _catches(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(item is None or _last_name(item) in _IMPORT_EXCEPTIONS for item in kinds)


def _last_name(node: ast.AST | None) -> str:
    """Return the last part of a dotted name, such as `TYPE_CHECKING` for `typing.TYPE_CHECKING`; empty for
    any other expression."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
