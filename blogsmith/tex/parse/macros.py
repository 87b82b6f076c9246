"""Macros in settings and front matter: name → body.

The body contains `#1` … `#9`. The highest of these numbers is the number of arguments, unless the body starts
with `#[n]` (n arguments) or `#[n][default]` (n arguments, the first optional).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

from ...base.patterns import lazy_pattern
from .reader import Macro
from .scan import split, text_of

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


class MacroTable(dict[str, Macro]):
    """Macros by name, with parsed bodies. Immutable, so that many formulas can share it without copying."""

    def __init__(self, macros: Iterable[tuple[str, Macro]] = (), base: MacroTable | None = None) -> None:
        """Create a table with the macros of `base` and `macros`. In case of equal names, those of `macros`
        apply."""
        added = tuple(macros)
        super().__init__(base or {})
        self.update(added)
        self._base, self._added, self._digest = base, added, b""
        self.files: tuple[str, ...] = ()
        """LaTeX files that define some of the macros; paths are relative to the site root."""

    def __reduce__(self) -> tuple[Callable[..., MacroTable], tuple[object, ...]]:
        return _restore_table, (tuple(self.items()), self.files)

    def with_files(self, files: Iterable[str]) -> MacroTable:
        """Return a table with the same macros and with `files` as its LaTeX files."""
        table = MacroTable((), self)
        table.files, table._digest = tuple(files), self.digest
        return table

    @property
    def digest(self) -> bytes:
        """Digest of all macros. Two equal tables may have different digests, because it depends on the steps
        in which macros were added."""
        if not self._digest:
            before = self._base.digest if self._base is not None else b""
            self._digest = blake2b(before + repr(self._added).encode(), digest_size=16).digest()
        return self._digest

    def extend(self, macros: Mapping[str, str | Macro]) -> MacroTable:
        """Return a table that also contains `macros`; the same table if there are none."""
        if not macros:
            return self
        return MacroTable(((name, _compile(body)) for name, body in macros.items()), self)


def _restore_table(macros: Iterable[tuple[str, Macro]], files: tuple[str, ...]) -> MacroTable:
    return MacroTable(macros).with_files(files) if files else MacroTable(macros)


def _compile(body: str | Macro) -> Macro:
    return parse_macro(body) if isinstance(body, str) else body


def read_macros(macros: Mapping[str, str | Macro]) -> MacroTable:
    """Return the macros as a table, with the bodies of those from settings parsed."""
    return macros if isinstance(macros, MacroTable) else _NONE.extend(macros)


_NONE = MacroTable()


def macro_texts(macros: Mapping[str, str | Macro]) -> dict[str, str]:
    """Return name → body, as written in settings. Macros that settings cannot express are left out, such as
    those with delimited parameters."""
    return {
        name: body if isinstance(body, str) else text_of(body.body)
        for name, body in macros.items()
        if isinstance(body, str) or not (body.delimiters or body.parameters or body.problem or body.default)
    }
