"""Plain data as YAML that an author would write and our own reader accepts: block style, few quotes, no
aliases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base.patterns import lazy_pattern
from ..base.schema.yaml_scalars import resolve

_PLAIN = lazy_pattern(r"[^\W_](?:[^\n:#\[\]{},&*!|>'\"%@`\\]|:(?=\S)|(?<=\S)#)*(?<!\s)(?<!:)")
_INLINE = lazy_pattern(r"[^\n,\[\]{}:#]+")
_REFUSED = lazy_pattern("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_LINE = 100
"""Characters up to which a list stands in one line."""


def yaml_text(data: Mapping[str, Any]) -> str:
    """A mapping as YAML, keys in their order; empty for an empty one."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def _mapping(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _entry(f"{indent}{_scalar(str(key))}:", value, indent + "  ")


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield head
        yield from _mapping(value, indent)
    elif isinstance(value, (list, tuple)) and value:
        flow = _flow(value)
        if flow and len(head) + len(flow) < _LINE:
            yield f"{head} {flow}"
            return
        yield head
        yield from _items(value, indent)
    else:
        yield f"{head} {_scalar(value)}"


def _items(values: Sequence[Any], indent: str) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping) and value:
            lines = list(_mapping(value, indent + "  "))
            yield f"{indent}- {lines[0].strip()}"
            yield from lines[1:]
        else:
            yield from _entry(f"{indent}-", value, indent + "  ")


def _flow(values: Sequence[Any]) -> str:
    """A list of short scalars in one line; empty if it does not fit."""
    if any(isinstance(value, (Mapping, list, tuple)) for value in values):
        return ""
    scalars = [_scalar(value) for value in values]
    return f"[{', '.join(scalars)}]" if all("\n" not in each for each in scalars) else ""


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    text = _REFUSED.sub(" ", str(value))
    if _PLAIN.fullmatch(text) and isinstance(resolve(text), str) and not text.endswith((" ", "-")):
        return text
    if ("\n" not in text and "\t" not in text and '"' in text) or ("\\" in text and "\n" not in text):
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=False)
