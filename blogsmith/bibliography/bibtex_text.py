"""Publications as BibTeX, which readers can copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..model.names import name_set
from .bibtex_index import BibEntry

_PRIVATE = name_set(
    "file abstract annote annotation keywords owner timestamp mendeley-tags groups date-added date-modified "
    "bdsk-url-1 bdsk-url-2 bdsk-file-1 localfile rating comment review read crossref xdata pdf preview "
    "selected html ids bibtex_show code slides poster website video blog award award_name altmetric abbr "
    "supp hal dimensions google_scholar_id inspirehep_id additional_info"
)
"""Fields for the author's own programs and notes, which readers should not see."""
_SPECIAL: Mapping[int, str] = MappingProxyType(
    {
        **{ord(char): f"\\{char}" for char in "&%#_"},
        ord("\u00a0"): "~",
        ord("~"): "\\textasciitilde{}",
        ord("\\"): "\\textbackslash{}",
        ord("^"): "\\textasciicircum{}",
        ord("{"): "\\{",
        ord("}"): "\\}",
        ord("$"): "\\$",
    }
)


def format_bibtex(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    """Return an entry with one field per line. Empty fields are omitted. Values are TeX."""
    lines = [f"  {name} = {{{value}}}," for name, value in fields if value]
    return "\n".join((f"@{kind}{{{key},", *lines, "}"))


def escape_tex(text: str) -> str:
    """Escape plain text as TeX."""
    return text.translate(_SPECIAL)


def copy_entry(entry: BibEntry) -> str:
    """Return an entry as BibTeX, with the same fields and values as in the file. `@string`s are inserted, and
    private fields are left out."""
    shown = (
        (name, " ".join(value.text.split()))
        for name, value in entry.fields.items()
        if name not in _PRIVATE and value.text.count("{") == value.text.count("}")
    )
    return format_bibtex(entry.kind, entry.key, shown)
