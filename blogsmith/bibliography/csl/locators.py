"""Places in a work, as authors write them: `p. 3`, `ch. 2`, `12–15`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern

_LABELS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("p", "pp", "page", "pages"), "page"),
        **dict.fromkeys(("ch", "chap", "chapter", "chapters"), "chapter"),
        **dict.fromkeys(("sec", "sect", "section", "sections", "§"), "section"),
        **dict.fromkeys(("fig", "figs", "figure", "figures"), "figure"),
        **dict.fromkeys(("vol", "vols", "volume"), "volume"),
        **dict.fromkeys(("no", "nos", "issue"), "issue"),
        **dict.fromkeys(("l", "ll", "line", "lines"), "line"),
        **dict.fromkeys(("n", "note", "notes"), "note"),
        **dict.fromkeys(("para", "paragraph", "¶"), "paragraph"),
        **dict.fromkeys(("tab", "tbl", "table"), "table"),
    }
)
_LOCATOR = lazy_pattern(r"([A-Za-z]+|§|¶)\.?\s*([\dIVXLCivxlc][\w.\-–, ]*)")
_NUMBERS = lazy_pattern(r"\d[\d\-–, ]*")


def split_locator(locator: str) -> tuple[str, str]:
    """The label of CSL and the number; a place of another kind is `custom`, and stands as written."""
    if _NUMBERS.fullmatch(locator):
        return "page", locator
    found = _LOCATOR.fullmatch(locator.replace("\u00a0", " "))
    label = _LABELS.get(found[1].lower(), "") if found else ""
    return (label, found[2]) if found and label else ("custom" if locator else "", locator)
