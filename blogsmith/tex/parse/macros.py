"""Macros in settings and front matter: name → body.

The body contains `#1` … `#9`. The highest one is the number of arguments, unless the body starts with `#[n]`
(n arguments) or `#[n][default]` (n arguments, the first optional).
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
    """Parse the body of a macro as described in the module docstring."""
    head = _HEAD.match(body)
    if head is None:
        arity = max((int(n) for n in _PARAMETER.findall(body)), default=0)
        return Macro(arity, None, tuple(split(body)))
    default = None if head[2] is None else tuple(split(head[2]))
    return Macro(int(head[1]), default, tuple(split(body[head.end() :])))


def read_macros(macros: Mapping[str, str | Macro]) -> dict[str, Macro]:
    """Return macros ready to be called. Macros that an earlier formula has defined are ready already."""
    return {name: parse_macro(body) if isinstance(body, str) else body for name, body in macros.items()}
