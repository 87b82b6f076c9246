"""Regular expressions that are compiled when they are first used.

The package has hundreds of regular expressions, but a build of a few pages uses only some dozens. Compiling
all of them took a tenth of the start-up time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_COPIED = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")


class _LazyPattern:
    """A placeholder for a compiled pattern. The first use compiles it; then its methods are those of the
    compiled pattern."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # Python calls this method only for attributes that do not exist yet
        compiled = re.compile(self.pattern, self._flags)
        for method in _COPIED:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern with the methods of `re.compile(source, flags)`, for constants of modules. Functions
    of `re` such as `re.sub` do not accept it."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
