"""Macros as settings and front matter write them: name → body.

The body holds `#1` … `#9`; the highest one is the number of arguments, unless the body starts with `#[n]`
(n arguments) or `#[n][default]` (and the first one is optional).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ...base.patterns import lazy_pattern
from .reader import Macro
from .scan import split

_PARAMETER = lazy_pattern(r"#([1-9])")
_HEAD = lazy_pattern(r"#\[([0-9])\](?:\[([^\]]*)\])?")


@lru_cache(1024)
def parse_macro(body: str) -> Macro:
    """Read the text of a macro as the module docstring describes it."""
    head = _HEAD.match(body)
    if head is None:
        arity = max((int(n) for n in _PARAMETER.findall(body)), default=0)
        return Macro(arity, None, tuple(split(body)))
    default = None if head[2] is None else tuple(split(head[2]))
    return Macro(int(head[1]), default, tuple(split(body[head.end() :])))


def read_macros(macros: Mapping[str, str | Macro]) -> dict[str, Macro]:
    """Macros ready to be called; what an earlier formula has defined is ready already."""
    return {name: parse_macro(body) if isinstance(body, str) else body for name, body in macros.items()}
