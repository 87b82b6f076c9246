"""Signs that are plain text to another system and mean something here."""

from __future__ import annotations

from ...base.patterns import lazy_pattern

_BRACKET = lazy_pattern(r"(?<!\\)\\([(\[)])")


_WIKI = lazy_pattern(r"(?<![\\!\[\"'=])\[\[(?=[^\[\]\n]+\]\](?![(\[:]))")


def literal_wikilinks(prose: str) -> str:
    """`[[word]]` as text, which would be a key or a link to a page here."""
    return _WIKI.sub("&#91;[", prose)


_MARK = lazy_pattern(r"(?<![=\\])==(?=[^\s=])(?=[^\n=]*[^\s=]==(?!=))")


def literal_highlights(prose: str) -> str:
    """`==text==` as text, which would be marked here."""
    return _MARK.sub(r"\\==", prose)


def literal_shortcodes(masked: str) -> str:
    """`{%` as text. masked: text in which code and formulas are hidden."""
    return masked.replace("{%", "&#123;%")


def literal_brackets(prose: str) -> str:
    r"""`\(` and `\[` as the brackets that Markdown makes of them, where these open no formula."""
    return _BRACKET.sub(r"\1", prose)
