"""Regular expressions that are compiled when they are first used.

There are hundreds in the program, and a build of a few pages uses some dozens: compiling all of them took a
tenth of its start.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_COPIED = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class _LazyPattern:
    """Stands for a compiled pattern; its methods are those of the compiled one from the first use on."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # asked only for what is not there yet
        compiled = re.compile(self.pattern, self._flags)
        for method in _COPIED:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for constants of modules; functions of `re` itself do not take it."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
