"""The JSON Schemas of settings, front matter and cell options, from the tables that read them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..config.load import SETTINGS
from ..read.head import HEAD
from ..schema.records import Schema
from ..syntax.cells.option_values import OPTIONS

_PLAIN: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


@cache
def settings_schema() -> Mapping[str, Any]:
    """Of `blogsmith.yaml`."""
    return _schema(SETTINGS.kind, SETTINGS)


@cache
def head_schema() -> Mapping[str, Any]:
    """Of the front matter of a page."""
    return _schema(HEAD.kind, HEAD)


@cache
def options_schema() -> Mapping[str, Any]:
    """Of the options of a cell."""
    return _schema(OPTIONS.kind, OPTIONS)


def _schema(kind: Any, table: Schema | None = None) -> dict[str, Any]:
    hints, said = get_type_hints(kind), _docstrings(kind)
    names = {key: one.name for key, one in table.fields.items()} if table else {name: name for name in hints}
    return {
        "type": "object",
        "properties": {
            key: {"description": said.get(name, ""), **_form(hints.get(name, Any))}
            for key, name in names.items()
        },
    }


def _form(hint: Any) -> dict[str, Any]:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        return {"enum": [part for part in parts if part]}
    if origin in (Union, UnionType):
        return {"anyOf": [_form(part) for part in parts if part is not NoneType]}
    if origin is tuple:
        return {"type": "array", "items": _form(parts[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _form(parts[1])}
    if isinstance(hint, type) and hint.__module__.startswith(__package__.partition(".")[0]):
        return _schema(hint)
    return {}


def _docstrings(kind: Any) -> dict[str, str]:
    """Field → what is said of it in the source."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        said = after.value if isinstance(after, ast.Expr) else None
        if isinstance(node, ast.AnnAssign) and isinstance(said, ast.Constant) and isinstance(said.value, str):
            found[ast.unparse(node.target)] = " ".join(said.value.split())
    return found
