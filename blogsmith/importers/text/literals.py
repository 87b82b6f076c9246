"""Signs that are plain text to another system and mean something here."""

from __future__ import annotations

from ...patterns import lazy_pattern

_BRACKET = lazy_pattern(r"(?<!\\)\\([(\[)])")


def literal_shortcodes(masked: str) -> str:
    """`{%` as text. masked: text in which code and formulas are hidden."""
    return masked.replace("{%", "&#123;%")


def literal_brackets(prose: str) -> str:
    r"""`\(` and `\[` as the brackets that Markdown makes of them, where these open no formula."""
    return _BRACKET.sub(r"\1", prose)
